// Where the rollout of another Codex thread is searched for.
#include "transcript/agents/codex/lineage.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include "files.h"
#include "support/temp_folder.h"

namespace bough::transcript::codex {
namespace {

constexpr const char* kThread = "0199a213-81a0-7800-8aa0-bbab2a035a53";

std::string found(const std::string& place, const std::string& ending = ".jsonl") {
  const TempFolder folder;
  const std::filesystem::path home = folder / "home";
  const std::filesystem::path asking = home / "sessions/2027/01/02/rollout-asking.jsonl";
  std::filesystem::create_directories(asking.parent_path());
  writeBytes(asking, "");
  const std::filesystem::path file = home / place / ("rollout-2025-10-02T09-00-00-" + std::string(kThread) + ending);
  std::filesystem::create_directories(file.parent_path());
  writeBytes(file, "");
  const std::string path = findRollout(asking.string(), kThread);
  EXPECT_TRUE(path.empty() || path == file.string()) << path;
  return path.empty() ? "nowhere" : "there";
}

TEST(CodexLineage, ARolloutIsFoundBesideByItsDayByAnyDayAndInTheArchive) {
  EXPECT_EQ(found("sessions/2027/01/02"), "there");
  EXPECT_EQ(found("sessions/2025/10/02"), "there");
  EXPECT_EQ(found("sessions/2030/05/06"), "there");
  EXPECT_EQ(found("sessions/2030/05/06", ".jsonl.zst"), "there");
  EXPECT_EQ(found("archived_sessions"), "there");
  EXPECT_EQ(found("archived_sessions/2025/10"), "there");
}

TEST(CodexLineage, FoldersThatAreNotDaysAndOtherFilesAreLeftAlone) {
  EXPECT_EQ(found("sessions/notes"), "nowhere");
  EXPECT_EQ(found("sessions/2030x/01/02"), "nowhere");
  EXPECT_EQ(found("sessions/2030/01/02/03"), "nowhere");
  EXPECT_EQ(found("elsewhere"), "nowhere");
  EXPECT_EQ(found("sessions/2030/05/06", ".json"), "nowhere");
  EXPECT_EQ(findRollout("/nowhere/sessions/x.jsonl", "not-an-id"), "");
}

TEST(CodexLineage, TheHomeIsAboveTheFolderOfSessions) {
  EXPECT_EQ(homeOf("/h/sessions/2025/10/02/rollout.jsonl"), "/h");
  EXPECT_EQ(homeOf("/h/archived_sessions/rollout.jsonl"), "/h");
  EXPECT_EQ(homeOf("/h/sessions/2025/10/02/03/rollout.jsonl"), "");
  EXPECT_EQ(homeOf("/h/other/rollout.jsonl"), "");
}

// Returns the file of thread `number`, which continues the first `bytes` bytes of thread `parent`'s file.
std::string forkOf(unsigned number, unsigned parent, std::size_t bytes) {
  const auto thread = [](unsigned each) { return fmt::format("019b7b00-0000-7000-8000-{:012}", each); };
  const std::string base =
      bytes == 0 ? std::string()
                 : fmt::format(R"(,"history_base":{{"thread_id":"{}","end_ordinal_exclusive":3,"end_byte_offset":{}}})",
                               thread(parent), bytes);
  return fmt::format(
      R"({{"timestamp":"2026-01-02T00:00:00.000Z","type":"session_meta","payload":{{"id":"{}","cwd":"/w"{}}}}})"
      "\n"
      R"({{"timestamp":"2026-01-02T00:00:00.000Z","type":"response_item","payload":{{"type":"message",)"
      R"("role":"user","content":[{{"type":"input_text","text":"question {}"}}]}}}})"
      "\n",
      thread(number), base, number);
}

std::filesystem::path fileOf(const TempFolder& folder, unsigned number) {
  return folder / fmt::format("rollout-2026-01-02T00-00-00-019b7b00-0000-7000-8000-{:012}.jsonl", number);
}

TEST(CodexLineage, AThreadThatWasForkedOftenHasItsWholeHistory) {
  const TempFolder folder;
  std::size_t bytes = 0;
  for (unsigned i = 0; i < 100; ++i) {
    const std::string file = forkOf(i, i - 1, bytes);
    writeBytes(fileOf(folder, i), file);
    bytes = file.size();
  }
  EXPECT_EQ(damageText(readAll(fileOf(folder, 99)).report), "");
  const auto store = memoryStore();
  const auto imported = importTranscript(*store, fileOf(folder, 99), {});
  ASSERT_TRUE(imported) << imported.error().message;
  const auto state = store->sessionState(imported->sessionId);
  ASSERT_TRUE(state);
  const auto branch = store->loadSessionEntries(imported->sessionId, {.branch = state->headId});
  ASSERT_TRUE(branch);
  EXPECT_EQ(branch->size(), 100U);
}

TEST(CodexLineage, AFileMayContinueAPartOfAPackedOne) {
  const TempFolder folder;
  const std::string begin = forkOf(1, 0, 0);
  const std::string parent = begin + std::string(1 << 20, ' ') + "\n" + forkOf(1, 0, 0);
  std::string packed(ZSTD_compressBound(parent.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), parent.data(), parent.size(), 3));
  writeBytes(fileOf(folder, 1).string() + ".zst", packed);
  writeBytes(fileOf(folder, 2), forkOf(2, 1, begin.size()));
  const ReadFile file = readAll(fileOf(folder, 2));
  EXPECT_EQ(damageText(file.report), "");
  EXPECT_NE(file.report.facts.parentEntryId, "");
}

TEST(CodexLineage, FilesThatContinueOneAnotherInACircleAreReadEachByItself) {
  const TempFolder folder;
  const std::size_t bytes = forkOf(1, 2, 999).size();
  for (unsigned i = 1; i <= 3; ++i) writeBytes(fileOf(folder, i), forkOf(i, i % 3 + 1, bytes));
  for (unsigned i = 1; i <= 3; ++i) {
    const auto file = readAll(fileOf(folder, i));
    EXPECT_TRUE(damageText(file.report).contains("circle")) << damageText(file.report);
    EXPECT_EQ(file.report.facts.parentEntryId, "");
    EXPECT_EQ(file.entries.size(), 2U);
  }
}

TEST(CodexLineage, AFileSaysThatTheBeginningOfItsHistoryIsGone) {
  const TempFolder folder;
  const std::string parent = forkOf(2, 1, 100);
  writeBytes(fileOf(folder, 2), parent);
  writeBytes(fileOf(folder, 3), forkOf(3, 2, parent.size()));
  EXPECT_TRUE(damageText(readAll(fileOf(folder, 3)).report).contains("is not there"));
}

// A file that continues another one may summarize that file's messages and keep the last of them.
TEST(CodexLineage, ACompactionKeepsMessagesOfTheFileThatItContinues) {
  const TempFolder folder;
  const auto line = [](std::string_view type, std::string_view payload) {
    return fmt::format(R"({{"timestamp":"2026-01-01T00:00:00.000Z","type":"{}","payload":{}}})"
                       "\n",
                       type, payload);
  };
  const auto item = [](std::string_view role, std::string_view text) {
    return fmt::format(R"({{"type":"message","role":"{}","content":[{{"type":"{}_text","text":"{}"}}]}})", role,
                       role == "user" ? "input" : "output", text);
  };
  const std::vector<std::string> threads = {kThread, "0199a213-81a0-7800-8aa0-bbab2a035a54",
                                            "0199a213-81a0-7800-8aa0-bbab2a035a55"};
  const auto path = [&](std::size_t i) { return folder / ("rollout-2025-10-02T09-00-00-" + threads[i] + ".jsonl"); };
  const auto meta = [&](std::size_t i, std::size_t end) {
    const std::string base =
        i == 0 ? std::string()
               : fmt::format(R"(,"history_base":{{"thread_id":"{}","end_ordinal_exclusive":9,"end_byte_offset":{}}})",
                             threads[i - 1], end);
    return line("session_meta", fmt::format(R"({{"id":"{}","cwd":"/tmp"{}}})", threads[i], base));
  };
  const std::string first = meta(0, 0) + line("response_item", item("user", "q1")) +
                            line("response_item", item("assistant", "a1")) + line("response_item", item("user", "q2"));
  writeBytes(path(0), first + line("response_item", item("assistant", "of another branch")));
  const std::string second = meta(1, first.size()) + line("response_item", item("assistant", "a2"));
  writeBytes(path(1), second);
  const std::string kept = fmt::format("[{},{},{}]", item("user", "SUM"), item("user", "q2"), item("assistant", "a2"));
  writeBytes(path(2), meta(2, second.size()) +
                          line("compacted", fmt::format(R"({{"message":"SUM","replacement_history":{}}})", kept)) +
                          line("response_item", item("user", "q3")));
  const ReadFile parent = readAll(path(0));
  const ReadFile file = readAll(path(2));
  std::string summary;
  std::string messages;
  for (const Entry& entry : file.entries) {
    if (entry.type == entry_type::kCompactionSummary) summary = entry.payload;
    if (holdsMessage(entry)) messages += normalizeEntry(entry)->blocks.front().text.decode();
  }
  EXPECT_EQ(messages, "q3");
  const auto q2 = std::ranges::find_if(parent.entries, [](const Entry& entry) { return entry.payload.contains("q2"); });
  ASSERT_NE(q2, parent.entries.end());
  EXPECT_EQ(json::findString(summary, "firstKeptEntryId"), q2->id);
}

}  // namespace
}  // namespace bough::transcript::codex
