// Checks whether each request of a branch begins with the previous one, byte for byte, as a provider's cache requires.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bough/context.h"

namespace bough::cli {

/// A request, compared with the previous one.
struct PrefixStep {
  std::string at{};              ///< The entry at which the request's branch ends.
  std::size_t messages = 0;      ///< How many messages the request has.
  std::size_t sameMessages = 0;  ///< How many of them, from the first on, equal those of the previous request.
  bool extendsPrevious = false;  ///< The request contains the whole previous request, with the same bytes.
  std::uint64_t tokens = 0;      ///< The approximate size of the request.
  std::uint64_t newTokens = 0;   ///< The tokens after the common beginning.
  std::string reason{};          ///< Where and why the requests differ; empty when `extendsPrevious`.
  bool isRewritten = false;   ///< They differ in a message, and not in what precedes the messages or in what was left
                              ///< out.
  std::string reasonEntry{};  ///< The id of the entry that `reason` names, if any.
};

/// Returns the last requests of a branch, at most `most`, oldest first; the last one is the request to be sent next.
/// The requests are derived from the current session; a redaction counts from the entry that records it.
Result<std::vector<PrefixStep>> prefixSteps(SessionStore& store, const std::string& sessionId,
                                            const ContextOptions& options, std::size_t most);

}  // namespace bough::cli
