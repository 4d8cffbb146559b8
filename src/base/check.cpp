#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace bough {

void checkFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "bough: internal error at %s:%d: %s\n", file, line, condition);
  std::abort();
}

}  // namespace bough
