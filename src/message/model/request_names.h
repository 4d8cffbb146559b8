// The names that each dialect's request uses for its sections.
#pragma once

#include <bough/message.h>

#include <cstdint>
#include <string_view>

namespace bough::message {

/// The member names in a dialect's request. Empty when there is no such member.
struct RequestNames {
  std::string_view messages;
  std::string_view system;
  std::string_view tools;
};
RequestNames requestNames(Dialect dialect);

/// Anthropic requires a limit. All its models can answer with this many tokens.
inline constexpr std::uint64_t kDefaultMaxTokens = 4096;

}  // namespace bough::message
