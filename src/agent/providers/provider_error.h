// What a provider's refusal means: what to tell the user, and whether to ask again.
#pragma once

#include <optional>
#include <string_view>

#include "agent/providers/http.h"
#include "agent/providers/stream_reader.h"

namespace bough::agent {

/// Whether the same request may succeed later. Never for a bad request, a bad key or a spend limit.
bool isWorthRetrying(const HttpResponse& response);

/// The error for an answer that is not a stream: `{"error":…}`, HTML, half JSON.
Error refusal(const Endpoint& endpoint, const HttpResponse& response);

/// Whether a refusal says that the prompt has more tokens than the model reads.
bool isTooLong(std::string_view message);

/// Reads how long a body asks to wait (Gemini's `retryDelay`), when no header says so.
std::optional<std::uint64_t> retryDelayMs(std::string_view body);

/// How long to wait before attempt `attempt` (from 1): what the provider asks for, else longer every time, with chance.
std::uint64_t backOffMs(int attempt, std::optional<std::uint64_t> askedMs, std::uint64_t chance);

}  // namespace bough::agent
