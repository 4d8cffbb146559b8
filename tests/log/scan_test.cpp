#include "log/source/scan.h"

#include <gtest/gtest.h>

#include <random>

#include "log/log_support.h"

namespace bough {
namespace {

TEST(Scan, CompleteBatchesCountInOrder) {
  LogBuilder log;
  log.batch({"h"}).batch({"a", "b", "c"}).batch({"d"});
  for (const std::size_t piece : {std::size_t{7}, std::size_t{64}, SIZE_MAX}) {
    const Scanned scan(log.bytes(), piece);
    EXPECT_EQ(scan.sink.ids, (Ids{"h", "a", "b", "c", "d"}));
    EXPECT_TRUE(scan.sink.seen.empty());
    EXPECT_EQ(scan.trailing, 0U);
    EXPECT_EQ(scan.state.offset, log.bytes().size());
    EXPECT_EQ(scan.sink.offsets[4], log.offset(4));
  }
}

TEST(Scan, CutAtAnyByteLeavesAPrefixOfWholeBatches) {
  LogBuilder log;
  log.batch({"h"}).batch({"a", "b", "c"}).batch({"d"}).batch({"e", "f"});
  const std::string bytes = log.bytes();
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    const Scanned scan(bytes.substr(0, cut));
    // A line counts once its closing brace is there; its line end may be missing.
    const auto complete = [&](std::size_t line) { return cut + 1 >= log.offset(line) + log.lines[line].size(); };
    Ids expected;
    if (complete(0)) expected = {"h"};
    if (complete(3)) expected = {"h", "a", "b", "c"};
    if (complete(4)) expected = {"h", "a", "b", "c", "d"};
    if (complete(6)) expected = {"h", "a", "b", "c", "d", "e", "f"};
    ASSERT_EQ(scan.sink.ids, expected) << "cut at " << cut;
    ASSERT_TRUE(scan.sink.problems().empty()) << "cut at " << cut;
    ASSERT_EQ(scan.state.offset + scan.trailing, cut);
  }
}

TEST(Scan, GoesOnWhereItStoppedOnceTheBatchIsWhole) {
  LogBuilder log;
  log.batch({"h"}).batch({"a", "b"});
  const std::string bytes = log.bytes();
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    ScanState state;
    RememberingSink sink;
    StringSource half(bytes.substr(0, cut));
    ASSERT_TRUE(scanLog(half, jsonEntrySerializer(), state, sink));
    StringSource whole(bytes);
    const auto trailing = scanLog(whole, jsonEntrySerializer(), state, sink);
    ASSERT_TRUE(trailing);
    ASSERT_EQ(sink.ids, (Ids{"h", "a", "b"})) << "cut at " << cut;
    ASSERT_TRUE(sink.problems().empty());
    ASSERT_EQ(*trailing, 0U);
  }
}

TEST(Scan, OneDamagedByteCostsOneLineAtMost) {
  LogBuilder log;
  log.batch({"h"}).batch({"a", "b", "c"}).batch({"d"}).batch({"e"});
  const std::string bytes = log.bytes();
  const Ids all{"h", "a", "b", "c", "d", "e"};
  for (std::size_t line = 0; line < 5; ++line) {
    // Excludes the line end: without it, two lines become one.
    for (std::size_t at = log.offset(line); at + 1 < log.offset(line + 1); ++at) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x01);
      if (damaged[at] == '\n') continue;
      const Scanned scan(damaged);
      Ids without = all;
      without.erase(without.begin() + static_cast<std::ptrdiff_t>(line));
      // A line that only lost its seal is read like a line that never had one.
      ASSERT_TRUE(scan.sink.ids == without || scan.sink.ids == all) << "byte " << at << ": " << damaged;
      ASSERT_FALSE(scan.sink.seen.empty());
      ASSERT_TRUE(scan.sink.ids == all || !scan.sink.problems().empty());
      ASSERT_EQ(scan.trailing, 0U);
    }
  }
}

TEST(Scan, DamageIsReportedWhereItIs) {
  LogBuilder log;
  log.batch({"h"}).batch({"a"}).batch({"b"});
  std::string bytes = log.bytes();
  bytes[log.offset(1) + 8] = '#';
  const Scanned scan(bytes);
  EXPECT_EQ(scan.sink.ids, (Ids{"h", "b"}));
  ASSERT_EQ(scan.sink.problems().size(), 1U);
  EXPECT_EQ(scan.sink.problems()[0].offset, log.offset(1));
  EXPECT_EQ(scan.sink.problems()[0].bytes, log.lines[1].size());
}

TEST(Scan, DamageInTheLastBatchIsATornTail) {
  LogBuilder log;
  log.batch({"h"}).batch({"a"}).batch({"b", "c"});
  std::string bytes = log.bytes();
  bytes[log.offset(2) + 8] = '#';
  const Scanned scan(bytes);
  EXPECT_EQ(scan.sink.ids, (Ids{"h", "a"}));
  EXPECT_TRUE(scan.sink.problems().empty());
  EXPECT_EQ(scan.state.offset, log.offset(2));
  EXPECT_EQ(scan.trailing, bytes.size() - log.offset(2));
}

