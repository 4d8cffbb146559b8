// Threads that append to one session at the same time share one write and one sync.
//
// The first one that comes is the leader: it commits its own work, and all that gathers while it waits for the disk is
// the next group, led by the first of those. Nobody waits longer than for the group before it and its own.
//
// An exception of the commit (there is only std::bad_alloc) is thrown again in every thread of the group, and the next
// group goes on: the queue itself needs no memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
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
    if (!comeFirst(self)) self.turn.wait(Turn::Wait);
    if (self.turn != Turn::Done) lead();
    if (self.failure) std::rethrow_exception(self.failure);
  }

 private:
  enum class Turn : std::uint32_t { Wait, Lead, Done };
  struct Waiter {
    Work* work = nullptr;
    std::size_t weight = 0;
    Waiter* next = nullptr;
    std::exception_ptr failure = {};
    std::atomic<Turn> turn = Turn::Wait;
  };

  static void tell(Waiter& waiter, Turn turn) {
    waiter.turn = turn;
    waiter.turn.notify_one();
  }

  // True when nobody leads: then it leads at once, a group of its own.
  bool comeFirst(Waiter& self) {
    const std::lock_guard lock(mutex_);
    (last_ != nullptr ? last_->next : first_) = &self;
    last_ = &self;
    return !std::exchange(leading_, true);
  }

  // Commits the group that begins with the caller, and hands over to the next one.
  void lead() {
    Waiter* const group = takeGroup();
    std::exception_ptr failure;
    try {
      works_.clear();
      for (Waiter* waiter = group; waiter != nullptr; waiter = waiter->next) works_.push_back(waiter->work);
      commit_(works_);
    } catch (...) {
      failure = std::current_exception();
    }
    group->failure = failure;
    // Whoever is told that it is done may be gone at once, so each is looked at for the last time here.
    for (Waiter* waiter = group->next; waiter != nullptr;) {
      Waiter& done = *std::exchange(waiter, waiter->next);
      done.failure = failure;
      tell(done, Turn::Done);
    }
    const std::lock_guard lock(mutex_);
    leading_ = first_ != nullptr;
    if (leading_) tell(*first_, Turn::Lead);
  }

  // Takes the first waiters out of the queue, as many as make a group.
  Waiter* takeGroup() {
    const std::lock_guard lock(mutex_);
    Waiter* const group = first_;
    Waiter* end = group;
    for (std::size_t weight = group->weight; end->next != nullptr; end = end->next) {
      weight += end->next->weight;
      if (weight > weightLimit_) break;
    }
    first_ = std::exchange(end->next, nullptr);
    if (first_ == nullptr) last_ = nullptr;
    return group;
  }

  Commit commit_;
  std::size_t weightLimit_;
  std::mutex mutex_;
  Waiter* first_ = nullptr;  // of the queue
  Waiter* last_ = nullptr;
  bool leading_ = false;
  std::vector<Work*> works_;  // the leader's; kept from group to group, so that it needs no memory
};

}  // namespace bough
