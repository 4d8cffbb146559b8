#include "cli/names/when.h"

#include <fmt/format.h>

#include <charconv>
#include <ctime>
#include <optional>

#include "base/system/environment.h"
#include "base/text/text.h"
#include "base/text/timestamp.h"

namespace bough::cli {
namespace {

constexpr std::uint64_t kMinute = 60'000;
constexpr std::uint64_t kHour = 60 * kMinute;
constexpr std::uint64_t kDay = 24 * kHour;

std::tm timeIn(Zone zone, std::uint64_t ms) {
  const auto seconds = static_cast<std::time_t>(ms / 1000);
  std::tm parts{};
  (void)(zone == Zone::Utc ? ::gmtime_r(&seconds, &parts) : ::localtime_r(&seconds, &parts));
  return parts;
}

// Converts clock time to milliseconds, also around changes of daylight saving time.
std::uint64_t msOf(Zone zone, std::tm shown) {
  shown.tm_isdst = -1;
  const std::time_t seconds = zone == Zone::Utc ? ::timegm(&shown) : ::mktime(&shown);
  return seconds < 0 ? 0 : static_cast<std::uint64_t>(seconds) * 1000;
}

// Clock time, and the first moment after the named day or month; for a time, both are equal.
struct Named {
  std::tm from{};
  std::tm to{};
};

// Parses 2026-11-14, 20261114, 2026-11, 2026-11-14 23:47 and 2026-11-14T23:47:00, without a zone.
std::optional<Named> timeNamed(std::string text) {
  if (text.size() == 8 && text.find_first_not_of("0123456789") == std::string::npos) text.insert(6, "-").insert(4, "-");
  constexpr std::size_t kMonth = 7;
  constexpr std::size_t kDate = 10;
  const std::size_t size = text.size();
  if (size == kMonth) text += "-01";
  if (text.size() == kDate) text += "T00:00";
  if (text.size() == kDate + 6) text += ":00";
  // Parse the text as UTC to check it: lengths of months, leap years.
  const auto ms = parseTimestamp(text + "Z");
  if (!ms) return std::nullopt;
  Named named{.from = timeIn(Zone::Utc, *ms), .to = timeIn(Zone::Utc, *ms)};
  named.to.tm_mon += size == kMonth ? 1 : 0;
  named.to.tm_mday += size == kDate ? 1 : 0;
  return named;
}

std::optional<Named> dayNamed(std::string_view text, std::uint64_t now, Zone zone) {
  if (text != "today" && text != "yesterday") return std::nullopt;
  std::tm day = timeIn(zone, now);
  day.tm_hour = day.tm_min = day.tm_sec = 0;
  if (text == "yesterday") --day.tm_mday;
  Named named{.from = day, .to = day};
  ++named.to.tm_mday;
  return named;
}

Result<std::uint64_t> parseTime(std::string_view text, std::uint64_t now, Zone zone, std::tm Named::* end) {
  if (const auto time = parseTimestamp(text)) return *time;
  auto named = dayNamed(text, now, zone);
  if (!named) named = timeNamed(std::string(text));
  if (named) return msOf(zone, (*named).*end);
  if (const auto age = parseAge(text)) return *age > now ? 0 : now - *age;
  return fail(ErrorCode::InvalidArgument, fmt::format("\"{}\" is not a valid time", text.substr(0, 40)),
              "write a day (2026-11-14, today, yesterday), a month (2026-11), a time (\"2026-11-14 23:47\", or with a "
              "zone 2026-11-14T23:47:00Z) or an age (12h, 7d)");
}

}  // namespace

std::uint64_t nowMs() {
  return systemEnvironment().clock.nowMs();
}

Result<std::uint64_t> parseAge(std::string_view text) {
  const auto wrong = [&] {
    return fail(ErrorCode::InvalidArgument, fmt::format("\"{}\" is not a valid length of time", text.substr(0, 40)),
                "write 30m, 12h, 90d or 2w");
  };
  std::uint64_t count = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), count);
  if (read.ec != std::errc() || read.ptr + 1 != text.data() + text.size() || count > 1'000'000) return wrong();
  switch (*read.ptr) {
    case 'm': return count * kMinute;
    case 'h': return count * kHour;
    case 'd': return count * kDay;
    case 'w': return count * 7 * kDay;
    default: return wrong();
  }
}

Result<std::uint64_t> parseWhen(std::string_view text, std::uint64_t now, Zone zone) {
  return parseTime(text, now, zone, &Named::from);
}

Result<std::uint64_t> parseUntil(std::string_view text, std::uint64_t now, Zone zone) {
  return parseTime(text, now, zone, &Named::to);
}

std::string formatAge(std::uint64_t whenMs, std::uint64_t now) {
  if (whenMs == 0) return "";
  const std::uint64_t age = now > whenMs ? now - whenMs : 0;
  if (whenMs <= now + kDay) {
    if (age < 2 * kMinute) return "now";
    if (age < kHour) return fmt::format("{}m ago", age / kMinute);
    if (age < kDay) return fmt::format("{}h ago", age / kHour);
    if (age < 7 * kDay) return fmt::format("{}d ago", age / kDay);
  }
  const auto seconds = static_cast<std::time_t>(whenMs / 1000);
  std::tm local{};
  if (::localtime_r(&seconds, &local) == nullptr) return "";
  return fmt::format("{:04}-{:02}-{:02}", local.tm_year + 1900, local.tm_mon + 1, local.tm_mday);
}

std::string formatLocalTime(std::string_view timestamp) {
  const auto time = parseTimestamp(timestamp);
  const auto seconds = static_cast<std::time_t>(time.value_or(0) / 1000);
  std::tm local{};
  if (!time || ::localtime_r(&seconds, &local) == nullptr) return text::printable(timestamp);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", local.tm_year + 1900, local.tm_mon + 1, local.tm_mday,
                     local.tm_hour, local.tm_min);
}

std::string formatDuration(std::uint64_t ms) {
  if (ms < kMinute) return fmt::format("{}s", ms / 1000);
  if (ms < kHour) return fmt::format("{}m", ms / kMinute);
  if (ms < kDay) return fmt::format("{:.1f}h", static_cast<double>(ms) / static_cast<double>(kHour));
  return fmt::format("{:.1f}d", static_cast<double>(ms) / static_cast<double>(kDay));
}

}  // namespace bough::cli
