// The header of a session: what its payload says.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bough/entry.h"
#include "bough/store.h"

namespace bough {

inline constexpr int kFormat = 1;

struct HeaderInfo {
  int format = 0;  ///< 0 when the header is a draft's, or missing.
  std::optional<ForkOrigin> origin;
  std::string key;
  std::string cwd;
};

/// Reads a session's first entry, which need not be a header.
HeaderInfo readHeader(const Entry& first);

/// The payload of a new session's header.
std::string makeHeaderPayload(const NewSession& session, const std::optional<ForkOrigin>& origin);

/// The payload of a header that is brought to the present format: all its members, and the ones it lacks.
std::string upgradeHeaderPayload(std::string_view payload, std::string_view sessionId);

/// The payload of a fork's header once it has its own copy of what it shared.
std::string detachHeaderPayload(std::string_view payload);

}  // namespace bough
