// UUIDs that agents name their sessions and messages with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/model/uuid.h"

namespace bough::transcript {

/// A UUID for a name: always the same one (version 8, from the name's SHA-256).
std::string uuidFor(std::string_view name);

/// The time that a UUID of version 7 begins with; 0 for all others.
std::uint64_t uuidTimeMs(std::string_view uuid);

}  // namespace bough::transcript
