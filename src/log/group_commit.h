// Threads that append to one session at the same time share one write and one sync.
//
// The first one that comes is the leader: it commits its own work and all that gathers while it waits for the disk is
// the next group, led by the first of those. Nobody waits longer than for the group before it and its own.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

namespace bough {

template <typename Work>
class GroupCommit {
 public:
  /// Commits a group, in order. Called by one thread at a time.
  using Commit = std::function<void(const std::vector<Work*>&)>;

  /// `weightLimit`: a group ends before the work that would bring its weight above this, unless it is the first.
  GroupCommit(Commit commit, std::size_t weightLimit) : commit_(std::move(commit)), weightLimit_(weightLimit) {}

  /// Returns when `work` was part of a group that was committed.
  void run(Work& work, std::size_t weight) {
    Waiter self{.work = &work, .weight = weight};
    std::unique_lock lock(mutex_);
    queue_.push_back(&self);
    if (leading_) {
      self.wake.wait(lock, [&] { return self.done || self.leads; });
      if (self.done) return;
    }
    leading_ = true;
    const std::vector<Waiter*> group = takeGroup();
    std::vector<Work*> works;
    works.reserve(group.size());
    for (const Waiter* waiter : group) works.push_back(waiter->work);

    lock.unlock();
    commit_(works);
    lock.lock();

    for (Waiter* waiter : group) {
      waiter->done = true;
      if (waiter != &self) waiter->wake.notify_one();
    }
    leading_ = !queue_.empty();
    if (leading_) {
      queue_.front()->leads = true;
      queue_.front()->wake.notify_one();
    }
  }

 private:
  struct Waiter {
    Work* work = nullptr;
    std::size_t weight = 0;
    bool done = false;
    bool leads = false;
    std::condition_variable wake = {};
  };

  std::vector<Waiter*> takeGroup() {
    std::vector<Waiter*> group;
    std::size_t weight = 0;
    while (!queue_.empty() && (group.empty() || weight + queue_.front()->weight <= weightLimit_)) {
      weight += queue_.front()->weight;
      group.push_back(queue_.front());
      queue_.pop_front();
    }
    return group;
  }

  Commit commit_;
  std::size_t weightLimit_;
  std::mutex mutex_;
  std::deque<Waiter*> queue_;
  bool leading_ = false;
};

}  // namespace bough
