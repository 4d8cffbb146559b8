#include "serve/tool_arguments.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/json/json_scan.h"
#include "base/json/surrogates.h"
#include "base/text/timestamp.h"
#include "base/try.h"

namespace bough::serve {
namespace {

// Reads an `integer` of a JSON schema, which may have a fraction of zero (5.0), as programs without integers write it.
std::optional<std::uint64_t> wholeNumber(std::string_view value, std::uint64_t minimum, std::uint64_t maximum) {
  double number = 0;
  const char* const end = value.data() + value.size();
  const auto [rest, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc() || rest != end || number != std::floor(number)) return std::nullopt;
  if (number < static_cast<double>(minimum) || number > static_cast<double>(maximum)) return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

}  // namespace

std::optional<std::string_view> ToolArguments::find(std::string_view name) const {
  auto value = json::findMember(object_, name);
  if (value && json::kindOf(*value) == json::Kind::Null) value.reset();
  return value;
}

Result<std::string> ToolArguments::text(std::string_view name) const {
  BOUGH_TRY(auto value, text(name, ""));
  if (value.empty()) return fail(ErrorCode::InvalidArgument, fmt::format("the argument \"{}\" is missing", name));
  return value;
}

Result<std::string> ToolArguments::text(std::string_view name, std::string_view fallback) const {
  const auto value = find(name);
  if (!value) return std::string(fallback);
  auto decoded = json::decodeString(*value);
  if (!decoded) return fail(ErrorCode::InvalidArgument, fmt::format("the argument \"{}\" is not a text", name));
  if (json::hasLoneSurrogate(*value)) {
    return fail(ErrorCode::InvalidArgument, fmt::format("the argument \"{}\" has half of a surrogate pair", name),
                "send the whole character");
  }
  return std::move(*decoded);
}

Result<std::uint64_t> ToolArguments::numberInRange(std::uint64_t minimum, std::string_view name, std::uint64_t fallback,
                                                   std::uint64_t maximum) const {
  const auto value = find(name);
  if (!value) return fallback;
  if (const auto number = wholeNumber(*value, minimum, maximum)) return *number;
  return fail(ErrorCode::InvalidArgument,
              fmt::format("the argument \"{}\" is not a whole number from {} to {}", name, minimum, maximum));
}

Result<std::uint64_t> ToolArguments::number(std::string_view name, std::uint64_t fallback,
                                            std::uint64_t maximum) const {
  return numberInRange(0, name, fallback, maximum);
}

Result<std::uint64_t> ToolArguments::count(std::string_view name, std::uint64_t fallback, std::uint64_t maximum) const {
  return numberInRange(1, name, fallback, maximum);
}

Result<std::optional<std::uint64_t>> ToolArguments::time(std::string_view name) const {
  BOUGH_TRY(const auto given, text(name, ""));
  if (given.empty()) return std::nullopt;
  auto parsed = parseTimestamp(given);
  if (!parsed) parsed = parseTimestamp(given + "T00:00:00Z");
  if (parsed) return parsed;
  return fail(ErrorCode::InvalidArgument, fmt::format("the argument \"{}\" is not a time such as 2026-11-14", name));
}

}  // namespace bough::serve
