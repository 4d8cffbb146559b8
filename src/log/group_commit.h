// Threads that append to one session at the same time share one write and one sync.
//
// The first one that comes is the leader: it commits its own work and all that gathers while it waits for the disk is
// the next group, led by the first of those. Nobody waits longer than for the group before it and its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>
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
    if (!comeFirst(self)) {
      self.turn.wait(Turn::Wait);
      if (self.turn == Turn::Done) return;
      const std::lock_guard lock(mutex_);
      takeGroup();
    }
    commit_(works_);

    // Whoever is told that it is done may be gone at once, so each is looked at for the last time here.
    for (Waiter* waiter : group_) {
      if (waiter != &self) tell(*waiter, Turn::Done);
    }
    const std::lock_guard lock(mutex_);
    leading_ = !queue_.empty();
    if (leading_) tell(*queue_.front(), Turn::Lead);
  }

 private:
  enum class Turn : std::uint32_t { Wait, Lead, Done };
  struct Waiter {
    Work* work = nullptr;
    std::size_t weight = 0;
    std::atomic<Turn> turn = Turn::Wait;
  };

  static void tell(Waiter& waiter, Turn turn) {
    waiter.turn = turn;
    waiter.turn.notify_one();
  }

  // True when nobody leads: then it leads at once, a group of its own.
  bool comeFirst(Waiter& self) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(&self);
    if (std::exchange(leading_, true)) return false;
    takeGroup();
    return true;
  }

  // Needs mutex_.
  void takeGroup() {
    group_.clear();
    works_.clear();
    std::size_t weight = 0;
    while (!queue_.empty() && (group_.empty() || weight + queue_.front()->weight <= weightLimit_)) {
      weight += queue_.front()->weight;
      group_.push_back(queue_.front());
      works_.push_back(queue_.front()->work);
      queue_.pop_front();
    }
  }

  Commit commit_;
  std::size_t weightLimit_;
  std::mutex mutex_;
  std::deque<Waiter*> queue_;
  bool leading_ = false;
  // The leader's alone; kept from group to group, so that they need no memory.
  std::vector<Waiter*> group_;
  std::vector<Work*> works_;
};

}  // namespace bough
