// Calls the C interface with arbitrary bytes as options, JSON, ids and entries. Every call must return a code, and the
// store must stay usable.

#include <bough/bough_c.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "fuzz/input.h"

namespace {

bough_text view(std::string_view text) {
  return {text.data(), text.size()};
}

// A store in memory with a session that has one message; made once.
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

// Returns a text that may be absent, or have an impossible size.
bough_text takeText(bough::fuzz::Input& input) {
  const std::uint8_t kind = input.byte();
  if (kind % 8 == 0) return {nullptr, 0};
  if (kind % 8 == 1) return {nullptr, input.number()};
  const std::string_view text = input.text(kind / 8);
  return {text.data() == nullptr ? "" : text.data(), kind % 8 == 2 ? SIZE_MAX >> (kind / 8 % 23) : text.size()};
}

// Returns a number for an option: small, very large, or any number.
std::uint64_t takeNumber(bough::fuzz::Input& input) {
  const std::uint8_t kind = input.byte();
  if (kind < 128) return kind % 4;
  return kind < 160 ? UINT64_MAX - kind % 4 : input.number();
}

// Passes options of every size and content. Invalid options must be refused, and the session must stay usable.
void useOptions(const World& world, bough::fuzz::Input input) {
  bough_load_options load;
  bough_load_options_init(&load, sizeof load);
  load.struct_size = static_cast<std::uint32_t>(takeNumber(input) < 2 ? sizeof load : takeNumber(input));
  load.from = takeNumber(input);
  load.limit = takeNumber(input);
  load.limit_bytes = takeNumber(input);
  load.last = takeNumber(input);
  load.branch = takeText(input);
  load.type = takeText(input);
  bough_entries* entries = nullptr;
  if (bough_load(world.session, &load, &entries) == BOUGH_OK) bough_entries_close(entries);

  bough_store_options opened;
  bough_store_options_init(&opened, sizeof opened);
  opened.struct_size = static_cast<std::uint32_t>(takeNumber(input) < 2 ? sizeof opened : takeNumber(input));
  opened.durability = static_cast<std::int32_t>(takeNumber(input));
  opened.buffered_entries = takeNumber(input);
  opened.buffered_ms = static_cast<std::int32_t>(takeNumber(input));
  opened.attachment_bytes = takeNumber(input);
  opened.lock_timeout_ms = static_cast<std::int32_t>(takeNumber(input));
  bough_store* store = nullptr;
  if (bough_store_open(bough_text_of("memory:"), &opened, &store) != BOUGH_OK) return;
  bough_new_session made;
  bough_new_session_init(&made, sizeof made);
  made.id = takeText(input);
  made.key = takeText(input);
  made.cwd = takeText(input);
  made.title = takeText(input);
  bough_session* session = nullptr;
  if (bough_session_create(store, &made, &session) == BOUGH_OK) {
    bough_entry entry{};
    entry.flags = static_cast<std::uint32_t>(takeNumber(input));
    for (bough_text* text : {&entry.id, &entry.parent_id, &entry.timestamp, &entry.run_id, &entry.meta, &entry.extra}) {
      *text = takeText(input);
    }
    entry.type = input.byte() % 2 == 0 ? bough_text_of("custom") : takeText(input);
    entry.payload = input.byte() % 2 == 0 ? bough_text_of("{}") : takeText(input);
    bough_append_options append;
    bough_append_options_init(&append, sizeof append);
    append.durability = static_cast<std::int32_t>(takeNumber(input)) - 1;
    append.expected_tail = takeText(input);
    bough_text id{};
    finish(bough_append(session, &entry, 1, &append, nullptr, &id), session, id);
    bough_appended_one one;
    finish(bough_append_one(session, &entry, &append, &one), session, {});
    BOUGH_CHECK(bough_load(session, nullptr, &entries) == BOUGH_OK);
    bough_entries_close(entries);
    bough_session_close(session);
  }
  BOUGH_CHECK(bough_store_close(store) == BOUGH_OK);
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
  finish(bough_erase(world.session, view(text), &result), world.session, result);
  finish(bough_attachment_remove(world.store, view(text), &result), world.store, result);
  useOptions(world, bough::fuzz::Input(data, size));
  return 0;
}
