#include "transcript/source/json_line.h"

#include <charconv>

#include "base/text/timestamp.h"

namespace bough::transcript {

std::string timeText(std::string_view value) {
  if (value.empty()) return {};
  if (json::kindOf(value) == json::Kind::String) return json::decodeString(value).value_or("");
  if (json::kindOf(value) != json::Kind::Number) return {};
  double number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  constexpr double kMilliseconds = 1e11;
  constexpr double kLastMs = 253402300799000.0;  // the year 9999
  const double ms = number < kMilliseconds ? number * 1000.0 : number;
  if (!(ms >= 0) || ms > kLastMs) return {};
  return formatTimestamp(static_cast<std::uint64_t>(ms));
}

}  // namespace bough::transcript
