// The only access to the clock, randomness and the file system, so that tests can replace each.
#pragma once

#include <cstdint>

namespace bough {

class FileSystem;

class Clock {
 public:
  virtual ~Clock() = default;
  /// Milliseconds since 1970, UTC. Thread-safe.
  virtual std::uint64_t nowMs() = 0;
};

class Random {
 public:
  virtual ~Random() = default;
  /// Returns 64 unpredictable bits. Thread-safe.
  virtual std::uint64_t next() = 0;
};

struct Environment {
  FileSystem& files;
  Clock& clock;
  Random& random;
};

/// The real operating system. Never destroyed.
Environment& systemEnvironment();

}  // namespace bough
