// Bounds the memory that several threads use together: each reserves the bytes that it is about to work on.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace bough {

class ByteBudget {
 public:
  explicit ByteBudget(std::uint64_t maxBytes) : maxBytes_(maxBytes) {}

  /// Reserves `bytes`, for as long as this object exists. Waits until the bytes fit; a request larger than the budget
  /// waits until no other thread has a share.
  class Share {
   public:
    Share(ByteBudget& budget, std::uint64_t bytes) : budget_(budget), bytes_(std::min(bytes, budget.maxBytes_)) {
      std::unique_lock lock(budget_.mutex_);
      budget_.freed_.wait(lock, [&] { return budget_.used_ + bytes_ <= budget_.maxBytes_; });
      budget_.used_ += bytes_;
    }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share() {
      {
        const std::scoped_lock lock(budget_.mutex_);
        budget_.used_ -= bytes_;
      }
      budget_.freed_.notify_all();
    }

   private:
    ByteBudget& budget_;
    std::uint64_t bytes_;
  };

 private:
  std::uint64_t maxBytes_;
  std::uint64_t used_ = 0;
  std::mutex mutex_;
  std::condition_variable freed_;
};

}  // namespace bough
