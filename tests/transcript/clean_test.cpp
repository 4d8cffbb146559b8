// A clean copy of a damaged file: nothing that was read is missing, and nothing is damaged any more.
#include <bough/message.h>
#include <fmt/format.h>

#include <map>

#include "support/temp_folder.h"
#include "transcript/files.h"

namespace bough {
namespace {

std::vector<std::string> textsOf(const std::vector<Entry>& entries) {
  std::vector<std::string> texts;
  for (const Entry& entry : entries) {
    if (!holdsMessage(entry)) continue;
    const auto message = normalizeEntry(entry);
    if (!message) continue;
    for (const Block& block : message->blocks) texts.push_back(block.text.decode() + block.name.decode());
  }
  return texts;
}

// Each message's text after that of the message that it continues: the tree, whatever the ids are.
std::vector<std::string> linksOf(const std::vector<Entry>& entries) {
  std::map<std::string, std::string> texts;
  std::vector<std::string> links;
  for (const Entry& entry : entries) {
    const auto message = holdsMessage(entry) ? normalizeEntry(entry) : Result<Message>(fail(ErrorCode::NotFound, ""));
    if (!message) continue;
    for (const Block& block : message->blocks) texts[entry.id] += block.text.decode() + block.name.decode();
    links.push_back(texts[entry.parentId.value_or("")] + " > " + texts[entry.id]);
  }
  return links;
}

TEST(Clean, ACopyHoldsAllThatWasReadAndNoDamage) {
  TempFolder folder;
  for (const auto& path : fixtures()) {
    const ReadFile file = readAll(path);
    const std::string& agent = file.report.facts.agent;
    const bool isForkPart = !file.report.facts.parentSession.empty();
    if (isForkPart || file.report.recovered + file.report.unreadable == 0) continue;
    SCOPED_TRACE(path.string());
    const auto copy = std::filesystem::path(folder.path()) / path.filename();
    writeBytes(copy,
               writeAll(file.entries,
                        {.agent = agent, .facts = file.report.facts, .headId = file.report.headId, .clean = true}));
    const ReadFile clean = readAll(copy);
    EXPECT_EQ(textsOf(clean.entries), textsOf(file.entries));
    EXPECT_EQ(linksOf(clean.entries), linksOf(file.entries));
    for (const TranscriptDamage& damage : clean.report.damage) {
      // What a record itself says wrongly stays said.
      const bool isContent = damage.reason.find("without content") != std::string::npos ||
                             damage.reason.find("label of an entry") != std::string::npos;
      EXPECT_TRUE(isContent) << damage.reason << " at " << damage.offset;
    }
  }
}

TEST(Clean, ACopyBeginsWithAHeader) {
  TempFolder folder;
  for (const std::string name :
       {"pi/11e-no-header.jsonl", "gemini-cli/no_header.jsonl",
        "codex/no_header/rollout-2026-01-02T03-04-05-01a1dc74-8eea-7b72-9f3d-075316710037.jsonl"}) {
    SCOPED_TRACE(name);
    const std::string path = BOUGH_TESTS_DIR "/transcript/fixtures/" + name;
    const ReadFile file = readAll(path);
    EXPECT_TRUE(damageText(file.report).contains("does not begin with its header")) << damageText(file.report);
    const auto copy = std::filesystem::path(folder.path()) / std::filesystem::path(path).filename();
    writeBytes(copy, writeAll(file.entries, {.agent = file.report.facts.agent,
                                             .facts = file.report.facts,
                                             .headId = file.report.headId,
                                             .clean = true}));
    const ReadFile clean = readAll(copy);
    EXPECT_EQ(textsOf(clean.entries), textsOf(file.entries));
    EXPECT_EQ(damageText(clean.report), "");
    EXPECT_FALSE(clean.report.facts.created.empty());
  }
}

// Lines of one answer hang off each other, and results hang off the lines of their calls.
TEST(Clean, ALineWithALostParentKeepsEverythingElse) {
  TempFolder folder;
  std::string bytes = readBytes(BOUGH_TESTS_DIR "/transcript/fixtures/claude-code/blocks.jsonl");
  bytes.erase(0, bytes.find('\n') + 1);
  const auto path = std::filesystem::path(folder.path()) / "s.jsonl";
  writeBytes(path, bytes);
  const ReadFile file = readAll(path);
  EXPECT_GT(file.report.recovered, 0U);
  const std::string clean = writeAll(
      file.entries, {.agent = "claude-code", .facts = file.report.facts, .headId = file.report.headId, .clean = true});
  const std::string parent = R"("parentUuid":"11111111-1111-4111-8111-000000000001")";
  ASSERT_TRUE(bytes.contains(parent));
  bytes.replace(bytes.find(parent), parent.size(), R"("parentUuid":null)");
  EXPECT_TRUE(clean.starts_with(bytes)) << clean;
  writeBytes(path, clean);
  EXPECT_EQ(damageText(readAll(path).report), "");
}

// Also where ids are not UUIDs: what is written again and what is copied name each other by the same ids.
TEST(Clean, ACopyOfClaudeCodesFileHasEveryParent) {
  const auto line = [](const std::string& id, const std::string& parent) {
    return fmt::format(
        R"({{"parentUuid":{},"isSidechain":false,"type":"user","message":{{"role":"user","content":"{}"}},"uuid":"{}","timestamp":"2026-01-01T00:00:00.000Z","sessionId":"11111111-2222-4333-8444-555555555555","cwd":"/p"}})"
        "\n",
        parent.empty() ? "null" : '"' + parent + '"', id, id);
  };
  TempFolder folder;
  const auto path = std::filesystem::path(folder.path()) / "s.jsonl";
  for (const std::string& bytes : {line("a", "") + line("b", "gone") + line("c", "b"),
                                   line("a", "b") + line("b", "a") + line("c", "c") + line("d", "c"),
                                   line("a", "") + line("b", "a") + line("a", "b") + line("c", "a")}) {
    SCOPED_TRACE(bytes);
    writeBytes(path, bytes);
    const ReadFile file = readAll(path);
    EXPECT_GT(file.report.recovered, 0U);
    writeBytes(
        path,
        writeAll(file.entries,
                 {.agent = "claude-code", .facts = file.report.facts, .headId = file.report.headId, .clean = true}));
    const ReadFile clean = readAll(path);
    EXPECT_EQ(linksOf(clean.entries), linksOf(file.entries));
    EXPECT_EQ(damageText(clean.report), "");
  }
}

TEST(Clean, AnOlderDocumentOfGeminiBecomesLinesThatAreWhole) {
  TempFolder folder;
  const auto path = std::filesystem::path(folder.path()) / "session-2026-01-02T03-04-aaaabbbb.jsonl";
  const ReadFile file = readAll(BOUGH_TESTS_DIR "/transcript/fixtures/gemini-cli/document.json");
  writeBytes(
      path, writeAll(file.entries,
                     {.agent = "gemini-cli", .facts = file.report.facts, .headId = file.report.headId, .clean = true}));
  const ReadFile clean = readAll(path);
  EXPECT_EQ(textsOf(clean.entries), textsOf(file.entries));
  EXPECT_EQ(damageText(clean.report), "");
}

TEST(Clean, TheOlderDocumentBecomesLines) {
  const auto lines = linesOfDocument(BOUGH_TESTS_DIR "/transcript/fixtures/myagents/sessions/legacy-1.json");
  ASSERT_TRUE(lines);
  EXPECT_EQ(std::ranges::count(*lines, '\n'), 2);
  EXPECT_TRUE(lines->starts_with("{\"id\": \"1\", \"role\": \"user\"")) << *lines;
  TempFolder folder;
  const auto path = std::filesystem::path(folder.path()) / "old.json";
  writeBytes(path,
             "{\"messages\": [\r\n{\"id\": \"1\",\r\n\"role\": \"user\",\n\r\"content\": \"a\\r\\nb\","
             "\"timestamp\": \"2026-01-01T00:00:00.000Z\"}\r\n]}");
  EXPECT_EQ(linesOfDocument(path.string()).value_or(""),
            "{\"id\": \"1\",\"role\": \"user\",\"content\": \"a\\r\\nb\","
            "\"timestamp\": \"2026-01-01T00:00:00.000Z\"}\n");
  const auto torn = linesOfDocument(BOUGH_TESTS_DIR "/transcript/fixtures/myagents/sessions/legacy-torn.json");
  ASSERT_FALSE(torn);
  EXPECT_EQ(torn.error().code, ErrorCode::Damaged);
}

}  // namespace
}  // namespace bough
