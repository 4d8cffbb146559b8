// A request to stop, seen by everything that can take long: streams, waits between retries, tools.
//
// The program owns one token a conversation and gives it to Chat, to Agent, or to a provider and the tools of its own.
// What works looks at it at least every few tens of milliseconds and then ends what it is doing: a stream that broke
// off is an aborted Answer, a tool that was stopped a result that says so.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace bough::agent {

/// Set from any thread, or from a signal handler; looked at often by whoever works. Neither copied nor moved: it must
/// outlive everything that was given a reference to it.
class CancelToken {
 public:
  /// Asks to stop; stays set until reset(). Takes no lock and allocates nothing: safe in a signal handler.
  void request() noexcept { requested_.store(true, std::memory_order_relaxed); }
  /// Takes the request back. For between two turns: whoever is still stopping for it would go on.
  void reset() noexcept { requested_.store(false, std::memory_order_relaxed); }
  /// Costs one load from memory, and orders nothing else.
  [[nodiscard]] bool requested() const noexcept { return requested_.load(std::memory_order_relaxed); }

  /// Waits for this time; false when it was cut short by a request, which takes at most 10 ms to notice.
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
