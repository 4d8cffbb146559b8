#include "base/json/surrogates.h"

#include <charconv>

namespace bough::json {
namespace {

// Returns the value of the escape `\uXXXX` at an index; 0 when there is none.
unsigned unitAt(std::string_view body, std::size_t at) {
  if (at + 6 > body.size() || body[at] != '\\' || body[at + 1] != 'u') return 0;
  unsigned unit = 0;
  std::from_chars(body.data() + at + 2, body.data() + at + 6, unit, 16);
  return unit;
}

bool isHigh(unsigned unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}
bool isLow(unsigned unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

}  // namespace

bool hasLoneSurrogate(std::string_view body) {
  for (std::size_t at = body.find('\\'); at != std::string_view::npos; at = body.find('\\', at)) {
    const unsigned unit = unitAt(body, at);
    at += unit == 0 ? 2 : 6;
    if (isLow(unit)) return true;
    if (!isHigh(unit)) continue;
    if (!isLow(unitAt(body, at))) return true;
    at += 6;
  }
  return false;
}

}  // namespace bough::json
