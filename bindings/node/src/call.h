// One call of the C interface on its way from JavaScript: its arguments, its result, and the list of all operations.
#pragma once

#include <bough/bough_c.h>
#include <node_api.h>

#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace {

struct Argument {
  bool absent = true;
  std::string text;
  double number = 0;

  [[nodiscard]] bough_text view() const {
    return absent ? bough_text{nullptr, 0} : bough_text{text.data(), text.size()};
  }
};

enum class Gives { Nothing, Text, Bytes, Handle, Entries, Appended };

struct Call;
struct Operation {
  const char* name;
  int32_t (*run)(Call&);
  Gives gives;
};

// One call on its way: filled on the main thread, run on any, read on the main thread again.
struct Call {
  const Operation* operation = nullptr;
  std::vector<Argument> arguments;
  std::size_t at = 0;  // the next argument to be read
  std::vector<bough_entry> entries;
  std::vector<Argument> entryTexts;
  // What comes out.
  bough_text text = {nullptr, 0};
  void* handle = nullptr;
  bough_appended counts = {0, 0};
  int32_t code = BOUGH_OK;
  std::string message, hint, tail;
  bool retryable = false;
  uint64_t place = 0;
  napi_deferred deferred = nullptr;
  napi_async_work work = nullptr;

  const Argument& next() {
    static const Argument none;
    return at < arguments.size() ? arguments[at++] : none;
  }
};

// How each kind of parameter is made from the list, or taken as a result.
template <typename Kind>
struct Parameter;
template <>
struct Parameter<bough_text> {
  static bough_text read(Call& call) { return call.next().view(); }
};
template <>
struct Parameter<size_t> {
  static size_t read(Call& call) { return static_cast<size_t>(call.next().number); }
};
template <>
struct Parameter<int32_t> {
  static int32_t read(Call& call) { return static_cast<int32_t>(call.next().number); }
};
template <>
struct Parameter<bough_text*> {
  static bough_text* read(Call& call) { return &call.text; }
};
template <typename Handle>
struct Parameter<Handle*> {
  static Handle* read(Call& call) { return reinterpret_cast<Handle*>(static_cast<uintptr_t>(call.next().number)); }
};
template <typename Handle>
struct Parameter<Handle**> {
  static Handle** read(Call& call) { return reinterpret_cast<Handle**>(&call.handle); }
};
template <>
struct Parameter<const bough_store_options*> {
  bough_store_options options;
  const bough_store_options* read(Call& call) {
    bough_store_options_init(&options, sizeof options);
    if (const Argument& each = call.next(); !each.absent) options.durability = static_cast<int32_t>(each.number);
    if (const Argument& each = call.next(); !each.absent) options.create = static_cast<int32_t>(each.number);
    if (const Argument& each = call.next(); !each.absent) options.buffered_entries = static_cast<uint64_t>(each.number);
    if (const Argument& each = call.next(); !each.absent) options.buffered_ms = static_cast<int32_t>(each.number);
    if (const Argument& each = call.next(); !each.absent) options.lock_timeout_ms = static_cast<int32_t>(each.number);
    return &options;
  }
};
template <>
struct Parameter<const bough_new_session*> {
  bough_new_session options;
  const bough_new_session* read(Call& call) {
    bough_new_session_init(&options, sizeof options);
    options.id = call.next().view();
    options.key = call.next().view();
    options.cwd = call.next().view();
    options.title = call.next().view();
    return &options;
  }
};
template <>
struct Parameter<const bough_load_options*> {
  bough_load_options options;
  const bough_load_options* read(Call& call) {
    bough_load_options_init(&options, sizeof options);
    if (const Argument& each = call.next(); !each.absent) options.show_redacted = static_cast<int32_t>(each.number);
    if (const Argument& each = call.next(); !each.absent) options.from = static_cast<uint64_t>(each.number);
    if (const Argument& each = call.next(); !each.absent) options.limit = static_cast<uint64_t>(each.number);
    if (const Argument& each = call.next(); !each.absent) options.last = static_cast<uint64_t>(each.number);
    options.branch = call.next().view();
    options.type = call.next().view();
    return &options;
  }
};

// The handle that a call's error is kept under: its first parameter, where that is one.
template <typename First>
const void* handleOf(const Call& call) {
  if constexpr (std::is_pointer_v<First>) {
    if (!call.arguments.empty()) {
      return reinterpret_cast<const void*>(static_cast<uintptr_t>(call.arguments.front().number));
    }
  }
  return nullptr;
}

