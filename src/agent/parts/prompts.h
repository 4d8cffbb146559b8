// The texts that the agent itself sends to a model.
#pragma once

#include <string_view>

namespace bough::agent {

inline constexpr std::string_view kSystemPrompt =
    "You are a helpful agent in a terminal. You work in the folder the user has chosen, with these tools: read, write, "
    "edit, ls, grep, bash. Use them when they help, several at once when they do not depend on one another. Say "
    "briefly "
    "what you did. When the result of a tool says that its outcome is unknown, find out before you do it again.";

/// Begins the request for a summary; the conversation to summarize follows.
inline constexpr std::string_view kSummaryPrompt =
    "Summarize the conversation below for a model that will continue it and sees nothing else of it: the user's goals "
    "and wishes, decisions and reasons, facts and file names, what was done, what is still open. Be complete and "
    "brief; "
    "write only the summary.";

/// Begins the request for a title; the first exchange follows.
inline constexpr std::string_view kTitlePrompt =
    "Give the conversation below a title of at most six words, in its language. Write only the title.";

inline constexpr std::string_view kOutcomeUnknown =
    "The outcome is unknown: the program ended while this was running. It may have had its effect, in part or in "
    "whole. "
    "Find out before you do it again.";
inline constexpr std::string_view kSkipped = "Not run: the user skipped it after the program had been interrupted.";
inline constexpr std::string_view kStopped = "Not run: the user stopped the turn.";
inline constexpr std::string_view kDenied = "Not run: the user did not allow it.";
inline constexpr std::string_view kAnswerRefused = "Not run: the answer with this call was refused or blocked.";
inline constexpr std::string_view kAnswerCutOff =
    "Not run: the answer was cut off at its limit of tokens, so the call may lack its end. Call again, in smaller "
    "parts.";
inline constexpr std::string_view kResultRefused =
    "The result is withheld: it is too long, or the provider refused to read it. What the call has done is done. Go on "
    "without its result, or ask for less.";
inline constexpr std::string_view kNobodyToAsk = "Not run: it needs the user's permission, and there is nobody to ask";
inline constexpr std::string_view kGoOnWithout = "Go on without it.";

}  // namespace bough::agent
