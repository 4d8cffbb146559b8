// Finds the result of every tool call of a history, by id or, when a provider writes none, by name and order.
#pragma once

#include <cstdint>
#include <vector>

#include "message/model/history.h"

namespace bough::message {

struct Call {
  std::int32_t original = -1;
  const Block* block = nullptr;
  TextView id{};            ///< The original id. Made from the call's content when there is none.
  TextView keptId{};        ///< The id in the copied result; only present when the result is copied.
  TextView keptName{};      ///< The same for the tool's name, when results contain it.
  unsigned occurrence = 0;  ///< Number of earlier calls with the same id.
  std::int32_t resultOriginal = -1;
  const Block* result = nullptr;  ///< Null when unanswered.
  bool redacted = false;          ///< Unanswered, but a redacted message follows where its result was.
  /// Set with `redacted`: the call may instead have been interrupted, because fewer redacted messages than calls
  /// follow.
  bool doubtful = false;
  bool unreadable = false;  ///< Set with `redacted` when that message is damaged.
  bool erased = false;      ///< Set with `redacted` when that message was erased.
  bool repeated = false;    ///< Another call with the same id and content is the one that counts.
};

inline constexpr std::int32_t kOrphan = -1;     ///< A result without a call.
inline constexpr std::int32_t kDuplicate = -2;  ///< A second result for a call.

struct Pairing {
  std::vector<Call> calls;  ///< The calls of assistant messages, in the order of the blocks in the history.
  /// For each result, in order: the index of its call, or kOrphan or kDuplicate.
  std::vector<std::int32_t> resultCalls;
};

/// Marks calls that were stored twice: among calls with the same id and content, the answered one counts, otherwise the
/// first.
void markRepeatedCalls(Pairing& pairing);

/// Pairs all calls and results. Also reserves every id in `history.ids`.
Pairing pairCalls(History& history);

}  // namespace bough::message
