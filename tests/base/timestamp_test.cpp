#include "base/text/timestamp.h"
#include "base/text/epoch.h"

#include <gtest/gtest.h>

#include <random>

namespace bough {
namespace {

TEST(Timestamps, AreWrittenInOneForm) {
  EXPECT_EQ(formatTimestamp(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(formatTimestamp(999), "1970-01-01T00:00:00.999Z");
  EXPECT_EQ(formatTimestamp(1'794'700'020'862), "2026-11-14T23:47:00.862Z");
  EXPECT_EQ(formatTimestamp(951'782'400'000), "2000-02-29T00:00:00.000Z");
  EXPECT_EQ(formatTimestamp(253'402'300'799'999), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(formatTimestamp(253'402'300'800'000), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(formatTimestamp(UINT64_MAX), "9999-12-31T23:59:59.999Z");
}

TEST(Timestamps, ComeBackAsTheyWere) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t ms = random() % 253'402'300'800'000;
    ASSERT_EQ(parseTimestamp(formatTimestamp(ms)), ms);
  }
}

TEST(Timestamps, OfEveryDayFollowOneAnother) {
  constexpr std::uint64_t kDayMs = 86'400'000;
  std::string last;
  for (std::uint64_t day = 0; day < 80 * 366; ++day) {
    const std::string text = formatTimestamp(day * kDayMs);
    ASSERT_LT(last, text);
    ASSERT_EQ(parseTimestamp(text), day * kDayMs);
    last = text;
  }
}

TEST(Timestamps, AreReadWithOffsetsAndFractions) {
  constexpr std::uint64_t kNoonMs = 1'767'268'800'000;  // 2026-01-01T12:00:00Z
  const std::pair<const char*, std::uint64_t> cases[] = {
      {"2026-01-01T12:00:00Z", kNoonMs},
      {"2026-01-01t12:00:00z", kNoonMs},
      {"2026-01-01 12:00:00Z", kNoonMs},
      {"2026-01-01T20:00:00+08:00", kNoonMs},
      {"2026-01-01T06:30:00-05:30", kNoonMs},
      {"2026-01-01T12:00:00-00:00", kNoonMs},
      {"2025-12-31T12:01:00-23:59", kNoonMs},
      {"2026-01-01T12:00:00.5Z", kNoonMs + 500},
      {"2026-01-01T12:00:00.05Z", kNoonMs + 50},
      {"2026-01-01T12:00:00.123456789Z", kNoonMs + 123},
      {"2026-01-01T12:00:00.9999999999999999999999999Z", kNoonMs + 999},
      {"2026-01-01T12:00:00.123+01:00", kNoonMs + 123 - 3'600'000},
      {"2026-01-01T11:59:60Z", kNoonMs},  // a leap second equals the following second
      {"2024-02-29T00:00:00Z", 1'709'164'800'000},
      {"2000-02-29T00:00:00Z", 951'782'400'000},
      {"1970-01-01T01:00:00+01:00", 0},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(parseTimestamp(text), expected) << text;
}

TEST(Timestamps, OfAClockThatIsFarOffStayWithinWhatCanBeWritten) {
  EXPECT_EQ(epochMsOf({.tv_sec = 1'794'700'020, .tv_nsec = 862'999'999}), 1'794'700'020'862U);
  EXPECT_EQ(epochMsOf({.tv_sec = -1, .tv_nsec = 999'999'999}), 0U);
  EXPECT_EQ(epochMsOf({.tv_sec = 9'223'372'037, .tv_nsec = 0}), 9'223'372'037'000U) << "in 2262";
  EXPECT_EQ(epochMsOf({.tv_sec = 253'402'300'799, .tv_nsec = 999'999'999}), kLastEpochMs);
  for (const std::int64_t seconds : {INT64_C(253'402'300'800), INT64_C(1'000'000'000'000), INT64_MAX}) {
    EXPECT_EQ(formatTimestamp(epochMsOf({.tv_sec = seconds, .tv_nsec = 0})), "9999-12-31T23:59:59.999Z");
  }
  EXPECT_EQ(epochNsOf({.tv_sec = -5, .tv_nsec = 0}), 0U);
  EXPECT_EQ(epochNsOf({.tv_sec = 9'223'372'037, .tv_nsec = 1}), 9'223'372'037'000'000'001U);
  EXPECT_LE(epochNsOf({.tv_sec = INT64_C(18'446'744'072), .tv_nsec = 0}),
            epochNsOf({.tv_sec = INT64_MAX, .tv_nsec = 0}));
}

TEST(Timestamps, ThatAreNoneAreRefused) {
  for (const char* text : {"",
                           "2026",
                           "2026-01-01",
                           "2026-01-01T12:00Z",
                           "2026-01-01T12:00:00",
                           "2026-01-01T12:00:00 ",
                           " 2026-01-01T12:00:00Z",
                           "2026-01-01T12:00:00Zx",
                           "2026-01-01T12:00:00Z ",
                           "2026-1-01T12:00:00Z",
                           "2026-01-01T1:00:00Z",
                           "2026/01/01T12:00:00Z",
                           "2026-01-01X12:00:00Z",
                           "26-01-01T12:00:00Z",
                           "12026-01-01T12:00:00Z",
                           "-026-01-01T12:00:00Z",
                           "+026-01-01T12:00:00Z",
                           "2026-00-01T12:00:00Z",
                           "2026-13-01T12:00:00Z",
                           "2026-01-00T12:00:00Z",
                           "2026-01-32T12:00:00Z",
                           "2026-04-31T12:00:00Z",
                           "2026-02-29T12:00:00Z",
                           "2100-02-29T12:00:00Z",
                           "2026-01-01T24:00:00Z",
                           "2026-01-01T12:60:00Z",
                           "2026-01-01T12:00:61Z",
                           "2026-01-01T12:00:00+24:00",
                           "2026-01-01T12:00:00+08:60",
                           "2026-01-01T12:00:00+0800",
                           "2026-01-01T12:00:00+08",
                           "2026-01-01T12:00:00+8:00",
                           "2026-01-01T12:00:00,5Z",
                           "2026-01-01T12:00:00.Z",
                           "2026-01-01T12:00:00.+01:00",
                           "2026-01-01T12:00:00.5",
                           "1969-12-31T23:59:59Z",
                           "1970-01-01T00:00:00+00:01",
                           "two thousand"}) {
    EXPECT_EQ(parseTimestamp(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace bough
