// The open handles of an environment (the main thread or a worker). Closing a store also closes its sessions and
// cursors, so that their files are closed. When the environment ends, all stores are closed, which writes the buffered
// entries.
#pragma once

#include <bough/bough_c.h>
#include <node_api.h>

#include <map>
#include <set>

#include "call.h"

namespace {

class OpenHandles {
 public:
  OpenHandles() = default;
  OpenHandles(const OpenHandles&) = delete;
  OpenHandles& operator=(const OpenHandles&) = delete;
  ~OpenHandles() {
    for (void* const store : stores_) bough_store_close(static_cast<bough_store*>(store));
    for (const auto& [handle, part] : parts_) part.close(handle);
  }

  static void begin(napi_env env) {
    const auto end = [](napi_env, void* handles, void*) { delete static_cast<OpenHandles*>(handles); };
    napi_set_instance_data(env, new OpenHandles, end, nullptr);
  }
  /// Returns null when the environment is ending.
  static OpenHandles* of(napi_env env) {
    void* handles = nullptr;
    napi_get_instance_data(env, &handles);
    return static_cast<OpenHandles*>(handles);
  }

  /// Records a call that succeeded.
  void note(const Call& call) {
    const auto is = [&](int32_t (*operation)(Call&)) { return call.operation->run == operation; };
    if (is(run<bough_store_open>)) {
      stores_.insert(call.handle);
    } else if (is(run<bough_store_close>)) {
      closeStore(call.handleAt(0));
    } else if (is(run<bough_session_create>) || is(run<bough_session_open>)) {
      parts_[call.handle] = {call.handleAt(0), closeSession};
    } else if (is(run<bough_fork>) || is(run<bough_migrate_provider>)) {
      parts_[call.handle] = {storeOf(call.handleAt(0)), closeSession};
    } else if (is(run<bough_cursor_open>)) {
      parts_[call.handle] = {storeOf(call.handleAt(0)), closeCursor};
    } else if (is(runClose<bough_session_close>) || is(runClose<bough_cursor_close>)) {
      parts_.erase(call.handleAt(0));
    }
  }

  void flush() const {
    for (void* const store : stores_) bough_store_flush(static_cast<bough_store*>(store));
  }

 private:
  struct Part {
    void* store = nullptr;
    void (*close)(void*) = nullptr;
  };

  static void closeSession(void* handle) { bough_session_close(static_cast<bough_session*>(handle)); }
  static void closeCursor(void* handle) { bough_cursor_close(static_cast<bough_cursor*>(handle)); }

  [[nodiscard]] void* storeOf(void* session) const {
    const auto found = parts_.find(session);
    return found == parts_.end() ? nullptr : found->second.store;
  }

  void closeStore(void* store) {
    stores_.erase(store);
    std::erase_if(parts_, [&](const auto& each) {
      const bool isOfStore = each.second.store == store;
      if (isOfStore) each.second.close(each.first);
      return isOfStore;
    });
  }

  std::set<void*> stores_;
  std::map<void*, Part> parts_;  // sessions and cursors
};

// Flushes all stores at the end of the process. Does not close them, because other code may still use them.
napi_value flushStores(napi_env env, napi_callback_info) {
  if (const OpenHandles* handles = OpenHandles::of(env)) handles->flush();
  return nullptr;
}

}  // namespace
