// Changes of a session whose answer is lost with the connection: each change is made once, and the caller is told so.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "bough/store.h"
#include "postgres/fresh_store.h"
#include "postgres/proxy.h"
#include "support/entries.h"

namespace bough {
namespace {

class PostgresRetry : public FreshPostgresStore {
 protected:
  void SetUp() override {
    FreshPostgresStore::SetUp();
    if (IsSkipped()) return;
    proxy_ = std::make_unique<PostgresProxy>(sharedServer());
    StoreOptions options;
    options.lockTimeoutMs = 20'000;
    store_ = must(SessionStore::open(proxy_->url(schema_), options));
  }

  // Runs `change` with the connection cut after each of its messages in turn (each third message when there are many),
  // until a run ends without a cut.
  void cutEverywhere(const std::function<void(const std::string& session)>& prepare,
                     const std::function<void(const std::string& session)>& change, int step = 1) {
    wasCut_ = true;
    for (int cut = 1; wasCut_ || cut < 10; cut += step) {
      ASSERT_LT(cut, 1000) << "too many messages";
      const std::string session = "s" + std::to_string(cut);
      SCOPED_TRACE("after " + std::to_string(cut) + " messages");
      must(store_->createSession({.sessionId = session}));
      must(store_->appendSessionEntries(session, {entryOf("message", R"({"text":"hello"})", "e1")}));
      prepare(session);
      proxy_->cutAfter(cut);
      change(session);
      if (HasFailure()) return;
    }
  }
  // Must be called between a change and the checks of its effects.
  void endCuts() {
    wasCut_ = proxy_->hasCut();
    proxy_->cutAfter(-1);
  }

  bool wasCut_ = false;
  std::unique_ptr<PostgresProxy> proxy_;
  std::unique_ptr<SessionStore> store_;
};

TEST_F(PostgresRetry, ASessionIsMovedToTheTrashOnce) {
  std::size_t trashed = 0;
  cutEverywhere([](const std::string&) {},
                [&](const std::string& session) {
                  const auto moved = store_->trashSession(session);
                  ASSERT_TRUE(moved) << moved.error().message;
                  endCuts();
                  const auto list = must(store_->maintenance().listTrash());
                  EXPECT_EQ(list.size(), ++trashed);
                  EXPECT_TRUE(std::ranges::any_of(list, [&](const TrashedSession& each) {
                    return each.trashId == moved->trashId;
                  })) << moved->trashId;
                  EXPECT_EQ(refused(store_->sessionState(session)).code, ErrorCode::NotFound);
                });
}

TEST_F(PostgresRetry, ASessionThatWasCreatedAgainMeanwhileIsNotMovedToTheTrash) {
  // The session is created again as soon as it is in the trash, before a second attempt can check.
  sql("CREATE FUNCTION " + schema_ +
      R"sql(.again() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.trash_id IS NOT NULL AND OLD.trash_id IS NULL THEN
          INSERT INTO )sql" +
      schema_ +
      R"sql(.sessions (session_id, life, format, entry_count, bytes, tail_id, head_id, head_seq, head_segment,
            head_depth, head_fresh, shared_count)
          VALUES (NEW.session_id, OLD.life % 1000 + 1, 1, 0, 0, '', '', -1, 0, 0, false, 0);
        END IF; RETURN NULL; END $$; CREATE TRIGGER again AFTER UPDATE ON )sql" +
      schema_ + ".sessions FOR EACH ROW EXECUTE FUNCTION " + schema_ + ".again()");
  cutEverywhere([](const std::string&) {},
                [&](const std::string& session) {
                  const auto moved = store_->trashSession(session);
                  ASSERT_TRUE(moved) << moved.error().message;
                  endCuts();
                  EXPECT_EQ(sql("SELECT count(*) || ' ' || count(trash_id) FROM " + schema_ +
                                ".sessions WHERE session_id = '" + session + "'"),
                            "2 1");
                });
}

