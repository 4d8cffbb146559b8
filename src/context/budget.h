// How many tokens messages cost, and where a history may be cut.
#pragma once

#include <cstdint>
#include <vector>

#include "message/model/history.h"

namespace bough::context {

/// Recorded usage that differs from the estimate by more than this factor is not used: something besides the
/// messages must have changed between the requests.
inline constexpr std::uint64_t kMaxUsageFactor = 4;

/// Token counts of the messages of a history, starting with original `first`.
struct TokenCounts {
  std::vector<std::uint64_t> tokens;
  std::vector<char> isMeasured;  ///< Nonzero when the count comes from recorded usage.
};

/// Estimates tokens and corrects the estimates by recorded usage: the difference between the input of two answers is
/// the cost of the messages between them. `fixed` is the number of tokens of system prompt and tools; null when the
/// history begins later than the answers' requests did. `isUsageValid` says that the answers really saw these messages,
/// and not versions that an edit has replaced since.
TokenCounts countTokens(const message::History& history, std::size_t first, const std::uint64_t* fixed,
                        bool isUsageValid);

struct Turns {
  /// The originals at which a turn may begin: user messages with content that are not between a call and its result.
  std::vector<std::size_t> starts;
  std::vector<std::uint32_t> unanswered;  ///< For each original, how many of its calls have no result.
};
/// `isWhole` says that nothing precedes the history. Otherwise a result without a call may belong to an earlier call.
Turns findTurns(message::History& history, std::size_t first, bool isWhole);

/// The newest turn, as far as it is visible at the end of a branch.
struct NewestTurn {
  std::size_t from = 0;       ///< Where it begins; an original that certainly belongs to it when that was not read.
  bool isWhole = false;       ///< The turn begins at `from`.
  bool isCountFinal = false;  ///< The token counts of its messages do not depend on what precedes the history.
};
NewestTurn findNewestTurn(const message::History& history, std::size_t first, const Turns& turns, bool isWhole);

}  // namespace bough::context
