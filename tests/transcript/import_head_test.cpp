// Where a session continues after another import of its file: where the agent continued, unless another program has
// continued the session since and the agent has not.
#include <fmt/format.h>

#include "support/temp_folder.h"
#include "transcript/files.h"

namespace bough {
namespace {

constexpr std::string_view kSession = "00000000-0000-4000-8000-000000000001";

std::string lineOfClaude(std::string_view type, std::string_view id, std::string_view parent,
                         bool isSidechain = false) {
  return fmt::format(
      R"({{"type":"{}","uuid":"{}","parentUuid":{},"isSidechain":{},"timestamp":"2026-01-01T00:00:00.000Z","sessionId":"{}","message":{{"role":"{}","content":"said {}"}}}})"
      "\n",
      type, id, parent.empty() ? "null" : fmt::format("\"{}\"", parent), isSidechain, kSession, type, id);
}

class ImportedHead : public ::testing::Test {
 protected:
  void write(std::string_view bytes) const { writeBytes(path_, bytes); }
  void importFile() { import(*store_, path_); }
  [[nodiscard]] std::string head() const { return store_->sessionState(std::string(kSession))->headId; }

  // Continues the session in bough.
  std::string goOn() {
    const auto done = store_->appendSessionEntries(
        std::string(kSession),
        {{.type = std::string(entry_type::kMessage),
          .payload = R"({"dialect":"anthropic","message":{"role":"user","content":"in bough"}})"}});
    EXPECT_TRUE(done);
    return done ? done->lastAppendedEntryId : std::string();
  }

  const std::string begun_ =
      lineOfClaude("user", "u1", "") + lineOfClaude("assistant", "a1", "u1") + lineOfClaude("user", "u2", "a1");
  TempFolder folder_;
  std::string path_ = folder_.path() / (std::string(kSession) + ".jsonl");
  std::unique_ptr<SessionStore> store_ = memoryStore();
};

TEST_F(ImportedHead, StaysWhereTheSessionWasContinuedWhenTheAgentSaidNothing) {
  const std::string title = R"({"type":"custom-title","customTitle":"Another","sessionId":"x"})"
                            "\n";
  const std::vector<std::pair<std::string_view, std::string>> changes = {
      {"a title", begun_ + title},
      {"a blank line", begun_ + "\n"},
      {"an unknown line", begun_ + "{\"type\":\"from-the-future\"}\n"},
      {"the beginning of a line", begun_ + R"({"type":"user","mess)"},
      {"bytes that are no line", begun_ + "panic\n"},
      {"a last line that broke off", begun_.substr(0, begun_.size() - 9)},
      {"a last line that is damaged", begun_.substr(0, begun_.size() - 9) + "\n"},
      {"a last line that is gone", begun_.substr(0, begun_.rfind("{\"type"))},
      {"a first line that is gone", begun_.substr(begun_.find('\n') + 1)},
      {"another line before all others", title + begun_},
      {"lines of a subagent",
       begun_ + lineOfClaude("user", "s1", "", true) + lineOfClaude("assistant", "s2", "s1", true)},
  };
  for (const auto& [name, bytes] : changes) {
    SCOPED_TRACE(name);
    store_ = memoryStore();
    write(begun_);
    importFile();
    EXPECT_EQ(head(), "u2");
    const std::string own = goOn();
    write(bytes);
    importFile();
    EXPECT_EQ(head(), own);
    importFile();
    EXPECT_EQ(head(), own);
    write(bytes + "\n" + title);
    importFile();
    EXPECT_EQ(head(), own);
    // The agent continues: its message is the last one.
    write(begun_ + title + lineOfClaude("assistant", "a2", "u2"));
    importFile();
    EXPECT_EQ(head(), "a2");
  }
}

TEST_F(ImportedHead, FollowsALineThatOnlySaysWhereTheAgentGoesOn) {
  write(begun_);
  importFile();
  goOn();
  write(begun_ + R"({"type":"last-prompt","leafUuid":"a1","sessionId":"x"})"
                 "\n");
  importFile();
  EXPECT_EQ(head(), "a1");
}

}  // namespace
}  // namespace bough
