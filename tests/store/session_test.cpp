// The public interface: sessions as objects, entries from builders, the location of a store.

#include <gtest/gtest.h>

#include <cstdlib>

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
  for (const std::string_view broken : {"{", "{},\"more\":1", "{\"a\":1}}", "text", "[1]", " \"text\"", "5"}) {
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
  for (const char* location : {"", "~", "~/sessions", "~bob/sessions", "~bob"}) {
    EXPECT_EQ(refused(SessionStore::open(location)).code, ErrorCode::InvalidArgument) << location;
  }
  EXPECT_EQ(refused(SessionStore::open(std::string("a\0b", 3))).code, ErrorCode::InvalidArgument);
}

}  // namespace
}  // namespace bough
