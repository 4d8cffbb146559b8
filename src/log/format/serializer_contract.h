// What a log reads from a line without its serializer, and therefore requires of every serializer (see
// EntrySerializer).
#pragma once

#include <string_view>

#include "bough/entry.h"
#include "bough/error.h"

namespace bough {

/// Returns InvalidArgument when `text` is not an encoding of `entry` that a log can use. The built-in serializer is not
/// checked.
Result<void> checkEncoded(const EntrySerializer& serializer, const Entry& entry, const EntryDefaults& defaults,
                          std::string_view text);

/// Returns InvalidArgument when a serializer breaks its contract for an entry of any kind that a log itself uses.
Result<void> checkSerializer(const EntrySerializer& serializer);

}  // namespace bough
