#include "base/system/process_state.h"

#include <pthread.h>

namespace bough {

std::atomic<unsigned> forksSoFar = 0;

namespace {

[[maybe_unused]] const int counting = pthread_atfork(nullptr, nullptr, [] { ++forksSoFar; });

}  // namespace
}  // namespace bough
