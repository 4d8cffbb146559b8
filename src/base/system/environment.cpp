#include "base/system/environment.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <utility>

#include "base/system/file_system.h"
#include "base/system/process_state.h"

namespace bough {
namespace {

class SystemClock final : public Clock {
 public:
  std::uint64_t nowMs() override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    // A clock that was set before 1970 says 1970.
    const auto nowMs = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
    return static_cast<std::uint64_t>(std::max<decltype(nowMs)>(nowMs, 0));
  }
};

// Asks the system for some bits at a time. A child of fork() must not go on with what its parent has in store.
class SystemRandom final : public Random {
 public:
  std::uint64_t next() override {
    thread_local Stock stock;
    if (stock.left == 0 || stock.forks != forkCount()) {
      if (getrandom(stock.bits.data(), sizeof stock.bits, 0) != sizeof stock.bits) {
        thread_local std::random_device fallback;
        return std::uint64_t{fallback()} << 32 | fallback();
      }
      stock.left = stock.bits.size();
      stock.forks = forkCount();
    }
    return std::exchange(stock.bits[--stock.left], 0);
  }

 private:
  struct Stock {
    std::array<std::uint64_t, 16> bits{};
    std::size_t left = 0;
    unsigned forks = 0;
  };
};

}  // namespace

Environment& systemEnvironment() {
  static SystemClock clock;
  static SystemRandom random;
  static Environment environment{.files = posixFileSystem(), .clock = clock, .random = random};
  return environment;
}

}  // namespace bough
