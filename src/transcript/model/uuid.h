// UUIDs that agents name their sessions and messages with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bough::transcript {

/// Whether a text is a UUID, as 8-4-4-4-12 hexadecimal digits.
bool isUuid(std::string_view text);

/// A UUID for a name: always the same one (version 8, from the name's SHA-256).
std::string uuidFor(std::string_view name);

/// The time that a UUID of version 7 begins with; 0 for all others.
std::uint64_t uuidTimeMs(std::string_view uuid);

}  // namespace bough::transcript
