// The C interface (bough_c.h) for Node. Each call is named by its number, and runs either as a promise off the main
// thread, or synchronously.
//
// The arguments of a call are passed as one list, in the order of the C function's parameters. Texts are strings or
// buffers, handles are numbers, and options are members of the list. The out-parameters of the C function are the
// result.
#define NAPI_VERSION 8
#include <bough/bough_c.h>
#include <node_api.h>

#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "append_one.h"
#include "call.h"
#include "error.h"
#include "follow.h"
#include "open_handles.h"
#include "values.h"

namespace {

// Reads one argument. Returns false, with an exception pending, when a value has the wrong type.
bool readArgument(napi_env env, napi_value value, Argument& argument) {
  napi_valuetype type = napi_undefined;
  napi_typeof(env, value, &type);
  if (type == napi_undefined || type == napi_null) return true;
  if (type == napi_number) {
    argument.kind = Argument::Kind::Number;
    return napi_get_value_double(env, value, &argument.number) == napi_ok;
  }
  if (type == napi_boolean) {
    bool given = false;
    napi_get_value_bool(env, value, &given);
    argument.kind = Argument::Kind::Boolean;
    argument.number = given ? 1 : 0;
    return true;
  }
  argument.kind = Argument::Kind::Text;
  return readText(env, value, argument.text);
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

// Reads entries from one flat list: eight texts per entry, with true in place of the parent for a root.
bool readEntries(napi_env env, napi_value list, Call& call) {
  constexpr size_t kTexts = 8;
  if (!readList(env, list, call.entryTexts)) return false;
  call.entries.resize((call.entryTexts.size() + kTexts - 1) / kTexts);
  call.entryTexts.resize(call.entries.size() * kTexts);  // missing texts at the end are absent
  for (size_t i = 0; i < call.entries.size(); ++i) {
    const Argument* texts = &call.entryTexts[i * kTexts];
    const bool root = texts[1].kind == Argument::Kind::Boolean && texts[1].number == 1;
    for (size_t text = 0; text < kTexts; ++text) {
      const bool fits = texts[text].absent() || texts[text].kind == Argument::Kind::Text || (text == 1 && root);
      if (fits) continue;
      napi_throw_type_error(env, nullptr, "a member of an entry is not a text");
      return false;
    }
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

// Finds an operation by its index in `operations`.
const Operation* findOperation(napi_env env, napi_value place) {
  uint32_t number = 0;
  if (napi_get_value_uint32(env, place, &number) == napi_ok && number < std::size(kOperations)) {
    return &kOperations[number];
  }
  napi_throw_error(env, nullptr, "there is no such operation");
  return nullptr;
}

napi_value handleValue(napi_env env, void* handle) {
  return numberOf(env, static_cast<double>(reinterpret_cast<uintptr_t>(handle)));
}

// Converts the results of a call. Returns null, with an error in the call, when JavaScript cannot hold the result,
// because its strings and buffers have a maximum length.
napi_value resultOf(napi_env env, Call& call) {
  napi_value value = nullptr;
  napi_get_undefined(env, &value);
  if (OpenHandles* const handles = OpenHandles::of(env)) handles->note(call);
  switch (call.operation->gives) {
    case Gives::Nothing: break;
    case Gives::Number: value = numberOf(env, static_cast<double>(call.outNumber)); break;
    case Gives::Text: value = stringOf(env, {call.text.data, call.text.size}); break;
    case Gives::Bytes:
      if (napi_create_buffer_copy(env, call.text.size, call.text.data, nullptr, &value) != napi_ok) value = nullptr;
      break;
    case Gives::Handle: value = handleValue(env, call.handle); break;
    case Gives::HandleAndText:
      napi_create_object(env, &value);
      set(env, value, "handle", handleValue(env, call.handle));
      set(env, value, "text", stringOf(env, {call.text.data, call.text.size}));
      break;
    case Gives::Entries: value = entriesOf(env, call.handle); break;
    case Gives::Appended:
      napi_create_object(env, &value);
      set(env, value, "lastId", stringOf(env, {call.text.data, call.text.size}));
      set(env, value, "appended", numberOf(env, static_cast<double>(call.counts.appended)));
      set(env, value, "duplicates", numberOf(env, static_cast<double>(call.counts.duplicates)));
      break;
  }
  if (call.text.data != nullptr) bough_free(call.text);
  if (value == nullptr) {
    bool pending = false;
    napi_is_exception_pending(env, &pending);
    if (napi_value ignored = nullptr; pending) napi_get_and_clear_last_exception(env, &ignored);
    call.code = BOUGH_NO_MEMORY;
    call.message = "the result is too large for a JavaScript string or Buffer";
  }
  return value;
}

// Reads the parameters of run and runSync: an operation, a list of arguments, and for append the entries.
std::unique_ptr<Call> readCall(napi_env env, napi_callback_info info) {
  size_t count = 3;
  napi_value given[3];
  napi_get_cb_info(env, info, &count, given, nullptr, nullptr);
  try {
    auto call = std::make_unique<Call>();
    call->operation = count >= 2 ? findOperation(env, given[0]) : nullptr;
    if (call->operation == nullptr || !readList(env, given[1], call->arguments)) return nullptr;
    if (call->operation->gives == Gives::Appended && !readEntries(env, given[2], *call)) return nullptr;
    return call;
  } catch (const std::bad_alloc&) {
    napi_throw_range_error(env, nullptr, "memory ran out");
    return nullptr;
  }
}

napi_value runSync(napi_env env, napi_callback_info info) {
  const auto call = readCall(env, info);
  if (!call) return nullptr;
  call->code = call->operation->run(*call);
  if (call->code == BOUGH_OK) {
    if (napi_value const result = resultOf(env, *call)) return result;
  }
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
    napi_value const result = finished->code == BOUGH_OK ? resultOf(done, *finished) : nullptr;
    if (result != nullptr) {
      napi_resolve_deferred(done, finished->deferred, result);
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

}  // namespace

extern "C" __attribute__((visibility("default"))) napi_value napi_register_module_v1(napi_env env, napi_value exports) {
  OpenHandles::begin(env);
  const std::pair<const char*, napi_callback> functions[] = {{"run", runAsync},
                                                             {"runSync", runSync},
                                                             {"appendOneSync", appendOneSync},
                                                             {"flushStores", flushStores},
                                                             {"followStart", followStart},
                                                             {"followMore", onFollowing<&Following::more>},
                                                             {"followClose", onFollowing<&Following::close>}};
  for (const auto& [name, callback] : functions) {
    napi_value function = nullptr;
    napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, nullptr, &function);
    set(env, exports, name, function);
  }
  napi_value names = nullptr;
  napi_create_array(env, &names);
  for (uint32_t i = 0; i < std::size(kOperations); ++i) {
    napi_set_element(env, names, i, stringOf(env, kOperations[i].name));
  }
  set(env, exports, "operations", names);
  set(env, exports, "version", stringOf(env, bough_library_version()));
  return exports;
}

extern "C" __attribute__((visibility("default"))) int32_t node_api_module_get_api_version_v1() {
  return NAPI_VERSION;
}
