// UUIDs that agents use as names of sessions and messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/model/uuid.h"

namespace bough::transcript {

/// Returns a UUID for a name, always the same one (version 8, from the name's SHA-256).
std::string uuidFor(std::string_view name);

/// Returns the time at the start of a version 7 UUID; 0 for any other UUID.
std::uint64_t uuidTimeMs(std::string_view uuid);

}  // namespace bough::transcript
