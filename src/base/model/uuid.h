// The form of a UUID.
#pragma once

#include <cstddef>
#include <string_view>

namespace bough {

/// Returns true for a UUID of 8-4-4-4-12 hexadecimal digits.
inline bool isUuid(std::string_view text) {
  constexpr std::string_view kForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  if (text.size() != kForm.size()) return false;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const char c = text[i];
    const bool isHex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (kForm[i] == '-' ? c != '-' : !isHex) return false;
  }
  return true;
}

}  // namespace bough
