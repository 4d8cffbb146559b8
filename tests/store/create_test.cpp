#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/json/json_scan.h"
#include "store/store_support.h"

namespace bough {
namespace {

TEST_F(StoreTest, ANewSessionHasAHeaderAndNothingElse) {
  const auto session = must(store->createSession({.sessionId = "s", .key = "main:cli:user", .cwd = "/tmp/x"}));
  EXPECT_EQ(session.sessionId, "s");
  EXPECT_EQ(session.schemaVersion, 1);
  const auto entries = must(store->loadSessionEntries("s"));
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].type, entry_type::kSessionHeader);
  EXPECT_EQ(entries[0].payload, R"({"format":1,"sessionId":"s","key":"main:cli:user","cwd":"/tmp/x"})");
  const auto state = must(store->sessionState("s"));
  EXPECT_EQ(state.headId, "");
  EXPECT_EQ(state.tailId, entries[0].id);
  EXPECT_EQ(state.entryCount, 1U);
}

TEST_F(StoreTest, ATitleIsASessionInfoInTheFirstBatch) {
  must(store->createSession({.sessionId = "s", .title = "A \"title\""}));
  const auto entries = must(store->loadSessionEntries("s"));
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[1].type, entry_type::kSessionInfo);
  EXPECT_EQ(entries[1].payload, R"({"title":"A \"title\""})");
  EXPECT_EQ(must(store->sessionState("s")).headId, "");
}

TEST_F(StoreTest, SessionIdsAreCheckedBeforeAnythingIsTouched) {
  for (const std::string& good :
       {std::string("a"), std::string("A.b_c-9"), std::string(100, 'x'), std::string("a.jsonl")}) {
    EXPECT_TRUE(store->createSession({.sessionId = good})) << good;
  }
  for (const std::string& bad : {std::string("."), std::string(".."), std::string(".hidden"), std::string("a/b"),
                                 std::string("../x"), std::string(101, 'x'), std::string("a b"), std::string("a\nb"),
                                 std::string("\xC3\xA9"), std::string("a\0b", 3), std::string("a:b")}) {
    EXPECT_EQ(refused(store->createSession({.sessionId = bad})).code, ErrorCode::InvalidArgument) << bad;
    EXPECT_EQ(refused(store->loadSessionEntries(bad)).code, ErrorCode::InvalidArgument);
    EXPECT_EQ(refused(store->appendSessionEntries(bad, {message("x")})).code, ErrorCode::InvalidArgument);
    EXPECT_EQ(refused(store->deleteSession(bad)).code, ErrorCode::InvalidArgument);
    EXPECT_EQ(refused(store->archiveSession(bad)).code, ErrorCode::InvalidArgument);
    EXPECT_EQ(refused(store->migrateSession(bad)).code, ErrorCode::InvalidArgument);
    EXPECT_EQ(refused(store->repairSession(bad)).code, ErrorCode::InvalidArgument);
    EXPECT_EQ(refused(store->follow(bad)).code, ErrorCode::InvalidArgument);
  }
  EXPECT_EQ(must(store->listSessions()).size(), 4U);
}

TEST_F(StoreTest, IdsAreMadeInTheOrderOfTime) {
  std::string last;
  for (int i = 0; i < 50; ++i) {
    const std::string id = must(store->createSession()).sessionId;
    EXPECT_LT(last, id);
    last = id;
  }
}

TEST_F(StoreTest, KeysAreChecked) {
  EXPECT_TRUE(store->createSession({.key = "agent:a1:telegram:user:42"}));
  for (const std::string& bad : {std::string("a\nb"), std::string("\xFF"), std::string(513, 'k')}) {
    EXPECT_EQ(refused(store->createSession({.key = bad})).code, ErrorCode::InvalidArgument);
  }
  EXPECT_EQ(must(store->listSessions()).size(), 1U);
}

TEST_F(StoreTest, ATitleOrFolderThatNoLineHoldsIsRefused) {
  const std::string large(kMaxLineBytes, 'x');
  for (const auto& in : {open(), must(SessionStore::open("memory:"))}) {
    EXPECT_EQ(refused(in->createSession({.sessionId = "s", .title = large})).code, ErrorCode::InvalidArgument);
    EXPECT_EQ(refused(in->createSession({.sessionId = "s", .cwd = large})).code, ErrorCode::InvalidArgument);
    EXPECT_TRUE(must(in->listSessions()).empty());
  }
}

TEST_F(StoreTest, ASessionIsMadeOnce) {
  must(store->createSession({.sessionId = "s"}));
  const std::string before = slurp(logPath("s"));
  EXPECT_EQ(refused(store->createSession({.sessionId = "s"})).code, ErrorCode::AlreadyExists);
  EXPECT_EQ(slurp(logPath("s")), before);
  must(store->archiveSession("s"));
  EXPECT_EQ(refused(store->createSession({.sessionId = "s"})).code, ErrorCode::AlreadyExists);
}

TEST_F(StoreTest, FilesAreTheOwnersAlone) {
  fill("s", 3);
  must(store->appendSessionEntries("s", {message(std::string(300'000, 'x'))}));
  must(store->createSession({.sessionId = "t"}));
  must(store->archiveSession("t"));
  int files = 0;
  for (const auto& item : std::filesystem::recursive_directory_iterator(folder.path())) {
    struct stat status{};
    ASSERT_EQ(::stat(item.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, item.is_directory() ? 0700U : 0600U) << item.path();
    ++files;
  }
  EXPECT_GE(files, 8);
}

TEST_F(StoreTest, AStoreThatIsMissingOrNoneIsNotFound) {
  const StoreOptions noCreate{.create = false};
  EXPECT_EQ(refused(SessionStore::open(folder / "missing", noCreate)).code, ErrorCode::NotFound);
  std::filesystem::create_directory(folder / "empty");
  EXPECT_EQ(refused(SessionStore::open(folder / "empty", noCreate)).code, ErrorCode::NotFound);
  EXPECT_EQ(refused(SessionStore::open(folder / std::string(300, 'x'))).code, ErrorCode::InvalidArgument);
  spill(folder / "file", "x");
  EXPECT_EQ(refused(SessionStore::open(folder / "file")).code, ErrorCode::InvalidArgument);
  EXPECT_EQ(refused(SessionStore::open(SessionStoreInit{})).code, ErrorCode::InvalidArgument);
}

TEST_F(StoreTest, AClosedStoreRefusesEverything) {
  fill("s", 1);
  must(store->close());
  must(store->close());
  EXPECT_EQ(refused(store->createSession()).code, ErrorCode::Closed);
  EXPECT_EQ(refused(store->loadSessionEntries("s")).code, ErrorCode::Closed);
  EXPECT_EQ(refused(store->loadEntry("s", "e1")).code, ErrorCode::Closed);
  EXPECT_EQ(refused(store->appendSessionEntries("s", {message("x")})).code, ErrorCode::Closed);
  EXPECT_EQ(refused(store->listSessions()).code, ErrorCode::Closed);
  EXPECT_EQ(refused(store->flush()).code, ErrorCode::Closed);
  EXPECT_EQ(refused(store->openCursor("s")).code, ErrorCode::Closed);
  EXPECT_EQ(refused(store->putAttachment("x")).code, ErrorCode::Closed);
  EXPECT_EQ(refused(store->deleteSession("s")).code, ErrorCode::Closed);
}

}  // namespace
}  // namespace bough
