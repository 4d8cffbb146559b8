// The number of round trips of each operation of a PostgreSQL store, counted by a proxy.

#include <gtest/gtest.h>

#include "bough/catalog.h"
#include "bough/context.h"
#include "bough/store.h"
#include "postgres/fresh_store.h"
#include "postgres/proxy.h"
#include "support/entries.h"
#include "support/golden.h"

namespace bough {
namespace {

class PostgresRoundTrips : public FreshPostgresStore {
 protected:
  void SetUp() override {
    FreshPostgresStore::SetUp();
    if (IsSkipped()) return;
    proxy_ = std::make_unique<PostgresProxy>(sharedServer());
    url_ = proxy_->url(schema_);
    store_ = must(SessionStore::open(url_));
    must(store_->createSession({.sessionId = "s"}));
    for (int i = 0; i < 100; ++i) must(store_->appendSessionEntries("s", {note("m" + std::to_string(i))}));
    std::string from = "s";
    for (int depth = 1; depth <= 5; ++depth) {
      const std::string fork = "f" + std::to_string(depth);
      must(store_->branchFromEntry(from, depth == 1 ? "m99" : "x" + std::to_string(depth - 1), {.sessionId = fork}));
      must(store_->appendSessionEntries(fork, {note("x" + std::to_string(depth))}));
      from = fork;
    }
  }

  static Entry note(const std::string& id) {
    return entryOf("message", R"({"dialect":"bough","message":{"role":"user","content":"hello"}})", id);
  }
  std::string next(const std::string& prefix) { return prefix + std::to_string(++number_); }
  Result<AppendResult> append(const std::string& session) {
    return store_->appendSessionEntries(session, {note(next("n"))});
  }
  // Earlier round trips do not count.
  void begin() { (void)proxy_->takeRoundTrips(); }
  // Records the minimum of several tries: notifications and the periodic check of a follower are independent, and may
  // be counted, too.
  template <typename Operation>
  void count(const std::string& what, Operation operation) {
    std::uint64_t least = UINT64_MAX;
    std::vector<decltype(operation())> kept;  // closing a store is not part of the next try
    for (int i = 0; i < 5; ++i) {
      begin();
      const auto& done = kept.emplace_back(operation());
      EXPECT_TRUE(done) << what << ": " << done.error().message;
      const std::uint64_t counted = proxy_->takeRoundTrips();
      if (i > 0) least = std::min(least, counted);  // statements are prepared the first time
    }
    table_ += std::to_string(least) + "  " + what + "\n";
  }
  // Returns a fork that nothing else uses.
  std::string fork() {
    const std::string id = next("fork");
    must(store_->branchFromEntry("s", "m9", {.sessionId = id}));
    begin();
    return id;
  }

