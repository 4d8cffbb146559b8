// Times as users type and read them.
#include "cli/names/when.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace bough::cli {
namespace {

constexpr std::uint64_t kMinute = 60'000;
constexpr std::uint64_t kHour = 60 * kMinute;
constexpr std::uint64_t kDay = 24 * kHour;

class When : public testing::Test {
 protected:
  When() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
};

TEST_F(When, LengthsOfTimeHaveANumberAndAUnit) {
  EXPECT_EQ(parseAge("30m"), 30 * kMinute);
  EXPECT_EQ(parseAge("12h"), 12 * kHour);
  EXPECT_EQ(parseAge("90d"), 90 * kDay);
  EXPECT_EQ(parseAge("2w"), 14 * kDay);
  EXPECT_EQ(parseAge("1000000m"), 1'000'000 * kMinute);
  for (const char* wrong : {"", "m", "5", "5s", "-5m", "5 m", "5mm", "1000001m", "99999999999999999999m", "1.5h"}) {
    EXPECT_FALSE(parseAge(wrong)) << wrong;
  }
}

TEST_F(When, ATimeIsADateATimeOrSoLongAgo) {
  EXPECT_EQ(parseWhen("1970-01-02", 0), kDay);
  EXPECT_EQ(parseWhen("1970-01-02T01:02:00Z", 0), kDay + kHour + 2 * kMinute);
  EXPECT_EQ(parseWhen("2h", 5 * kHour), 3 * kHour);
  EXPECT_EQ(parseWhen("2h", kHour), 0U);
  for (const char* wrong :
       {"1970-13-01", "1970-02-30", "1970/01/02", "1970-01/02", "19700230", "1970-1-2", "yesterda", "tomorrow", ""}) {
    EXPECT_FALSE(parseWhen(wrong, kDay)) << wrong;
    EXPECT_FALSE(parseUntil(wrong, kDay)) << wrong;
  }
}

TEST_F(When, ADayBeginsAtItsMidnightAndUntilItIsToItsEnd) {
  const std::uint64_t now = 100 * kDay + 5 * kHour;
  for (const char* day : {"1970-01-02", "19700102"}) {
    EXPECT_EQ(parseWhen(day, now), kDay) << day;
    EXPECT_EQ(parseUntil(day, now), 2 * kDay) << day;
  }
  EXPECT_EQ(parseWhen("today", now), 100 * kDay);
  EXPECT_EQ(parseUntil("today", now), 101 * kDay);
  EXPECT_EQ(parseWhen("yesterday", now), 99 * kDay);
  EXPECT_EQ(parseUntil("yesterday", now), 100 * kDay);
  EXPECT_EQ(parseUntil("1970-01-02T01:02:00Z", now), kDay + kHour + 2 * kMinute) << "a time is a time";
  EXPECT_EQ(parseUntil("2h", now), now - 2 * kHour);
}

TEST_F(When, AMonthIsNamedAsUsageNamesItAndUntilItIsToItsEnd) {
  EXPECT_EQ(parseWhen("1970-02", 0), 31 * kDay);
  EXPECT_EQ(parseUntil("1970-02", 0), 59 * kDay);
  EXPECT_EQ(parseUntil("1970-12", 0), 365 * kDay);
  for (const char* wrong : {"1970-13", "1970-00", "1970-1", "1970"}) EXPECT_FALSE(parseWhen(wrong, 0)) << wrong;
}

// `show` and `ls` print local times without a zone, so these can be typed, too.
TEST_F(When, ATimeWithoutAZoneIsLocal) {
  ::setenv("TZ", "Asia/Kathmandu", 1);
  ::tzset();
  const std::uint64_t time = *parseWhen("2026-11-14T10:30:00+05:45", 0);
  for (const char* text : {"2026-11-14 10:30", "2026-11-14T10:30", "2026-11-14 10:30:00", "2026-11-14t10:30:00.0"}) {
    EXPECT_EQ(parseWhen(text, 0), time) << text;
    EXPECT_EQ(parseUntil(text, 0), time) << text;
  }
  for (const char* wrong : {"2026-11-14 10", "2026-11-14 24:00", "2026-11-14 1030", "2026-02-30 10:30", "10:30"}) {
    EXPECT_FALSE(parseWhen(wrong, 0)) << wrong;
  }
}

TEST_F(When, DaysAndTimesCanBeThoseOfUtc) {
  ::setenv("TZ", "America/New_York", 1);
  ::tzset();
  EXPECT_EQ(parseWhen("1970-01-02", 0, Zone::Utc), kDay);
  EXPECT_EQ(parseUntil("1970-01-02", 0, Zone::Utc), 2 * kDay);
  EXPECT_EQ(parseWhen("today", 5 * kDay + kHour, Zone::Utc), 5 * kDay);
  EXPECT_EQ(parseWhen("1970-01-02 01:00", 0, Zone::Utc), kDay + kHour);
}

// In New York, clocks went forward on 2026-03-08 and back on 2026-11-01, so these days have 23 and 25 hours.
TEST_F(When, DaysHaveTheHoursThatTheLocalClockGivesThem) {
  ::setenv("TZ", "America/New_York", 1);
  ::tzset();
  const auto hours = [](const char* day) { return (*parseUntil(day, 0) - *parseWhen(day, 0)) / kHour; };
  EXPECT_EQ(hours("2026-03-07"), 24U);
  EXPECT_EQ(hours("2026-03-08"), 23U);
  EXPECT_EQ(hours("2026-11-01"), 25U);
  const std::uint64_t afterTheChange = *parseWhen("2026-03-08T12:00:00-04:00", 0);
  EXPECT_EQ(parseWhen("yesterday", afterTheChange).value(), parseWhen("2026-03-07", 0).value());
}

TEST_F(When, AnAgeIsRoundedDownAndBeyondAWeekADate) {
  const std::uint64_t now = 100 * kDay;
  EXPECT_EQ(formatAge(0, now), "");
  EXPECT_EQ(formatAge(now, now), "now");
  EXPECT_EQ(formatAge(now + kDay, now), "now") << "clocks differ";
  EXPECT_EQ(formatAge(now + kDay + 1, now), "1970-04-12");
  EXPECT_EQ(formatAge(now - 2 * kMinute + 1, now), "now");
  EXPECT_EQ(formatAge(now - 2 * kMinute, now), "2m ago");
  EXPECT_EQ(formatAge(now - kHour + 1, now), "59m ago");
  EXPECT_EQ(formatAge(now - kHour, now), "1h ago");
  EXPECT_EQ(formatAge(now - kDay + 1, now), "23h ago");
  EXPECT_EQ(formatAge(now - kDay, now), "1d ago");
  EXPECT_EQ(formatAge(now - 7 * kDay + 1, now), "6d ago");
  EXPECT_EQ(formatAge(now - 7 * kDay, now), "1970-04-04");
}

TEST_F(When, DurationsAndStoredTimesAreShort) {
  EXPECT_EQ(formatDuration(59'999), "59s");
  EXPECT_EQ(formatDuration(kMinute), "1m");
  EXPECT_EQ(formatDuration(kHour - 1), "59m");
  EXPECT_EQ(formatDuration(kHour), "1.0h");
  EXPECT_EQ(formatDuration(90 * kMinute), "1.5h");
  EXPECT_EQ(formatDuration(kDay), "1.0d");
  EXPECT_EQ(formatLocalTime("2026-03-04T05:06:07.000Z"), "2026-03-04 05:06");
  EXPECT_EQ(formatLocalTime("about noon\033"), "about noon␛");
}

}  // namespace
}  // namespace bough::cli
