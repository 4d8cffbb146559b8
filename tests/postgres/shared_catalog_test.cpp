// A client's view of a PostgreSQL store's catalog while others rebuild it, erase, redact and list.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "bough/catalog.h"
#include "postgres/fresh_store.h"
#include "support/entries.h"

namespace bough {
namespace {

class SharedPostgresCatalog : public FreshPostgresStore {
 protected:
  void SetUp() override {
    FreshPostgresStore::SetUp();
    if (IsSkipped()) return;
    store_ = must(SessionStore::open(url_));
    other_ = must(SessionStore::open(url_));
    mine_ = must(Catalog::open(*store_));
    theirs_ = must(Catalog::open(*other_));
  }
  static Entry message(const std::string& id, const std::string& words) {
    return entryOf(
        "message",
        R"({"dialect":"bough","message":{"role":"user","content":[{"type":"text","text":")" + words + R"("}]}})", id);
  }
  static Entry answer(const std::string& id, const std::string& words) {
    return entryOf("message",
                   R"({"dialect":"anthropic","message":{"id":"of )" + id +
                       R"(","role":"assistant","model":"some-model","content":[{"type":"text","text":")" + words +
                       R"("}],"usage":{"input_tokens":7,"output_tokens":5}}})",
                   id);
  }
  // Creates a session of two entries that is in the catalog, including its words.
  void makeSession(const std::string& id, const std::string& key) {
    must(store_->createSession({.sessionId = id, .key = key}));
    must(store_->appendSessionEntries(id, {message(id + "1", "first " + id), answer(id + "2", "second " + id)}));
    must(mine_->catchUp({.search = true}));
    must(mine_->count());
  }
  // Creates a session with more text than is handed over at a time; all of it is in the catalog.
  void makeLongSession(const std::string& id) {
    must(store_->createSession({.sessionId = id}));
    const std::string hay(1 << 20, 'h');
    for (int i = 0; i < 10; ++i) {
      must(store_->appendSessionEntries(id, {message(id + std::to_string(i), hay + " needle")}));
    }
    must(mine_->catchUp({.search = true}));
  }
  std::size_t needles() { return must(mine_->search("needle")).size(); }
  // Starts a rebuild, and returns when it waits for a lock that another process holds.
  std::thread rebuildUntilItWaits() {
    std::thread rebuild([&] { must(other_->catalog()->forgetAll()); });
    while (sql("SELECT count(*) FROM pg_locks WHERE NOT granted") == "0") std::this_thread::yield();
    return rebuild;
  }
  // Returns true when an append to the session would not wait.
  bool isFree(const std::string& id) {
    return sql("SELECT count(*) FROM (SELECT 1 FROM " + schema_ + ".sessions WHERE session_id = '" + id +
               "' FOR NO KEY UPDATE SKIP LOCKED) s") == "1";
  }
  void erase(const std::string& id) {
    must(other_->maintenance().erase({.sessionId = "s", .entryIds = {id}, .by = "me", .reason = "why"}));
  }

  std::unique_ptr<SessionStore> store_;
  std::unique_ptr<SessionStore> other_;
  std::unique_ptr<Catalog> mine_;
  std::unique_ptr<Catalog> theirs_;
};

TEST_F(SharedPostgresCatalog, AnswersAsBeforeWhileAnotherRebuildsIt) {
  makeSession("s", "main:cli:me");
  makeSession("t", "main:cli:you");
  must(other_->catalog()->forgetAll());
  EXPECT_EQ(must(mine_->count()), 2U);
  EXPECT_EQ(must(mine_->currentSession("main:cli:me")), "s");
  EXPECT_EQ(must(mine_->session("s")).title, "first s");
  EXPECT_EQ(must(mine_->search("second")).size(), 2U);
  EXPECT_EQ(must(mine_->usage()).total.tokens.outputTokens, 10U);
  // Taking them in again for a list does not remove what others search.
  must(theirs_->catchUp());
  EXPECT_EQ(must(theirs_->count()), 2U);
  EXPECT_EQ(must(mine_->search("second")).size(), 2U);
  EXPECT_EQ(must(mine_->usage()).total.tokens.outputTokens, 10U);
}

