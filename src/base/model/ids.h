// Ids: which ones are allowed, and how new ones are made.
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

/// 1 to 128 bytes of printable text without ~, no blank at either end, no leading @; and not -, the head before.
bool isLabelName(std::string_view name);

/// Makes UUIDs of version 7. Those of one generator are strictly ascending, also within a millisecond and when the
/// clock steps back. May be called from any thread.
class IdGenerator {
 public:
  IdGenerator(Clock& clock, Random& random) : clock_(clock), random_(random) {}

  std::string next();
  /// The same into a string that may have room for it.
  void next(std::string& id);

  /// The ids of one batch: as next(), with one time and one draw of randomness for all.
  class Batch {
   public:
    /// For `count` ids at most.
    Batch(IdGenerator& generator, std::uint64_t count) : generator_(generator), left_(count) {}
    /// `nowMs`: the time of all, as the first one says it.
    void next(std::string& id, std::uint64_t nowMs);

   private:
    IdGenerator& generator_;
    std::uint64_t left_;
    std::uint64_t place_ = 0;  // 0: none was asked for yet
    std::uint64_t seed_ = 0;
  };

 private:
  /// Takes `count` places in the order of ids and returns the first.
  std::uint64_t take(std::uint64_t count, std::uint64_t nowMs);

  Clock& clock_;
  Random& random_;
  // Milliseconds since 1970 and 12 bits that count within one: the fields the standard calls unix_ts_ms and rand_a.
  std::atomic<std::uint64_t> lastPlace_ = 0;
};

}  // namespace bough
