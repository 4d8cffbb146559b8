// Removing a transcript that a store contains: only when the store has every byte, and nothing changed meanwhile.
#include <bough/store.h>
#include <bough/transcript.h>
#include <gtest/gtest.h>

#include "support/temp_folder.h"
#include "transcript/files.h"

namespace bough {
namespace {

namespace fs = std::filesystem;

std::string held(SessionStore& store, const std::string& sessionId, const std::string& path) {
  const auto holds = holdsTranscript(store, sessionId, path);
  return holds ? (*holds ? "all" : "not all") : holds.error().message;
}

class Removal : public testing::Test {
 protected:
  TempFolder folder;
  std::unique_ptr<SessionStore> store = std::move(*SessionStore::open("memory:"));
  std::string path = folder.path().string() + "/0001aaaa-0000-4000-8000-000000000001.jsonl";

  std::string import() {
    const auto done = importTranscript(*store, path);
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    return done ? done->sessionId : "";
  }
  FoundTranscript found(const std::string& agent = "pi") { return {.agent = agent, .path = path}; }
};

TEST_F(Removal, ASessionHoldsEveryByteOfEveryFixture) {
  for (const auto& each : fixtures()) {
    SCOPED_TRACE(each.string());
    const auto own = std::move(*SessionStore::open("memory:"));
    const auto done = importTranscript(*own, each);
    ASSERT_TRUE(done);
    EXPECT_EQ(held(*own, done->sessionId, each), "all");
  }
}

TEST_F(Removal, AByteThatTheSessionDoesNotHaveKeepsTheFile) {
  const std::string bytes = readBytes(BOUGH_TESTS_DIR "/transcript/fixtures/pi/02-tools.jsonl");
  writeBytes(path, bytes);
  const std::string sessionId = import();
  for (const std::size_t at : {bytes.find("\"timestamp\"") + 3, bytes.size() / 2, bytes.size() - 4}) {
    std::string changed = bytes;
    changed[at] = changed[at] == 'x' ? 'y' : 'x';
    writeBytes(path, changed);
    EXPECT_NE(held(*store, sessionId, path), "all") << at;
    EXPECT_FALSE(removeTranscript(*store, sessionId, found())) << at;
    EXPECT_TRUE(fs::exists(path));
  }
}

TEST_F(Removal, AFileThatGrewStays) {
  const std::string bytes = readBytes(BOUGH_TESTS_DIR "/transcript/fixtures/pi/01-linear.jsonl");
  writeBytes(path, bytes);
  const std::string sessionId = import();
  writeBytes(path, bytes + "{\"type\":\"custom\"}\n");
  const auto removed = removeTranscript(*store, sessionId, found());
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().code, ErrorCode::Conflict);
  EXPECT_TRUE(fs::exists(path));
  EXPECT_EQ(import(), sessionId);
  EXPECT_TRUE(removeTranscript(*store, sessionId, found()));
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(Removal, AFileThatAProgramHasOpenForWritingStays) {
  writeBytes(path, readBytes(BOUGH_TESTS_DIR "/transcript/fixtures/pi/01-linear.jsonl"));
  const std::string sessionId = import();
  const std::ifstream reader(path);
  {
    const std::ofstream agent(path, std::ios::app);
    const auto removed = removeTranscript(*store, sessionId, found());
    ASSERT_FALSE(removed);
    EXPECT_EQ(removed.error().code, ErrorCode::Busy);
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_TRUE(removeTranscript(*store, sessionId, found()));
  EXPECT_FALSE(fs::exists(path));
  const auto again = removeTranscript(*store, sessionId, found());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::NotFound);
}

TEST_F(Removal, ALinkAndAnAgentWithAListOfSessionsAreRefused) {
  const std::string target = folder.path().string() + "/target.jsonl";
  writeBytes(target, readBytes(BOUGH_TESTS_DIR "/transcript/fixtures/pi/01-linear.jsonl"));
  fs::create_symlink(target, path);
  const auto done = importTranscript(*store, target);
  ASSERT_TRUE(done);
  EXPECT_FALSE(removeTranscript(*store, done->sessionId, found()));
  EXPECT_TRUE(fs::exists(target));
  fs::remove(path);
  fs::rename(target, path);
  const auto listed = removeTranscript(*store, done->sessionId, found("openclaw"));
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, ErrorCode::Unsupported);
  EXPECT_TRUE(fs::exists(path));
}

}  // namespace
}  // namespace bough
