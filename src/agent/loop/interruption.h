// What a crash left open at the end of a branch.
//
// Only what this program itself had begun is ever taken up again. These are not interrupted turns:
//   1. a branch that somebody chose, by moving the head or by forking;
//   2. a message or a call that another program appended: nobody here was asked to answer it;
//   3. a turn of which anything was redacted: to run its calls again would bring back what was hidden;
//   4. calls before the last answer: they belong to turns that went on without their results.
#pragma once

#include <string>

#include "bough/agent/loop.h"

namespace bough::agent {

struct Interruption {
  enum class Kind : std::uint8_t {
    None,
    Calls,          ///< An answer of ours whose calls may lack results, or whose results were not sent yet.
    Message,        ///< A message that was to be answered.
    OthersMessage,  ///< The same, appended by another program: answered only when the user asks for that.
  };
  Kind kind = Kind::None;
  std::string entryId{};  ///< The answer, or the message.
};

Result<Interruption> findInterruption(SessionStore& store, const StartingPoint& start);

/// Stands in the `meta` of every message that this loop has stored, as `agent`: what tells it from those of others.
inline constexpr std::string_view kAgentName = "bough";

}  // namespace bough::agent
