// Which ids are valid, and how new ids are made.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace bough {

class Clock;
class Random;

/// 1 to 128 of [A-Za-z0-9._:-].
bool isEntryId(std::string_view id);

/// 1 to 100 of [A-Za-z0-9._-], no leading dot: always a safe file name.
bool isSessionId(std::string_view id);

/// Text of 1 to 512 bytes of UTF-8 without control characters.
bool isSessionKey(std::string_view key);

/// 1 to 128 bytes of printable text without ~, without a blank at either end or a leading @. "-" is not allowed, since
/// it means the previous head.
bool isLabelName(std::string_view name);

/// Makes UUIDs of version 7. The ids of one generator are strictly ascending, also within one millisecond and when the
/// clock is set back. Thread-safe.
class IdGenerator {
 public:
  IdGenerator(Clock& clock, Random& random) : clock_(clock), random_(random) {}

  std::string next();
  /// The same, into an existing string whose memory can be reused.
  void next(std::string& id);

  /// Makes the ids of one batch like next(), but with one time and one random number for all of them.
  class Batch {
   public:
    /// For at most `count` ids.
    Batch(IdGenerator& generator, std::uint64_t count) : generator_(generator), left_(count) {}
    /// `nowMs` is the time of all ids; only the value passed to the first call counts.
    void next(std::string& id, std::uint64_t nowMs);

   private:
    IdGenerator& generator_;
    std::uint64_t left_;
    std::uint64_t place_ = 0;  // 0: no id was made yet
    std::uint64_t seed_ = 0;
  };

 private:
  /// Reserves `count` consecutive places in the order of ids and returns the first.
  std::uint64_t take(std::uint64_t count, std::uint64_t nowMs);

  Clock& clock_;
  Random& random_;
  // Milliseconds since 1970, then a 12-bit counter within the millisecond: the fields unix_ts_ms and rand_a of the
  // standard.
  std::atomic<std::uint64_t> lastPlace_ = 0;
};

}  // namespace bough
