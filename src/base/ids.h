// Ids: which ones are allowed, and how new ones are made.
#pragma once

#include <cstdint>
#include <mutex>
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

/// Makes UUIDs of version 7. Those of one generator are strictly ascending, also within a millisecond and when the
/// clock steps back. May be called from any thread.
class IdGenerator {
 public:
  IdGenerator(Clock& clock, Random& random) : clock_(clock), random_(random) {}

  std::string next();
  /// The same into a string that may have room for it.
  void next(std::string& id);

  /// The ids of one batch: as next(), with one look at the clock and one draw of randomness for all.
  class Batch {
   public:
    explicit Batch(IdGenerator& generator) : generator_(generator) {}
    void next(std::string& id);

   private:
    IdGenerator& generator_;
    std::uint64_t nowMs_ = 0;
    std::uint64_t seed_ = 0;
    std::uint64_t count_ = 0;
  };

 private:
  void make(std::uint64_t now, std::uint64_t randomBits, std::string& id);

  std::mutex mutex_;
  Clock& clock_;
  Random& random_;
  std::uint64_t lastMs_ = 0;
  std::uint32_t counter_ = 0;  // 12 bits: the field the standard calls rand_a
};

}  // namespace bough
