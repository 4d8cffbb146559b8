// One call of the C interface from JavaScript: its arguments, its result, and the list of all operations.
#pragma once

#include <bough/bough_c.h>
#include <node_api.h>

#include <cmath>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace {

struct Argument {
  enum class Kind { Absent, Text, Number, Boolean };
  Kind kind = Kind::Absent;
  std::string text;
  double number = 0;

  [[nodiscard]] bool absent() const { return kind == Kind::Absent; }
  [[nodiscard]] bough_text view() const {
    return absent() ? bough_text{nullptr, 0} : bough_text{text.data(), text.size()};
  }
};

enum class Gives { Nothing, Number, Text, Bytes, Handle, HandleAndText, Entries, Appended };

struct Call;
struct Operation {
  const char* name;
  int32_t (*run)(Call&);
  Gives gives;
};

// One call: the main thread fills it in, any thread runs it, and the main thread reads the result.
struct Call {
  const Operation* operation = nullptr;
  std::vector<Argument> arguments;
  std::size_t at = 0;  // the next argument to read
  std::vector<bough_entry> entries;
  std::vector<Argument> entryTexts;
  // The results.
  bough_text text = {nullptr, 0};
  void* handle = nullptr;
  uint64_t outNumber = 0;
  bough_appended counts = {0, 0};
  int32_t code = BOUGH_OK;
  std::string wrong;  // why an argument is wrong; empty otherwise
  std::string message, hint, tail;
  bool retryable = false;
  uint64_t place = 0;
  napi_deferred deferred = nullptr;
  napi_async_work work = nullptr;

  const Argument& next() {
    static const Argument none;
    return at < arguments.size() ? arguments[at++] : none;
  }
  [[nodiscard]] void* handleAt(std::size_t index) const {
    return reinterpret_cast<void*>(static_cast<uintptr_t>(arguments.at(index).number));
  }
  void* nextHandle() { return reinterpret_cast<void*>(static_cast<uintptr_t>(next().number)); }
  bough_text nextText() {
    const Argument& argument = next();
    if (!argument.absent() && argument.kind != Argument::Kind::Text) wrong = "a number was given in place of a text";
    return argument.view();
  }
  // Reads a number. Returns false and leaves `value` unchanged when it is absent. JavaScript numbers above 2^53 are not
  // exact.
  template <typename Number>
  bool nextNumber(Number& value) {
    const Argument& argument = next();
    if (argument.absent()) return false;
    constexpr double kMost = sizeof(Number) == 4 ? 2147483647.0 : 9007199254740992.0;
    const double number = argument.number;
    if (argument.kind == Argument::Kind::Text) {
      wrong = "a text was given in place of a number";
    } else if (argument.kind == Argument::Kind::Boolean) {
      wrong = "true or false was given in place of a number";
    } else if (!(number >= 0 && number <= kMost) || number != std::floor(number)) {
      wrong = "a number is negative, too large or not whole";
    } else {
      value = static_cast<Number>(number);
    }
    return true;
  }
  // Reads true, false or a number. Leaves `value` unchanged when it is absent.
  void nextFlag(int32_t& value) {
    if (at < arguments.size() && arguments[at].kind == Argument::Kind::Boolean) {
      value = next().number == 0 ? 0 : 1;
    } else {
      nextNumber(value);
    }
  }
};

// How each type of parameter is read from the list of arguments, or receives a result.
template <typename Kind>
struct Parameter;
template <>
struct Parameter<bough_text> {
  static bough_text read(Call& call) { return call.nextText(); }
};
template <typename Number>
  requires std::is_integral_v<Number>
struct Parameter<Number> {
  static Number read(Call& call) {
    Number number = 0;
    if (!call.nextNumber(number)) call.wrong = "a number is missing";
    return number;
  }
};
template <>
struct Parameter<int32_t> {  // parameters of this type are flags
  static int32_t read(Call& call) {
    int32_t flag = 0;
    call.nextFlag(flag);
    return flag;
  }
};
template <>
struct Parameter<bough_text*> {
  static bough_text* read(Call& call) { return &call.text; }
};
template <typename Handle>
struct Parameter<Handle*> {
  static Handle* read(Call& call) { return static_cast<Handle*>(call.nextHandle()); }
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
    call.nextNumber(options.durability);
    call.nextFlag(options.create);
    call.nextNumber(options.buffered_entries);
    call.nextNumber(options.buffered_ms);
    call.nextNumber(options.attachment_bytes);
    call.nextNumber(options.lock_timeout_ms);
    return &options;
  }
};
template <>
struct Parameter<const bough_new_session*> {
  bough_new_session options;
  const bough_new_session* read(Call& call) {
    bough_new_session_init(&options, sizeof options);
    options.id = call.nextText();
    options.key = call.nextText();
    options.cwd = call.nextText();
    options.title = call.nextText();
    return &options;
  }
};
template <>
struct Parameter<const bough_load_options*> {
  bough_load_options options;
  const bough_load_options* read(Call& call) {
    bough_load_options_init(&options, sizeof options);
    call.nextFlag(options.show_redacted);
    call.nextNumber(options.from);
    call.nextNumber(options.limit);
    call.nextNumber(options.limit_bytes);
    call.nextNumber(options.last);
    options.branch = call.nextText();
    options.type = call.nextText();
    return &options;
  }
};

