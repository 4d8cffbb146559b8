// State that a child of fork(2) must not share with its parent.
//
// fork copies memory as it is at that moment, but only the thread that called it. A mutex that another thread held
// stays locked in the child forever, what that mutex guards may be half changed, and a flock belongs to the open file,
// which both processes share. So a child leaves such state alone and makes its own.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

namespace bough {

/// Counted by a handler in each child of fork; see forkCount.
extern std::atomic<unsigned> forksSoFar;

/// A number that is another one after fork(2), in the child. Costs no system call.
inline unsigned forkCount() {
  return forksSoFar.load(std::memory_order_relaxed);
}

/// Keeps fork(2) out as long as it lives: a fork waits until no thread has one, and a thread that wants one meanwhile
/// waits until the fork is done. For calls of a library that has mutexes for the whole process and does not know of
/// fork (SQLite): a child that was made while another thread held such a mutex would wait for it forever. May be taken
/// again by the thread that has it, and that thread may fork. Whoever has one must not wait for another thread.
class NoForkMeanwhile {
 public:
  NoForkMeanwhile() {
    if (depth_++ == 0) enter();
  }
  NoForkMeanwhile(const NoForkMeanwhile&) = delete;
  NoForkMeanwhile& operator=(const NoForkMeanwhile&) = delete;
  ~NoForkMeanwhile() {
    if (--depth_ == 0) inside_.fetch_sub(1);
  }

  /// Sleeps; forks need not wait for that.
  static void sleepOutside(int microseconds);

 private:
  friend struct ForkHandlers;
  static void enter() {
    inside_.fetch_add(1);
    if (forking_.load() != 0) waitForFork();
  }
  static void waitForFork();

  static std::atomic<unsigned> inside_;   // threads
  static std::atomic<unsigned> forking_;  // threads that fork, or wait for that
  static constinit thread_local unsigned depth_;
};

/// A T for each process that uses it. The child of a fork gets a new T at its first call; the parent's T stays in the
/// child's memory, untouched and never destroyed. May be called from any thread.
template <typename T>
class PerProcess {
 public:
  using Make = std::function<std::unique_ptr<T>()>;

  explicit PerProcess(Make make = [] { return std::make_unique<T>(); }) : make_(std::move(make)), slot_(makeSlot()) {}
  PerProcess(const PerProcess&) = delete;
  PerProcess& operator=(const PerProcess&) = delete;
  ~PerProcess() {
    Slot* slot = slot_.load();
    if (slot->forks == forkCount()) delete slot;
  }

  T& operator*() { return *here().value; }
  T* operator->() { return here().value.get(); }

 private:
  struct Slot {
    unsigned forks = 0;
    std::unique_ptr<T> value;
  };

  Slot* makeSlot() { return new Slot{.forks = forkCount(), .value = make_()}; }

  Slot& here() {
    Slot* slot = slot_.load(std::memory_order_acquire);
    return slot->forks == forkCount() ? *slot : *replace(slot);
  }

  // Threads of the child may come at the same time: the first one's T is taken.
  Slot* replace(Slot* inherited) {
    std::unique_ptr<Slot> fresh(makeSlot());
    return slot_.compare_exchange_strong(inherited, fresh.get()) ? fresh.release() : inherited;
  }

  Make make_;
  std::atomic<Slot*> slot_;
};

}  // namespace bough
