// Renders conversations for the previews of pickers.
#pragma once

#include <string_view>
#include <vector>

#include "bough/entry.h"
#include "cli/terminal/picker.h"

namespace bough::cli {

/// Renders the text of an entry like `bough show`, in lines of at most `width` columns. Each tool call takes one line;
/// results are left out.
std::vector<PickerLine> previewOf(const Entry& entry, std::size_t width);

}  // namespace bough::cli
