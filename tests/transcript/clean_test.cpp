// A clean copy of a damaged file: it has everything that was read, and is not damaged.
#include <bough/message.h>
#include <fmt/format.h>

#include <map>
#include <random>
#include <set>
#include <sstream>

#include "support/temp_folder.h"
#include "transcript/files.h"

namespace bough {
namespace {

// Returns the text of a block, including the content of a result and the arguments of a call.
std::string wordsOf(const Block& block) {
  std::string words = block.text.decode() + block.name.decode() + std::string(block.input);
  for (const Block& part : block.content) words += wordsOf(part);
  return words;
}

std::vector<std::string> textsOf(const std::vector<Entry>& entries) {
  std::vector<std::string> texts;
  for (const Entry& entry : entries) {
    if (!holdsMessage(entry)) continue;
    const auto message = normalizeEntry(entry);
    if (!message) continue;
    for (const Block& block : message->blocks) texts.push_back(wordsOf(block));
  }
  return texts;
}

// Returns each message's text after the text of its parent message: the tree, independent of ids.
std::vector<std::string> linksOf(const std::vector<Entry>& entries) {
  std::map<std::string, std::string> texts;
  std::vector<std::string> links;
  for (const Entry& entry : entries) {
    const auto message = holdsMessage(entry) ? normalizeEntry(entry) : Result<Message>(fail(ErrorCode::NotFound, ""));
    if (!message) continue;
    for (const Block& block : message->blocks) texts[entry.id] += wordsOf(block);
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
      // Errors in the content of a record remain in the copy.
      const bool isContent = damage.reason.find("without content") != std::string::npos ||
                             damage.reason.find("label of an entry") != std::string::npos;
      EXPECT_TRUE(isContent) << damage.reason << " at " << damage.offset;
    }
  }
}

TEST(Clean, ACopyOfASoundFileIsThatFile) {
  for (const auto& path : fixtures()) {
    const ReadFile file = readAll(path);
    const bool isLines = path.extension() == ".jsonl";
    if (!isLines || file.report.recovered + file.report.unreadable > 0) continue;
    const std::string bytes = readBytes(path);
    if (!bytes.ends_with('\n') || bytes.contains("\n\n") || bytes.contains('\r')) continue;
    EXPECT_EQ(writeAll(file.entries, {.agent = file.report.facts.agent,
                                      .facts = file.report.facts,
                                      .headId = file.report.headId,
                                      .clean = true}),
              bytes)
        << path;
  }
}

TEST(Clean, ACopyKeepsLinesThatOnlyUpdateAMessage) {
  TempFolder folder;
  const auto path = std::filesystem::path(folder.path()) / "session-2026-01-02T03-04-aaaabbbb.jsonl";
  const std::string bytes =
      R"({"sessionId":"aaaabbbb-0000-4000-8000-000000000001","projectHash":"9eec","startTime":"2026-01-02T03:04:05.000Z","lastUpdated":"2026-01-02T03:04:05.000Z","kind":"main"})"
      "\n"
      R"({"id":"m1","timestamp":"2026-01-02T03:04:03.000Z","type":"gemini","content":"One"})"
      "\n"
      R"({"id":"m1","timestamp":"2026-01-02T03:04:04.000Z","type":"gemini","content":"One","tokens":{"input":5}})"
      "\n";
  writeBytes(path, bytes);
  const ReadFile file = readAll(path);
  EXPECT_EQ(writeAll(file.entries,
                     {.agent = "gemini-cli", .facts = file.report.facts, .headId = file.report.headId, .clean = true}),
            bytes);
}

// The last line with an id counts, even when it repeats an earlier one.
TEST(Clean, ACopyKeepsALineThatTakesAnUpdateBack) {
  TempFolder folder;
  const auto path = std::filesystem::path(folder.path()) / "session-2026-01-02T03-04-aaaabbbb.jsonl";
  const std::string first = R"({"id":"m1","timestamp":"2026-01-02T03:04:03.000Z","type":"gemini","content":"One"})"
                            "\n";
  const std::string bytes =
      R"({"sessionId":"aaaabbbb-0000-4000-8000-000000000001","projectHash":"9eec","startTime":"2026-01-02T03:04:05.000Z","lastUpdated":"2026-01-02T03:04:05.000Z","kind":"main"})"
      "\n" +
      first +
      R"({"id":"m1","timestamp":"2026-01-02T03:04:04.000Z","type":"gemini","content":"Two"})"
      "\n" +
      first;
  writeBytes(path, bytes);
  const ReadFile file = readAll(path);
  EXPECT_EQ(textsOf(file.entries), std::vector<std::string>{"One"});
  EXPECT_EQ(writeAll(file.entries,
                     {.agent = "gemini-cli", .facts = file.report.facts, .headId = file.report.headId, .clean = true}),
            bytes);
}

// Two writers, or a pasted copy: different lines with the same id. Only ids change in the copy.
TEST(Clean, ACopyKeepsAllThatLinesOfOneIdHold) {
  TempFolder folder;
  const auto path = std::filesystem::path(folder.path()) / "2026-11-14T23-47-00-862Z_x.jsonl";
  const std::string base = R"("id":"aaaa0002","parentId":"aaaa0001","timestamp":"2026-11-14T23:47:03.000Z")";
  const std::vector<std::string> lines = {
      R"({"type":"custom","customType":"my-ext","data":{"count":2},)" + base + "}",
      R"({"type":"custom_message","customType":"reminder","content":"Injected","display":true,"details":{"src":1},)" +
          base + "}",
      R"({"type":"message",)" + base + R"(,"message":{"role":"user","content":"again","ours":[1],"timestamp":1}})",
      R"({"type":"compaction",)" + base +
          R"(,"summary":"S","firstKeptEntryId":"aaaa0001","tokensBefore":5,"details":{"readFiles":["a"]}})",
      R"({"type":"branch_summary",)" + base + R"(,"fromId":"aaaa0001","summary":"B","details":{"z":1}})",
      R"({"type":"usage",)" + base + R"(,"kind":"cache_warm","note":"warm"})",
      R"({"type":"context_edit",)" + base + R"(,"targetId":"aaaa0001","replacement":{"content":"EDITED"}})",
      R"({"type":"session_info",)" + base + R"(,"name":"nm"})",
      R"({"type":"weird_future",)" + base + R"(,"stuff":{"k":1}})"};
  std::string bytes = R"({"type":"session","version":3,"id":"x","timestamp":"2026-11-14T23:47:00.862Z","cwd":"/tmp"})"
                      "\n"
                      R"({"type":"message","id":"aaaa0001","parentId":null,"timestamp":"2026-11-14T23:47:01.000Z",)"
                      R"("message":{"role":"user","content":"hi","timestamp":1}})"
                      "\n"
                      R"({"type":"custom","customType":"my-ext","data":{"count":1},)" +
                      base + "}\n";
  for (const std::string& line : lines) bytes += line + "\n";
  bytes += R"({"type":"label","id":"aaaa0003","parentId":"aaaa0002","timestamp":"2026-11-14T23:47:05.000Z",)"
           R"("targetId":"aaaa0002","label":"x"})"
           "\n";
  writeBytes(path, bytes);
  const ReadFile file = readAll(path);
  const std::string once =
      writeAll(file.entries, {.agent = "pi", .facts = file.report.facts, .headId = file.report.headId, .clean = true});
  std::istringstream in(once);
  std::set<std::string> ids;
  std::string last;  // id of the previous line
  std::size_t count = 0;
  for (std::string line; std::getline(in, line); ++count) {
    const auto at = line.find(R"("id":")") + 6;
    const std::string id = line.substr(at, line.find('"', at) - at);
    EXPECT_TRUE(ids.insert(id).second) << "twice: " << line;
    if (count >= 3 && count < 3 + lines.size()) {
      std::string same = line;
      same.replace(at, id.size(), "aaaa0002");
      EXPECT_EQ(same, lines[count - 3]);
      last = id;
    }
    if (count == 3 + lines.size()) {
      EXPECT_TRUE(line.contains(R"("parentId":")" + last + R"(")")) << line;
      EXPECT_TRUE(line.contains(R"("targetId":")" + last + R"(")")) << line;
    }
  }
  EXPECT_EQ(count, 4 + lines.size()) << once;
  writeBytes(path, once);
  EXPECT_EQ(damageText(readAll(path).report), "");
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

using Branch = std::vector<std::string>;

// Returns the texts of each entry's branch in order, by the entry's id.
std::map<std::string, Branch> branchesOf(const ReadFile& file) {
  std::map<std::string, Branch> branches;
  for (const Entry& entry : file.entries) {
    if (!isConversation(entryKind(entry.type))) continue;
    Branch branch = branches[entry.parentId.value_or("")];
    std::ranges::copy(textsOf({entry}), std::back_inserter(branch));
    branches[entry.id] = std::move(branch);
  }
  return branches;
}

Branch branchOf(const ReadFile& file) {
  return branchesOf(file)[file.report.headId];
}

// Returns true when another branch contains all texts of a branch.
bool isWithin(Branch part, Branch whole) {
  std::ranges::sort(part);
  std::ranges::sort(whole);
  return std::ranges::includes(whole, part);
}

// Returns the branches of a file that no branch of the copy contains.
std::vector<Branch> branchesLost(const ReadFile& file, const ReadFile& copy) {
  const auto kept = branchesOf(copy);
  std::vector<Branch> lost;
  for (const auto& [id, branch] : branchesOf(file)) {
    const bool isThere = std::ranges::any_of(kept, [&](const auto& other) { return isWithin(branch, other.second); });
    if (!isThere) lost.push_back(branch);
  }
  return lost;
}

std::set<std::string> setOf(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

// Damages bytes like disks and programs; some damage affects whole lines.
std::string damaged(std::string bytes, std::mt19937& random) {
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  std::vector<std::string> lines;
  std::istringstream in(bytes);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  const std::size_t one = below(lines.size());
  const std::size_t other = below(lines.size());
  switch (below(7)) {
    case 0: std::swap(lines[one], lines[other]); break;
    case 1: lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(other), std::string(lines[one])); break;
    case 2: lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(one)); break;
    case 3: lines[one].resize(below(lines[one].size() + 1)); break;
    case 4: lines[one].insert(below(lines[one].size() + 1), 40, '\0'); break;
    case 5: lines[one] += lines[other]; break;
    default: lines[one].insert(below(lines[one].size() + 1), "\xFF{"); break;
  }
  bytes.clear();
  for (const std::string& line : lines) bytes += line + "\n";
  return bytes;
}

TEST(Clean, ACopyOfAnyDamagedFileHoldsItsTreeAndNoDamage) {
  TempFolder folder;
  std::mt19937 random(18);
  for (const auto& path : fixtures()) {
    const ReadFile sound = readAll(path);
    const bool isDocument = path.extension() == ".json";
    if (isDocument || path.extension() == ".zst" || !sound.report.facts.parentSession.empty()) continue;
    const auto copy = std::filesystem::path(folder.path()) / sound.report.facts.agent / "s" / path.filename();
    const std::string original = readBytes(path);
    for (int i = 0; i < 12; ++i) {
      std::string bytes = damaged(original, random);
      if (i % 3 == 0) bytes = damaged(bytes, random);
      writeBytes(copy, bytes);
      if (const auto agent = recognizeTranscript(copy); !agent || *agent != sound.report.facts.agent) continue;
      const ReadFile file = readAll(copy);
      if (file.report.headId.empty()) continue;  // nothing of the conversation is left
      SCOPED_TRACE(fmt::format("{} {}\n{}", path.string(), i, bytes));
      const WriteTranscriptOptions how{
          .agent = sound.report.facts.agent, .facts = file.report.facts, .headId = file.report.headId, .clean = true};
      const std::string once = writeAll(file.entries, how);
      writeBytes(copy, once);
      const ReadFile clean = readAll(copy);
      EXPECT_TRUE(std::ranges::includes(setOf(textsOf(clean.entries)), setOf(textsOf(file.entries)))) << once;
      // Lines of one answer that damage separated may be joined again.
      EXPECT_EQ(branchesLost(file, clean), std::vector<Branch>()) << once;
      EXPECT_TRUE(isWithin(branchOf(file), branchOf(clean))) << once;
      if (how.agent != "claude-code" && how.agent != "gemini-cli") {
        EXPECT_EQ(linksOf(clean.entries), linksOf(file.entries)) << once;
        EXPECT_EQ(branchOf(clean), branchOf(file)) << once;
      }
      EXPECT_EQ(clean.report.unreadable, 0U) << damageText(clean.report);
      for (const TranscriptDamage& damage : clean.report.damage) {
        const bool isContent =
            damage.reason.contains("without content") || damage.reason.contains("label of an entry") ||
            damage.reason.contains("cannot be a label") || damage.reason.contains("a summary that keeps") ||
            damage.reason.contains("message that cannot be read");
        EXPECT_TRUE(isContent) << damage.reason << " at " << damage.offset << "\n" << once;
      }
      EXPECT_EQ(
          writeAll(clean.entries,
                   {.agent = how.agent, .facts = clean.report.facts, .headId = clean.report.headId, .clean = true}),
          once);
    }
  }
}

TEST(Clean, AHeaderThatBrokeOffBeforeAListOfMessagesIsNotADocument) {
  TempFolder folder;
  const auto path = std::filesystem::path(folder.path()) / "session-2026-01-02T03-04-aaaabbbb.jsonl";
  writeBytes(
      path,
      R"({"sessionId":"aaaabbbb-0000-4000-8000-000000000001","projectHash":"9eec)"
      "\n"
      R"({"$set":{"messages":[{"id":"m1","timestamp":"2026-01-02T03:04:03.000Z","type":"user","content":"One"}]}})"
      "\n"
      R"({"id":"m2","timestamp":"2026-01-02T03:04:04.000Z","type":"gemini","content":"Two"})"
      "\n");
  EXPECT_EQ(textsOf(readAll(path).entries), (std::vector<std::string>{"One", "Two"}));
}

