// Finds what a crash left unfinished at the end of a branch.
//
// Only work that this program itself began is ever resumed. These are not interrupted turns:
//   1. a branch that somebody chose, by moving the head or by forking;
//   2. a message or a call that another program appended: nobody asked this program to answer it;
//   3. a turn of which anything was redacted: running its calls again would restore what was hidden;
//   4. calls before the last answer: they belong to turns that continued without their results.
#pragma once

#include <string>

#include "bough/agent/loop.h"

namespace bough::agent {

struct Interruption {
  enum class Kind : std::uint8_t {
    None,
    Calls,          ///< Our own answer, whose calls lack results or whose results were not sent yet.
    Message,        ///< A message that was to be answered.
    OthersMessage,  ///< A message that another program appended; answered only when the user asks for it.
  };
  Kind kind = Kind::None;
  std::string entryId{};  ///< The entry of the answer or of the message.
};

Result<Interruption> findInterruption(SessionStore& store, const StartingPoint& start);

/// The value of `agent` in the `meta` of every message that this loop stores; it tells them from other programs'
/// messages.
inline constexpr std::string_view kAgentName = "bough";

}  // namespace bough::agent
