// Conversations in the previews of pickers.
#pragma once

#include <string_view>
#include <vector>

#include "bough/entry.h"
#include "cli/terminal/picker.h"

namespace bough::cli {

/// What was said in an entry, rendered as `bough show` renders it, in lines of at most `width` columns. Calls of tools
/// have a line of their own; results have none.
std::vector<PickerLine> previewOf(const Entry& entry, std::size_t width);

}  // namespace bough::cli
