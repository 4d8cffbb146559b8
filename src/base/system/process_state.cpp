#include "base/system/process_state.h"

#include <pthread.h>
#include <unistd.h>

namespace bough {

std::atomic<unsigned> forkCounter = 0;
constinit std::atomic<unsigned> ForkBlocker::blockingThreads_ = 0;
constinit std::atomic<unsigned> ForkBlocker::forkingThreads_ = 0;
constinit thread_local unsigned ForkBlocker::depth_ = 0;

namespace {

// The interval at which waiting threads poll. Polling needs no mutex that a child would have to repair.
constexpr useconds_t kPollUs = 50;

}  // namespace

// A thread that wants to fork first announces that and then checks for threads inside; a thread that enters first
// announces itself and then checks for forks. So at least one of the two sees the other.
struct ForkHandlers {
  static void before() {
    ForkBlocker::forkingThreads_.fetch_add(1);
    while (ForkBlocker::blockingThreads_.load() != mine()) ::usleep(kPollUs);
  }
  static void inParent() { ForkBlocker::forkingThreads_.fetch_sub(1); }
  static void inChild() {
    ++forkCounter;
    ForkBlocker::blockingThreads_ = mine();
    ForkBlocker::forkingThreads_ = 0;
  }
  static unsigned mine() { return ForkBlocker::depth_ > 0 ? 1 : 0; }
};

void ForkBlocker::waitForFork() {
  do {
    blockingThreads_.fetch_sub(1);
    while (forkingThreads_.load() != 0) ::usleep(kPollUs);
    blockingThreads_.fetch_add(1);
  } while (forkingThreads_.load() != 0);
}

void ForkBlocker::sleepUnblocked(int microseconds) {
  if (depth_ > 0) blockingThreads_.fetch_sub(1);
  ::usleep(static_cast<useconds_t>(microseconds));
  if (depth_ > 0) enter();
}

namespace {

[[maybe_unused]] const int watching =
    pthread_atfork(ForkHandlers::before, ForkHandlers::inParent, ForkHandlers::inChild);

}  // namespace
}  // namespace bough
