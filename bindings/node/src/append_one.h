// Appends one entry synchronously: the shortest way from JavaScript to a durable line. The parameters are passed one by
// one instead of in lists, and the texts are copied to the stack.
#pragma once

#include <bough/bough_c.h>
#include <node_api.h>

#include <deque>
#include <new>
#include <string>
#include <string_view>

#include "call.h"
#include "error.h"
#include "values.h"

namespace {

// The texts of one call; they live as long as this object.
class StackTexts {
 public:
  /// Reads a text; undefined and null are absent. Returns false, with an exception pending, when the value is neither a
  /// string nor a Buffer.
  bool read(napi_env env, napi_value value, bough_text& text) {
    napi_valuetype type = napi_undefined;
    napi_typeof(env, value, &type);
    if (type == napi_undefined || type == napi_null) return true;
    if (type == napi_string) return readString(env, value, text);
    bool isBuffer = false;
    napi_is_buffer(env, value, &isBuffer);
    if (!isBuffer) {
      napi_throw_type_error(env, nullptr, "a member of an entry is not a text");
      return false;
    }
    // Not copied, because JavaScript waits until the call is done.
    void* data = nullptr;
    napi_get_buffer_info(env, value, &data, &text.size);
    text.data = data == nullptr ? "" : static_cast<const char*>(data);
    return true;
  }

 private:
  bool readString(napi_env env, napi_value value, bough_text& text) {
    const std::size_t room = sizeof bytes_ - used_;
    char* const begin = bytes_ + used_;
    napi_get_value_string_utf8(env, value, begin, room, &text.size);
    text.data = begin;
    if (text.size + 4 < room) {  // Node cuts only between characters, so a text that was cut may end up to three bytes
                                 // early
      used_ += text.size + 1;
      if (isWellFormed(env, value, {text.data, text.size})) return true;
      napi_throw_type_error(env, nullptr, kNotUnicode);
      return false;
    }
    std::string& copy = long_.emplace_back();
    if (!readText(env, value, copy)) return false;
    text = {copy.data(), copy.size()};
    return true;
  }

  char bytes_[4096];
  std::size_t used_ = 0;
  std::deque<std::string> long_;
};

// Returns the id. Returns null when the entry was already stored, or, with an exception pending, when the call failed.
napi_value appendOne(napi_env env, napi_value (&given)[8]) {
  double handle = 0;
  bough_entry entry{};
  StackTexts texts;
  napi_valuetype parent = napi_undefined;
  napi_typeof(env, given[4], &parent);
  if (parent == napi_boolean) {
    bool isRoot = false;
    napi_get_value_bool(env, given[4], &isRoot);
    if (isRoot) {
      entry.flags = BOUGH_ENTRY_ROOT;
      napi_get_undefined(env, &given[4]);
    }
  }
  bough_text* const members[] = {&entry.payload,   &entry.type,   &entry.id,  &entry.parent_id,
                                 &entry.timestamp, &entry.run_id, &entry.meta};
  napi_get_value_double(env, given[0], &handle);
  for (std::size_t i = 0; i < std::size(members); ++i) {
    if (!texts.read(env, given[i + 1], *members[i])) return nullptr;
  }
  if (entry.type.data == nullptr) entry.type = {"message", 7};
  auto* const session = reinterpret_cast<bough_session*>(static_cast<uintptr_t>(handle));
  bough_appended_one done;
  if (const int32_t code = bough_append_one(session, &entry, nullptr, &done); code != BOUGH_OK) {
    Call failed;
    failed.code = code;
    noteError(failed, session);
    napi_throw(env, errorOf(env, failed));
    return nullptr;
  }
  return done.appended == 1 ? stringOf(env, {done.id, done.id_size}) : nullptr;
}

// appendOneSync(session, payload, type, id, parentId or true for a root, timestamp, runId, meta) returns the id of the
// new entry, or undefined when the entry was already stored under the given id.
napi_value appendOneSync(napi_env env, napi_callback_info info) {
  size_t count = 8;
  napi_value given[8];
  napi_get_cb_info(env, info, &count, given, nullptr, nullptr);
  try {
    return appendOne(env, given);
  } catch (const std::bad_alloc&) {
    napi_throw_range_error(env, nullptr, "memory ran out");
    return nullptr;
  }
}

}  // namespace
