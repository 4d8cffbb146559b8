// Threads that append to one session at the same time share one write and one sync.
//
// The first thread to arrive becomes the leader and commits its own work. All work that arrives while the leader waits
// for the disk forms the next group, and the first thread of that group leads it. Unless a group is full, a thread
// waits for at most two commits: the one that is running and its own.
//
// An exception in the commit (only std::bad_alloc is possible) is rethrown in every thread of the group, and the next
// group proceeds: the queue itself allocates no memory.
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
  /// Commits a group, in order. Only one thread at a time calls it.
  using Commit = std::function<void(const std::vector<Work*>&)>;

  /// A group ends before the work that would raise its weight above `weightLimit`, but has at least one work.
  GroupCommit(Commit commit, std::size_t weightLimit) : commit_(std::move(commit)), weightLimit_(weightLimit) {}

  /// Returns after the group that contains `work` was committed.
  void run(Work& work, std::size_t weight) {
    Waiter self{.work = &work, .weight = weight};
    if (!enqueueAndTryLead(self)) self.turn.wait(Turn::Wait);
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

  static void wake(Waiter& waiter, Turn turn) {
    waiter.turn = turn;
    waiter.turn.notify_one();
  }

  // Adds `self` to the queue. Returns true when nobody is leading: then the caller is the leader at once.
  bool enqueueAndTryLead(Waiter& self) {
    const std::lock_guard lock(mutex_);
    (last_ != nullptr ? last_->next : first_) = &self;
    last_ = &self;
    return !std::exchange(leading_, true);
  }

  // Commits the group that begins with the caller, then hands over to the next group.
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
    // A waiter may be destroyed as soon as it is woken, so this loop reads each waiter before it wakes it.
    for (Waiter* waiter = group->next; waiter != nullptr;) {
      Waiter& done = *std::exchange(waiter, waiter->next);
      done.failure = failure;
      wake(done, Turn::Done);
    }
    const std::lock_guard lock(mutex_);
    leading_ = first_ != nullptr;
    if (leading_) wake(*first_, Turn::Lead);
  }

  // Removes the first waiters from the queue, as many as fit into a group.
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
  std::vector<Work*> works_;  // used by the leader; kept between groups, so that it needs no allocation
};

}  // namespace bough