TEST(Scan, ADeletedLineShows) {
  LogBuilder log;
  log.batch({"h"}).batch({"a"}).batch({"b"}).batch({"c"});
  log.lines.erase(log.lines.begin() + 1);
  const Scanned scan(log.bytes());
  EXPECT_EQ(scan.sink.ids, (Ids{"h", "c"}));
  ASSERT_EQ(scan.sink.problems().size(), 1U);
  EXPECT_EQ(scan.sink.problems()[0].kind, ProblemKind::Damage);
  EXPECT_EQ(scan.sink.problems()[0].offset, log.offset(1));
}

TEST(Scan, ALineMissingFromABatchBreaksTheBatchAndNotTheRest) {
  LogBuilder log;
  log.batch({"h"}).batch({"a", "b", "c"}).batch({"d"});
  log.lines.erase(log.lines.begin() + 2);
  const Scanned scan(log.bytes());
  EXPECT_EQ(scan.sink.ids, (Ids{"h", "a", "d"}));
  EXPECT_EQ(scan.sink.problems().size(), 2U);
}

TEST(Scan, SwappedLinesShow) {
  LogBuilder log;
  log.batch({"h"}).batch({"a"}).batch({"b"}).batch({"c"}).batch({"d"});
  std::swap(log.lines[1], log.lines[2]);
  const Scanned scan(log.bytes());
  EXPECT_EQ(scan.sink.ids, (Ids{"h", "d"}));
  ASSERT_EQ(scan.sink.problems().size(), 1U);
  EXPECT_EQ(scan.sink.problems()[0].offset, log.offset(1));
  EXPECT_EQ(scan.sink.problems()[0].bytes, log.offset(4) - log.offset(1));
}

TEST(Scan, ALineThatAnotherToolPrintedAnewDoesNotCostTheNext) {
  LogBuilder log;
  log.batch({"h"}).batch({"a"}).batch({"b"}).batch({"c"});
  std::string& line = log.lines[1];
  line.replace(line.find(",\"seal\":"), 8, ", \"seal\": ");
  const Scanned scan(log.bytes());
  EXPECT_EQ(scan.sink.ids, (Ids{"h", "a", "b", "c"}));
  EXPECT_EQ(scan.sink.problems().size(), 1U);
}

TEST(Scan, ADamagedSealCostsItsLineAndNotTheNext) {
  LogBuilder log;
  log.batch({"h"}).batch({"a"}).batch({"b"}).batch({"c"});
  std::string bytes = log.bytes();
  char& digit = bytes[log.offset(2) - 4];  // last digit of the seal of a
  digit = digit == '0' ? '1' : '0';
  const Scanned scan(bytes);
  EXPECT_EQ(scan.sink.ids, (Ids{"h", "b", "c"}));
  EXPECT_EQ(scan.sink.problems().size(), 1U);
}

TEST(Scan, ALostSealCostsItsLineAndNotTheNext) {
  LogBuilder log;
  log.batch({"h"}).batch({"a"}).batch({"b"}).batch({"c"});
  for (const std::string& garbage : {std::string("not json at all\n"), std::string(40, '\0') + "\n",
                                     std::string("\xFF\xFE\n"), std::string("{\"id\":\"a\"\n")}) {
    LogBuilder damaged = log;
    damaged.lines[1] = garbage;
    const Scanned scan(damaged.bytes());
    EXPECT_EQ(scan.sink.ids, (Ids{"h", "b", "c"})) << garbage;
    EXPECT_EQ(scan.sink.problems().size(), 2U);
  }
}

TEST(Scan, TwoRecordsOnOneLineAreDamageOfThatLine) {
  LogBuilder log;
  log.batch({"h"}).batch({"a"}).batch({"b"}).batch({"c"});
  log.lines[1].pop_back();
  const Scanned scan(log.bytes());
  EXPECT_EQ(scan.sink.ids, (Ids{"h", "c"}));
  ASSERT_EQ(scan.sink.problems().size(), 1U);
  EXPECT_EQ(scan.sink.problems()[0].offset, log.offset(1));
}

TEST(Scan, ALineThatIsTooLongCostsItselfAlone) {
  LogBuilder log;
  log.batch({"h"}).batch({"a"}).batch({"b"});
  std::string long1 = log.lines[1];
  long1.insert(20, std::string(kMaxLineBytes + 100, 'x'));
  const Scanned scan(log.lines[0] + long1 + log.lines[2]);
  EXPECT_EQ(scan.sink.ids, (Ids{"h", "b"}));
  ASSERT_EQ(scan.sink.problems().size(), 2U);
  EXPECT_EQ(scan.sink.problems()[0].bytes, long1.size());
}

TEST(Scan, UnsealedLinesCountWithANote) {
  LogBuilder log;
  log.batch({"h"});
  const std::string bytes = log.bytes() + entryText("u1") + "\n" + R"({"type":"x","id":"u2","payload":{}})" + "\n";
  const Scanned scan(bytes);
  EXPECT_EQ(scan.sink.ids, (Ids{"h", "u1", "u2"}));
  EXPECT_TRUE(scan.sink.problems().empty());
  EXPECT_FALSE(scan.sink.notes().empty());
}

