// Lists of program names, written as words with blanks between them.
#pragma once

#include <algorithm>
#include <string_view>

namespace bough::agent {

inline bool holdsWord(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

/// Returns the name without a version at its end: `python` for `python3.11`.
inline std::string_view familyOf(std::string_view program) {
  const std::size_t last = program.find_last_not_of("0123456789.-");
  return program.substr(0, last == std::string_view::npos ? program.size() : last + 1);
}

}  // namespace bough::agent
