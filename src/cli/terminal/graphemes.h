// What a person sees as one character may be several code points.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text/text.h"

namespace bough::cli {

/// The last one of a text; empty when the text is.
inline std::string_view lastGrapheme(std::string_view utf8) {
  std::string_view last;
  while (!utf8.empty()) {
    last = utf8.substr(0, std::max<std::size_t>(text::cutToGraphemes(utf8, 1).size(), 1));
    utf8.remove_prefix(last.size());
  }
  return last;
}

/// As Backspace does.
inline void eraseLastGrapheme(std::string& utf8) {
  utf8.resize(utf8.size() - lastGrapheme(utf8).size());
}

/// As Alt-Backspace does: the blanks at the end and the word before them.
inline void eraseLastWord(std::string& utf8) {
  constexpr std::string_view kBlanks = " \t\n";
  utf8.resize(utf8.find_last_not_of(kBlanks) + 1);
  utf8.resize(utf8.find_last_of(kBlanks) + 1);
}

}  // namespace bough::cli