TEST_F(SharedPostgresCatalog, ARebuildForgetsWhatIsNotThereAndReadsTheRest) {
  makeSession("s", "main:cli:me");
  makeSession("t", "main:cli:you");
  sql("UPDATE " + schema_ + ".catalog_sessions SET title = 'wrong', user_messages = 9");
  sql("INSERT INTO " + schema_ +
      ".catalog_answers SELECT 'gone', answer_id + 1, first, branch, quarter, model, certain, 1, 1, 1, 1, 1, 1 FROM " +
      schema_ + ".catalog_answers");
  must(other_->maintenance().remove({.sessionId = "t"}));
  sql("INSERT INTO " + schema_ +
      ".catalog_sessions SELECT (jsonb_populate_record(c, '{\"session_id\":\"t\"}')).* FROM " + schema_ +
      ".catalog_sessions c");
  must(theirs_->rebuild());
  const auto rows = must(mine_->list());
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].title, "first s");
  EXPECT_EQ(rows[0].userMessages, 1U);
  EXPECT_EQ(must(mine_->usage()).total.tokens.outputTokens, 5U);
}

TEST_F(SharedPostgresCatalog, ARebuildHoldsUpNoAppendsWhileItLooksForWhatIsOfNoSession) {
  makeSession("s", "main:cli:me");
  std::thread rebuild;
  for (const char* const table : {"catalog_sessions", "catalog_answers", "catalog_texts"}) {
    whileLocked("LOCK TABLE @." + std::string(table) + " IN SHARE MODE", [&] {
      rebuild = rebuildUntilItWaits();
      EXPECT_TRUE(isFree("s")) << table;
    });
    rebuild.join();
    must(mine_->catchUp({.search = true}));
    EXPECT_EQ(must(mine_->search("second")).size(), 1U);
  }
}

TEST_F(SharedPostgresCatalog, ARebuildHoldsUpAppendsToAFewSessionsAtATime) {
  makeSession("a", "main:cli:me");
  makeSession("z", "main:cli:you");
  sql("INSERT INTO " + schema_ +
      ".sessions SELECT (jsonb_populate_record(s, jsonb_build_object('session_id', 'n' || n))).* FROM " + schema_ +
      ".sessions s, generate_series(1, 2500) n WHERE s.session_id = 'a'");
  std::thread rebuild;
  whileLocked("SELECT 1 FROM @.catalog_sessions WHERE session_id = 'z' FOR UPDATE", [&] {
    rebuild = rebuildUntilItWaits();
    EXPECT_TRUE(isFree("a"));
    EXPECT_FALSE(isFree("z"));
    // The part done so far is permanent: the session is read again whatever happens to the rebuild.
    EXPECT_EQ(sql("SELECT taken FROM " + schema_ + ".catalog_sessions WHERE session_id = 'a'"), "0");
    EXPECT_EQ(sql("SELECT cataloged FROM " + schema_ + ".sessions WHERE session_id = 'a'"), "f");
  });
  rebuild.join();
  EXPECT_EQ(sql("SELECT count(*) FROM " + schema_ + ".sessions WHERE cataloged"), "0");
  EXPECT_EQ(sql("SELECT count(*) FROM " + schema_ + ".catalog_sessions WHERE taken > 0"), "0");
}

TEST_F(SharedPostgresCatalog, ShowsASessionOfWhichAnotherHasErased) {
  makeSession("s", "main:cli:me");
  must(store_->appendSessionEntries("s", {message("s3", "third secret")}));
  must(mine_->catchUp({.search = true}));
  must(mine_->count());
  erase("s3");
  EXPECT_EQ(must(mine_->currentSession("main:cli:me")), "s");
  EXPECT_EQ(must(mine_->session("s")).title, "first s");
  EXPECT_TRUE(must(mine_->search("secret")).empty());
  EXPECT_EQ(must(mine_->search("second")).size(), 1U);
  EXPECT_EQ(must(mine_->usage()).total.tokens.outputTokens, 5U);
  must(theirs_->catchUp());
  must(theirs_->count());
  EXPECT_EQ(must(mine_->search("second")).size(), 1U);
  // The title came from this entry.
  erase("s1");
  EXPECT_EQ(must(mine_->session("s")).title, "");
  EXPECT_EQ(must(mine_->list()).size(), 1U);
  erase("s2");
  EXPECT_EQ(must(mine_->usage()).total.tokens.outputTokens, 0U);
  must(mine_->catchUp({.search = true}));
  EXPECT_EQ(must(mine_->session("s")).entries, 7U);
  EXPECT_TRUE(must(mine_->search("second")).empty());
}

