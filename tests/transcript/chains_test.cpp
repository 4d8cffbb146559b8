// Lines of Claude Code's subagents between the lines of one answer, in one file.
#include <gtest/gtest.h>

#include "files.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

constexpr const char* kSession = "11111111-2222-4333-8444-555555555555";

struct ChainLine {
  std::string uuid;
  std::string parent;  // empty: a root
  std::string answer;  // the message's id; empty: the line is the user's
  std::string content;
  bool isSide = false;
};

std::string textOf(const ChainLine& line) {
  const std::string parent = line.parent.empty() ? "null" : fmt::format("\"{}\"", line.parent);
  const std::string role = line.answer.empty() ? "user" : "assistant";
  const std::string id = line.answer.empty() ? "" : fmt::format(R"("id":"{}","model":"m",)", line.answer);
  return fmt::format(
      R"({{"parentUuid":{},"isSidechain":{},"type":"{}","message":{{{}"role":"{}","content":{}}},"uuid":"{}",)"
      R"("timestamp":"2026-01-01T00:00:00.000Z","sessionId":"{}","cwd":"/p"}})"
      "\n",
      parent, line.isSide, role, id, role, line.content, line.uuid, kSession);
}

std::string fileOf(const std::vector<ChainLine>& lines) {
  std::string bytes;
  for (const ChainLine& line : lines) bytes += textOf(line);
  return bytes;
}

std::string words(std::string_view text) {
  return fmt::format(R"([{{"type":"text","text":"{}"}}])", text);
}

std::string call(std::string_view id) {
  return fmt::format(R"([{{"type":"tool_use","id":"{}","name":"Task","input":{{}}}}])", id);
}

std::string result(std::string_view id) {
  return fmt::format(R"([{{"type":"tool_result","tool_use_id":"{}","content":"done"}}])", id);
}

// Returns the role and the blocks of an entry's message in a few letters.
std::string shapeOf(const Entry& entry) {
  const auto message = normalizeEntry(entry);
  std::string shape(toString(message->role).substr(0, 1));
  for (const Block& block : message->blocks) {
    shape += ' ';
    shape += block.kind == BlockKind::Text ? block.text.decode() : block.id.decode();
  }
  return shape;
}

std::string shapesOf(const std::vector<Entry>& entries) {
  std::string shapes;
  for (const Entry& entry : entries) {
    if (holdsMessage(entry)) shapes += (shapes.empty() ? "" : " | ") + shapeOf(entry);
  }
  return shapes;
}

class Chains : public testing::Test {
 protected:
  ReadFile written(const std::vector<ChainLine>& lines) const {
    writeBytes(path_, fileOf(lines));
    ReadFile file = readAll(path_);
    EXPECT_EQ(writeAll(file.entries, {.agent = "claude-code", .facts = file.report.facts, .headId = {}}),
              fileOf(lines));
    EXPECT_EQ(file.report.recovered + file.report.unreadable, 0U);
    return file;
  }

 private:
  TempFolder folder_;
  std::string path_ = folder_ / (std::string(kSession) + ".jsonl");
};

TEST_F(Chains, AnAnswerStaysOneWhereASubagentWritesBetweenItsLines) {
  const ReadFile file = written({{"u1", "", "", "\"go\""},
                                 {"a1", "u1", "m1", words("both")},
                                 {"a2", "a1", "m1", call("c1")},
                                 {"s1", "", "", "\"job\"", true},
                                 {"s2", "s1", "sm1", words("side one"), true},
                                 {"a3", "a2", "m1", call("c2")},
                                 {"s3", "s2", "sm1", words("side two"), true},
                                 {"r1", "a2", "", result("c1")},
                                 {"r2", "a3", "", result("c2")},
                                 {"a4", "r2", "m2", words("end")}});
  EXPECT_EQ(shapesOf(file.entries), "u go | a both c1 c2 | u job | a side one side two | u c1 | u c2 | a end");
  EXPECT_EQ(story(file.entries, file.report.headId),
            "user: go\nassistant: both\ncall c1 Task {}\ncall c2 Task {}\nresult c1 done\nresult c2 done\n"
            "assistant: end\n");
}

