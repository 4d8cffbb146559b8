// A request to stop, which everything that can take long checks: streams, waits between retries, tools.
//
// The program owns one token per conversation and passes it to Chat, to Agent, or directly to a provider and to its own
// tools. Code that runs checks the token at least every few tens of milliseconds and then stops: a stream that broke
// off becomes an aborted Answer, and a tool that was stopped returns a result that says so.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace bough::agent {

/// A flag that any thread or a signal handler may set, and that running code checks often. It can be neither copied nor
/// moved, and must outlive everything that holds a reference to it.
class CancelToken {
 public:
  /// Requests a stop; the request stays until reset(). Takes no lock and allocates nothing, so it is safe in a signal
  /// handler.
  void request() noexcept { requested_.store(true, std::memory_order_relaxed); }
  /// Withdraws the request. Call it only between two turns: code that is still stopping would continue.
  void reset() noexcept { requested_.store(false, std::memory_order_relaxed); }
  /// Returns true when a stop was requested. Costs one relaxed load, which orders no other memory access.
  [[nodiscard]] bool requested() const noexcept { return requested_.load(std::memory_order_relaxed); }

  /// Waits for this time. Returns false when a request ended the wait early; it notices a request within 10 ms.
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
