// Imports into a session whose id was chosen by the user.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text/utf8.h"
#include "files.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

// Lines without ids are identified by their place, which is the same in both files.
TEST(Import, AnIdThatWasGivenIsNotThatOfAnotherFilesSession) {
  const TempFolder folder;
  const auto file = [&](const std::string& id, std::string_view words, std::string_view more = "") {
    std::string path = folder / (id + ".jsonl");
    writeBytes(path, fmt::format(R"({{"type":"session","id":"{}","key":"k","created":"2026-01-01T00:00:00Z"}})"
                                 "\n"
                                 R"({{"type":"user","content":"{}","ts":"2026-01-01T00:00:01Z"}})"
                                 "\n{}",
                                 id, words, more));
    return path;
  };
  const auto store = memoryStore();
  const ImportOptions named{.agent = {}, .sessionId = "m"};
  ASSERT_TRUE(importTranscript(*store, file("one", "said in one"), named));
  const auto other = importTranscript(*store, file("two", "said in two"), named);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::AlreadyExists);
  EXPECT_TRUE(other.error().hint.contains("--id"));
  // The same file, and a file that was renamed and continued.
  ASSERT_TRUE(importTranscript(*store, file("one", "said in one"), named));
  const auto renamed = importTranscript(
      *store,
      file("six", "said in one", "{\"type\":\"assistant\",\"content\":\"more\",\"ts\":\"2026-01-01T00:00:02Z\"}\n"),
      named);
  ASSERT_TRUE(renamed) << renamed.error().message;
  EXPECT_EQ(renamed->appended, 2U);  // including the facts
}

// Such an id is reserved for a place in a log, so no stored entry may have it.
TEST(Import, AnEntryWhoseIdLooksLikeThatOfAPlaceIsImported) {
  const TempFolder folder;
  const std::string path = folder / "places.jsonl";
  writeBytes(path,
             R"({"id":"unreadable:7","parentId":null,"timestamp":"2026-01-01T00:00:00Z","type":"user","content":"one"})"
             "\n"
             R"({"id":"b","parentId":"unreadable:7","timestamp":"2026-01-01T00:00:01Z","type":"user","content":"two"})"
             "\n");
  const auto store = memoryStore();
  const auto imported = importTranscript(*store, path, {.agent = {}, .sessionId = "m"});
  ASSERT_TRUE(imported) << imported.error().message;
  auto session = store->session("m");
  ASSERT_TRUE(session);
  const auto entries = session->load();
  ASSERT_TRUE(entries);
  const auto second = std::ranges::find(*entries, "b", &Entry::id);
  ASSERT_NE(second, entries->end());
  const auto first = std::ranges::find(*entries, second->parentId.value_or(""), &Entry::id);
  ASSERT_NE(first, entries->end());
  EXPECT_TRUE(first->payload.contains("one"));
}

// Returns the lines of a session without line ids; each line mentions its number.
std::vector<std::string> linesWithoutIds(std::string_view agent) {
  std::vector<std::string> lines;
  if (agent == "codex") {
    lines.emplace_back(
        R"({"timestamp":"2026-01-02T03:04:05.000Z","type":"session_meta","payload":{"id":"019b7b00-0000-7000-8000-000000000)"
        R"(0cc","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/tmp","originator":"codex_cli_rs","source":"cli"}})");
  }
  for (int i = 0; i < 8; ++i) {
    const bool isUser = i % 2 == 0;
    const std::string said = fmt::format("says {}", i < 7 ? i : 5);  // one repeats the text of an earlier one
    lines.push_back(
        agent == "claw0"
            ? fmt::format(R"({{"type":"{}","content":"{}","ts":1767323045}})", isUser ? "user" : "assistant", said)
            : fmt::format(R"({{"timestamp":"2026-01-02T03:05:0{}.000Z","type":"response_item","payload":)"
                          R"({{"type":"message","role":"{}","content":[{{"type":"{}","text":"{}"}}]}}}})",
                          i < 7 ? i : 5, isUser ? "user" : "assistant", isUser ? "input_text" : "output_text", said));
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string bytes;
  for (const std::string& line : lines) bytes += line + '\n';
  return bytes;
}

