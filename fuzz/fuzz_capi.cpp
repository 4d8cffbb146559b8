// The C interface with arbitrary bytes as options, JSON, ids and entries: every call returns a code, and the store is
// as usable as before.

#include <bough/bough_c.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"

namespace {

bough_text view(std::string_view text) {
  return {text.data(), text.size()};
}

// A store in memory and a session with one message, made once.
struct World {
  bough_store* store = nullptr;
  bough_session* session = nullptr;

  World() {
    BOUGH_CHECK(bough_store_open(bough_text_of("memory:"), nullptr, &store) == BOUGH_OK);
    BOUGH_CHECK(bough_session_create(store, nullptr, &session) == BOUGH_OK);
    append(R"({"dialect":"bough","message":{"role":"user","content":"hello"}})", BOUGH_OK);
  }

  void append(std::string_view payload, int32_t expected) const {
    bough_entry entry{};
    entry.type = bough_text_of("message");
    entry.payload = view(payload);
    bough_text id{};
    const int32_t code = bough_append(session, &entry, 1, nullptr, nullptr, &id);
    BOUGH_CHECK(expected < 0 || code == expected);
    if (code == BOUGH_OK) bough_free(id);
  }
};

void finish(int32_t code, const void* handle, bough_text result) {
  if (code == BOUGH_OK) return bough_free(result);
  bough_error_info info;
  bough_error(handle, &info);
  BOUGH_CHECK(info.code == code && info.message.size > 0);
  BOUGH_CHECK(code != BOUGH_INTERNAL && code != BOUGH_BAD_HANDLE);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const World world;
  const std::string text(reinterpret_cast<const char*>(data), size);
  bough_text result{};
  finish(bough_list(world.store, view(text), &result), world.store, result);
  finish(bough_usage(world.store, view(text), &result), world.store, result);
  finish(bough_search(world.store, bough_text_of("hello"), view(text), &result), world.store, result);
  finish(bough_search(world.store, view(text), {nullptr, 0}, &result), world.store, result);
  finish(bough_context(world.session, view(text), &result), world.session, result);
  finish(bough_convert(view(text), bough_text_of("anthropic"), bough_text_of("gemini"), view(text), &result), nullptr,
         result);
  bough_session* none = nullptr;
  if (bough_session_open(world.store, view(text), &none) == BOUGH_OK) bough_session_close(none);
  if (bough_label_set(world.session, view(text), view(text)) == BOUGH_OK)
    BOUGH_CHECK(false);  // no entry has such an id
  // Options of every size: what is not ours is refused.
  bough_load_options options;
  bough_load_options_init(&options, sizeof options);
  if (size >= sizeof options.struct_size) __builtin_memcpy(&options.struct_size, data, sizeof options.struct_size);
  options.limit = 2;
  bough_entries* entries = nullptr;
  if (bough_load(world.session, &options, &entries) == BOUGH_OK) bough_entries_close(entries);
  return 0;
}
