// A serializer that lets something else happen during its work, as another thread or process could cause it.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "bough/entry.h"

namespace bough {

class HookedSerializer final : public EntrySerializer {
 public:
  /// Calls `act` once, right before the next entry is encoded or decoded.
  void beforeEncode(std::function<void()> act) { set(beforeEncode_, std::move(act)); }
  void beforeDecode(std::function<void()> act) { set(beforeDecode_, std::move(act)); }

  [[nodiscard]] int schemaVersion() const override { return jsonEntrySerializer().schemaVersion(); }
  Result<void> encode(const Entry& entry, std::string& out) const override {
    happen(beforeEncode_);
    return jsonEntrySerializer().encode(entry, out);
  }
  [[nodiscard]] Result<Entry> decode(std::string_view text) const override {
    happen(beforeDecode_);
    return jsonEntrySerializer().decode(text);
  }

 private:
  using Act = std::function<void()>;

  void set(Act& hook, Act act) {
    const std::lock_guard lock(mutex_);
    hook = std::move(act);
  }
  void happen(Act& hook) const {
    Act act;
    {
      const std::lock_guard lock(mutex_);
      act = std::exchange(hook, nullptr);
    }
    if (act) act();
  }

  mutable std::mutex mutex_;
  mutable Act beforeEncode_;
  mutable Act beforeDecode_;
};

}  // namespace bough