// The lines of one answer form a chain, and results continue the lines of their calls.
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

// A result without its call exists only in its line, which a writer could not create again.
TEST(Clean, ALineThatContinuesARepeatedIdKeepsEverythingElse) {
  TempFolder folder;
  const auto path = std::filesystem::path(folder.path()) / "s.jsonl";
  const std::string before =
      R"({"id":"u","parentId":null,"timestamp":"2026-01-01T00:00:00Z","type":"user","content":"one"})"
      "\n"
      R"({"id":"a","parentId":"u","timestamp":"2026-01-01T00:00:01Z","type":"assistant","content":"two"})"
      "\n";
  const std::string again =
      R"({"id":"a","parentId":"u","timestamp":"2026-01-01T00:00:02Z","type":"assistant","content":"other"})"
      "\n";
  std::string result =
      R"({"id":"r","parentId":"a","timestamp":"2026-01-01T00:00:03Z","type":"tool_result","tool_call_id":"lost","content":"three"})"
      "\n";
  writeBytes(path, before + again + result);
  const ReadFile file = readAll(path);
  const std::string clean = writeAll(
      file.entries, {.agent = "plain", .facts = file.report.facts, .headId = file.report.headId, .clean = true});
  ASSERT_TRUE(clean.starts_with(before)) << clean;
  const auto at = before.size() + std::string_view(R"({"id":")").size();
  const std::string renamed = clean.substr(at, clean.find('"', at) - at);
  result.replace(result.find(R"("a")"), 3, '"' + renamed + '"');
  EXPECT_TRUE(clean.ends_with(result)) << clean;
  writeBytes(path, clean);
  EXPECT_EQ(damageText(readAll(path).report), "");
}

