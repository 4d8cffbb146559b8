// Where a long branch may be cut into parts that are converted one after another.
#pragma once

#include <bough/message.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace bough::context {

/// Takes the messages of a branch in order, and keeps a few bytes for each.
class SessionParts {
 public:
  /// `partBytes` is the minimum size of a part, in payload bytes.
  explicit SessionParts(std::uint64_t partBytes) : partBytes_(partBytes) {}

  /// Adds the message of an entry at this place of the branch.
  void add(std::uint64_t place, const Entry& entry);
  /// Returns the places of the messages at which parts begin, except the first. A part ends between two turns. A very
  /// long turn may be cut where no later result answers an earlier call and no call of the turn waits for a result.
  [[nodiscard]] std::vector<std::uint64_t> partStarts() const;

 private:
  // The kind of a message, as far as it matters for cuts.
  enum class Kind : std::uint8_t { Other, Question, Answer, Calls, Results };
  struct SeenMessage {
    std::uint64_t place = 0;
    std::uint64_t bytes = 0;
    std::uint32_t reach = 0;  // Index of the message with the last result of its calls.
    std::uint32_t open = 0;   // How many of its calls have no result.
    Kind kind = Kind::Other;
  };

  [[nodiscard]] bool canCut(Kind before, Kind after, std::uint64_t bytes) const;

  // The calls with the same id.
  struct SameIdCalls {
    std::uint32_t last = 0;              // Index of the message with the latest of these calls.
    std::vector<std::uint32_t> waiting;  // Indexes of the messages whose call has no result yet.
  };

  std::uint64_t partBytes_;
  std::vector<SeenMessage> messages_;
  std::unordered_map<std::uint64_t, SameIdCalls> calls_;  // By the hash of the call's id.
};

}  // namespace bough::context
