// The public face: sessions as objects, entries from builders, where a store is.

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/system/environment.h"
#include "store/rules/append_plan.h"
#include "store/store_support.h"

namespace bough {
namespace {

TEST_F(StoreTest, ASessionIsAHandleThatOutlivesItsStore) {
  const Session session = must(store->create({.sessionId = "s"}));
  const auto appended = must(session.append({userText("Hello")}));
  EXPECT_EQ(must(session.head()), appended.lastAppendedEntryId);
  const Session fork = must(session.fork(appended.lastAppendedEntryId));
  EXPECT_EQ(must(fork.conversation()).size(), 1U);
  store.reset();
  EXPECT_EQ(refused(session.load()).code, ErrorCode::Closed);
  EXPECT_EQ(refused(fork.append({userText("late")})).code, ErrorCode::Closed);
}

TEST_F(StoreTest, AHandleFollowsItsSessionThroughRemovalAndReturn) {
  const Session session = must(store->create({.sessionId = "s"}));
  must(session.append({message("x", "a")}));
  const auto trashed = must(store->trashSession("s"));
  EXPECT_EQ(refused(session.load()).code, ErrorCode::NotFound);
  must(store->restoreSession(trashed.trashId));
  EXPECT_EQ(must(session.load()).back().id, "a");
}

TEST_F(StoreTest, BuildersEscapeWhateverTheyAreGiven) {
  const std::string hostile = "\"}],\n\\ \x01 \xE2\x80\xA8 {\"role\":\"system\"}";
  const Session session = must(store->create({.sessionId = "s"}));
  must(
      session.append({userText(hostile), assistantText(hostile), systemText(hostile), toolResult("call \"1\"", hostile),
                      assistant("anthropic", R"({"role":"assistant","content":[{"type":"text","text":"hi"}]})")}));
  EXPECT_EQ(must(session.load()).size(), 6U);
  for (const std::string_view broken : {"{", "{},\"more\":1", "{\"a\":1}}", "text"}) {
    EXPECT_EQ(refused(session.append({assistant("anthropic", broken)})).code, ErrorCode::InvalidArgument) << broken;
  }
}

TEST(Location, OfAPersonsStoreComesFromTheEnvironment) {
  const auto with = [](const char* store, const char* data, const char* home) {
    const auto set = [](const char* name, const char* value) {
      value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
    };
    set("BOUGH_STORE", store);
    set("XDG_DATA_HOME", data);
    set("HOME", home);
    return defaultLocation();
  };
  const std::string home = std::getenv("HOME") == nullptr ? "/" : std::getenv("HOME");
  EXPECT_EQ(must(with("/a", "/b", "/c")), "/a");
  EXPECT_EQ(must(with(nullptr, "/b", "/c")), "/b/bough");
  EXPECT_EQ(must(with(nullptr, "relative", "/c")), "/c/.local/share/bough");
  EXPECT_EQ(refused(with(nullptr, nullptr, nullptr)).code, ErrorCode::NotFound);
  ::setenv("HOME", home.c_str(), 1);
  EXPECT_EQ(refused(SessionStore::open("~/sessions")).code, ErrorCode::InvalidArgument);
  EXPECT_EQ(refused(SessionStore::open(std::string("a\0b", 3))).code, ErrorCode::InvalidArgument);
}

class AppendPlan : public testing::Test {
 protected:
  Result<std::vector<PlannedEntry>> plan(std::vector<Entry> entries) {
    Environment& environment = systemEnvironment();
    IdGenerator ids(environment.clock, environment.random);
    return planAppend({.entries = std::move(entries)}, jsonEntrySerializer(), ids, environment.clock);
  }
};

TEST_F(AppendPlan, FillsInWhatIsMissingAndNamesWhatIsLeftToJudge) {
  const auto planned = must(plan({message("x"), entryOf("redaction", R"({"entryId":"e","by":"me","reason":"r"})", "r1"),
                                  entryOf("head", R"({"entryId":null})")}));
  EXPECT_FALSE(planned[0].idGiven);
  EXPECT_FALSE(planned[0].entry.id.empty());
  EXPECT_EQ(planned[0].movesHead, planned[0].entry.id);
  EXPECT_FALSE(planned[0].entry.parentId.has_value()) << "the head at that point";
  ASSERT_TRUE(planned[1].target.has_value());
  EXPECT_EQ(planned[1].target->entryId, "e");
  EXPECT_TRUE(planned[1].idGiven);
  EXPECT_FALSE(planned[1].movesHead.has_value());
  EXPECT_FALSE(planned[2].target.has_value());
  EXPECT_EQ(planned[2].movesHead, "");
}

TEST_F(AppendPlan, HashesContentAlikeHoweverItWasDelivered) {
  const auto one = must(plan({entryOf("custom", R"({"a":1})", "x")}));
  const auto again = must(plan({entryOf("custom", "  {\"a\":1}\n", "x")}));
  const auto other = must(plan({entryOf("custom", R"({"a":2})", "x")}));
  EXPECT_EQ(one[0].contentHash, again[0].contentHash);
  EXPECT_NE(one[0].contentHash, other[0].contentHash);
  EXPECT_EQ(contentHashOf(one[0].entry), one[0].contentHash);
}

TEST_F(AppendPlan, RefusesWhatBreaksARuleAndSaysWhichEntry) {
  Error error = refused(plan({message("x"), entryOf("session_header", "{}")}));
  EXPECT_EQ(error.batchPlace, 2U);
  error = refused(plan({message("x", "a", "b"), message("y", "b")}));
  EXPECT_TRUE(error.message.contains("later in the batch")) << error.message;
  EXPECT_EQ(refused(plan({entryOf("custom", "no object")})).code, ErrorCode::InvalidArgument);
  EXPECT_EQ(refused(plan({})).code, ErrorCode::InvalidArgument);
}

}  // namespace
}  // namespace bough
