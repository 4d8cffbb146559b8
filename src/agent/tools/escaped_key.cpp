#include "agent/tools/escaped_key.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace bough::agent {
namespace {

constexpr std::size_t kEscapedUnitBytes = 5;  // u002d

std::size_t backslashes(std::string_view text) {
  return std::min(text.find_first_not_of('\\'), text.size());
}

// After a backslash, these letters stand for other characters.
bool isEscapeLetter(char c) {
  return std::string_view("bfnrtu").contains(c);
}

// Decodes `u002d` to UTF-8. Empty when it is not a valid escape; half of a surrogate pair is not valid.
std::string escapedUnit(std::string_view text) {
  if (text.size() < kEscapedUnitBytes || text.front() != 'u') return {};
  unsigned code = 0;
  const char* last = text.data() + kEscapedUnitBytes;
  const auto [end, problem] = std::from_chars(text.data() + 1, last, code, 16);
  if (problem != std::errc() || end != last || (code >= 0xD800 && code < 0xE000)) return {};
  if (code < 0x80) return {static_cast<char>(code)};
  const char tail = static_cast<char>(0x80U | (code & 0x3FU));
  if (code < 0x800) return {static_cast<char>(0xC0U | (code >> 6U)), tail};
  return {static_cast<char>(0xE0U | (code >> 12U)), static_cast<char>(0x80U | ((code >> 6U) & 0x3FU)), tail};
}

}  // namespace

std::size_t escapedKeyBytes(std::string_view text, std::string_view key) {
  std::size_t at = 0;
  while (!key.empty()) {
    if (key.front() == '\\') {  // the number of backslashes in the text does not matter
      key.remove_prefix(1);
      continue;
    }
    const std::size_t escapes = backslashes(text.substr(at));
    at += escapes;
    const std::string unit = escapes > 0 ? escapedUnit(text.substr(at)) : std::string();
    if (unit == "\\") {
      at += kEscapedUnitBytes;
    } else if (!unit.empty() && key.starts_with(unit)) {
      at += kEscapedUnitBytes;
      key.remove_prefix(unit.size());
    } else if (at < text.size() && text[at] == key.front() && !(escapes % 2 == 1 && isEscapeLetter(text[at]))) {
      ++at;
      key.remove_prefix(1);
    } else {
      return 0;
    }
  }
  return at;
}

std::size_t characterOrEscapeBytes(std::string_view text) {
  const std::size_t escapes = backslashes(text);
  return std::clamp<std::size_t>(escapes + escapes % 2, 1, text.size());
}

}  // namespace bough::agent
