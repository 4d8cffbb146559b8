// Converts results of the C interface to JavaScript values, and JavaScript values to texts.
#pragma once

#include <bough/bough_c.h>
#include <node_api.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>

namespace {

// JavaScript never passes a handle of another kind, so a refused handle was closed.
const char* codeName(int32_t code) {
  return code == BOUGH_BAD_HANDLE ? "closed" : bough_code_name(code);
}

constexpr const char* kNotUnicode = "a string holds half of a surrogate pair, which is not Unicode text";

// Returns false when a string contains half of a surrogate pair, which UTF-8 cannot express. Node silently converts it
// to U+FFFD.
bool isWellFormed(napi_env env, napi_value value, std::string_view utf8) {
  if (utf8.find("\xEF\xBF\xBD") == std::string_view::npos) return true;
  size_t size = 0;
  napi_get_value_string_utf16(env, value, nullptr, 0, &size);
  std::u16string units(size + 1, u'\0');
  napi_get_value_string_utf16(env, value, units.data(), units.size(), &size);
  for (size_t i = 0; i < size; ++i) {
    if ((units[i] & 0xF800) != 0xD800) continue;
    const bool pair = units[i] < 0xDC00 && i + 1 < size && (units[i + 1] & 0xFC00) == 0xDC00;
    if (!pair) return false;
    ++i;
  }
  return true;
}

// Reads a text. Returns false, with an exception pending, when the value is neither a string nor a Buffer.
bool readText(napi_env env, napi_value value, std::string& text) {
  bool isBuffer = false;
  napi_is_buffer(env, value, &isBuffer);
  if (isBuffer) {
    void* data = nullptr;
    size_t size = 0;
    napi_get_buffer_info(env, value, &data, &size);
    text.assign(static_cast<const char*>(data), data == nullptr ? 0 : size);
    return true;
  }
  // Most texts are short: read them directly, without asking for their size first.
  char begin[512];
  size_t size = 0;
  if (napi_get_value_string_utf8(env, value, begin, sizeof begin, &size) != napi_ok) {
    napi_throw_type_error(env, nullptr, "an argument is not a string, a Buffer, a number or a boolean");
    return false;
  }
  if (size < sizeof begin - 4) {  // Node cuts only between characters, so a text that was cut may end up to three bytes
                                  // early
    text.assign(begin, size);
  } else {
    napi_get_value_string_utf8(env, value, nullptr, 0, &size);
    text.resize(size + 1);
    napi_get_value_string_utf8(env, value, text.data(), text.size(), &size);
    text.resize(size);
  }
  if (isWellFormed(env, value, text)) return true;
  napi_throw_type_error(env, nullptr, kNotUnicode);
  return false;
}

napi_value stringOf(napi_env env, std::string_view text) {
  napi_value value = nullptr;
  napi_create_string_utf8(env, text.data(), text.size(), &value);
  return value;
}

napi_value numberOf(napi_env env, double number) {
  napi_value value = nullptr;
  napi_create_double(env, number, &value);
  return value;
}

void set(napi_env env, napi_value object, const char* name, napi_value value) {
  napi_set_named_property(env, object, name, value);
}

// Returns the ends of each entry's texts and its flags: nine numbers per entry. Null when the environment is ending.
napi_value endsOf(napi_env env, const bough_packed& packed) {
  constexpr size_t kTexts = 8;
  const size_t count = packed.count * (kTexts + 1);
  napi_value buffer = nullptr;
  void* data = nullptr;
  napi_value array = nullptr;
  if (napi_create_arraybuffer(env, count * sizeof(double), &data, &buffer) != napi_ok) return nullptr;
  auto* number = static_cast<double*>(data);
  for (size_t entry = 0; entry < packed.count; ++entry) {
    for (size_t text = 0; text < kTexts; ++text) *number++ = static_cast<double>(packed.ends[entry * kTexts + text]);
    *number++ = packed.flags[entry];
  }
  napi_create_typedarray(env, napi_float64_array, count, buffer, 0, &array);
  return array;
}

// Results up to this size become a string with one character per byte. The string is in JavaScript's own memory, so the
// library's memory can be freed immediately.
constexpr size_t kStringBytes = size_t{512} * 1024;

// The most bytes that JavaScript may borrow at a time. JavaScript returns them only when it waits for something, so a
// program that loads without a pause would fill the memory. Beyond the limit JavaScript gets copies, which it frees
// itself.
constexpr size_t kMaxLentBytes = size_t{64} * 1024 * 1024;
std::atomic<size_t> lentBytes = 0;

// Returns a buffer over the bytes of `entries`, which are closed when JavaScript drops the buffer; null when not
// possible.
napi_value lentBuffer(napi_env env, bough_entries* entries, const bough_packed& packed) {
  if (lentBytes + packed.size > kMaxLentBytes) return nullptr;
  struct Lent {
    bough_entries* entries;
    size_t size;
  };
  const auto giveBack = [](napi_env, void*, void* hint) {
    const std::unique_ptr<Lent> lent(static_cast<Lent*>(hint));
    bough_entries_close(lent->entries);
    lentBytes -= lent->size;
  };
  std::unique_ptr<Lent> lent(new (std::nothrow) Lent{entries, packed.size});
  napi_value buffer = nullptr;
  if (!lent || napi_create_external_buffer(env, packed.size, const_cast<char*>(packed.bytes), giveBack, lent.get(),
                                           &buffer) != napi_ok) {
    return nullptr;
  }
  lentBytes += lent.release()->size;
  return buffer;
}

// Returns {bytes, ends}. A large result is lent to JavaScript as a buffer instead of copied.
napi_value entriesOf(napi_env env, void* handle) {
  auto* entries = static_cast<bough_entries*>(handle);
  bough_packed packed;
  if (bough_entries_packed(entries, &packed) != BOUGH_OK) return nullptr;
  napi_value object = nullptr;
  napi_create_object(env, &object);
  set(env, object, "ends", endsOf(env, packed));
  napi_value bytes = nullptr;
  if (packed.size <= kStringBytes) {
    napi_create_string_latin1(env, packed.bytes, packed.size, &bytes);
  } else if ((bytes = lentBuffer(env, entries, packed)) != nullptr) {
    entries = nullptr;
  } else {
    napi_create_buffer_copy(env, packed.size, packed.bytes, nullptr, &bytes);
  }
  set(env, object, "bytes", bytes);
  bough_entries_close(entries);
  return object;
}

}  // namespace
