// An unreadable line of the log: the context reports it, and a call that it answered does not count as interrupted.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "context/session.h"

namespace bough::test {
namespace {

class Unreadable : public ContextTest {
 protected:
  Unreadable() : folder_(testing::TempDir() + "bough-unreadable-context") {
    std::filesystem::remove_all(folder_);
    open();
    must(store->createSession({.sessionId = "s"}));
  }
  ~Unreadable() override {
    store.reset();
    std::filesystem::remove_all(folder_);
  }
  Unreadable(const Unreadable&) = delete;
  Unreadable& operator=(const Unreadable&) = delete;

  void open() { store = must(SessionStore::open(folder_)); }

  // Changes one letter of a word in the log.
  void damage(const std::string& word) {
    store.reset();
    const std::string path = folder_ + "/sessions/s.jsonl";
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    std::string bytes = text.str();
    ASSERT_TRUE(bytes.contains(word));
    bytes[bytes.find(word)] ^= 1;
    std::ofstream(path) << bytes;
    open();
  }

  std::string folder_;
};

TEST_F(Unreadable, AnEntryIsNamedAndHoldsItsPlace) {
  user("read it");
  say(Dialect::Anthropic, R"({"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"read","input":{}}]})");
  say(Dialect::Anthropic,
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"lost words"}]})", "gone");
  assistant("done");
  damage("lost words");
  const Context context = build(Dialect::Anthropic);
  EXPECT_TRUE(reports(context, Change::Invalid, "gone", "entry")) << context.report.toJson();
  EXPECT_TRUE(context.report.warnings.front().contains("[unreadable entry, ")) << context.report.toJson();
  EXPECT_TRUE(context.messages.contains("read it"));
  EXPECT_FALSE(context.messages.contains("interrupted")) << context.messages;
  EXPECT_LT(context.messages.find("cannot be read"), context.messages.find("done")) << context.messages;
  EXPECT_TRUE(must(unfinishedToolCalls(*store, "s")).empty());
  EXPECT_EQ(buildContext(*store, "s", {.strict = true}).error().code, ErrorCode::Damaged);
}

TEST_F(Unreadable, AForkWhoseBeginningIsLostSaysSo) {
  user("the goal");
  const std::string last = "answer";
  assistant("understood", last);
  must(store->branchFromEntry("s", last, {.sessionId = "f"}));
  must(store->appendSessionEntries("f", {userText("go on")}));
  EXPECT_TRUE(must(buildContext(*store, "f", {})).report.warnings.empty());
  store.reset();
  std::filesystem::remove(folder_ + "/sessions/s.jsonl");
  std::filesystem::remove(folder_ + "/sessions/s.idx");
  open();
  const Context context = must(buildContext(*store, "f", {}));
  ASSERT_FALSE(context.report.warnings.empty());
  EXPECT_TRUE(context.report.warnings.front().contains("what was before it is lost: there is no entry " + last));
  EXPECT_FALSE(context.report.compatible);
  EXPECT_EQ(buildContext(*store, "f", {.strict = true}).error().code, ErrorCode::Damaged);
  EXPECT_FALSE(must(checkCompatibility(*store, "f", Dialect::Gemini)).compatible);
}

TEST_F(Unreadable, AnEntryIsNamedByACheckAndRefusedByAStrictMigration) {
  user("read it");
  say(Dialect::Anthropic, R"({"role":"assistant","content":"lost words"})", "gone");
  user("go on");
  damage("lost words");
  const CompatibilityReport report = must(checkCompatibility(*store, "s", Dialect::OpenaiChat));
  EXPECT_FALSE(report.compatible);
  ASSERT_EQ(report.findings.size(), 1u) << report.toJson();
  EXPECT_EQ(report.findings.front().entryId, "gone");
  EXPECT_EQ(report.findings.front().change, Change::Invalid);
  EXPECT_TRUE(report.warnings.front().contains("[unreadable entry, ")) << report.toJson();
  EXPECT_EQ(migrate(*store, "s", Dialect::OpenaiChat, {.strict = true}).error().code, ErrorCode::Damaged);
  EXPECT_FALSE(must(migrate(*store, "s", Dialect::OpenaiChat, {})).report.compatible);
}

}  // namespace
}  // namespace bough::test