std::size_t messagesIn(SessionStore& store, const std::string& sessionId) {
  const auto entries = store.loadSessionEntries(sessionId);
  EXPECT_TRUE(entries);
  return static_cast<std::size_t>(std::ranges::count(*entries, entry_type::kMessage, &Entry::type));
}

TEST(Import, LinesWithoutIdsAreThereOnceWhenAnEarlierOneWasDamagedOrMended) {
  const TempFolder folder;
  const std::filesystem::path path = folder / "session.jsonl";
  for (const std::string_view agent : {"claw0", "codex"}) {
    const std::vector<std::string> whole = linesWithoutIds(agent);
    const std::size_t begin = whole.size() - 8;
    for (std::size_t changed = begin; changed < whole.size(); ++changed) {
      for (const std::string_view with : {"half", "longer", "nothing"}) {
        SCOPED_TRACE(fmt::format("{} line {} {}", agent, changed, with));
        std::vector<std::string> other = whole;
        if (with == "half") other[changed].resize(other[changed].size() / 2);
        if (with == "longer") other[changed] = std::string(500, 'x');
        if (with == "nothing") other.erase(other.begin() + static_cast<std::ptrdiff_t>(changed));
        for (const bool isMended : {false, true}) {
          SCOPED_TRACE(isMended ? "mended" : "damaged");
          const auto store = memoryStore();
          writeBytes(path, joined(isMended ? other : whole));
          const ImportOptions options{.agent = std::string(agent), .sessionId = "session"};
          ASSERT_TRUE(importTranscript(*store, path, options));
          writeBytes(path, joined(isMended ? whole : other));
          ASSERT_TRUE(importTranscript(*store, path, options));
          EXPECT_EQ(messagesIn(*store, "session"), 8U);
          const auto again = importTranscript(*store, path, options);
          ASSERT_TRUE(again);
          EXPECT_EQ(again->appended, 0U);
          // The session continues after its last message, and what was lost from the file before that is still there.
          // For an agent whose file became shorter, it continues at the file's end.
          const auto branch = store->buildConversationHistory("session");
          ASSERT_TRUE(branch);
          EXPECT_GE(branch->size(), 7U);
          if (!isMended && changed + 1 < whole.size()) {
            EXPECT_EQ(branch->size(), 8U);
          }
        }
      }
    }
  }
}

TEST(Import, ALineThatTookThePlaceOfAnOlderOneContinuesTheLineBeforeIt) {
  const TempFolder folder;
  const std::filesystem::path path = folder / "session.jsonl";
  const auto lines = [](const std::vector<int>& said) {
    std::string bytes;
    for (const int i : said)
      bytes += fmt::format(R"({{"type":"user","content":"says {0}","ts":{0}}})"
                           "\n",
                           i);
    return bytes;
  };
  const auto store = memoryStore();
  const ImportOptions options{.agent = "claw0", .sessionId = "session"};
  writeBytes(path, lines({1, 2, 3, 4}));
  ASSERT_TRUE(importTranscript(*store, path, options));
  writeBytes(path, lines({1, 3, 4, 5}));
  const auto done = importTranscript(*store, path, options);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(messagesIn(*store, "session"), 5U);
  EXPECT_EQ(store->buildConversationHistory("session")->size(), 5U);
}

