// Recognizing the agent from a file's contents, and the error for a file of no agent.
#include <gtest/gtest.h>

#include "files.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

Result<TranscriptFacts> peeked(const TempFolder& folder, std::string_view bytes) {
  const std::string path = folder / "file.jsonl";
  writeBytes(path, bytes);
  return peekTranscript(path);
}

TEST(Recognition, ASessionIdAloneDoesNotMakeAFileOneOfClaudeCode) {
  const TempFolder folder;
  const auto facts =
      peeked(folder, "{\"type\":\"click\",\"sessionId\":\"s\",\"x\":1}\n{\"type\":\"view\",\"sessionId\":\"s\"}\n");
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().code, ErrorCode::Unsupported);
  for (const std::string_view agent : transcriptAgents()) {
    EXPECT_TRUE(facts.error().message.contains(fmt::format("\n  {}: ", agent))) << facts.error().message;
  }
}

TEST(Recognition, LinesBesideTheConversationAreEnough) {
  const TempFolder folder;
  const auto facts = peeked(folder,
                            "{\"type\":\"mode\",\"mode\":\"normal\",\"sessionId\":\"s\"}\n"
                            "{\"type\":\"custom-title\",\"customTitle\":\"a title\",\"sessionId\":\"s\"}\n");
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(facts->agent, "claude-code");
}

}  // namespace
}  // namespace bough
