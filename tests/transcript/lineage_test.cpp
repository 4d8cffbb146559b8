// Where the rollout of another Codex thread is looked for.
#include "transcript/agents/codex/lineage.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace bough::transcript::codex
