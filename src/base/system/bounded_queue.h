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
  /// `producers` is the number of threads that push; each must call producerDone() at the end.
  explicit BoundedQueue(std::size_t maxValues, std::size_t producers = 1)
      : maxValues_(maxValues), producers_(producers) {}

  /// Waits while the queue is full. Returns false after stop().
  bool push(T&& value) {
    std::unique_lock lock(mutex_);
    notFull_.wait(lock, [&] { return stopped_ || values_.size() < maxValues_; });
    if (stopped_) return false;
    values_.push_back(std::move(value));
    lock.unlock();
    notEmpty_.notify_one();
    return true;
  }

  /// Waits while the queue is empty. Returns std::nullopt when no more values will come.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    notEmpty_.wait(lock, [&] { return stopped_ || producers_ == 0 || !values_.empty(); });
    if (stopped_ || values_.empty()) return std::nullopt;
    std::optional<T> value(std::move(values_.front()));
    values_.pop_front();
    lock.unlock();
    notFull_.notify_one();
    return value;
  }

  /// Ends one producer: it pushes no more values.
  void producerDone() {
    const std::scoped_lock lock(mutex_);
    --producers_;
    notEmpty_.notify_all();
  }

  /// Ends the queue: no more values are taken.
  void stop() {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    notEmpty_.notify_all();
    notFull_.notify_all();
  }

 private:
  std::size_t maxValues_;
  std::size_t producers_;
  bool stopped_ = false;
  std::mutex mutex_;
  std::condition_variable notEmpty_;
  std::condition_variable notFull_;
  std::deque<T> values_;
};

}  // namespace bough
