#include "capi/fork_gate.h"

#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <new>

namespace bough::capi {
namespace {

struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  unsigned inside = 0;   // threads
  unsigned forking = 0;  // threads that wait until nobody is inside
};

thread_local unsigned timesInside = 0;

Gate& gate();

// The mutex is held while the process forks.
void beforeFork() {
  Gate& only = gate();
  std::unique_lock lock(only.mutex);
  ++only.forking;
  const unsigned mine = timesInside > 0 ? 1 : 0;
  only.changed.wait(lock, [&] { return only.inside == mine; });
  lock.release();
}

void afterForkInParent() {
  Gate& only = gate();
  --only.forking;
  only.mutex.unlock();
  only.changed.notify_all();
}

// The child has one thread; what its copy of the mutex knows of others is of no use.
void afterForkInChild() {
  Gate* const only = new (&gate()) Gate;
  only->inside = timesInside > 0 ? 1 : 0;
}

// Never destroyed: other threads may be inside when the program ends.
Gate& gate() {
  static Gate* const only = [] {
    auto* made = new Gate;
    pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);
    return made;
  }();
  return *only;
}

}  // namespace

InsideGate::InsideGate() {
  if (timesInside++ > 0) return;
  Gate& only = gate();
  std::unique_lock lock(only.mutex);
  only.changed.wait(lock, [&] { return only.forking == 0; });
  ++only.inside;
}

InsideGate::~InsideGate() {
  if (--timesInside > 0) return;
  Gate& only = gate();
  const std::lock_guard lock(only.mutex);
  --only.inside;
  only.changed.notify_all();
}

}  // namespace bough::capi
