// Letters without their accents, as people search for them.
#pragma once

#include <string>
#include <string_view>

namespace bough::text {

/// False where withoutAccents changes nothing.
bool mayHaveAccents(std::string_view utf8);
/// Café as Cafe: decomposed, and without the marks U+0300 to U+036F, whichever way they were written. Text that has
/// none, and bytes that are not UTF-8, come back as they are.
std::string withoutAccents(std::string_view utf8);

}  // namespace bough::text
