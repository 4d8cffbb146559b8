// A deterministic environment: simulated files, a clock that advances with each reading, random numbers from a seed.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <random>

#include "base/system/environment.h"
#include "support/sim_file_system.h"

namespace bough {

/// A clock that advances by `stepMs` with each reading, and otherwise only on request.
class SimClock final : public Clock {
 public:
  /// 2026-11-14T23:47:00.000Z
  static constexpr std::uint64_t kStartMs = 1'794'700'020'000;

  explicit SimClock(std::uint64_t startMs = kStartMs, std::uint64_t stepMs = 1) : nowMs_(startMs), stepMs_(stepMs) {}

  std::uint64_t nowMs() override { return nowMs_.fetch_add(stepMs_); }
  void advance(std::uint64_t byMs) { nowMs_ += byMs; }
  void set(std::uint64_t toMs) { nowMs_ = toMs; }
  void setStep(std::uint64_t stepMs) { stepMs_ = stepMs; }

 private:
  std::atomic<std::uint64_t> nowMs_;
  std::atomic<std::uint64_t> stepMs_;
};

class SimRandom final : public Random {
 public:
  explicit SimRandom(std::uint64_t seed = 1) : engine_(seed) {}

  std::uint64_t next() override {
    const std::lock_guard guard(mutex_);
    return engine_();
  }

 private:
  std::mutex mutex_;
  std::mt19937_64 engine_;
};

/// Owns clock and randomness, and uses a file system that the caller owns, so that an environment can be created again
/// for a crash image.
class SimEnvironment {
 public:
  explicit SimEnvironment(SimFileSystem& files, std::uint64_t seed = 1)
      : random_(seed), environment_{.files = files, .clock = clock_, .random = random_} {}
  SimEnvironment(const SimEnvironment&) = delete;
  SimEnvironment& operator=(const SimEnvironment&) = delete;

  Environment& environment() { return environment_; }
  SimClock& clock() { return clock_; }
  SimRandom& random() { return random_; }

 private:
  SimClock clock_;
  SimRandom random_;
  Environment environment_;
};

}  // namespace bough
