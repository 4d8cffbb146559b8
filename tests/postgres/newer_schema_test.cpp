// A newer version upgrades the schema while a program is running. Every later call of the program gets an error with
// the reason; only then does it ask the server for the version.

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "bough/catalog.h"
#include "bough/maintenance.h"
#include "postgres/fresh_store.h"

namespace bough {
namespace {

// Changes that a future version may make to the schema; `@.` is the schema's name.
struct Upgrade {
  const char* name;
  const char* sql;
  bool reachesAll;  // no call can work any more
};

constexpr const char* kOtherTables = R"sql(
ALTER TABLE @.sessions RENAME TO sessions_of_6;
ALTER TABLE @.entries RENAME TO entries_of_6;
ALTER TABLE @.attachments RENAME TO attachments_of_6;
ALTER TABLE @.catalog_sessions RENAME TO catalog_sessions_of_6;
ALTER TABLE @.catalog_answers RENAME TO catalog_answers_of_6;
ALTER TABLE @.catalog_texts RENAME TO catalog_texts_of_6;
)sql";
constexpr const char* kOtherColumns = R"sql(
ALTER TABLE @.sessions RENAME COLUMN life TO lifetime;
ALTER TABLE @.entries RENAME COLUMN life TO lifetime;
ALTER TABLE @.attachments RENAME COLUMN sha256 TO digest;
)sql";
constexpr const char* kOtherFunctions = R"sql(
DO $$ DECLARE one regprocedure; BEGIN
  FOR one IN SELECT oid FROM pg_proc WHERE pronamespace = '@.'::regnamespace LOOP
    EXECUTE 'DROP FUNCTION ' || one || ' CASCADE';
  END LOOP;
END $$;
)sql";
constexpr const char* kStricterColumns = R"sql(
ALTER TABLE @.sessions ADD COLUMN owner text;
UPDATE @.sessions SET owner = 'x';
ALTER TABLE @.sessions ALTER COLUMN owner SET NOT NULL;
ALTER TABLE @.entries ADD COLUMN owner text;
UPDATE @.entries SET owner = 'x';
ALTER TABLE @.entries ALTER COLUMN owner SET NOT NULL;
)sql";

constexpr Upgrade kUpgrades[] = {{"OtherTables", kOtherTables, true},
                                 {"OtherColumns", kOtherColumns, false},
                                 {"OtherFunctions", kOtherFunctions, false},
                                 {"StricterColumns", kStricterColumns, false}};

Entry words(const std::string& id) {
  return entryOf(entry_type::kMessage, R"({"role":"user","content":"words"})", id);
}

class NewerSchema : public FreshPostgresStore, public testing::WithParamInterface<Upgrade> {
 protected:
  void SetUp() override {
    FreshPostgresStore::SetUp();
    if (IsSkipped()) return;
    store_ = must(SessionStore::open(url_));
    for (const char* const id : {"main", "tail", "buffered", "second", "thrown", "deleted", "old", "older"}) {
      must(store_->createSession({.sessionId = id}));
      must(store_->appendSessionEntries(id, {words("a1"), words("a2")}));
    }
    trashIds_ = {must(store_->trashSession("old")).trashId, must(store_->trashSession("older")).trashId};
    sha256_ = must(store_->putAttachment(std::string(5000, 'x')));
  }

  void upgrade() {
    std::string text = GetParam().sql;
    for (std::size_t at = 0; (at = text.find("@.'", at)) != std::string::npos;) text.replace(at, 2, schema_);
    for (std::size_t at = 0; (at = text.find("@.", at)) != std::string::npos;) text.replace(at, 2, schema_ + ".");
    sql(text + "UPDATE " + schema_ + ".settings SET value = '6' WHERE name = 'schema_version'");
  }

  static void expectNewer(const std::string& call, const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::NewerFormat) << call << ": " << error.message;
    EXPECT_NE(error.message.find("another program has upgraded the store"), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("schema version 6"), std::string::npos) << error.message;
    EXPECT_NE(error.hint.find("start this program again"), std::string::npos) << error.hint;
  }

  template <typename T>
  void expectRefusal(const std::string& call, const Result<T>& result) {
    if (!result) {
      expectNewer(call, result.error());
    } else {
      EXPECT_FALSE(GetParam().reachesAll) << call << " works on tables that are not there";
    }
  }

  std::unique_ptr<SessionStore> store_;
  std::vector<std::string> trashIds_;
  std::string sha256_;
};

