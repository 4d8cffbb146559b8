#include "base/environment.h"

#include <sys/random.h>

#include <chrono>
#include <random>

#include "base/file_system.h"

namespace bough {
namespace {

class SystemClock final : public Clock {
 public:
  std::uint64_t nowMs() override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
  }
};

class SystemRandom final : public Random {
 public:
  std::uint64_t next() override {
    std::uint64_t bits = 0;
    if (getrandom(&bits, sizeof bits, 0) == sizeof bits) return bits;
    thread_local std::random_device fallback;
    return std::uint64_t{fallback()} << 32 | fallback();
  }
};

}  // namespace

Environment& systemEnvironment() {
  static SystemClock clock;
  static SystemRandom random;
  static Environment environment{.files = posixFileSystem(), .clock = clock, .random = random};
  return environment;
}

}  // namespace bough
