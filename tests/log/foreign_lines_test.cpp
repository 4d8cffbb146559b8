// Scans of lines that other tools wrote or changed.

#include "log/source/scan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "log/format/line.h"
#include "support/text_source.h"

namespace bough {
namespace {

std::string body(const std::string& id, const std::string& rest = R"("payload":{})") {
  return R"({"id":")" + id + R"(","parentId":null,"type":"custom","timestamp":"2026-11-14T23:47:00.862Z",)" + rest +
         "}";
}

class Sealed {
 public:
  std::string line(const std::string& id) {
    std::string out;
    last_ = appendSealedLine(out, body(id), last_, 1, 1);
    return out;
  }

 private:
  SealDigits last_;
};

struct Seen final : ScanSink {
  void onLine(const ScannedLine& line) override { ids += std::string(line.keys.id) + (line.chained ? " " : "? "); }
  void onProblem(ProblemKind kind, std::uint64_t /*offset*/, std::uint64_t /*bytes*/, std::string_view text) override {
    (isNote(kind) ? notes : problems).emplace_back(text);
  }

  std::string ids;
  std::vector<std::string> problems;
  std::vector<std::string> notes;
};

Seen scan(const std::string& bytes, std::size_t stopAt = 0) {
  Seen seen;
  ScanState state;
  if (stopAt > 0) {
    TextSource part(std::string_view(bytes).substr(0, stopAt));
    EXPECT_TRUE(scanLog(part, jsonEntrySerializer(), state, seen));
  }
  TextSource source(bytes);
  EXPECT_TRUE(scanLog(source, jsonEntrySerializer(), state, seen));
  return seen;
}

TEST(ForeignLines, TheLineBehindOneThatLostItsSealIsKept) {
  Sealed log;
  const std::string first = log.line("a");
  (void)log.line("b");
  const std::string edited = body("b") + "\n";
  std::string rest = log.line("c");  // separate statements, because the evaluation order of operands is unspecified
  rest += log.line("d");
  const Seen seen = scan(first + edited + rest);
  EXPECT_EQ(seen.ids, "a b? c? d ");
  EXPECT_EQ(seen.problems.size(), 1U);
  EXPECT_EQ(seen.notes.size(), 1U);  // the line has no seal, and the next line's previous seal is missing
  // The same for a reader that stopped after the edited line.
  EXPECT_EQ(scan(first + edited + rest, first.size() + edited.size()).ids, seen.ids);
}

TEST(ForeignLines, AnUnsealedLineInTheOrderOfTheFormatIsNotCalledOutOfOrder) {
  EXPECT_EQ(scan(body("a") + "\n").notes, std::vector<std::string>{"the line has no seal"});
}

TEST(ForeignLines, TwoEntriesOnOneLineAreNoEntry) {
  Sealed log;
  const std::string first = log.line("a");
  std::string glued = log.line("b");
  glued += log.line("c");
  glued.erase(glued.find('\n'), 1);
  const Seen seen = scan(first + "{\n" + glued + log.line("d"));
  EXPECT_EQ(seen.ids, "a d ");
  EXPECT_EQ(seen.problems.size(), 2U);
}

TEST(ForeignLines, OfTwoMembersOfOneNameTheFirstCounts) {
  const std::string line =
      R"({"type":"custom","id":"a","parentId":null,"id":"b","parentId":"x","\u0074ype":"other","timestamp":1})";
  EXPECT_EQ(scan(line + "\n").ids, "a? ");
  const auto entry = jsonEntrySerializer().decode(line);
  ASSERT_TRUE(entry) << entry.error().message;
  EXPECT_EQ(entry->id, "a");
  EXPECT_EQ(entry->type, "custom");
  EXPECT_EQ(entry->parentId, "");
}

TEST(ForeignLines, AnExtraMemberCannotPoseAsAKnownOne) {
  Entry entry;
  entry.id = "a";
  entry.type = "custom";
  entry.timestamp = "2026-11-14T23:47:00.862Z";
  entry.payload = "{}";
  entry.extra = R"("\u0069d":"b")";
  std::string text;
  EXPECT_FALSE(jsonEntrySerializer().encode(entry, text));
}

}  // namespace
}  // namespace bough
