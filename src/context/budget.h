// What messages cost in tokens, and where a history may be cut.
#pragma once

#include <cstdint>
#include <vector>

#include "message/model/history.h"

namespace bough::context {

/// A difference beyond this factor of the estimate is none of the messages': something else changed between the
/// requests.
inline constexpr std::uint64_t kPlausible = 4;

/// Of each message of a history, from original `first` on.
struct TokenCounts {
  std::vector<std::uint64_t> tokens;
  std::vector<char> counted;  ///< Whether it comes from recorded usage.
};

/// Estimates, brought in line with recorded usage: the difference between what two answers say they were given is what
/// is between them. `fixed`: tokens of system prompt and tools; none when the history begins later than the
/// answers' requests did. `usageHolds`: the answers were given these messages, and not what an edit replaced since.
TokenCounts countTokens(const message::History& history, std::size_t first, const std::uint64_t* fixed,
                        bool usageHolds);

struct Turns {
  /// The originals a turn may begin at: user messages that say something, none of them between a call and its result.
  std::vector<std::size_t> starts;
  std::vector<std::uint32_t> unanswered;  ///< Of each original: how many of its calls have no result.
};
/// `isWhole`: nothing is before the history. Otherwise a result without a call may belong to one before it.
Turns findTurns(message::History& history, std::size_t first, bool isWhole);

/// The newest turn, as far as the end of a branch shows it.
struct NewestTurn {
  std::size_t from = 0;    ///< The original it begins at; where that was not read, one that is surely in it.
  bool isWhole = false;    ///< It begins at `from`.
  bool isCounted = false;  ///< The tokens of its messages are the same whatever is before the history.
};
NewestTurn findNewestTurn(const message::History& history, std::size_t first, const Turns& turns, bool isWhole);

}  // namespace bough::context
