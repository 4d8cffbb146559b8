// The one door through which the clock, randomness and the file system come in, so that tests can replace each.
#pragma once

#include <cstdint>

namespace bough {

class FileSystem;

class Clock {
 public:
  virtual ~Clock() = default;
  /// Milliseconds since 1970, UTC. May be called from any thread.
  virtual std::uint64_t nowMs() = 0;
};

class Random {
 public:
  virtual ~Random() = default;
  /// 64 unpredictable bits. May be called from any thread.
  virtual std::uint64_t next() = 0;
};

struct Environment {
  FileSystem& files;
  Clock& clock;
  Random& random;
};

/// The real operating system. Lives as long as the program.
Environment& systemEnvironment();

}  // namespace bough
