// The C interface (bough_c.h) for Node: every call by its name, as a promise that is kept off the main thread, or at
// once.
//
// A call's arguments come as one list, in the order of the C function. Texts are strings or buffers, handles numbers.
// Options are in the list, member by member. What comes out of the C function is the result.
#define NAPI_VERSION 8
#include <bough/bough_c.h>
#include <node_api.h>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "call.h"

namespace {

// Reading JavaScript values. False, with an exception pending, when a value has the wrong kind.
bool readText(napi_env env, napi_value value, std::string& text) {
  bool isBuffer = false;
  napi_is_buffer(env, value, &isBuffer);
  if (isBuffer) {
    void* data = nullptr;
    size_t size = 0;
    napi_get_buffer_info(env, value, &data, &size);
    text.assign(static_cast<const char*>(data), size);
    return true;
  }
  size_t size = 0;
  if (napi_get_value_string_utf8(env, value, nullptr, 0, &size) != napi_ok) return false;
  text.resize(size + 1);
  napi_get_value_string_utf8(env, value, text.data(), text.size(), &size);
  text.resize(size);
  return true;
}

bool readArgument(napi_env env, napi_value value, Argument& argument) {
  napi_valuetype type = napi_undefined;
  napi_typeof(env, value, &type);
  if (type == napi_undefined || type == napi_null) return true;
  argument.absent = false;
  if (type == napi_number) return napi_get_value_double(env, value, &argument.number) == napi_ok;
  if (type == napi_boolean) {
    bool given = false;
    napi_get_value_bool(env, value, &given);
    argument.number = given ? 1 : 0;
    return true;
  }
  if (readText(env, value, argument.text)) return true;
  napi_throw_type_error(env, nullptr, "an argument is not a string, a Buffer, a number or a boolean");
  return false;
}

bool readList(napi_env env, napi_value list, std::vector<Argument>& arguments) {
  uint32_t length = 0;
  if (napi_get_array_length(env, list, &length) != napi_ok) {
    napi_throw_type_error(env, nullptr, "the arguments are not a list");
    return false;
  }
  arguments.resize(length);
  for (uint32_t i = 0; i < length; ++i) {
    napi_value value;
    napi_get_element(env, list, i, &value);
    if (!readArgument(env, value, arguments[i])) return false;
  }
  return true;
}

// Entries come as one flat list: eight texts an entry, and true in place of the parent for a root.
bool readEntries(napi_env env, napi_value list, Call& call) {
  constexpr size_t kTexts = 8;
  if (!readList(env, list, call.entryTexts)) return false;
  call.entries.resize(call.entryTexts.size() / kTexts);
  for (size_t i = 0; i < call.entries.size(); ++i) {
    const Argument* texts = &call.entryTexts[i * kTexts];
    const bool root = !texts[1].absent && texts[1].text.empty() && texts[1].number == 1;
    call.entries[i] = {root ? uint32_t{BOUGH_ENTRY_ROOT} : 0U,
                       texts[0].view(),
                       root ? bough_text{nullptr, 0} : texts[1].view(),
                       texts[2].view(),
                       texts[3].view(),
                       texts[4].view(),
                       texts[5].view(),
                       texts[6].view(),
                       texts[7].view()};
  }
  return true;
}

const Operation* findOperation(napi_env env, napi_value name) {
  std::string text;
  if (readText(env, name, text)) {
    for (const Operation& operation : kOperations) {
      if (text == operation.name) return &operation;
    }
  }
  napi_throw_error(env, nullptr, ("there is no operation " + text).c_str());
  return nullptr;
}

// Making JavaScript values.
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

// The entries' bytes stay where they are; the handle is closed when JavaScript has forgotten the buffer.
napi_value entriesOf(napi_env env, void* handle) {
  auto* entries = static_cast<bough_entries*>(handle);
  bough_packed packed;
  if (bough_entries_packed(entries, &packed) != BOUGH_OK) return nullptr;
  napi_value object = nullptr;
  napi_create_object(env, &object);
  napi_value bytes = nullptr;
  const auto close = [](napi_env, void*, void* hint) { bough_entries_close(static_cast<bough_entries*>(hint)); };
  if (packed.size == 0 || napi_create_external_buffer(env, packed.size, const_cast<char*>(packed.bytes), close, entries,
                                                      &bytes) != napi_ok) {
    napi_create_buffer_copy(env, packed.size, packed.bytes, nullptr, &bytes);
    handle = nullptr;  // closed below
  }
  napi_value buffer = nullptr;
  void* data = nullptr;
  napi_value ends = nullptr;
  const size_t count = packed.count * 8;
  napi_create_arraybuffer(env, count * sizeof(double), &data, &buffer);
  for (size_t i = 0; i < count; ++i) static_cast<double*>(data)[i] = static_cast<double>(packed.ends[i]);
  napi_create_typedarray(env, napi_float64_array, count, buffer, 0, &ends);
  napi_value flags = nullptr;
  napi_create_arraybuffer(env, packed.count * sizeof(uint32_t), &data, &buffer);
  if (packed.count > 0) std::memcpy(data, packed.flags, packed.count * sizeof(uint32_t));
  napi_create_typedarray(env, napi_uint32_array, packed.count, buffer, 0, &flags);
  set(env, object, "count", numberOf(env, static_cast<double>(packed.count)));
  set(env, object, "bytes", bytes);
  set(env, object, "ends", ends);
  set(env, object, "flags", flags);
  if (handle == nullptr) bough_entries_close(entries);
  return object;
}

napi_value resultOf(napi_env env, Call& call) {
  napi_value value = nullptr;
  napi_get_undefined(env, &value);
  switch (call.operation->gives) {
    case Gives::Nothing: break;
    case Gives::Text: value = stringOf(env, {call.text.data, call.text.size}); break;
    case Gives::Bytes: napi_create_buffer_copy(env, call.text.size, call.text.data, nullptr, &value); break;
    case Gives::Handle: value = numberOf(env, static_cast<double>(reinterpret_cast<uintptr_t>(call.handle))); break;
    case Gives::Entries: value = entriesOf(env, call.handle); break;
    case Gives::Appended:
      napi_create_object(env, &value);
      set(env, value, "lastId", stringOf(env, {call.text.data, call.text.size}));
      set(env, value, "appended", numberOf(env, static_cast<double>(call.counts.appended)));
      set(env, value, "duplicates", numberOf(env, static_cast<double>(call.counts.duplicates)));
      break;
  }
  if (call.text.data != nullptr) bough_free(call.text);
  return value;
}

napi_value errorOf(napi_env env, const Call& call) {
  napi_value error = nullptr;
  const std::string text = call.hint.empty() ? call.message : call.message + " (" + call.hint + ")";
  napi_create_error(env, stringOf(env, bough_code_name(call.code)), stringOf(env, text), &error);
  set(env, error, "hint", stringOf(env, call.hint));
  set(env, error, "tail", stringOf(env, call.tail));
  set(env, error, "batchPlace", numberOf(env, static_cast<double>(call.place)));
  napi_value retryable = nullptr;
  napi_get_boolean(env, call.retryable, &retryable);
  set(env, error, "retryable", retryable);
  return error;
}

// The parameters of run and runSync: a name, a list, and for append the entries.
std::unique_ptr<Call> readCall(napi_env env, napi_callback_info info) {
  size_t count = 3;
  napi_value given[3];
  napi_get_cb_info(env, info, &count, given, nullptr, nullptr);
  auto call = std::make_unique<Call>();
  call->operation = count >= 2 ? findOperation(env, given[0]) : nullptr;
  if (call->operation == nullptr || !readList(env, given[1], call->arguments)) return nullptr;
  if (call->operation->gives == Gives::Appended && !readEntries(env, given[2], *call)) return nullptr;
  return call;
}

napi_value runSync(napi_env env, napi_callback_info info) {
  const auto call = readCall(env, info);
  if (!call) return nullptr;
  call->code = call->operation->run(*call);
  if (call->code == BOUGH_OK) return resultOf(env, *call);
  napi_throw(env, errorOf(env, *call));
  return nullptr;
}

napi_value runAsync(napi_env env, napi_callback_info info) {
  auto call = readCall(env, info);
  if (!call) return nullptr;
  napi_value promise = nullptr;
  napi_create_promise(env, &call->deferred, &promise);
  const auto execute = [](napi_env, void* data) {
    auto& running = *static_cast<Call*>(data);
    running.code = running.operation->run(running);
  };
  const auto complete = [](napi_env done, napi_status, void* data) {
    const std::unique_ptr<Call> finished(static_cast<Call*>(data));
    if (finished->code == BOUGH_OK) {
      napi_resolve_deferred(done, finished->deferred, resultOf(done, *finished));
    } else {
      napi_reject_deferred(done, finished->deferred, errorOf(done, *finished));
    }
    napi_delete_async_work(done, finished->work);
  };
  napi_create_async_work(env, nullptr, stringOf(env, "bough"), execute, complete, call.get(), &call->work);
  napi_queue_async_work(env, call->work);
  call.release();  // complete() owns it
  return promise;
}

// A follower's entries, on their way to the main thread.
struct Followed {
  bough_entries* entries;
  int32_t code;
};

int32_t onEntries(void* data, bough_entries* entries, int32_t code) {
  auto* followed = new Followed{entries, code};
  const auto function = static_cast<napi_threadsafe_function>(data);
  if (napi_call_threadsafe_function(function, followed, napi_tsfn_nonblocking) == napi_ok) return 1;
  if (entries != nullptr) bough_entries_close(entries);
  delete followed;
  return 0;
}

void callFollowing(napi_env env, napi_value callback, void*, void* data) {
  const std::unique_ptr<Followed> followed(static_cast<Followed*>(data));
  if (env == nullptr) {  // the environment is ending
    if (followed->entries != nullptr) bough_entries_close(followed->entries);
    return;
  }
  napi_value values[2];
  napi_get_undefined(env, &values[0]);
  if (followed->entries != nullptr) values[0] = entriesOf(env, followed->entries);
  values[1] = stringOf(env, bough_code_name(followed->code));
  napi_value undefined = nullptr;
  napi_get_undefined(env, &undefined);
  napi_call_function(env, undefined, callback, 2, values, nullptr);
}

// followStart(handle, callback): callback(entries, code) for what comes, until followClose.
napi_value followStart(napi_env env, napi_callback_info info) {
  size_t count = 2;
  napi_value given[2];
  napi_get_cb_info(env, info, &count, given, nullptr, nullptr);
  double handle = 0;
  if (count < 2 || napi_get_value_double(env, given[0], &handle) != napi_ok) {
    napi_throw_type_error(env, nullptr, "followStart needs a handle and a function");
    return nullptr;
  }
  napi_threadsafe_function function = nullptr;
  if (napi_create_threadsafe_function(env, given[1], nullptr, stringOf(env, "bough follow"), 0, 1, nullptr, nullptr,
                                      nullptr, callFollowing, &function) != napi_ok) {
    napi_throw_type_error(env, nullptr, "followStart needs a handle and a function");
    return nullptr;
  }
  auto* follower = reinterpret_cast<bough_follower*>(static_cast<uintptr_t>(handle));
  const auto release = [](void* data) {
    napi_release_threadsafe_function(static_cast<napi_threadsafe_function>(data), napi_tsfn_release);
  };
  if (bough_follower_start(follower, onEntries, function, release) != BOUGH_OK) {
    napi_release_threadsafe_function(function, napi_tsfn_abort);
    napi_throw_error(env, "bad_handle", "the follower is closed, or has a callback already");
  }
  return nullptr;
}

napi_value followClose(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value given[1];
  napi_get_cb_info(env, info, &count, given, nullptr, nullptr);
  double handle = 0;
  if (count == 1 && napi_get_value_double(env, given[0], &handle) == napi_ok) {
    bough_follower_close(reinterpret_cast<bough_follower*>(static_cast<uintptr_t>(handle)));
  }
  return nullptr;
}

napi_value closeCursor(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value given[1];
  napi_get_cb_info(env, info, &count, given, nullptr, nullptr);
  double handle = 0;
  if (count == 1 && napi_get_value_double(env, given[0], &handle) == napi_ok) {
    bough_cursor_close(reinterpret_cast<bough_cursor*>(static_cast<uintptr_t>(handle)));
  }
  return nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) napi_value napi_register_module_v1(napi_env env, napi_value exports) {
  const std::pair<const char*, napi_callback> functions[] = {{"run", runAsync},
                                                             {"runSync", runSync},
                                                             {"followStart", followStart},
                                                             {"followClose", followClose},
                                                             {"closeCursor", closeCursor}};
  for (const auto& [name, callback] : functions) {
    napi_value function = nullptr;
    napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, nullptr, &function);
    set(env, exports, name, function);
  }
  set(env, exports, "version", stringOf(env, bough_library_version()));
  return exports;
}

extern "C" __attribute__((visibility("default"))) int32_t node_api_module_get_api_version_v1() {
  return NAPI_VERSION;
}
