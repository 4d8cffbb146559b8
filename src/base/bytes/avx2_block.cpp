#include "base/bytes/avx2_block.h"

namespace bough {
namespace {

bool processorHasAvx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0 &&
         __builtin_cpu_supports("bmi2") != 0 && __builtin_cpu_supports("popcnt") != 0;
#else
  return false;
#endif
}

// Until this is initialized it is false, so loops use the version for all processors.
bool usesAvx2 = processorHasAvx2();

}  // namespace

bool hasAvx2() {
  return usesAvx2;
}

void allowAvx2(bool allowed) {
  usesAvx2 = allowed && processorHasAvx2();
}

}  // namespace bough