  std::unique_ptr<PostgresProxy> proxy_;
  std::unique_ptr<SessionStore> store_;
  std::string table_;
  int number_ = 0;
};

TEST_F(PostgresRoundTrips, OfASession) {
  const auto nothing = [](std::string_view) { return true; };
  count("create a session", [&] { return store_->createSession({.sessionId = next("new")}); });
  count("append one entry", [&] { return append("s"); });
  count("append ten entries to a fork of depth 5", [&] {
    std::vector<Entry> batch;
    for (int i = 0; i < 10; ++i) batch.push_back(note(next("b")));
    return store_->appendSessionEntries("f5", batch);
  });
  count("append with an expected tail", [&] {
    const auto state = must(store_->sessionState("s"));
    begin();
    return store_->appendSessionEntries("s", {note(next("c"))}, {.expectedTail = state.tailId});
  });
  count("append a batch again", [&] { return store_->appendSessionEntries("s", {note("again")}); });
  count("begin a turn", [&] { return must(store_->session("s")).beginTurn(); });
  count("load a session", [&] { return store_->loadSessionEntries("s"); });
  count("load the last 50", [&] { return store_->loadSessionEntries("s", {.last = 50}); });
  count("load the last 50 of a fork of depth 5", [&] { return store_->loadSessionEntries("f5", {.last = 50}); });
  count("load a branch of a fork of depth 5", [&] { return store_->loadSessionEntries("f5", {.branch = "x5"}); });
  count("load one entry", [&] { return store_->loadEntry("f5", "m3"); });
  count("read on with a cursor", [&] {
    auto cursor = must(store_->openCursor("f5"));
    must(cursor.next(10));
    begin();
    return cursor.next(10);
  });
  count("follow a session to the next entry", [&] {
    auto follower = must(store_->follow("s", must(store_->sessionState("s")).tailId));
    must(append("s"));
    begin();
    return follower.next(10'000);
  });
  count("build a context of a fork of depth 5", [&] { return buildContext(*store_, "f5"); });
  count("the conversation up to an entry", [&] { return store_->buildConversationHistory("f5", "x4"); });
  count("compare two branches", [&] { return store_->diffBranches({"f5", "x5"}, {"s", "m50"}); });
  count("the state of a session", [&] { return store_->sessionState("s"); });
  count("move the head", [&] { return store_->moveHead("s", "m5"); });
  count("give a label", [&] { return store_->labelEntry("s", "m5", "here"); });
  count("list labels of a fork of depth 5", [&] { return store_->labels("f5"); });
  count("remove a label", [&] {
    must(store_->labelEntry("s", "m5", "gone"));
    begin();
    return store_->removeLabel("s", "gone");
  });
  count("go back to a label", [&] { return store_->restoreLabel("s", "here"); });
  count("give a title", [&] { return store_->setTitle("s", "Title"); });
  count("summarize a branch", [&] {
    return store_->appendBranchSummary("s", {.sourceSessionId = "s", .sourceEntryId = "m9", .summary = "short"});
  });
  count("redact an entry", [&] { return store_->redactEntry("s", "m7", "me", "why"); });
  count("load the tree of a fork of depth 5", [&] { return store_->loadTree("f5"); });
  count("fork", [&] { return store_->branchFromEntry("s", "m9", {.sessionId = next("fork")}); });
  count("find an entry's place in a fork of depth 5", [&] { return store_->sequenceOf("f5", "m3"); });
  count("load entries by their places", [&] { return store_->loadEntriesAt("f5", {3, 4, 5}); });
  count("find entries by a beginning", [&] { return store_->findEntryIds("f5", "m1", 10); });
  count("export a session", [&] { return store_->exportSession("s", nothing); });
  count("verify a session", [&] { return store_->verifySession("s"); });
  count("store an attachment", [&] { return store_->putAttachment(next("bytes")); });
  count("read an attachment", [&] {
    const std::string sha256 = must(store_->putAttachment(next("bytes")));
    begin();
    return store_->readAttachment(sha256);
  });
  EXPECT_TRUE(matchesGolden("postgres/round_trips_of_a_session.txt", table_));
}

TEST_F(PostgresRoundTrips, OfAStore) {
  const auto nothing = [](std::string_view) { return true; };
  count("open a store", [&] { return SessionStore::open(url_); });
  count("list the sessions' ids", [&] { return store_->listSessions(); });
  count("list the forks of a session", [&] { return store_->forksOf("s"); });
  count("give a fork its own copy", [&] { return store_->maintenance().detach(fork()); });
  count("throw a session away", [&] { return store_->trashSession(fork()); });
  count("bring a session back", [&] {
    const auto gone = must(store_->trashSession(fork()));
    begin();
    return store_->restoreSession(gone.trashId);
  });
  count("list the trash", [&] { return store_->listTrash(); });
  count("export a session in the trash", [&] {
    const auto gone = must(store_->trashSession(fork()));
    begin();
    return store_->exportTrashed(gone.trashId, nothing);
  });
  count("empty the trash of a session", [&] {
    const auto gone = must(store_->trashSession(fork()));
    begin();
    return store_->emptyTrash({gone.trashId});
  });
  count("remove a session for good", [&] { return store_->deleteSession(fork()); });
  count("erase an entry", [&] {
    const std::string id = must(append("s")).lastAppendedEntryId;
    begin();
    return store_->maintenance().erase({.sessionId = "s", .entryIds = {id}, .by = "me", .reason = "why"});
  });
  count("find unused attachments", [&] { return store_->findUnusedAttachments(); });
  count("remove unused attachments", [&] { return store_->removeUnusedAttachments({std::string(64, 'a')}); });
  count("read the settings", [&] { return store_->settings(); });
  count("save the settings", [&] { return store_->saveSettings({}); });

  auto catalog = must(Catalog::open(*store_));
  must(catalog->catchUp({.search = true}));
  const auto asked = [&](auto question) {
    return [&, question] {
      must(catalog->catchUp());
      return question();
    };
  };
  count("list the newest 50 sessions", asked([&] { return catalog->list({.limit = 50}); }));
  count("list the newest 50 sessions when one has grown", [&] {
    must(append("s"));
    begin();
    must(catalog->catchUp());
    return catalog->list({.limit = 50});
  });
  count("find words when five sessions have grown", [&] {
    for (int i = 1; i <= 5; ++i) must(append("f" + std::to_string(i)));
    begin();
    must(catalog->catchUp({.search = true}));
    return catalog->search("hello");
  });
  count("count sessions", asked([&] { return catalog->count(); }));
  count("find a session by name", asked([&] { return catalog->findByName("f5"); }));
  count("find the session of a key", asked([&] { return catalog->currentSession("main:cli:user"); }));
  count("find words", asked([&] { return catalog->search("hello"); }));
  count("sum up what was used", asked([&] { return catalog->usage(); }));
  count("find sessions whose time is over", asked([&] { return catalog->expired(1, 1); }));
  EXPECT_TRUE(matchesGolden("postgres/round_trips_of_a_store.txt", table_));
}

}  // namespace
}  // namespace bough