TEST_P(NewerSchema, EveryCallSaysWhy) {
  Session session = must(store_->session("main"));
  auto cursor = must(session.cursor());
  auto catalog = must(Catalog::open(*store_));
  must(catalog->catchUp({.search = true}));
  upgrade();
  SessionStore& store = *store_;
  expectRefusal("append", session.append({words("a3")}));
  expectRefusal("append with an expected tail",
                store.appendSessionEntries("tail", {words("a3")}, {.expectedTail = "a2"}));
  expectRefusal("append buffered", [&]() -> Result<void> {
    const auto taken = store.appendSessionEntries("buffered", {words("a3")}, {.durability = Durability::Buffered});
    if (!taken) return std::unexpected(taken.error());
    return store.flush();
  }());
  expectRefusal("beginTurn", session.beginTurn());
  expectRefusal("leaseTurn", session.leaseTurn(1000));
  expectRefusal("state", session.state());
  expectRefusal("load", session.load());
  expectRefusal("load a branch", session.load({.last = 1, .branch = "a2"}));
  expectRefusal("entry", session.entry("a1"));
  expectRefusal("sequenceOf", session.sequenceOf("a1"));
  expectRefusal("findEntryIds", session.findEntryIds("a", 3));
  expectRefusal("conversation", session.conversation());
  expectRefusal("cursor", cursor.next(10));
  expectRefusal("exportLines", session.exportLines([](std::string_view) { return true; }));
  expectRefusal("tree", session.tree());
  expectRefusal("moveHead", session.moveHead("a1"));
  expectRefusal("label", session.label("a1", "name"));
  expectRefusal("labels", session.labels());
  expectRefusal("setTitle", session.setTitle("title"));
  expectRefusal("redact", session.redact("a1", "me", "no reason"));
  expectRefusal("fork", session.fork("a1"));
  expectRefusal("listSessions", store.listSessions());
  expectRefusal("create", store.createSession({.sessionId = "new"}));
  expectRefusal("open another session", store.sessionState("second"));
  expectRefusal("follow", store.follow("main"));
  expectRefusal("forksOf", store.forksOf("main"));
  expectRefusal("verify", store.verifySession("main"));
  expectRefusal("listTrash", store.listTrash());
  expectRefusal("trash", store.trashSession("thrown"));
  expectRefusal("restore", store.restoreSession(trashIds_[0]));
  expectRefusal("emptyTrash", store.emptyTrash({trashIds_[1]}));
  expectRefusal("delete", store.deleteSession("deleted"));
  expectRefusal("putAttachment", store.putAttachment("bytes of an attachment"));
  expectRefusal("readAttachment", store.readAttachment(sha256_));
  expectRefusal("findUnusedAttachments", store.findUnusedAttachments());
  expectRefusal("removeUnusedAttachments", store.removeUnusedAttachments({sha256_}));
  expectRefusal(
      "erase", store.maintenance().erase({.sessionId = "main", .entryIds = {"a1"}, .by = "me", .reason = "no reason"}));
  expectRefusal("changesSince", store.changesSince(""));
  expectRefusal("catch up", catalog->catchUp({.search = true}));
  expectRefusal("list", catalog->list());
  expectRefusal("search", catalog->search("words"));
  expectRefusal("usage", catalog->usage());
}

TEST_P(NewerSchema, AppendsOfManyThreadsSayWhy) {
  Session session = must(store_->session("main"));
  upgrade();
  std::vector<std::thread> threads;
  std::vector<Result<AppendResult>> done(8, std::unexpected(Error{}));
  for (std::size_t i = 0; i < done.size(); ++i) {
    threads.emplace_back([&, i] { done[i] = session.append({words("t" + std::to_string(i))}); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& each : done) expectRefusal("append", each);
}

INSTANTIATE_TEST_SUITE_P(Upgrades, NewerSchema, testing::ValuesIn(kUpgrades),
                         [](const auto& each) { return std::string(each.param.name); });

class SchemaMeanwhile : public FreshPostgresStore {};

TEST_F(SchemaMeanwhile, OneThatIsRemovedIsSaidToBeGone) {
  auto store = must(SessionStore::open(url_));
  must(store->createSession({.sessionId = "main"}));
  sql("DROP SCHEMA " + schema_ + " CASCADE");
  const Error error = refused(store->sessionState("main"));
  EXPECT_EQ(error.code, ErrorCode::NotFound);
  EXPECT_NE(error.message.find("holds no store"), std::string::npos) << error.message;
}

TEST_F(SchemaMeanwhile, AnOlderOneInItsPlaceNeedsAnUpgrade) {
  auto store = must(SessionStore::open(url_));
  must(store->createSession({.sessionId = "main"}));
  sql("ALTER TABLE " + schema_ + ".sessions DROP COLUMN tail_id; UPDATE " + schema_ +
      ".settings SET value = '4' WHERE name = 'schema_version'");
  EXPECT_EQ(refused(store->sessionState("main")).code, ErrorCode::MigrationNeeded);
}

}  // namespace
}  // namespace bough
