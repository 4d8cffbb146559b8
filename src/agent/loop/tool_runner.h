// Runs the calls of an answer, and the calls that a crash left unfinished.
#pragma once

#include "agent/loop/journal.h"

namespace bough::agent {

/// The kinds of the loop's own `custom` entries: the usage of a turn, and a turn that ended early.
inline constexpr std::string_view kTurnKind = "turn";
std::string abortedPayload(std::string_view reason, std::string_view partial = {});

/// Returns a call's arguments as text.
std::string argumentsOf(const Block& block);

/// Returns the definitions of the tools in the form that a context takes.
std::string toolDefinitions(const std::vector<Tool>& tools);

/// Runs calls in parallel: stores `tool_start`, runs the tool, stores its result. A call that is not allowed, or that
/// the user's cancellation prevents, gets a result that says so. Fails when something could not be stored.
Result<void> runCalls(const Agent& agent, Journal& journal, const std::vector<ToolCall>& calls);

/// Handles the calls of an answer that have no result: runs those that never started, repeats those that are safe to
/// repeat, and asks the user about the others. Returns how many there were.
Result<std::size_t> recoverCalls(const Agent& agent, Journal& journal, const std::string& answerEntryId);

}  // namespace bough::agent
