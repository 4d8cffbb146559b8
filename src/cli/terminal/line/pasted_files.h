// Recognizes images and PDFs that are pasted as paths.
#pragma once

#include <string>
#include <string_view>

namespace bough::cli {

/// Returns `@path ` for each line of a paste if every line names an existing image or PDF: terminals paste a dragged
/// file like this, and file managers a copied one. Empty when any line is something else.
std::string pastedFiles(std::string_view text);

}  // namespace bough::cli