TEST_F(SharedPostgresCatalog, AListAfterAnErasureLeavesAllOtherWordsOfALongSession) {
  makeLongSession("s");
  makeLongSession("t");
  EXPECT_EQ(needles(), 20U);
  erase("s3");
  EXPECT_EQ(needles(), 19U);
  must(theirs_->catchUp());
  EXPECT_EQ(must(theirs_->count()), 2U);
  EXPECT_EQ(needles(), 19U);
  // Text that was never searched stays out of the index.
  must(store_->createSession({.sessionId = "r"}));
  must(store_->appendSessionEntries("r", {message("", "needle")}));
  must(other_->catalog()->forgetAll());
  must(theirs_->catchUp());
  EXPECT_EQ(must(theirs_->count()), 3U);
  EXPECT_EQ(needles(), 19U);
  EXPECT_EQ(must(theirs_->catchUp({.search = true})).sessions, 1U);
  EXPECT_EQ(needles(), 20U);
}

TEST_F(SharedPostgresCatalog, AllWordsOfALongSessionAreFoundBetweenThePartsInWhichItIsReadAgain) {
  makeLongSession("s");
  sql("UPDATE " + schema_ + ".catalog_texts SET words = 'wrong'::tsvector, folded = ' wrong ' WHERE entry_id = 's9'");
  must(other_->redactEntry("s", "s8", "me", "why"));
  must(other_->catalog()->forgetAll());
  std::vector<std::size_t> found;
  must(theirs_->catchUp({.search = true, .progress = [&](const CatchUpProgress&) {
                           found.push_back(needles());
                           return true;
                         }}));
  ASSERT_GE(found.size(), 3U);
  EXPECT_EQ(found.back(), 9U);
  found.pop_back();
  for (const std::size_t each : found) EXPECT_EQ(each, 8U);
  EXPECT_EQ(must(mine_->search("wrong")).size(), 0U);
  EXPECT_EQ(sql("SELECT text_count = (SELECT count(*) FROM " + schema_ +
                ".catalog_texts) AND word_count = (SELECT sum(word_count) FROM " + schema_ + ".catalog_texts) FROM " +
                schema_ + ".catalog_sessions"),
            "t");
}

TEST_F(SharedPostgresCatalog, SoDoesAListDuringWhichAnotherErasesAgainOrRedacts) {
  makeLongSession("s");
  erase("s3");
  int parts = 0;
  must(theirs_->catchUp({.progress = [&](const CatchUpProgress&) {
    if (++parts == 1) erase("s8");
    if (parts == 3) must(other_->redactEntry("s", "s1", "me", "why"));
    return true;
  }}));
  EXPECT_GE(parts, 4);
  EXPECT_EQ(must(theirs_->count()), 1U);
  EXPECT_EQ(needles(), 7U);
}

TEST_F(SharedPostgresCatalog, SoDoesAListThatHadToLookAgainInTheMiddle) {
  makeLongSession("s");
  erase("s3");
  sql("CREATE SEQUENCE " + schema_ + ".keeps");
  sql("DO $do$ BEGIN EXECUTE regexp_replace(pg_get_functiondef('" + schema_ +
      ".catalog_keep'::regproc), 'BEGIN', 'BEGIN IF nextval(''" + schema_ +
      ".keeps'') IN (2, 4) THEN RETURN false; END IF;'); END $do$");
  must(theirs_->catchUp());
  EXPECT_EQ(needles(), 9U);
}

