// Codex takes turns back: in the file that contains them, in a file that continues it, before a compaction, all turns,
// and by a new file of the same thread.
#include <gtest/gtest.h>

#include "files.h"
#include "support/temp_folder.h"
#include "transcript/agents/codex/lineage.h"

namespace bough {
namespace {

const std::vector<std::string> kThreads = {"0199a213-81a0-7800-8aa0-bbab2a035a53",
                                           "0199a213-81a0-7800-8aa0-bbab2a035a54",
                                           "0199a213-81a0-7800-8aa0-bbab2a035a55"};

std::string rolloutLine(std::string_view type, std::string_view payload) {
  return fmt::format(R"({{"timestamp":"2026-01-01T00:00:00.000Z","type":"{}","payload":{}}})"
                     "\n",
                     type, payload);
}

std::string rolloutItem(std::string_view role, std::string_view text) {
  return fmt::format(R"({{"type":"message","role":"{}","content":[{{"type":"{}_text","text":"{}"}}]}})", role,
                     role == "user" ? "input" : "output", text);
}

// Returns a question and its answer.
std::string turn(int number) {
  return rolloutLine("response_item", rolloutItem("user", fmt::format("q{}", number))) +
         rolloutLine("response_item", rolloutItem("assistant", fmt::format("a{}", number)));
}

std::string rollBack(int count) {
  return rolloutLine("event_msg", fmt::format(R"({{"type":"thread_rolled_back","num_turns":{}}})", count));
}

std::string compaction(std::string_view history = "") {
  const std::string kept = history.empty() ? "" : fmt::format(R"(,"replacement_history":{})", history);
  return rolloutLine("compacted", fmt::format(R"({{"message":"SUM"{}}})", kept));
}

std::string tokens(int total) {
  return rolloutLine(
      "event_msg",
      fmt::format(R"({{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{0},"output_tokens":0}}}}}})",
                  total));
}

std::string meta(const std::string& thread, const std::string& base = {}, std::size_t end = 0) {
  const std::string history =
      base.empty()
          ? ""
          : fmt::format(R"(,"history_base":{{"thread_id":"{}","end_ordinal_exclusive":9,"end_byte_offset":{}}})", base,
                        end);
  return rolloutLine("session_meta", fmt::format(R"({{"id":"{}","cwd":"/tmp"{}}})", thread, history));
}

class Rollouts : public testing::Test {
 protected:
  std::string path(const std::string& name) const {
    return folder_ / ("rollout-2025-10-02T09-00-00-" + name + ".jsonl");
  }

  ReadFile written(const std::string& name, const std::string& bytes) const {
    writeBytes(path(name), bytes);
    return readAll(path(name));
  }

  // Returns the entries of files that continue one another, as one story.
  static std::string whole(const std::vector<const ReadFile*>& files) {
    std::vector<Entry> entries;
    for (const ReadFile* file : files) entries.insert(entries.end(), file->entries.begin(), file->entries.end());
    return story(entries, files.back()->report.headId);
  }