template <>
struct Parameter<const bough_append_options*> {
  bough_append_options options;
  const bough_append_options* read(Call& call) {
    bough_append_options_init(&options, sizeof options);
    call.nextNumber(options.durability);
    options.expected_tail = call.nextText();
    call.nextNumber(options.turn);
    return &options;
  }
};
template <>
struct Parameter<uint64_t*> {
  static uint64_t* read(Call& call) { return &call.outNumber; }
};
template <>
struct Parameter<Call*> {
  static Call* read(Call& call) { return &call; }
};

// Returns the handle under which a call's error is stored: its first parameter, if that is a handle.
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
  // Braces evaluate the arguments from left to right.
  const int32_t code = std::apply(
      [&](auto&... reader) {
        std::tuple<First, Rest...> values{reader.read(call)...};
        return call.wrong.empty() ? std::apply(function, values) : int32_t{BOUGH_INVALID_ARGUMENT};
      },
      readers);
  if (!call.wrong.empty()) {
    call.message = call.wrong;
  } else if (code != BOUGH_OK) {
    noteError(call, handleOf<First>(call));
  }
  return code;
}

template <auto Function>
int32_t run(Call& call) {
  return invoke(Function, call);
}

// bough_append with its parameters in the order of the list. The entries are passed separately.
int32_t appendEntries(bough_session* session, const bough_append_options* options, Call* call) {
  return bough_append(session, call->entries.data(), call->entries.size(), options, &call->counts, &call->text);
}

template <auto Close>
int32_t runClose(Call& call) {
  const auto close = [&]<typename Handle>(void (*function)(Handle*)) {
    function(static_cast<Handle*>(call.nextHandle()));
  };
  close(Close);
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
    {"append", run<appendEntries>, Gives::Appended},
    {"begin_turn", run<bough_begin_turn>, Gives::Number},
    {"lease_turn", run<bough_lease_turn>, Gives::Number},
    {"renew_turn", run<bough_renew_turn>, Gives::Nothing},
    {"load", run<bough_load>, Gives::Entries},
    {"load_entry", run<bough_load_entry>, Gives::Entries},
    {"load_history", run<bough_load_history>, Gives::Entries},
    {"cursor_open", run<bough_cursor_open>, Gives::Handle},
    {"cursor_next", run<bough_cursor_next>, Gives::Entries},
    {"cursor_position", run<bough_cursor_position>, Gives::Text},
    {"cursor_close", runClose<bough_cursor_close>, Gives::Nothing},
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
    {"migrate_provider", run<bough_migrate_provider>, Gives::HandleAndText},
    {"list", run<bough_list>, Gives::Text},
    {"search", run<bough_search>, Gives::Text},
    {"usage", run<bough_usage>, Gives::Text},
    {"attachment_put", run<bough_attachment_put>, Gives::Text},
    {"attachment_get", run<bough_attachment_get>, Gives::Bytes},
    {"attachment_unused", run<bough_attachment_unused>, Gives::Text},
    {"attachment_remove", run<bough_attachment_remove>, Gives::Text},
    {"verify", run<bough_verify>, Gives::Text},
    {"repair", run<bough_repair>, Gives::Text},
    {"migrate", run<bough_migrate>, Gives::Text},
    {"archive", run<bough_archive>, Gives::Text},
    {"forks", run<bough_forks>, Gives::Text},
    {"detach", run<bough_detach>, Gives::Nothing},
    {"torn", run<bough_torn>, Gives::Text},
    {"torn_put_back", run<bough_torn_put_back>, Gives::Text},
    {"torn_drop", run<bough_torn_drop>, Gives::Nothing},
    {"erase", run<bough_erase>, Gives::Text},
    {"trash", run<bough_trash>, Gives::Text},
    {"trash_list", run<bough_trash_list>, Gives::Text},
    {"trash_restore", run<bough_trash_restore>, Gives::Nothing},
    {"trash_remove", run<bough_trash_remove>, Gives::Nothing},
};

}  // namespace
