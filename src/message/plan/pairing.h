// Finds the result of every tool call of a history, by id or, where a provider writes none, by name and order.
#pragma once

#include <cstdint>
#include <vector>

#include "message/model/history.h"

namespace bough::message {

struct Call {
  std::int32_t original = -1;
  const Block* block = nullptr;
  TextView id{};            ///< The original id, or one made from the call's content when it has none.
  TextView keptId{};        ///< As the result has it that is copied; present when one is.
  TextView keptName{};      ///< The same of the tool's name, where results say it.
  unsigned occurrence = 0;  ///< How many calls before it have the same id.
  std::int32_t resultOriginal = -1;
  const Block* result = nullptr;  ///< Null: unanswered.
  bool redacted = false;          ///< Unanswered, but a message that was redacted follows, where its result was.
  bool doubtful = false;          ///< Redacted: or else it was interrupted, since fewer messages follow than calls.
  bool unreadable = false;        ///< The same, but the message is damaged.
  bool erased = false;            ///< The same, but the message was erased.
  bool repeated = false;          ///< Another call of this id says the same, and is the one that counts.
};

inline constexpr std::int32_t kOrphan = -1;     ///< A result without a call.
inline constexpr std::int32_t kDuplicate = -2;  ///< A second result for a call.

struct Pairing {
  std::vector<Call> calls;                ///< Those of assistant messages, in the order of the history's blocks.
  std::vector<std::int32_t> resultCalls;  ///< For each result, in order: its call, or why it has none.
};

/// Marks calls that were stored twice: of those that say the same under one id, the answered one counts, or the first.
void markRepeatedCalls(Pairing& pairing);

/// Also tells `history.ids` of every id.
Pairing pairCalls(History& history);

}  // namespace bough::message