TEST_F(PostgresRetry, ALargeBatchIsStoredOnce) {
  const std::string text(200'000, 'x');
  const std::vector<Entry> batch(45, entryOf("message", R"({"text":")" + text + R"("})", ""));
  cutEverywhere([](const std::string&) {},
                [&](const std::string& session) {
                  const auto stored = store_->appendSessionEntries(session, batch);
                  ASSERT_TRUE(stored) << stored.error().message;
                  endCuts();
                  EXPECT_EQ(stored->appendedCount, batch.size());
                  EXPECT_EQ(must(store_->sessionState(session)).entryCount, batch.size() + 2);
                  EXPECT_EQ(must(store_->sessionState(session)).tailId, stored->lastAppendedEntryId);
                });
}

TEST_F(PostgresRetry, ASessionIsRestoredOnce) {
  std::string trashId;
  cutEverywhere([&](const std::string& session) { trashId = must(store_->trashSession(session)).trashId; },
                [&](const std::string& session) {
                  const auto restored = store_->restoreSession(trashId);
                  ASSERT_TRUE(restored) << restored.error().message;
                  endCuts();
                  EXPECT_EQ(must(store_->sessionState(session)).entryCount, 2U);
                  EXPECT_TRUE(must(store_->maintenance().listTrash()).empty());
                });
}

TEST_F(PostgresRetry, ASessionIsDeletedOnce) {
  cutEverywhere([](const std::string&) {},
                [&](const std::string& session) {
                  const auto deleted = store_->deleteSession(session);
                  ASSERT_TRUE(deleted) << deleted.error().message;
                  endCuts();
                  EXPECT_EQ(refused(store_->sessionState(session)).code, ErrorCode::NotFound);
                  EXPECT_EQ(sql("SELECT count(*) FROM " + schema_ + ".entries"), "0");
                });
}

TEST_F(PostgresRetry, TheTrashIsEmptiedOnce) {
  std::string trashId;
  cutEverywhere([&](const std::string& session) { trashId = must(store_->trashSession(session)).trashId; },
                [&](const std::string&) {
                  const auto emptied = store_->emptyTrash({trashId});
                  ASSERT_TRUE(emptied) << emptied.error().message;
                  endCuts();
                  EXPECT_TRUE(must(store_->maintenance().listTrash()).empty());
                });
}

TEST_F(PostgresRetry, ASessionIsMigratedOnce) {
  cutEverywhere(
      [&](const std::string& session) {
        sql("UPDATE " + schema_ + ".sessions SET format = 0, bytes = bytes + 1 WHERE session_id = '" + session +
            "'; UPDATE " + schema_ + R"sql(.entries SET body = convert_to(replace(convert_from(body, 'UTF8'),
                '"format":1', '"format": 0'), 'UTF8') WHERE seq = 0 AND session_id = ')sql" +
            session + "'");
      },
      [&](const std::string& session) {
        const auto migrated = store_->migrateSession(session);
        ASSERT_TRUE(migrated) << migrated.error().message;
        endCuts();
        EXPECT_EQ(sql("SELECT s.bytes - sum(octet_length(e.body)) FROM " + schema_ + ".sessions s JOIN " + schema_ +
                      ".entries e ON e.session_id = s.session_id AND e.life = s.life WHERE s.session_id = '" + session +
                      "' GROUP BY s.bytes"),
                  "0");
        const auto verified = must(store_->verifySession(session));
        EXPECT_EQ(verified.problemCount, 0U);
      });
}

TEST_F(PostgresRetry, AForkIsDetachedOnce) {
  cutEverywhere(
      [&](const std::string& session) {
        must(store_->branchFromEntry(session, "e1", {.sessionId = session + "-fork"}));
      },
      [&](const std::string& session) {
        const auto detached = store_->maintenance().detach(session + "-fork");
        ASSERT_TRUE(detached) << detached.error().message;
        endCuts();
        EXPECT_FALSE(must(store_->sessionState(session + "-fork")).origin);
        EXPECT_EQ(must(store_->verifySession(session + "-fork")).problemCount, 0U);
      },
      3);
}

TEST_F(PostgresRetry, WhatWasErasedIsReported) {
  // One entry is stored as an attachment.
  const auto large = [](const std::string& session) {
    return entryOf("message", R"({"text":")" + session + std::string(300'000, 'x') + R"("})", "e2");
  };
  cutEverywhere([&](const std::string& session) { must(store_->appendSessionEntries(session, {large(session)})); },
                [&](const std::string& session) {
                  const auto erased = store_->maintenance().erase(
                      {.sessionId = session, .entryIds = {"e1", "e2"}, .by = "me", .reason = "a request"});
                  ASSERT_TRUE(erased) << erased.error().message;
                  endCuts();
                  EXPECT_EQ(erased->rewritten, (std::vector<std::string>{session}));
                  EXPECT_EQ(erased->removedAttachments, 1U);
                  EXPECT_TRUE(erased->keptAttachments.empty());
                  EXPECT_EQ(must(store_->sessionState(session)).entryCount, 5U);
                  EXPECT_EQ(must(store_->verifySession(session)).problemCount, 0U);
                  must(store_->deleteSession(session));  // an erasure examines every session
                },
                2);
}

TEST_F(PostgresRetry, ASessionIsCreatedOnce) {
  cutEverywhere([](const std::string&) {},
                [&](const std::string& session) {
                  const auto created = store_->createSession({.sessionId = session + "-new"});
                  ASSERT_TRUE(created) << created.error().message;
                  endCuts();
                  EXPECT_EQ(must(store_->sessionState(session + "-new")).entryCount, 1U);
                });
}

