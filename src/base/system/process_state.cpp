#include "base/system/process_state.h"

#include <pthread.h>
#include <unistd.h>

namespace bough {

std::atomic<unsigned> forksSoFar = 0;
constinit std::atomic<unsigned> NoForkMeanwhile::inside_ = 0;
constinit std::atomic<unsigned> NoForkMeanwhile::forking_ = 0;
constinit thread_local unsigned NoForkMeanwhile::depth_ = 0;

namespace {

// The interval at which waiting threads poll. Polling needs no mutex that a child would have to repair.
constexpr useconds_t kPollUs = 50;

}  // namespace

// A thread that wants to fork first announces that and then checks for threads inside; a thread that enters first
// announces itself and then checks for forks. So at least one of the two sees the other.
struct ForkHandlers {
  static void before() {
    NoForkMeanwhile::forking_.fetch_add(1);
    while (NoForkMeanwhile::inside_.load() != mine()) ::usleep(kPollUs);
  }
  static void inParent() { NoForkMeanwhile::forking_.fetch_sub(1); }
  static void inChild() {
    ++forksSoFar;
    NoForkMeanwhile::inside_ = mine();
    NoForkMeanwhile::forking_ = 0;
  }
  static unsigned mine() { return NoForkMeanwhile::depth_ > 0 ? 1 : 0; }
};

void NoForkMeanwhile::waitForFork() {
  do {
    inside_.fetch_sub(1);
    while (forking_.load() != 0) ::usleep(kPollUs);
    inside_.fetch_add(1);
  } while (forking_.load() != 0);
}

void NoForkMeanwhile::sleepOutside(int microseconds) {
  if (depth_ > 0) inside_.fetch_sub(1);
  ::usleep(static_cast<useconds_t>(microseconds));
  if (depth_ > 0) enter();
}

namespace {

[[maybe_unused]] const int watching =
    pthread_atfork(ForkHandlers::before, ForkHandlers::inParent, ForkHandlers::inChild);

}  // namespace
}  // namespace bough
