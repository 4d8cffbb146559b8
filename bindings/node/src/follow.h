// A follower for JavaScript. Its entries come from a thread of the library and wait until JavaScript asks for more, so
// a slow reader costs no memory. It ends with close(), when JavaScript drops the last reference, and when its
// environment ends (a worker that is terminated). It keeps the process alive only while JavaScript waits for entries.
#pragma once

#include <bough/bough_c.h>
#include <node_api.h>

#include <condition_variable>
#include <memory>
#include <mutex>

#include "values.h"

namespace {

struct Following {
  bough_follower* follower = nullptr;
  napi_threadsafe_function function = nullptr;
  std::mutex mutex;
  std::condition_variable changed;
  bool wanted = false;    // JavaScript asked for more
  bool ended = false;     // no more entries may be passed on
  bool released = false;  // Node has released `function`; do not use it any more

  void more(napi_env env) {
    const std::lock_guard lock(mutex);
    if (!released) napi_ref_threadsafe_function(env, function);
    wanted = true;
    changed.notify_all();
  }
  void close(napi_env = nullptr) {
    {
      const std::lock_guard lock(mutex);
      ended = true;
      changed.notify_all();
    }
    bough_follower_close(follower);
  }
};
using Shared = std::shared_ptr<Following>;

// New entries, or the code of the failure that ended the follower.
struct Followed {
  bough_entries* entries;
  int32_t code;
};

// Runs on the library's thread.
int32_t onEntries(void* data, bough_entries* entries, int32_t code) {
  Following& following = **static_cast<Shared*>(data);
  auto followed = std::make_unique<Followed>(Followed{entries, code});
  std::unique_lock lock(following.mutex);
  following.changed.wait(lock, [&] { return following.wanted || following.ended; });
  following.wanted = false;
  if (!following.ended && !following.released &&
      napi_call_threadsafe_function(following.function, followed.get(), napi_tsfn_nonblocking) == napi_ok) {
    followed.release();
    return 1;
  }
  bough_entries_close(entries);
  return 0;
}

void onEnd(void* data) {
  const std::unique_ptr<Shared> following(static_cast<Shared*>(data));
  const std::lock_guard lock((*following)->mutex);
  if (!(*following)->released) napi_release_threadsafe_function((*following)->function, napi_tsfn_release);
}

// Runs on the main thread.
void callFollowing(napi_env env, napi_value callback, void* context, void* data) {
  const std::unique_ptr<Followed> followed(static_cast<Followed*>(data));
  if (env == nullptr) return bough_entries_close(followed->entries);  // the environment is ending
  napi_unref_threadsafe_function(env, (*static_cast<Shared*>(context))->function);
  napi_value values[2];
  napi_get_undefined(env, &values[0]);
  if (followed->entries != nullptr) values[0] = entriesOf(env, followed->entries);
  values[1] = stringOf(env, codeName(followed->code));
  napi_value undefined = nullptr;
  napi_get_undefined(env, &undefined);
  napi_call_function(env, undefined, callback, 2, values, nullptr);
}

void onReleased(napi_env, void* data, void*) {
  const std::unique_ptr<Shared> following(static_cast<Shared*>(data));
  const std::lock_guard lock((*following)->mutex);
  (*following)->released = true;
  (*following)->ended = true;
  (*following)->changed.notify_all();
}

// followStart(handle, callback) calls callback(entries, code) once for each followMore. Returns the argument for
// followMore and followClose.
napi_value followStart(napi_env env, napi_callback_info info) {
  size_t count = 2;
  napi_value given[2];
  napi_get_cb_info(env, info, &count, given, nullptr, nullptr);
  double handle = 0;
  auto following = std::make_shared<Following>();
  auto kept = std::make_unique<Shared>(following);
  if (count < 2 || napi_get_value_double(env, given[0], &handle) != napi_ok ||
      napi_create_threadsafe_function(env, given[1], nullptr, stringOf(env, "bough follow"), 0, 1, kept.get(),
                                      onReleased, kept.get(), callFollowing, &following->function) != napi_ok) {
    napi_throw_type_error(env, nullptr, "followStart needs a handle and a function");
    return nullptr;
  }
  kept.release();
  napi_unref_threadsafe_function(env, following->function);
  following->follower = reinterpret_cast<bough_follower*>(static_cast<uintptr_t>(handle));
  auto theirs = std::make_unique<Shared>(following);
  if (bough_follower_start(following->follower, onEntries, theirs.get(), onEnd) != BOUGH_OK) {
    napi_release_threadsafe_function(following->function, napi_tsfn_abort);
    napi_throw_error(env, "closed", "the follower is closed, or has a callback already");
    return nullptr;
  }
  theirs.release();
  const auto forgotten = [](napi_env, void* data, void*) {
    const std::unique_ptr<Shared> last(static_cast<Shared*>(data));
    (*last)->close();
  };
  auto own = std::make_unique<Shared>(following);
  napi_value external = nullptr;
  if (napi_create_external(env, own.get(), forgotten, nullptr, &external) != napi_ok) {
    following->close();
    return nullptr;
  }
  own.release();
  return external;
}

template <void (Following::*Action)(napi_env)>
napi_value onFollowing(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value given[1];
  napi_get_cb_info(env, info, &count, given, nullptr, nullptr);
  void* data = nullptr;
  if (count == 1 && napi_get_value_external(env, given[0], &data) == napi_ok)
    ((**static_cast<Shared*>(data)).*Action)(env);
  return nullptr;
}

}  // namespace