TEST(Import, AForkThatWentToAnAgentComesBackFromThere) {
  const TempFolder folder;
  for (const std::string_view agent : {"claw0", "codex"}) {
    const std::filesystem::path path = folder / fmt::format("{}.jsonl", agent);
    writeBytes(path, joined(linesWithoutIds(agent)));
    const auto store = memoryStore();
    const ImportOptions options{.agent = std::string(agent), .sessionId = "session"};
    ASSERT_TRUE(importTranscript(*store, path, options));
    const NewSession fork{.sessionId = "01a1dc74-8eea-7b72-9f3d-0753167100f0", .key = {}, .cwd = {}, .title = {}};
    ASSERT_TRUE(store->branchFromEntry("session", store->sessionState("session")->headId, fork));
    for (const std::string_view target : {"claw0", "codex", "pi", "claude-code", "gemini-cli", "plain", "myagents"}) {
      SCOPED_TRACE(fmt::format("{} {}", agent, target));
      const std::filesystem::path there = folder / fmt::format("{}.jsonl", fork.sessionId);
      writeBytes(there, exported(*store, fork.sessionId, std::string(target)));
      const auto back = importTranscript(*store, there, {.agent = std::string(target), .sessionId = fork.sessionId});
      ASSERT_TRUE(back) << back.error().message;
      EXPECT_EQ(damageText(back->report), "");
      EXPECT_EQ(messagesIn(*store, fork.sessionId), 8U);
      EXPECT_EQ(store->buildConversationHistory(fork.sessionId)->size(), 8U);
    }
  }
}

// An agent's own chain includes entries (a change of the model, an attachment) that are not on the branch that a fork
// shares.
TEST(Import, AForkInAFileOfItsAgentNamesNoParentThatIsNotThere) {
  const TempFolder folder;
  for (const auto& file : fixtures()) {
    SCOPED_TRACE(file.string());
    const auto store = memoryStore();
    const auto done = importTranscript(*store, file.string());
    if (!done || !damageText(done->report).empty() || done->report.headId.empty()) continue;
    const NewSession fork{.sessionId = "01a1dc74-8eea-7b72-9f3d-0753167100f0", .key = {}, .cwd = {}, .title = {}};
    ASSERT_TRUE(store->branchFromEntry(done->sessionId, done->report.headId, fork));
    ASSERT_TRUE(store->appendSessionEntries(fork.sessionId, {userText("more")}));
    const std::string& agent = done->report.facts.agent;
    const std::filesystem::path there = folder / fmt::format("{}.jsonl", fork.sessionId);
    writeBytes(there, exported(*store, fork.sessionId, agent));
    const auto fresh = memoryStore();
    const auto back = importTranscript(*fresh, there, {.agent = agent, .sessionId = "back"});
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(damageText(back->report), "");
    EXPECT_EQ(fresh->buildConversationHistory("back")->size(), store->buildConversationHistory(fork.sessionId)->size());
  }
}

// The agent's own lines may contain invalid bytes. What new lines take from them (the folder) is valid text
// nevertheless.
TEST(Import, ALineBesideBrokenOnesComesBackAsTheSameEntry) {
  const TempFolder folder;
  for (const auto& file : fixtures()) {
    SCOPED_TRACE(file.string());
    std::string bytes = readBytes(file);
    constexpr std::string_view kBegin = "\"cwd\":\"";
    for (std::size_t at = bytes.find(kBegin); at != std::string::npos; at = bytes.find(kBegin, at + 1)) {
      const std::size_t end = bytes.find('"', at + kBegin.size());
      if (end != std::string::npos && end > at + kBegin.size()) bytes[end - 1] = '\xDD';
    }
    const std::filesystem::path broken = folder / file.filename().string();
    writeBytes(broken, bytes);
    const auto store = memoryStore();
    const auto done = importTranscript(*store, broken, {.agent = {}, .sessionId = "broken"});
    if (!done || done->report.headId.empty()) continue;
    ASSERT_TRUE(store->appendSessionEntries("broken", {userText("more")}));
    const std::string out = exported(*store, "broken", done->report.facts.agent);
    for (std::size_t at = 0; at < out.size();) {
      const std::size_t end = std::min(out.find('\n', at), out.size() - 1) + 1;
      const std::string_view line = std::string_view(out).substr(at, end - at);
      EXPECT_TRUE(isUtf8(line) || !line.contains("more")) << line;
      at = end;
    }
    writeBytes(broken, out);
    const std::size_t before = store->buildConversationHistory("broken")->size();
    ASSERT_TRUE(importTranscript(*store, broken, {.agent = {}, .sessionId = "broken"}));
    EXPECT_EQ(store->buildConversationHistory("broken")->size(), before);
  }
}

}  // namespace
}  // namespace bough
