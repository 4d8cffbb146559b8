// Whether each request of a branch begins with the one before it, byte for byte: what a provider's cache needs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bough/context.h"

namespace bough::cli {

/// A request, compared with the one before it.
struct PrefixStep {
  std::string at{};             ///< The entry that the request's branch ends in.
  std::size_t messages = 0;     ///< Of the request.
  std::size_t same = 0;         ///< How many of them, from the first on, are those of the request before.
  bool extends = false;         ///< All that the request before had is there, with the same bytes.
  std::uint64_t tokens = 0;     ///< Of the request, about.
  std::uint64_t newTokens = 0;  ///< Of these, what comes after the common beginning.
  std::string reason{};         ///< Where and why they differ; empty when it extends.
  bool isRewritten = false;     ///< It differs in a message, not in what comes before the messages or is left out.
  std::string reasonEntry{};    ///< The id of the entry that `reason` names, if any.
};

/// The last requests of a branch, at most `most` of them, oldest first; the last one is the next to be sent. They are
/// derived from the session as it is now; what was redacted counts from its redaction on.
Result<std::vector<PrefixStep>> prefixSteps(SessionStore& store, const std::string& sessionId,
                                            const ContextOptions& options, std::size_t most);

}  // namespace bough::cli