TEST_F(PostgresRetry, AForkIsMadeOnce) {
  cutEverywhere([](const std::string&) {},
                [&](const std::string& session) {
                  const auto fork = store_->branchFromEntry(session, "e1");
                  ASSERT_TRUE(fork) << fork.error().message;
                  endCuts();
                  EXPECT_EQ(must(store_->forksOf(session)), (std::vector<std::string>{fork->sessionId}));
                });
}

// The database alone cannot check a parent in the shared history: the client does that, in a longer transaction.
TEST_F(PostgresRetry, AnEntryThatNamesASharedParentIsStoredOnce) {
  cutEverywhere(
      [&](const std::string& session) {
        must(store_->appendSessionEntries(session, {message("two", "e2")}));
        must(store_->branchFromEntry(session, "e2", {.sessionId = session + "-fork"}));
      },
      [&](const std::string& session) {
        const auto appended = store_->appendSessionEntries(session + "-fork", {message("three", "", "e1")});
        ASSERT_TRUE(appended) << appended.error().message;
        endCuts();
        EXPECT_EQ(appended->appendedCount, 1U);
        EXPECT_EQ(appended->duplicateCount, 0U);
        const auto state = must(store_->sessionState(session + "-fork"));
        EXPECT_EQ(state.entryCount, 2U);
        EXPECT_EQ(state.tailId, appended->lastAppendedEntryId);
        EXPECT_EQ(must(store_->verifySession(session + "-fork")).problemCount, 0U);
      });
}

TEST_F(PostgresRetry, ALeaseIsTakenByTheSameAttempt) {
  cutEverywhere([](const std::string&) {},
                [&](const std::string& session) {
                  const auto turn = must(store_->session(session)).leaseTurn(60'000);
                  ASSERT_TRUE(turn) << turn.error().message;
                  endCuts();
                  EXPECT_EQ(refused(must(store_->session(session)).leaseTurn(60'000)).code, ErrorCode::Busy);
                  must(store_->appendSessionEntries(session, {message("two", "e2")}, {.turn = *turn}));
                });
}

TEST_F(PostgresRetry, AnAttachmentIsStoredWholeAndItsEntryOnce) {
  const std::string large(9 << 20, 'x');  // larger than one part
  cutEverywhere([](const std::string&) {},
                [&](const std::string& session) {
                  const std::string payload = R"({"text":")" + large + session + R"("})";
                  const auto appended = store_->appendSessionEntries(session, {entryOf("message", payload)});
                  ASSERT_TRUE(appended) << appended.error().message;
                  endCuts();
                  const auto entries = must(store_->loadSessionEntries(session));
                  ASSERT_EQ(entries.size(), 3U);
                  EXPECT_TRUE(entries[2].payload == payload);
                },
                7);
}

TEST_F(PostgresRetry, AnEntryThatIsErasedMeanwhileIsNotStoredAgain) {
  // The entry is erased as soon as it is stored, before a second attempt can check.
  sql("CREATE FUNCTION " + schema_ + ".erased() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE " + schema_ +
      R"sql(.entries SET body = convert_to(replace(convert_from(body, 'UTF8'), 'secret', 'gone'), 'UTF8')
          WHERE session_id = NEW.session_id AND life = NEW.life AND seq = NEW.seq;
        RETURN NULL; END $$; CREATE TRIGGER erased AFTER INSERT ON )sql" +
      schema_ + ".entries FOR EACH ROW EXECUTE FUNCTION " + schema_ + ".erased()");
  for (const bool withTail : {false, true}) {
    const std::string which = withTail ? "-with-tail" : "-without";
    cutEverywhere([&](const std::string& session) { must(store_->createSession({.sessionId = session + which})); },
                  [&](const std::string& session) {
                    AppendOptions options;
                    if (withTail) options.expectedTail = must(store_->sessionState(session + which)).tailId;
                    const auto appended = store_->appendSessionEntries(session + which, {message("secret")}, options);
                    endCuts();
                    // With an expected tail: the session's tail is the entry itself, not the expected one.
                    const ErrorCode expected = withTail ? ErrorCode::Conflict : ErrorCode::IdConflict;
                    EXPECT_TRUE(appended || appended.error().code == expected) << appended.error().message;
                    EXPECT_EQ(must(store_->sessionState(session + which)).entryCount, 2U);
                    EXPECT_EQ(sql("SELECT count(*) FROM " + schema_ + ".entries WHERE position('secret' IN body) > 0"),
                              "0");
                    must(store_->deleteSession(session));
                  });
  }
}

}  // namespace
}  // namespace bough
