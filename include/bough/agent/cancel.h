// A request to stop, seen by everything that can take long: streams, waits between retries, tools.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace bough::agent {

/// Set from any thread, or from a signal handler; looked at often by who works.
class CancelToken {
 public:
  void request() noexcept { requested_.store(true, std::memory_order_relaxed); }
  void reset() noexcept { requested_.store(false, std::memory_order_relaxed); }
  [[nodiscard]] bool requested() const noexcept { return requested_.load(std::memory_order_relaxed); }

  /// Waits; false when it was cut short by a request.
  [[nodiscard]] bool sleepFor(std::chrono::milliseconds time) const {
    constexpr std::chrono::milliseconds kLook{10};
    for (const auto end = std::chrono::steady_clock::now() + time; !requested();) {
      const auto left = end - std::chrono::steady_clock::now();
      if (left <= left.zero()) return true;
      std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, kLook));
    }
    return false;
  }

 private:
  std::atomic<bool> requested_{false};
  static_assert(std::atomic<bool>::is_always_lock_free);
};

}  // namespace bough::agent
