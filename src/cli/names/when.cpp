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

std::tm localTime(std::uint64_t ms) {
  const auto seconds = static_cast<std::time_t>(ms / 1000);
  std::tm local{};
  (void)::localtime_r(&seconds, &local);
  return local;
}

// Midnight at the beginning of a local day, whichever hour the clocks were put forward or back.
std::uint64_t localMidnight(std::tm day) {
  day.tm_hour = day.tm_min = day.tm_sec = 0;
  day.tm_isdst = -1;
  const std::time_t seconds = std::mktime(&day);
  return seconds < 0 ? 0 : static_cast<std::uint64_t>(seconds) * 1000;
}

// A day as people write it: 2026-11-14, 20261114, today, yesterday.
std::optional<std::tm> dayNamed(std::string_view text, std::uint64_t now) {
  if (text == "today" || text == "yesterday") {
    std::tm day = localTime(now);
    if (text == "yesterday") --day.tm_mday;
    return day;
  }
  std::string date(text);
  if (date.size() == 8 && date.find_first_not_of("0123456789") == std::string::npos) date.insert(6, "-").insert(4, "-");
  // As a time it is checked for us: months have days, and not every year a 29th of February.
  if (date.size() != 10 || date[4] != '-' || date[7] != '-' || !parseTimestamp(date + "T00:00:00Z")) return {};
  const auto number = [&](std::size_t at, std::size_t size) {
    int value = 0;
    std::from_chars(date.data() + at, date.data() + at + size, value);
    return value;
  };
  std::tm day{};
  day.tm_year = number(0, 4) - 1900;
  day.tm_mon = number(5, 2) - 1;
  day.tm_mday = number(8, 2);
  return day;
}

Result<std::uint64_t> parseTime(std::string_view text, std::uint64_t now, int daysLater) {
  if (const auto time = parseTimestamp(text)) return *time;
  if (auto day = dayNamed(text, now)) {
    day->tm_mday += daysLater;
    return localMidnight(*day);
  }
  if (const auto age = parseAge(text)) return *age > now ? 0 : now - *age;
  return fail(ErrorCode::InvalidArgument, fmt::format("\"{}\" is not a valid time", text.substr(0, 40)),
              "write a day (2026-11-14, today, yesterday), a time (2026-11-14T23:47:00Z) or an age (12h, 7d)");
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

Result<std::uint64_t> parseWhen(std::string_view text, std::uint64_t now) {
  return parseTime(text, now, 0);
}

Result<std::uint64_t> parseUntil(std::string_view text, std::uint64_t now) {
  return parseTime(text, now, 1);
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