TEST(Scan, AChangedSealAtTheEndIsAProblem) {
  LogBuilder log;
  const std::string whole = log.batch({"h"}).batch({"a"}).bytes();
  const std::size_t seal = whole.rfind("\"seal\"");
  std::size_t told = 0;
  for (std::size_t at = seal; at < whole.size() - 1; ++at) {
    for (const char c : {'#', 'z', 'A', '0', '7', ' '}) {
      if (whole[at] == c) continue;
      std::string bytes = whole;
      bytes[at] = c;
      const Scanned scan(bytes);
      EXPECT_TRUE(scan.trailing > 0 || !scan.sink.problems().empty()) << bytes.substr(seal);
      told += scan.sink.problems().empty() ? 0U : 1U;
    }
  }
  EXPECT_GT(told, 40U);
  // As another tool formats it.
  std::string rewritten = whole;
  rewritten.replace(seal, 7, "\"seal\": ");
  EXPECT_TRUE(Scanned(rewritten).sink.problems().empty());
}

TEST(Scan, ASealedLineBehindAnUnsealedOneIsCheckedAndWhenThatFailsItIsAProblem) {
  LogBuilder log;
  log.batch({"h"}).batch({"a"});
  std::string good = log.lines[0] + entryText("u") + "\n" + log.lines[1];
  EXPECT_EQ(Scanned(good).sink.ids, (Ids{"h", "u", "a"}));
  const std::size_t notes = Scanned(good).sink.notes().size();
  good[good.size() - 60] = static_cast<char>(good[good.size() - 60] ^ 1);
  EXPECT_EQ(Scanned(good).sink.ids, (Ids{"h", "u", "a"}));
  EXPECT_EQ(Scanned(good).sink.notes().size(), notes);
}

TEST(Scan, CrlfBomAndBlankLinesAreNotes) {
  LogBuilder log;
  log.batch({"h"}).batch({"a", "b"});
  std::string bytes = "\xEF\xBB\xBF";
  for (const std::string& line : log.lines) bytes += line.substr(0, line.size() - 1) + "\r\n" + " \t\n" + "\n";
  const Scanned scan(bytes);
  EXPECT_EQ(scan.sink.ids, (Ids{"h", "a", "b"}));
  EXPECT_TRUE(scan.sink.problems().empty());
  EXPECT_EQ(scan.sink.notes().size(), 1U + 3U + 6U);
  EXPECT_EQ(scan.trailing, 0U);
}

TEST(Scan, AMissingLastLineEndIsRemembered) {
  LogBuilder log;
  log.batch({"h"}).batch({"a"});
  std::string bytes = log.bytes();
  bytes.pop_back();
  const Scanned scan(bytes);
  EXPECT_EQ(scan.sink.ids, (Ids{"h", "a"}));
  EXPECT_TRUE(scan.state.lacksLineEnd);
  EXPECT_EQ(scan.trailing, 0U);
}

TEST(Scan, AFileOfGarbageIsTornAndNeedsNoMemory) {
  std::mt19937 random(3);
  std::string bytes;
  for (int i = 0; i < 200'000; ++i) bytes += static_cast<char>(random() % 97 == 0 ? '\n' : random());
  const Scanned scan(bytes);
  EXPECT_TRUE(scan.sink.ids.empty());
  EXPECT_EQ(scan.state.offset, 0U);
  EXPECT_EQ(scan.trailing, bytes.size());
}

TEST(Scan, AnEmptyFileHoldsNothing) {
  const Scanned scan("");
  EXPECT_TRUE(scan.sink.ids.empty());
  EXPECT_EQ(scan.trailing, 0U);
}

TEST(Scan, RandomDamageNeverInventsAnEntryAndNeverLosesMoreThanItTouched) {
  LogBuilder log;
  for (int i = 0; i < 30; ++i) {
    Ids ids;
    for (int j = 0; j <= i % 4; ++j) ids.push_back("e" + std::to_string(i) + "-" + std::to_string(j));
    log.batch(ids);
  }
  log.batch({"end"});
  const std::string bytes = log.bytes();
  const Ids all = Scanned(bytes).sink.ids;
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    std::string damaged = bytes;
    const std::size_t line = random() % (log.lines.size() - 1);
    const std::size_t length = 1 + random() % (log.lines[line].size() - 1);
    for (std::size_t i = 0; i < length; ++i) damaged[log.offset(line) + i] = '\0';
    const Scanned scan(damaged);
    const bool endGone = length == log.lines[line].size();
    ASSERT_GE(scan.sink.ids.size() + (endGone ? 2 : 1), all.size());
    for (const std::string& id : scan.sink.ids) ASSERT_TRUE((std::ranges::find(all, id) != all.end())) << id;
    ASSERT_EQ(scan.trailing, 0U);
  }
}

}  // namespace
}  // namespace bough
