// Where a long branch may be cut into parts that are converted one after the other.
#pragma once

#include <bough/message.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace bough::context {

/// Takes the messages of a branch in order, and keeps a few bytes of each.
class SessionParts {
 public:
  /// `partBytes`: a part of fewer payload bytes does not end.
  explicit SessionParts(std::uint64_t partBytes) : partBytes_(partBytes) {}

  /// Adds the message of an entry at this place of the branch.
  void add(std::uint64_t place, const Entry& entry);
  /// The places of the messages that parts begin with, except the first. A part ends between two turns, a very long
  /// one within a turn, where no result after it answers a call before it and no call of the turn waits for a result.
  [[nodiscard]] std::vector<std::uint64_t> cuts() const;

 private:
  // What a message is, as far as cuts are concerned.
  enum class Kind : std::uint8_t { Other, Question, Answer, Calls, Results };
  struct Seen {
    std::uint64_t place = 0;
    std::uint64_t bytes = 0;
    std::uint32_t reach = 0;  // The message with the last result of its calls.
    std::uint32_t open = 0;   // How many of its calls have no result.
    Kind kind = Kind::Other;
  };

  [[nodiscard]] bool mayCut(Kind before, Kind after, std::uint64_t bytes) const;

  // The calls of one id.
  struct SameId {
    std::uint32_t last = 0;              // The message with the latest of them.
    std::vector<std::uint32_t> waiting;  // The messages with those that have no result.
  };

  std::uint64_t partBytes_;
  std::vector<Seen> seen_;
  std::unordered_map<std::uint64_t, SameId> calls_;  // By the hash of their id.
};

}  // namespace bough::context