// Its call is lost, and the line that it continues has a repeated id.
TEST(Clean, AResultWithoutItsCallIsCopied) {
  TempFolder folder;
  const auto path = std::filesystem::path(folder.path()) / "s.jsonl";
  const std::string one =
      R"({"id":"u","parentId":null,"timestamp":"2026-01-01T00:00:00Z","type":"user","content":"one"})"
      "\n";
  const std::string result =
      R"({"id":"r","parentId":"lost","timestamp":"2026-01-01T00:00:03Z","type":"tool_result","tool_call_id":"c","content":"three"})"
      "\n";
  const std::string other =
      R"({"id":"u","parentId":null,"timestamp":"2026-01-01T00:00:02Z","type":"user","content":"other"})"
      "\n";
  writeBytes(path, one + other + result);
  const ReadFile file = readAll(path);
  writeBytes(path,
             writeAll(file.entries,
                      {.agent = "plain", .facts = file.report.facts, .headId = file.report.headId, .clean = true}));
  const ReadFile clean = readAll(path);
  EXPECT_EQ(linksOf(clean.entries), (std::vector<std::string>{" > one", " > other", "other > three"}));
  EXPECT_EQ(damageText(clean.report), "");
}

// Also when ids are not UUIDs: rewritten and copied lines refer to each other by the same ids.
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
