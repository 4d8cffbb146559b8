// State that a child of fork(2) must not share with its parent.
//
// fork copies the memory as it is at that moment, but only the calling thread. A mutex that another thread held stays
// locked in the child forever, the data that it guards may be half changed, and a flock belongs to the open file, which
// both processes share. So a child must leave such state alone and create its own.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

namespace bough {

/// Incremented in each child by a fork handler; see forkCount.
extern std::atomic<unsigned> forkCounter;

/// Returns a number that differs between a child of fork(2) and its parent. Needs no system call.
inline unsigned forkCount() {
  return forkCounter.load(std::memory_order_relaxed);
}

/// Blocks fork(2) during the lifetime of this object: a fork waits until no thread has such an object, and a thread
/// that wants one during a fork waits until the fork is done. Needed for calls into a library that has process-wide
/// mutexes and does not handle fork (SQLite): if a child were created while another thread held such a mutex, the child
/// would wait for it forever. Reentrant; the thread that has the object may itself fork. It must not wait for another
/// thread.
class ForkBlocker {
 public:
  ForkBlocker() {
    if (depth_++ == 0) enter();
  }
  ForkBlocker(const ForkBlocker&) = delete;
  ForkBlocker& operator=(const ForkBlocker&) = delete;
  ~ForkBlocker() {
    if (--depth_ == 0) blockingThreads_.fetch_sub(1);
  }

  /// Sleeps without blocking forks.
  static void sleepUnblocked(int microseconds);

 private:
  friend struct ForkHandlers;
  static void enter() {
    blockingThreads_.fetch_add(1);
    if (forkingThreads_.load() != 0) waitForFork();
  }
  static void waitForFork();

  static std::atomic<unsigned> blockingThreads_;  // threads inside
  static std::atomic<unsigned> forkingThreads_;   // threads that fork or wait to fork
  static constinit thread_local unsigned depth_;
};

/// One T per process. The child of a fork creates a new T at its first use; the parent's T stays in the child's memory,
/// untouched and never destroyed. Thread-safe.
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

  // Several threads of the child may come here at the same time: the first T wins.
  Slot* replace(Slot* inherited) {
    std::unique_ptr<Slot> fresh(makeSlot());
    return slot_.compare_exchange_strong(inherited, fresh.get()) ? fresh.release() : inherited;
  }

  Make make_;
  std::atomic<Slot*> slot_;
};

}  // namespace bough
