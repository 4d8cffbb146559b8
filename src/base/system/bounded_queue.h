// A queue between threads with a limited length: the faster side waits.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace bough {

template <typename T>
class BoundedQueue {
 public:
  /// `givers` is the number of threads that push; each must call endGiving() at the end.
  explicit BoundedQueue(std::size_t most, std::size_t givers = 1) : most_(most), givers_(givers) {}

  /// Waits while the queue is full. Returns false after stop().
  bool push(T&& value) {
    std::unique_lock lock(mutex_);
    taken_.wait(lock, [&] { return stopped_ || values_.size() < most_; });
    if (stopped_) return false;
    values_.push_back(std::move(value));
    lock.unlock();
    given_.notify_one();
    return true;
  }

  /// Waits while the queue is empty. Returns std::nullopt when no more values will come.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    given_.wait(lock, [&] { return stopped_ || givers_ == 0 || !values_.empty(); });
    if (stopped_ || values_.empty()) return std::nullopt;
    std::optional<T> value(std::move(values_.front()));
    values_.pop_front();
    lock.unlock();
    taken_.notify_one();
    return value;
  }

  /// Ends one giver: it pushes no more values.
  void endGiving() {
    const std::scoped_lock lock(mutex_);
    --givers_;
    given_.notify_all();
  }

  /// Ends the queue: no more values are taken.
  void stop() {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    given_.notify_all();
    taken_.notify_all();
  }

 private:
  std::size_t most_;
  std::size_t givers_;
  bool stopped_ = false;
  std::mutex mutex_;
  std::condition_variable given_;
  std::condition_variable taken_;
  std::deque<T> values_;
};

}  // namespace bough
