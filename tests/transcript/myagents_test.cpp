// What MyAgents needs to show a session: a line of the user holds what the user said, and the results of tools are in
// the line of their calls.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/json/json_scan.h"
#include "support/temp_folder.h"
#include "transcript/files.h"

namespace bough {
namespace {

std::string fixture(std::string_view name) {
  return fmt::format("{}/transcript/fixtures/{}", BOUGH_TESTS_DIR, name);
}

std::string asMyAgents(const std::vector<Entry>& entries, bool bare) {
  WriteTranscriptOptions options{.agent = "myagents"};
  options.facts.sessionId = "01a1dc74-8eea-7b72-9f3d-075316710001";
  options.facts.created = "2026-01-02T03:04:05.000Z";
  options.bare = bare;
  return writeAll(entries, options);
}

Entry messageOf(std::string_view id, std::string_view parent, std::string_view message) {
  Entry entry;
  entry.id = id;
  entry.parentId = std::string(parent);
  entry.type = entry_type::kMessage;
  entry.timestamp = "2026-01-02T03:04:05.000Z";
  entry.payload = fmt::format(R"({{"dialect":"anthropic","message":{}}})", message);
  return entry;
}

// A question, an answer with two calls, their results in two entries (the second with words after it), and an answer.
std::vector<Entry> twoCalls() {
  return {
      messageOf("e1", "", R"({"role":"user","content":"go"})"),
      messageOf("e2", "e1",
                R"({"role":"assistant","content":[{"type":"text","text":"I look"},)"
                R"({"type":"tool_use","id":"k1","name":"ls","input":{"a":1}},)"
                R"({"type":"tool_use","id":"k2","name":"cat","input":{}}]})"),
      messageOf("e3", "e2", R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"k1","content":"one"}]})"),
      messageOf("e4", "e3",
                R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"k2","content":)"
                R"([{"type":"text","text":"two"}],"is_error":true},{"type":"text","text":"and hurry"}]})"),
      messageOf("e5", "e4", R"({"role":"assistant","content":"done"})"),
  };
}

TEST(MyAgentsResults, ResultsAreInTheLineOfTheirCalls) {
  const std::string lines = asMyAgents(twoCalls(), /*bare=*/true);
  EXPECT_EQ(std::ranges::count(lines, '\n'), 4) << lines;
  EXPECT_FALSE(lines.contains("tool_result")) << lines;
  EXPECT_TRUE(lines.contains(R"(\"result\":\"one\"})")) << lines;
  EXPECT_TRUE(lines.contains(R"(\"result\":\"two\",\"isError\":true})")) << lines;
  EXPECT_TRUE(lines.contains(R"("role":"user","content":"and hurry")")) << lines;
}

TEST(MyAgentsResults, ResultsInTheLineOfTheirCallsComeBack) {
  TempFolder folder;
  const std::string path = (folder.path() / "s.jsonl").string();
  for (const bool bare : {true, false}) {
    SCOPED_TRACE(bare);
    writeBytes(path, asMyAgents(twoCalls(), bare));
    const ReadFile back = readAll(path);
    EXPECT_EQ(back.report.recovered + back.report.unreadable, 0U);
    EXPECT_EQ(story(back.entries, back.report.headId), story(twoCalls(), "e5"));
    EXPECT_TRUE(bare || back.report.headId == "e5") << back.report.headId;
  }
}

// Results that end the session are carried by the line that holds them.
TEST(MyAgentsResults, ASessionThatEndsWithResultsComesBack) {
  TempFolder folder;
  const std::string path = (folder.path() / "s.jsonl").string();
  std::vector<Entry> entries = twoCalls();
  entries.resize(3);
  writeBytes(path, asMyAgents(entries, /*bare=*/false));
  const ReadFile back = readAll(path);
  EXPECT_EQ(back.report.headId, "e3");
  EXPECT_TRUE(story(back.entries, "e3").contains("one"));
}

// In every fixture of every agent. A result without a call, and the second result of a call, have no other place.
TEST(MyAgentsResults, NoFixtureGivesTheUserResults) {
  for (const auto& path : fixtures()) {
    const ReadFile file = readAll(path);
    const bool isSingle = path.filename() == "orphan_result.jsonl" || path.filename() == "repeated_tool_use.jsonl";
    const bool isForkPart = !file.report.facts.parentEntryId.empty();
    if (isSingle || isForkPart || file.report.messages == 0 || file.report.facts.agent == "myagents") continue;
    SCOPED_TRACE(path.string());
    const std::string lines = asMyAgents(file.entries, /*bare=*/true);
    for (std::size_t at = 0; at < lines.size();) {
      const std::size_t end = lines.find('\n', at);
      const std::string_view line = std::string_view(lines).substr(at, end - at);
      const bool isUser = json::findString(line, "role") == "user";
      EXPECT_FALSE(isUser && json::findString(line, "content").value_or("").contains(R"("tool_result")")) << line;
      at = end + 1;
    }
  }
}

TEST(MyAgentsResults, AResultOfMyAgentsIsReadAfterItsCall) {
  const ReadFile file = readAll(fixture("myagents/sessions/results.jsonl"));
  EXPECT_TRUE(story(file.entries, file.report.headId).contains("result t1 Error: no such file"));
}

}  // namespace
}  // namespace bough