TEST_F(SharedPostgresCatalog, ASessionStaysInItWhenAnotherOfItsIdIsErasedInTheTrash) {
  makeSession("s", "main:cli:me");
  must(store_->branchFromEntry("s", "s2", {.sessionId = "copy"}));
  must(store_->maintenance().detach("copy"));
  must(store_->trashSession("copy"));
  makeSession("copy", "main:cli:you");
  erase("s1");
  must(mine_->catchUp({.search = true}));
  EXPECT_EQ(must(mine_->count()), 2U);
  EXPECT_EQ(must(mine_->currentSession("main:cli:you")), "copy");
  EXPECT_EQ(must(mine_->session("copy")).title, "first copy");
}

// Other clients had seen less than the caller, and stored it first.
TEST_F(SharedPostgresCatalog, ShowsTheCallersOwnAppendsWhateverOthersKeep) {
  makeSession("s", "main:cli:me");
  const auto seen = [&] { return must(mine_->session("s")).entries; };
  for (const char* const words : {"one", "two", "three"}) {
    must(store_->appendSessionEntries("s", {message("", words)}));
    must(theirs_->catchUp());
    must(store_->appendSessionEntries("s", {message("", words)}));
    must(mine_->catchUp());
    must(theirs_->count());
    EXPECT_EQ(seen(), must(store_->sessionState("s")).entryCount) << words;
  }
}

TEST_F(SharedPostgresCatalog, FindsTheCallersOwnWordsWhateverOthersKeep) {
  makeSession("s", "main:cli:me");
  must(store_->appendSessionEntries("s", {message("", "earlier")}));
  must(theirs_->catchUp());
  must(store_->appendSessionEntries("s", {message("", "needle")}));
  must(mine_->catchUp({.search = true, .progress = [&](const CatchUpProgress&) {
                         must(theirs_->count());
                         return true;
                       }}));
  EXPECT_EQ(must(mine_->search("needle")).size(), 1U);
  EXPECT_EQ(must(mine_->search("earlier")).size(), 1U);
}

TEST_F(SharedPostgresCatalog, ShowsANewSessionInWhichAnotherHasRedacted) {
  must(store_->createSession({.sessionId = "s", .key = "main:cli:me"}));
  must(store_->appendSessionEntries("s", {message("s1", "first"), message("s2", "second")}));
  must(mine_->catchUp());
  must(other_->redactEntry("s", "s1", "me", "why"));
  EXPECT_EQ(must(mine_->currentSession("main:cli:me")), "s");
  EXPECT_EQ(must(mine_->session("s")).entries, 4U);
  must(store_->setTitle("s", "mine"));
  must(mine_->catchUp());
  erase("s2");
  EXPECT_EQ(must(mine_->session("s")).title, "mine");
}

// Two catalogs of one store: the pending data of one is stored with the other's question.
TEST_F(SharedPostgresCatalog, EveryCatalogOfAStoreIsToldThatOthersKeptLess) {
  makeSession("s", "main:cli:me");
  auto second = must(Catalog::open(*store_));
  must(store_->appendSessionEntries("s", {message("", "one")}));
  must(theirs_->catchUp());
  must(store_->appendSessionEntries("s", {message("", "two")}));
  must(mine_->catchUp());
  must(theirs_->count());
  EXPECT_EQ(must(second->session("s")).entries, 5U);
  EXPECT_EQ(must(mine_->session("s")).entries, 5U);
}

// The connections belong to the parent, and pending data is stored by the parent.
TEST_F(SharedPostgresCatalog, RefusesTheChildOfAFork) {
  makeSession("s", "main:cli:me");
  must(store_->appendSessionEntries("s", {message("s3", "third")}));
  must(mine_->catchUp());
  const pid_t child = ::fork();
  if (child == 0) {
    const auto refuses = [](const auto& answer) { return !answer && answer.error().code == ErrorCode::Unsupported; };
    const bool all = refuses(mine_->count()) && refuses(mine_->list()) && refuses(mine_->session("s")) &&
                     refuses(mine_->currentSession("main:cli:me")) && refuses(mine_->findByName("s")) &&
                     refuses(mine_->search("third")) && refuses(mine_->usage()) && refuses(mine_->expired(1, 1)) &&
                     refuses(mine_->catchUp()) && refuses(mine_->rebuild());
    ::_exit(all ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(must(mine_->session("s")).entries, 4U);
}

}  // namespace
}  // namespace bough
