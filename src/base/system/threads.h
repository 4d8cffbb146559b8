// Threads. The system may have none left, and then the constructors of the standard library throw. Here that is an
// error, or fewer threads: whoever starts several can also do the work alone.
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

/// What a thread threw (there is only std::bad_alloc), for whoever waits for the thread: an exception that leaves a
/// thread ends the process.
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
  /// Throws what was thrown, if anything was. The threads must have ended.
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr thrown_;
  std::atomic<bool> failed_ = false;
};

/// Starts a thread. Busy when the system has none left: `purpose` ("to renew a lease") completes the message.
Result<std::jthread> startThread(std::string_view purpose, std::function<void()> work);

/// Starts `count` threads, or as many as the system has left, which may be none. Each gets its number, from 0. Does not
/// throw when memory runs out: it starts fewer.
std::vector<std::jthread> startThreads(std::size_t count, const std::function<void(std::size_t number)>& work);

}  // namespace bough
