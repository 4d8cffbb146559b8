// Removes accents from letters, because people search without them.
#pragma once

#include <string>
#include <string_view>

namespace bough::text {

/// Returns false when withoutAccents would not change the text.
bool mayHaveAccents(std::string_view utf8);
/// Returns "Café" as "Cafe": decomposed, without the marks U+0300 to U+036F, however the accents were encoded. Text
/// without accents, and bytes that are not UTF-8, are returned unchanged.
std::string withoutAccents(std::string_view utf8);

}  // namespace bough::text
