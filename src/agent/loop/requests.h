// The usage of requests: sums, and how they are stored so that `bough usage` counts each request once.
#pragma once

#include <bough/message.h>

#include <string>
#include <string_view>

namespace bough::agent {

/// The kind of the `custom` entry for a request that gave no message of the conversation: a title, or an answer that
/// had to be requested again.
inline constexpr std::string_view kRequestKind = "request";

/// Returns true when the provider counted any token.
constexpr bool hasTokens(const Usage& usage) {
  return usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens > 0;
}
/// {"kind":"request","purpose":…,"model":…,"usage":{…}}
std::string requestPayload(std::string_view purpose, std::string_view model, const Usage& usage);

}  // namespace bough::agent