TEST_F(Chains, ALineWithoutAnIdIsNotTakenForAPartOfTheAnswerBeforeIt) {
  const ReadFile file = written({{"u1", "", "", "\"go\""},
                                 {"a1", "u1", "m1", words("one")},
                                 {"", "a1", "m2", words("other")},
                                 {"", "a1", "", words("said")},
                                 {"a2", "a1", "m3", call("c1")},
                                 {"", "a2", "m3", call("c2")}});
  EXPECT_EQ(shapesOf(file.entries), "u go | a one | a other | u said | a c1 c2");
}

TEST_F(Chains, AnAnswerIsReadThoughOneOfItsLinesLostItsRole) {
  TempFolder folder;
  const std::string path = folder / (std::string(kSession) + ".jsonl");
  std::string bytes =
      fileOf({{"u1", "", "", "\"go\""}, {"a1", "u1", "m1", words("one")}, {"a2", "a1", "m1", call("c1")}});
  bytes.replace(bytes.rfind("\"role\""), 6, "\"rule\"");
  writeBytes(path, bytes);
  const ReadFile file = readAll(path);
  EXPECT_EQ(story(file.entries, file.report.headId), "user: go\nassistant: one\ncall c1 Task {}\n");
}

TEST_F(Chains, ALineWhoseParentIsLostStaysInItsChain) {
  TempFolder folder;
  const std::string path = folder / (std::string(kSession) + ".jsonl");
  writeBytes(path, fileOf({{"u1", "", "", "\"go\""},
                           {"s1", "", "", "\"job\"", true},
                           {"s2", "s1", "sm1", words("side"), true},
                           {"u2", "lost", "", "\"on\""},
                           {"s3", "gone", "sm2", words("side end"), true},
                           {"a2", "u2", "m2", words("end")}}));
  const ReadFile file = readAll(path);
  EXPECT_EQ(file.report.recovered, 2U);
  EXPECT_EQ(story(file.entries, file.report.headId), "user: go\nuser: on\nassistant: end\n");
  EXPECT_EQ(story(file.entries, "s3"), "user: job\nassistant: side\nassistant: side end\n");
}

TEST_F(Chains, AnswersOfTheSubagentAreWholeToo) {
  const ReadFile file = written({{"u1", "", "", "\"go\""},
                                 {"a1", "u1", "m1", call("c1")},
                                 {"s1", "", "", "\"job\"", true},
                                 {"s2", "s1", "sm1", words("one"), true},
                                 {"s3", "s2", "sm1", call("k1"), true},
                                 {"s4", "s3", "", result("k1"), true},
                                 {"s5", "s4", "sm2", words("two"), true},
                                 {"s6", "s5", "sm2", words("three"), true},
                                 {"r1", "a1", "", result("c1")},
                                 {"a2", "r1", "m2", words("end")}});
  EXPECT_EQ(shapesOf(file.entries), "u go | a c1 | u job | a one k1 | u k1 | a two three | u c1 | a end");
}

TEST_F(Chains, TwoSubagentsMayWriteByTurns) {
  const ReadFile file = written({{"u1", "", "", "\"go\""},
                                 {"a1", "u1", "m1", call("c1")},
                                 {"a2", "a1", "m1", call("c2")},
                                 {"s1", "", "", "\"job one\"", true},
                                 {"t1", "", "", "\"job two\"", true},
                                 {"s2", "s1", "sm", words("one"), true},
                                 {"t2", "t1", "tm", words("uno"), true},
                                 {"s3", "s2", "sm", words("two"), true},
                                 {"t3", "t2", "tm", words("due"), true},
                                 {"r1", "a1", "", result("c1")},
                                 {"r2", "a2", "", result("c2")}});
  EXPECT_EQ(shapesOf(file.entries), "u go | a c1 c2 | u job one | u job two | a one two | a uno due | u c1 | u c2");
}

// However long a subagent works, only a limited part of it is buffered, and nothing is lost.
TEST_F(Chains, ALongRunOfASubagentIsReadWhole) {
  std::vector<ChainLine> lines = {{"u1", "", "", "\"go\""}, {"a1", "u1", "m1", call("c1")}};
  for (int i = 0; i < 1000; ++i) {
    lines.push_back({fmt::format("s{}", i), i == 0 ? "" : fmt::format("s{}", i - 1),
                     i % 2 == 0 ? "" : fmt::format("sm{}", i), words(fmt::format("w{}", i)), true});
  }
  lines.push_back({"a2", "a1", "m1", call("c2")});
  const ReadFile file = written(lines);
  EXPECT_EQ(file.report.messages, 1003U);
}

}  // namespace
}  // namespace bough
