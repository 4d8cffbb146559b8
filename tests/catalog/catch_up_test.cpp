// Whatever the history of a catalog, its answers equal those of a newly built one.
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <random>
#include <thread>

#include "bough/torn.h"
#include "catalog_support.h"

namespace bough {
namespace {

std::string describe(const SessionSummary& s) {
  std::string text =
      s.sessionId + "|" + s.key + "|" + s.agent + "|" + s.title + "|" + std::string(toString(s.titleSource));
  for (const std::uint64_t n :
       {s.createdMs, s.activeMs, s.durationMs, s.userMessages, s.assistantMessages, s.toolMessages, s.systemMessages,
        s.toolCalls, s.toolFailures, s.tokens.inputTokens, s.tokens.outputTokens, s.entries, s.bytes, s.branches}) {
    text += "|" + std::to_string(n);
  }
  for (const ModelUsage& each : s.models) text += "|" + each.model + " " + std::to_string(each.tokens.outputTokens);
  return text + "|" + std::string(toString(s.condition)) + "|" + s.headId + (s.pinned ? "|pinned" : "");
}

// All answers of a catalog.
std::string sayAll(Catalog& catalog) {
  std::string text;
  for (const SessionSummary& each : must(catalog.list({.limit = 10'000}))) text += describe(each) + "\n";
  const auto usage = must(catalog.usage({.by = UsageBy::Session}));
  for (const UsageRow& row : usage.rows) {
    text += row.name + " " + std::to_string(row.messages) + " " + std::to_string(row.tokens.inputTokens) + "\n";
  }
  for (const char* word : {"alpha", "beta", "春", "gamma*"}) {
    std::vector<std::string> hits;
    for (const SearchHit& hit : must(catalog.search(word, {.limit = 10'000})))
      hits.push_back(hit.sessionId + "/" + hit.entryId);
    std::ranges::sort(hits);
    text += word;
    for (const std::string& hit : hits) text += " " + hit;
    text += "\n";
  }
  return text;
}

class CatchUpTest : public CatalogTest {
 protected:
  /// Returns the answers of a catalog that is newly built in memory.
  std::string truth() {
    auto catalog = must(Catalog::open(*store, {.inMemory = true}));
    must(catalog->catchUp({.search = true}));
    return sayAll(*catalog);
  }
  std::string path() { return folder / "catalog.db"; }
};

TEST_F(CatchUpTest, StepByStepIsTheSameAsFromNothing) {
  std::mt19937_64 random(20261115);
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const char* kWords[] = {"alpha", "beta", "春天", "gammaray", "delta"};
  std::vector<std::string> sessions;
  std::map<std::string, std::vector<std::string>> entries;
  int made = 0;
  const auto newEntry = [&](const std::string& session) {
    Entry entry;
    const std::string id = "e" + std::to_string(++made);
    const std::string text = std::string(kWords[pick(5)]) + " " + kWords[pick(5)];
    switch (pick(5)) {
      case 0: entry = answered(textBlock(text), id, "msg" + std::to_string(pick(50))); break;
      case 1: entry = answered(callBlock("t" + id, text), id); break;
      case 2:
        entry = resulted("t" + (entries[session].empty() ? id : entries[session].back()), text, pick(2) == 0, id);
        break;
      default: entry = said(pick(4) == 0 ? "system" : "user", text, id);
    }
    if (!entries[session].empty() && pick(4) == 0) entry.parentId = entries[session][pick(entries[session].size())];
    entries[session].push_back(id);
    return entry;
  };
  auto catalog = must(Catalog::open(*store));
  for (int step = 0; step < 250; ++step) {
    const std::size_t what = pick(20);
    if (sessions.empty() || what < 2) {
      const std::string id = "s" + std::to_string(sessions.size()) + "-" + std::to_string(step);
      make({.sessionId = id, .key = "agent:a" + std::to_string(pick(3)) + ":cli:dm:x"});
      sessions.push_back(id);
      continue;
    }
    const std::string session = sessions[pick(sessions.size())];
    auto& own = entries[session];
    if (what < 12) {
      append(session, {newEntry(session), newEntry(session)});
    } else if (what < 14 && !own.empty()) {
      must(store->redactEntry(session, own[pick(own.size())], "test", "random"));
    } else if (what == 14 && !own.empty()) {
      must(store->moveHead(session, own[pick(own.size())]));
    } else if (what == 15) {
      if (location == folder.path()) must(store->archiveSession(session));  // databases have no archive
    } else if (what == 16 && !own.empty()) {
      const std::string id = "f" + std::to_string(step);
      must(store->branchFromEntry(session, own.back(), {.sessionId = id}));
      sessions.push_back(id);
      append(id, {newEntry(id)});
    } else if (what == 17) {
      must(appendSessionInfo(*store, session,
                             {.title = pick(3) == 0 ? "" : kWords[pick(5)],
                              .titleSource = pick(2) == 0 ? TitleSource::Given : TitleSource::Generated,
                              .pinned = pick(2) == 0}));
    } else if (what == 18) {
      if (store->deleteSession(session, {.detachForks = pick(2) == 0})) {
        std::erase(sessions, session);
        entries.erase(session);
      }
    }
    if (pick(4) == 0) must(catalog->catchUp({.search = pick(2) == 0}));
    if (step % 50 == 49) {
      must(catalog->catchUp({.search = true}));
      ASSERT_EQ(sayAll(*catalog), truth()) << "after step " << step;
    }
  }
  must(catalog->rebuild({.search = true}));
  EXPECT_EQ(sayAll(*catalog), truth());
}

TEST_F(CatchUpTest, ASessionThatWasReplacedIsReadAnew) {
  make({.sessionId = "a"}, {said("user", "alpha", "e1"), said("user", "beta", "e2")});
  auto catalog = open(true);
  must(store->deleteSession("a"));
  make({.sessionId = "a"}, {said("user", "gamma", "e1"), said("user", "alpha", "e2"), said("user", "alpha", "e3")});
  must(catalog->catchUp({.search = true}));
  EXPECT_EQ(sayAll(*catalog), truth());
}

// Read on its own thread, far ahead of what is put into the catalog.
TEST_F(CatchUpTest, ALongSessionIsTakenInAsAShortOne) {
  make({.sessionId = "a"});
  for (int batch = 0; batch < 8; ++batch) {
    std::vector<Entry> entries;
    for (int i = 0; i < 100; ++i) {
      const std::string id = "e" + std::to_string(batch) + "-" + std::to_string(i);
      entries.push_back(said("user", "alpha 春天 " + id + " " + std::string(8000, 'x'), id));
    }
    append("a", std::move(entries));
    must(store->redactEntry("a", "e" + std::to_string(batch) + "-50", "test", "every hundredth"));
  }
  auto catalog = open(true);
  EXPECT_EQ(must(catalog->search("alpha", {.limit = 1000, .excerptTokens = 0})).size(), 792u);
  EXPECT_EQ(must(catalog->search("\"e3 49\"")).at(0).entryId, "e3-49");
  EXPECT_TRUE(must(catalog->search("\"e3 50\"")).empty());
  EXPECT_EQ(must(catalog->session("a")).userMessages, 800u);
  EXPECT_EQ(sayAll(*catalog), truth());
}

TEST_F(CatchUpTest, ASecondLookReadsNothing) {
  make({.sessionId = "a"}, {said("user", "alpha", "e1")});
  EXPECT_EQ(must(must(Catalog::open(*store))->catchUp()).sessions, 1u);
  EXPECT_EQ(must(must(Catalog::open(*store))->catchUp()).sessions, 0u);
  append("a", {said("user", "beta", "e2")});
  const CatchUpReport report = must(must(Catalog::open(*store))->catchUp());
  EXPECT_EQ(report.sessions, 1u);
  EXPECT_EQ(report.entries, 1u);
}

TEST_F(CatchUpTest, ADeletedCatalogLosesNothing) {
  make({.sessionId = "a"}, {said("user", "alpha", "e1")});
  const std::string before = sayAll(*open(true));
  std::filesystem::remove(path());
  EXPECT_EQ(sayAll(*open(true)), before);
}

TEST_F(CatchUpTest, ADamagedCatalogIsSetAsideAndMadeAnew) {
  make({.sessionId = "a"}, {said("user", "alpha", "e1")});
  const std::string before = sayAll(*open(true));
  for (const std::size_t at : {std::size_t{0}, std::size_t{100}, std::size_t{4096}}) {
    {
      std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(at));
      file << std::string(3000, 'Z');
    }
    auto catalog = must(Catalog::open(*store));
    must(catalog->catchUp({.search = true}));
    EXPECT_EQ(sayAll(*catalog), before) << at;
  }
  EXPECT_TRUE(std::filesystem::exists(path() + ".damaged"));
}

TEST_F(CatchUpTest, ATruncatedOrForeignFileIsSetAside) {
  make({.sessionId = "a"}, {said("user", "alpha", "e1")});
  const std::string before = sayAll(*open(true));
  std::filesystem::resize_file(path(), 5000);
  EXPECT_EQ(sayAll(*open(true)), before);
  std::ofstream(path()) << "this is no database, but it is longer than a header would be, so it is looked into";
  auto catalog = open(true);
  EXPECT_EQ(sayAll(*catalog), before);
}

TEST_F(CatchUpTest, ACatalogOfANewerVersionIsLeftAlone) {
  make({.sessionId = "a"}, {said("user", "alpha", "e1")});
  const std::string before = sayAll(*open(true));
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &database), SQLITE_OK);
  sqlite3_exec(database, "PRAGMA user_version = 999", nullptr, nullptr, nullptr);
  sqlite3_close(database);
  auto catalog = open(true);
  EXPECT_EQ(sayAll(*catalog), before);
  ASSERT_EQ(catalog->notes().size(), 1u);
  EXPECT_NE(catalog->notes()[0].find("newer bough"), std::string::npos);
  // On request, it is replaced.
  must(catalog->rebuild({.search = true}));
  EXPECT_TRUE(catalog->notes().empty());
  EXPECT_EQ(sayAll(*catalog), before);
  EXPECT_TRUE(open(true)->notes().empty());
}

TEST_F(CatchUpTest, ALockedCatalogStillAnswers) {
  make({.sessionId = "a"}, {said("user", "alpha", "e1")});
  open(true);
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  make({.sessionId = "b"});  // an append never waits for the catalog
  auto catalog = must(Catalog::open(*store, {.busyTimeoutMs = 20}));
  EXPECT_EQ(refused(catalog->catchUp()).code, ErrorCode::Busy);
  EXPECT_EQ(must(catalog->count()), 1u);
  sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr);
  sqlite3_close(other);
  must(catalog->catchUp());
  EXPECT_EQ(must(catalog->count()), 2u);
}

TEST_F(CatchUpTest, ARebuildWaitsForAnotherWriter) {
  make({.sessionId = "a"}, {said("user", "alpha", "e1")});
  open(true);
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr);
  });
  auto catalog = must(Catalog::open(*store, {.busyTimeoutMs = 20}));
  EXPECT_TRUE(catalog->rebuild());
  writer.join();
  sqlite3_close(other);
}

TEST_F(CatchUpTest, NobodyElseCanReadIt) {
  make({.sessionId = "a"});
  open(true);
  struct stat info{};
  ASSERT_EQ(::stat(path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(CatchUpTest, DamagedAndForeignFilesDoNotHideTheOthers) {
  make({.sessionId = "good"}, {said("user", "alpha", "e1")});
  std::ofstream(folder / "sessions/bad.jsonl") << std::string(5000, '\0');
  std::ofstream(folder / "sessions/empty.jsonl");
  std::ofstream(folder / "sessions/notes.txt") << "not a session";
  std::filesystem::create_directory(folder / "sessions/folder.jsonl");
  auto catalog = must(Catalog::open(*store));
  const CatchUpReport report = must(catalog->catchUp({.search = true}));
  EXPECT_EQ(must(catalog->session("good")).userMessages, 1u);
  EXPECT_EQ(must(catalog->session("bad")).condition, SessionCondition::Damaged);
  EXPECT_EQ(must(catalog->search("alpha")).size(), 1u);
}

TEST_F(CatchUpTest, ALineDestroyedLaterMakesTheSessionDamaged) {
  make({.sessionId = "a"}, {said("user", "alpha", "e1")});
  append("a", {said("user", "beta", "e2")});
  open(true);
  const std::string file = folder / "sessions/a.jsonl";
  std::fstream log(file, std::ios::in | std::ios::out | std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(log)), {});
  log.seekp(static_cast<std::streamoff>(text.find("alpha")));
  log << "XXXXX";
  log.close();
  EXPECT_EQ(row("a").condition, SessionCondition::Damaged);
}

TEST_F(CatchUpTest, ASessionWhoseLogIsGoneIsMissingUntilItIsBack) {
  make({.sessionId = "a", .key = "agent:x:cli:dm:y"}, {said("user", "alpha", "e1"), answered(textBlock("beta"), "e2")});
  make({.sessionId = "b"}, {said("user", "alpha", "e1")});
  auto catalog = open(true);
  const std::string before = sayAll(*catalog);
  std::filesystem::rename(folder / "sessions/a.jsonl", folder / "a.jsonl");
  store = must(SessionStore::open(location));
  EXPECT_EQ(must(missingSessions(*store)).size(), 1u);
  for (int look = 0; look < 2; ++look) {
    catalog = open(true);
    const SessionSummary missing = must(catalog->session("a"));
    EXPECT_EQ(missing.condition, SessionCondition::Missing);
    EXPECT_NE(missing.problem.find("3 entries"), std::string::npos) << missing.problem;
    EXPECT_EQ(must(missingSessions(*store)).at(0).entries, 3u);
  }
  EXPECT_EQ(must(catalog->search("alpha")).size(), 1u);
  EXPECT_EQ(must(catalog->usage({.by = UsageBy::Session})).rows.size(), 0u);
  EXPECT_FALSE(must(catalog->currentSession("agent:x:cli:dm:y")).has_value());
  EXPECT_TRUE(must(catalog->expired(UINT64_MAX / 2, 1)).size() == 1);
  EXPECT_TRUE(must(catalog->check(true)).empty());
  std::filesystem::rename(folder / "a.jsonl", folder / "sessions/a.jsonl");
  must(catalog->catchUp({.search = true}));
  EXPECT_EQ(sayAll(*catalog), before);
  EXPECT_TRUE(must(missingSessions(*store)).empty());
}

TEST_F(CatchUpTest, WhatBoughRemovedIsNotMissing) {
  for (const char* id : {"trashed", "emptied", "deleted", "fresh"}) make({.sessionId = id}, {said("user", "alpha")});
  auto catalog = open();
  EXPECT_TRUE(store->maintenance().trash({{.sessionId = "trashed"}}).at(0));
  const auto emptied = must(store->maintenance().trash({{.sessionId = "emptied"}}).at(0));
  must(store->emptyTrash({emptied.trashId}));
  must(store->deleteSession("deleted"));
  EXPECT_TRUE(must(missingSessions(*store)).empty());
  EXPECT_EQ(must(catalog->catchUp()).removed, 3u);
  EXPECT_EQ(idsOf(must(catalog->list())), Ids{"fresh"});
}

TEST_F(CatchUpTest, ARebuildForgetsWhatIsMissing) {
  make({.sessionId = "a"}, {said("user", "alpha")});
  auto catalog = open();
  std::filesystem::remove(folder / "sessions/a.jsonl");
  store = must(SessionStore::open(location));
  catalog = open();
  EXPECT_EQ(must(catalog->count()), 1u);
  must(catalog->rebuild());
  EXPECT_EQ(must(catalog->count()), 0u);
  EXPECT_TRUE(must(missingSessions(*store)).empty());
}

// A child that is killed at any moment of a catch-up leaves a catalog from which the next one continues.
TEST_F(CatchUpTest, KilledInTheMiddleItGoesOn) {
  for (int i = 0; i < 30; ++i) {
    std::vector<Entry> entries;
    for (int k = 0; k < 20; ++k) entries.push_back(said("user", "alpha beta " + std::to_string(k)));
    make({.sessionId = "s" + std::to_string(i)}, std::move(entries));
  }
  std::mt19937_64 random(7);
  for (int round = 0; round < 12; ++round) {
    if (round % 4 == 0) {
      for (const char* name : {"catalog.db", "catalog.db-wal", "catalog.db-shm"})
        std::filesystem::remove(folder / name);
    }
    append("s" + std::to_string(round), {said("user", "gamma春")});
    const pid_t child = ::fork();
    if (child == 0) {
      auto mine = SessionStore::open(folder.path().string());
      auto catalog = Catalog::open(**mine);
      (void)(*catalog)->catchUp({.search = true});
      ::_exit(0);
    }
    ::usleep(static_cast<useconds_t>(random() % 30'000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_EQ(sayAll(*open(true)), truth()) << "round " << round;
  }
}

TEST_F(CatchUpTest, SeveralProcessesMayCatchUpAtOnce) {
  for (int i = 0; i < 20; ++i) make({.sessionId = "s" + std::to_string(i)}, {said("user", "alpha beta", "e1")});
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto mine = SessionStore::open(folder.path().string());
      int failures = 0;
      for (int k = 0; k < 10; ++k) {
        (void)(*mine)->appendSessionEntries("s" + std::to_string((i * 5 + k) % 20), {said("user", "gamma")});
        auto catalog = Catalog::open(**mine, {.busyTimeoutMs = 20'000});
        if (!catalog || !(*catalog)->catchUp({.search = k % 2 == 0})) ++failures;
      }
      ::_exit(failures == 0 ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(sayAll(*open(true)), truth());
}

// With more than 2,000 sessions, the store reports what has changed.
class LargeStoreTest : public CatalogTest {
 protected:
  LargeStoreTest() {
    make({.sessionId = "first", .key = "many:cli:me", .cwd = "/many"});
    for (int i = 0; i < 2000; ++i) copyTo("first", "s" + std::to_string(i));  // creating each would take long
    catalog_ = open();
  }
  // Copies a log like another program, so that the store is not informed.
  void copyTo(const std::string& from, const std::string& to) const {
    const auto sessions = folder.path() / "sessions";
    std::filesystem::copy_file(sessions / (from + ".jsonl"), sessions / (to + ".jsonl"));
  }
  bool isListed(const std::string& id) { return catalog_->session(id).has_value(); }

  std::unique_ptr<Catalog> catalog_;
};

TEST_F(LargeStoreTest, AMadeSessionIsFoundWithoutListingTheFolder) {
  copyTo("first", "foreign");
  make({.sessionId = "made"});
  must(catalog_->catchUp());
  EXPECT_TRUE(isListed("made"));
  EXPECT_FALSE(isListed("foreign"));  // so the folder was not listed
  must(store->deleteSession("made"));
  must(store->deleteSession("s7"));
  EXPECT_EQ(must(catalog_->catchUp()).removed, 2U);
  EXPECT_FALSE(isListed("made") || isListed("s7"));
  must(catalog_->catchUp({.everything = true}));
  EXPECT_TRUE(isListed("foreign"));
}

// Few matching sessions are found through an index, many while scanning the list.
TEST_F(LargeStoreTest, AFolderOrKeyIsListedWhetherFewSessionsHaveItOrMany) {
  make({.sessionId = "below", .cwd = "/many/below"});
  make({.sessionId = "beside", .key = "rare:cli:me", .cwd = "/many0"});
  must(catalog_->catchUp());
  const auto listed = [&](const std::string& cwd) {
    return idsOf(must(catalog_->list({.filter = {.cwd = cwd}, .limit = 3})));
  };
  EXPECT_EQ(listed("/many/below"), Ids{"below"});
  EXPECT_EQ(listed("/many/below/"), Ids{"below"});
  EXPECT_EQ(listed("/many0"), Ids{"beside"});
  EXPECT_EQ(listed("/man"), Ids{});
  const Ids many = listed("/many");
  ASSERT_EQ(many.size(), 3U);
  EXPECT_EQ(many.front(), "below");
  EXPECT_EQ(must(catalog_->count({.cwd = "/many"})), 2002U);
  EXPECT_EQ(must(catalog_->count({.cwd = "/"})), 2003U);
  EXPECT_EQ(idsOf(must(catalog_->list({.filter = {.key = "rare:*"}}))), Ids{"beside"});
  EXPECT_EQ(must(catalog_->list({.filter = {.key = "many:*"}, .limit = 3})).size(), 3U);
  EXPECT_EQ(must(catalog_->count({.key = "many:*"})), 2001U);
  EXPECT_EQ(must(catalog_->count({.key = "rare:cli:me"})), 1U);
}

TEST_F(LargeStoreTest, TheLookAtEverySessionCanBeLeftToOthers) {
  copyTo("first", "foreign");
  EXPECT_FALSE(must(catalog_->catchUp({.leaveDue = true})).due);
  catalog_.reset();
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((folder.path() / "catalog.db").c_str(), &database), SQLITE_OK);
  sqlite3_exec(database, "UPDATE meta SET value = CAST('1000' AS BLOB) WHERE name = 'lookedAtAllMs'", nullptr, nullptr,
               nullptr);
  sqlite3_close(database);
  catalog_ = must(Catalog::open(*store));
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(must(catalog_->catchUp({.leaveDue = true})).due);
    EXPECT_FALSE(isListed("foreign"));
  }
  EXPECT_FALSE(must(catalog_->catchUp()).due);
  EXPECT_TRUE(isListed("foreign"));
  EXPECT_FALSE(must(catalog_->catchUp({.leaveDue = true})).due);
}

}  // namespace
}  // namespace bough
