// Images and PDFs that are pasted as their paths.
#pragma once

#include <string>
#include <string_view>

namespace bough::cli {

/// What a paste means when every line of it names an image or a PDF that is there, as a terminal writes a file that is
/// dragged onto it or a file manager copies it: `@path `, for each. Empty when a line is something else.
std::string pastedFiles(std::string_view text);

}  // namespace bough::cli