void noteError(Call& call, const void* handle) {
  bough_error_info info;
  bough_error(handle, &info);
  call.message.assign(info.message.data, info.message.size);
  call.hint.assign(info.hint.data, info.hint.size);
  call.tail.assign(info.tail.data, info.tail.size);
  call.retryable = info.retryable != 0;
  call.place = info.batch_place;
}

template <typename First, typename... Rest>
int32_t invoke(int32_t (*function)(First, Rest...), Call& call) {
  std::tuple<Parameter<First>, Parameter<Rest>...> readers;
  // Braces read the arguments from left to right.
  const int32_t code = std::apply(
      [&](auto&... reader) {
        std::tuple<First, Rest...> values{reader.read(call)...};
        return std::apply(function, values);
      },
      readers);
  if (code != BOUGH_OK) noteError(call, handleOf<First>(call));
  return code;
}

template <auto Function>
int32_t run(Call& call) {
  return invoke(Function, call);
}

int32_t runAppend(Call& call) {
  auto* session = reinterpret_cast<bough_session*>(static_cast<uintptr_t>(call.next().number));
  bough_append_options options;
  bough_append_options_init(&options, sizeof options);
  if (const Argument& each = call.next(); !each.absent) options.durability = static_cast<int32_t>(each.number);
  options.expected_tail = call.next().view();
  const int32_t code =
      bough_append(session, call.entries.data(), call.entries.size(), &options, &call.counts, &call.text);
  if (code != BOUGH_OK) noteError(call, session);
  return code;
}

template <void (*Close)(bough_session*)>
int32_t runClose(Call& call) {
  Close(reinterpret_cast<bough_session*>(static_cast<uintptr_t>(call.next().number)));
  return BOUGH_OK;
}

const Operation kOperations[] = {
    {"store_open", run<bough_store_open>, Gives::Handle},
    {"store_close", run<bough_store_close>, Gives::Nothing},
    {"store_flush", run<bough_store_flush>, Gives::Nothing},
    {"store_list_ids", run<bough_store_list_ids>, Gives::Text},
    {"session_create", run<bough_session_create>, Gives::Handle},
    {"session_open", run<bough_session_open>, Gives::Handle},
    {"session_close", runClose<bough_session_close>, Gives::Nothing},
    {"session_id", run<bough_session_id>, Gives::Text},
    {"session_state", run<bough_session_state>, Gives::Text},
    {"append", runAppend, Gives::Appended},
    {"load", run<bough_load>, Gives::Entries},
    {"load_entry", run<bough_load_entry>, Gives::Entries},
    {"load_history", run<bough_load_history>, Gives::Entries},
    {"cursor_open", run<bough_cursor_open>, Gives::Handle},
    {"cursor_next", run<bough_cursor_next>, Gives::Entries},
    {"cursor_position", run<bough_cursor_position>, Gives::Text},
    {"follower_open", run<bough_follower_open>, Gives::Handle},
    {"move_head", run<bough_move_head>, Gives::Nothing},
    {"set_title", run<bough_set_title>, Gives::Nothing},
    {"label_set", run<bough_label_set>, Gives::Nothing},
    {"label_remove", run<bough_label_remove>, Gives::Nothing},
    {"label_list", run<bough_label_list>, Gives::Text},
    {"redact", run<bough_redact>, Gives::Nothing},
    {"fork", run<bough_fork>, Gives::Handle},
    {"tree", run<bough_tree>, Gives::Text},
    {"branches", run<bough_branches>, Gives::Text},
    {"diff", run<bough_diff>, Gives::Text},
    {"context", run<bough_context>, Gives::Text},
    {"unfinished_calls", run<bough_unfinished_calls>, Gives::Text},
    {"convert", run<bough_convert>, Gives::Text},
    {"list", run<bough_list>, Gives::Text},
    {"search", run<bough_search>, Gives::Text},
    {"usage", run<bough_usage>, Gives::Text},
    {"attachment_put", run<bough_attachment_put>, Gives::Text},
    {"attachment_get", run<bough_attachment_get>, Gives::Bytes},
    {"verify", run<bough_verify>, Gives::Text},
    {"repair", run<bough_repair>, Gives::Text},
    {"migrate", run<bough_migrate>, Gives::Text},
    {"archive", run<bough_archive>, Gives::Text},
    {"trash", run<bough_trash>, Gives::Text},
    {"trash_list", run<bough_trash_list>, Gives::Text},
    {"trash_restore", run<bough_trash_restore>, Gives::Nothing},
    {"trash_remove", run<bough_trash_remove>, Gives::Nothing},
};

}  // namespace
