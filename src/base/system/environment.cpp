#include "base/system/environment.h"

#include <sys/random.h>

#include <array>
#include <ctime>
#include <random>
#include <utility>

#include "base/system/file_system.h"
#include "base/system/process_state.h"
#include "base/text/epoch.h"

namespace bough {
namespace {

class SystemClock final : public Clock {
 public:
  std::uint64_t nowMs() override {
    // Not the clock of std::chrono: its nanoseconds overflow in the year 2262 and wrap to times long before 1970.
    timespec now{};
    (void)::clock_gettime(CLOCK_REALTIME, &now);
    return epochMsOf(now);
  }
};

// Fetches several random words from the system at once. A child of fork() must not use the words that its parent
// fetched.
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
