// Starting threads. When the system has no threads left, the constructors of the standard library throw. The functions
// here return an error, or start fewer threads: a caller that starts several can also do the work alone.
#pragma once

#include <bough/error.h>

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

namespace bough {

/// Catches an exception in a thread and passes it to the thread that waits for it, because an exception that leaves a
/// thread ends the process. The only expected exception is std::bad_alloc.
class ThreadFailure {
 public:
  /// Runs the work of a thread.
  template <typename Work>
  void guard(Work work) noexcept {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!thrown_) thrown_ = std::current_exception();
      failed_ = true;
    }
  }
  [[nodiscard]] bool failed() const { return failed_; }
  /// Rethrows the first caught exception, if any. The threads must have ended.
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr thrown_;
  std::atomic<bool> failed_ = false;
};

/// Starts a thread. Returns Busy when the system has no threads left; `purpose` ("to renew a lease") completes the
/// message.
Result<std::jthread> startThread(std::string_view purpose, std::function<void()> work);

/// Starts `count` threads, or as many as the system allows, possibly none. Each gets its number, starting with 0. Does
/// not throw when memory runs out, but starts fewer threads.
std::vector<std::jthread> startThreads(std::size_t count, const std::function<void(std::size_t number)>& work);

}  // namespace bough