 private:
  TempFolder folder_;
};

std::string said(const std::vector<int>& turns) {
  std::string out;
  for (const int turn : turns) out += fmt::format("user: q{0}\nassistant: a{0}\n", turn);
  return out;
}

TEST_F(Rollouts, AFileTakesBackTurnsOfTheFileThatItContinues) {
  const std::string first = meta(kThreads[0]) + turn(1) + turn(2) + turn(3);
  const ReadFile parent = written(kThreads[0], first + turn(9));
  struct Case {
    std::string own;
    std::vector<int> left;
  };
  const std::vector<Case> cases = {
      {rollBack(1), {1, 2}},
      {rollBack(1) + turn(4), {1, 2, 4}},
      {turn(4) + rollBack(1) + turn(5), {1, 2, 3, 5}},
      {turn(4) + rollBack(1), {1, 2, 3}},
      {turn(4) + rollBack(2) + turn(5), {1, 2, 5}},
      {turn(4) + rollBack(3) + turn(5) + rollBack(2) + turn(6), {6}},
      {rollBack(3) + turn(4), {4}},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string thread = fmt::format("0199a213-81a0-7800-8aa0-bbab2a035b{:02}", i);
    const ReadFile child = written(thread, meta(thread, kThreads[0], first.size()) + cases[i].own);
    EXPECT_EQ(whole({&parent, &child}), said(cases[i].left)) << i;
    EXPECT_EQ(child.report.recovered, 0U) << i;
  }
}

TEST_F(Rollouts, WhatWasTakenBackBeforeAForkIsNotInIt) {
  const std::string first = meta(kThreads[0]) + turn(1) + turn(2) + rollBack(1) + turn(3);
  const ReadFile parent = written(kThreads[0], first);
  const std::string own = meta(kThreads[1], kThreads[0], first.size()) + turn(4);
  const ReadFile middle = written(kThreads[1], own);
  const ReadFile last = written(kThreads[2], meta(kThreads[2], kThreads[1], own.size()) + rollBack(2) + turn(5));
  EXPECT_EQ(whole({&parent, &middle, &last}), said({1, 5}));
}

TEST_F(Rollouts, ATurnBeforeACompactionIsTakenBackWithTheCompaction) {
  const std::string kept = fmt::format("[{},{}]", rolloutItem("user", "q1"), rolloutItem("user", "SUM"));
  for (const std::string& history : {std::string(), kept}) {
    const std::string begun = meta(kThreads[0]) + turn(1) + turn(2) + compaction(history) + turn(3);
    const ReadFile file = written(kThreads[0], begun + rollBack(2) + turn(4));
    EXPECT_EQ(whole({&file}), said({1, 4}));
    const ReadFile after = written(kThreads[0], begun + rollBack(1) + turn(4));
    EXPECT_TRUE(whole({&after}).ends_with(said({4})));
    EXPECT_FALSE(whole({&after}).contains("q3"));
  }
}

TEST_F(Rollouts, ASummaryOfAnOlderVersionKeepsNoMessagesThatWereTakenBack) {
  const ReadFile file = written(kThreads[0], meta(kThreads[0]) + turn(1) + turn(2) + rollBack(1) + compaction());
  std::string kept;
  for (const Entry& entry : file.entries) {
    if (entry.type == entry_type::kCompactionSummary) kept = *json::findString(entry.payload, "firstKeptEntryId");
  }
  std::string messages;
  for (bool isKept = false; const Entry& entry : file.entries) {
    isKept = isKept || entry.id == kept;
    if (isKept && holdsMessage(entry)) messages += normalizeEntry(entry)->blocks.front().text.decode();
  }
  EXPECT_EQ(messages, "q1");
}

TEST_F(Rollouts, AThreadOfWhichEverythingWasTakenBackStartsOver) {
  const ReadFile file = written(kThreads[0], meta(kThreads[0]) + turn(1) + turn(2) + rollBack(9));
  EXPECT_EQ(file.report.headId, "");
  EXPECT_TRUE(file.report.startsOver);
  EXPECT_EQ(file.report.messages, 4U);
}

// After `thread/revert`, the thread continues in another file with the same thread id, whose name contains both ids.
TEST_F(Rollouts, AFileThatReplacesAnotherOfItsThreadContinuesThatOne) {
  const std::string first = meta(kThreads[0]) + turn(1);
  const ReadFile parent = written(kThreads[0], first + turn(2));
  const std::string second = meta(kThreads[0], kThreads[0], first.size()) + turn(3);
  const ReadFile reverted = written(kThreads[0] + "_" + kThreads[1], second + turn(4));
  EXPECT_EQ(whole({&parent, &reverted}), said({1, 3, 4}));
  EXPECT_EQ(reverted.report.recovered, 0U);
  EXPECT_EQ(reverted.report.facts.sessionId, kThreads[0] + "_" + kThreads[1]);
  EXPECT_EQ(reverted.report.facts.parentSession, kThreads[0]);
  // Reverted again: the continued file is named by the id of its rollout.
  const std::string third = meta(kThreads[0], kThreads[1], second.size()) + turn(5);
  const ReadFile again = written(kThreads[0] + "_" + kThreads[2], third);
  EXPECT_EQ(whole({&parent, &reverted, &again}), said({1, 3, 5}));
  EXPECT_EQ(again.report.facts.parentSession, kThreads[0] + "_" + kThreads[1]);
  EXPECT_EQ(transcript::codex::findRollout(path("x"), kThreads[0]), path(kThreads[0]));
}

TEST_F(Rollouts, AFileThatIsItsOwnParentIsDamaged) {
  const ReadFile file = written(kThreads[0], meta(kThreads[0], kThreads[0], 100) + turn(1));
  EXPECT_EQ(file.report.recovered, 1U);
  EXPECT_EQ(whole({&file}), said({1}));
}

// The token count continues from the file that it continues.
TEST_F(Rollouts, AFileThatContinuesAnotherCountsOnlyItsOwnTokens) {
  const std::string first = meta(kThreads[0]) + turn(1) + tokens(1000);
  written(kThreads[0], first);
  const ReadFile child =
      written(kThreads[1], meta(kThreads[1], kThreads[0], first.size()) + tokens(1000) + turn(2) + tokens(1200));
  std::uint64_t input = 0;
  for (const Entry& entry : child.entries) {
    const auto usage = json::findMember(entry.payload, "usage");
    if (usage) input += json::findUnsigned(*usage, "inputTokens").value_or(0);
  }
  EXPECT_EQ(input, 200U);
}

TEST_F(Rollouts, AChatOfGeminiCliThatWasRewoundToItsBeginningStartsOver) {
  const std::string chat =
      R"({"sessionId":"24bc0000-0000-4000-8000-000000000000","projectHash":"ab","startTime":"2026-01-01T00:00:00.000Z",)"
      R"("lastUpdated":"2026-01-01T00:00:00.000Z","kind":"main"})"
      "\n"
      R"({"id":"g1","timestamp":"2026-01-01T00:00:00.000Z","type":"user","content":[{"text":"q1"}]})"
      "\n"
      R"({"$rewindTo":"g1"})"
      "\n";
  const ReadFile rewound = written("chat", chat);
  EXPECT_TRUE(rewound.report.startsOver);
  const ReadFile goesOn = written(
      "chat", chat + R"({"id":"g2","timestamp":"2026-01-01T00:00:01.000Z","type":"user","content":[{"text":"q2"}]})"
                     "\n");
  EXPECT_FALSE(goesOn.report.startsOver);
  EXPECT_EQ(whole({&goesOn}), "user: q2\n");
}

}  // namespace
}  // namespace bough
