// What a log reads from a line past its serializer, and therefore demands of every serializer (see EntrySerializer).
#pragma once

#include <string_view>

#include "bough/entry.h"
#include "bough/error.h"

namespace bough {

/// InvalidArgument when `text` is not what a log needs a serializer to make of `entry`. The built-in one is not
/// checked.
Result<void> checkEncoded(const EntrySerializer& serializer, const Entry& entry, const EntryDefaults& defaults,
                          std::string_view text);

/// InvalidArgument when a serializer does not keep its contract for entries of each kind that a log uses itself.
Result<void> checkSerializer(const EntrySerializer& serializer);

}  // namespace bough
