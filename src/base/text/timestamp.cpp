#include "base/text/timestamp.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "base/text/epoch.h"

namespace bough {
namespace {

// Takes `count` digits from the front of `text`; returns std::nullopt when there are fewer.
std::optional<int> takeDigits(std::string_view& text, std::size_t count) {
  if (text.size() < count) return std::nullopt;
  int value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool takeOneOf(std::string_view& text, std::string_view allowed) {
  if (text.empty() || !allowed.contains(text.front())) return false;
  text.remove_prefix(1);
  return true;
}

constexpr bool startsWithDigit(std::string_view text) {
  return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

// Takes ".123456" and returns milliseconds. Returns 0 without a fraction, and std::nullopt when no digit follows the
// point.
std::optional<int> takeFractionMs(std::string_view& text) {
  if (!takeOneOf(text, ".")) return 0;
  if (!startsWithDigit(text)) return std::nullopt;
  int ms = 0;
  int weight = 100;
  while (startsWithDigit(text)) {
    ms += (text.front() - '0') * weight;
    weight /= 10;
    text.remove_prefix(1);
  }
  return ms;
}

// Takes "Z" or "+08:00" and returns minutes east of UTC.
std::optional<int> takeOffsetMinutes(std::string_view& text) {
  if (takeOneOf(text, "Zz")) return 0;
  const bool west = !text.empty() && text.front() == '-';
  if (!takeOneOf(text, "+-")) return std::nullopt;
  const auto hours = takeDigits(text, 2);
  if (!hours || !takeOneOf(text, ":")) return std::nullopt;
  const auto minutes = takeDigits(text, 2);
  if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return (west ? -1 : 1) * (*hours * 60 + *minutes);
}

constexpr std::string_view kPattern = "0000-00-00T00:00:00.000Z";

void putDigits(char* at, std::size_t digits, std::int64_t value) {
  for (std::size_t i = digits; i > 0; --i, value /= 10) at[i - 1] = static_cast<char>('0' + value % 10);
}

// Writes everything except the milliseconds.
void putSeconds(char* text, std::uint64_t epochSeconds) {
  using namespace std::chrono;
  const sys_seconds time{seconds(epochSeconds)};
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  kPattern.copy(text, kPattern.size());
  putDigits(text, 4, static_cast<int>(date.year()));
  putDigits(text + 5, 2, static_cast<unsigned>(date.month()));
  putDigits(text + 8, 2, static_cast<unsigned>(date.day()));
  putDigits(text + 11, 2, clock.hours().count());
  putDigits(text + 14, 2, clock.minutes().count());
  putDigits(text + 17, 2, clock.seconds().count());
}

// Returns a time without milliseconds. Cached, because most times are in the same second as the previous one.
std::string_view textOfSecond(std::uint64_t epochSeconds) {
  thread_local std::uint64_t lastSeconds = UINT64_MAX;
  thread_local std::array<char, kPattern.size()> last;
  if (epochSeconds != lastSeconds) {
    putSeconds(last.data(), epochSeconds);
    lastSeconds = epochSeconds;
  }
  return {last.data(), last.size()};
}

}  // namespace

std::string formatTimestamp(std::uint64_t epochMs) {
  std::string text;
  formatTimestamp(epochMs, text);
  return text;
}

// A time after the year 9999 needs more than four digits; it is written as the last moment of 9999.
void formatTimestamp(std::uint64_t epochMs, std::string& text) {
  epochMs = std::min(epochMs, kLastEpochMs);
  text = textOfSecond(epochMs / 1000);
  putDigits(text.data() + 20, 3, static_cast<std::int64_t>(epochMs % 1000));
}

std::optional<std::uint64_t> parseTimestamp(std::string_view text) {
  using namespace std::chrono;
  const auto y = takeDigits(text, 4);
  if (!y || !takeOneOf(text, "-")) return std::nullopt;
  const auto mo = takeDigits(text, 2);
  if (!mo || !takeOneOf(text, "-")) return std::nullopt;
  const auto d = takeDigits(text, 2);
  if (!d || !takeOneOf(text, "Tt ")) return std::nullopt;
  const auto h = takeDigits(text, 2);
  if (!h || !takeOneOf(text, ":")) return std::nullopt;
  const auto mi = takeDigits(text, 2);
  if (!mi || !takeOneOf(text, ":")) return std::nullopt;
  const auto s = takeDigits(text, 2);
  if (!s) return std::nullopt;
  const auto ms = takeFractionMs(text);
  const auto offset = takeOffsetMinutes(text);
  const year_month_day date(year(*y), month(static_cast<unsigned>(*mo)), day(static_cast<unsigned>(*d)));
  if (!ms || !offset || !text.empty() || !date.ok() || *h > 23 || *mi > 59 || *s > 60) return std::nullopt;
  const auto total =
      sys_days(date).time_since_epoch() + hours(*h) + minutes(*mi - *offset) + seconds(*s) + milliseconds(*ms);
  const auto count = duration_cast<milliseconds>(total).count();
  if (count < 0) return std::nullopt;
  return static_cast<std::uint64_t>(count);
}

}  // namespace bough
