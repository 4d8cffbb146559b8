// Interprets a provider's refusal: what to tell the user, and whether to retry.
#pragma once

#include <optional>
#include <string_view>

#include "agent/providers/http.h"
#include "agent/providers/stream_reader.h"

namespace bough::agent {

/// Returns true when the same request may succeed later; false for a bad request, a bad key or a spend limit.
bool isWorthRetrying(const HttpResponse& response);

/// Builds the error for an answer that is not a stream: `{"error":…}`, HTML, or truncated JSON.
Error refusalError(const Endpoint& endpoint, const HttpResponse& response);

/// Returns true when a refusal says that the prompt exceeds the model's context window.
bool isTooLong(std::string_view message);

/// Parses the wait that a body asks for (Gemini's `retryDelay`); used when no header gives one.
std::optional<std::uint64_t> retryDelayMs(std::string_view body);

/// Returns the wait before attempt `attempt` (from 1): what the provider asks for, otherwise an exponential back-off
/// with jitter taken from `chance`.
std::uint64_t backOffMs(int attempt, std::optional<std::uint64_t> askedMs, std::uint64_t chance);

}  // namespace bough::agent
