// Runs the calls of an answer, and those a crash left open.
#pragma once

#include "agent/loop/journal.h"

namespace bough::agent {

/// The kinds of the loop's own `custom` entries: what a turn took, and that one ended early.
inline constexpr std::string_view kTurnKind = "turn";
std::string abortedPayload(std::string_view reason, std::string_view partial = {});

/// A call's arguments as text.
std::string argumentsOf(const Block& block);

/// The tools as a context takes them.
std::string toolDefinitions(const std::vector<Tool>& tools);

/// Runs calls in parallel: `tool_start`, the tool, its result. Calls that are not allowed, or that the user's wish to
/// stop keeps from running, get a result that says so. Fails when something could not be stored.
Result<void> runCalls(const Agent& agent, Journal& journal, const std::vector<ToolCall>& calls);

/// Deals with the calls of an answer that have no result: those that never started run now, those that may be repeated
/// run again, the others are the user's decision. Returns how many there were.
Result<std::size_t> recoverCalls(const Agent& agent, Journal& journal, const std::string& answerEntryId);

}  // namespace bough::agent
