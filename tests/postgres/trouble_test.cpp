// Problems around a PostgreSQL store: restarts, wrong passwords, privileges, schemas and clocks, entries that are too
// large.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "bough/catalog.h"
#include "bough/store.h"
#include "store/postgres/postgres_backend.h"
#include "store/postgres/schema/schema.h"
#include "support/entries.h"
#include "support/postgres_server.h"
#include "support/sim_environment.h"

namespace bough {
namespace {

Entry note(const std::string& id, const std::string& text = "hello") {
  Entry entry;
  entry.id = id;
  entry.type = "message";
  entry.payload = R"({"text":")" + text + R"("})";
  return entry;
}

class PostgresTrouble : public testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::isInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
  }
  static std::unique_ptr<SessionStore> open(const std::string& url) {
    StoreOptions options;
    options.lockTimeoutMs = 60'000;
    auto store = SessionStore::open(url, options);
    if (!store) throw std::runtime_error(store.error().message);
    return std::move(*store);
  }
  // Returns the error of opening the store.
  static Error errorOf(const std::string& url) { return refused(SessionStore::open(url)); }
  static std::vector<std::string> idsOf(SessionStore& store, const std::string& session) {
    std::vector<std::string> ids;
    const auto entries = store.loadSessionEntries(session);
    if (!entries) throw std::runtime_error(entries.error().message);
    for (const Entry& entry : *entries) ids.push_back(entry.id);
    ids.erase(ids.begin());  // the header
    return ids;
  }
};

// Returns a batch of ten entries with ids in order.
std::vector<Entry> batchOf(int number) {
  std::vector<Entry> batch;
  for (int i = 0; i < 10; ++i) batch.push_back(note(std::to_string(number) + "-" + std::to_string(i)));
  return batch;
}

TEST_F(PostgresTrouble, ARestartInTheMiddleOfABatchLosesAndDoublesNothing) {
  PostgresServer server({"fsync = off"});
  ASSERT_TRUE(initPostgresStore(server.url("trouble")));
  ASSERT_TRUE(open(server.url("trouble"))->createSession({.sessionId = "s"}));
  std::atomic<bool> stop = false;
  std::atomic<int> done = 0;
  std::thread writer([&] {
    auto store = open(server.url("trouble"));
    while (!stop) {
      const auto appended = store->appendSessionEntries("s", batchOf(done));
      ASSERT_TRUE(appended) << appended.error().message;
      ++done;
    }
  });
  for (int i = 0; i < 4; ++i) {
    for (const int until = done + 20; done < until;) std::this_thread::yield();
    i % 2 == 0 ? server.stop() : server.kill();
    server.start();
  }
  for (const int until = done + 20; done < until;) std::this_thread::yield();
  stop = true;
  writer.join();
  auto store = open(server.url("trouble"));
  std::vector<std::string> expected;
  for (int i = 0; i < done; ++i) {
    for (const Entry& entry : batchOf(i)) expected.push_back(entry.id);
  }
  EXPECT_EQ(idsOf(*store, "s"), expected);
  EXPECT_EQ(store->verifySession("s")->problemCount, 0U);
}

TEST_F(PostgresTrouble, AfterAForkTheChildIsRefusedAndTheParentGoesOn) {
  const std::string url = freshStoreUrl();
  ASSERT_TRUE(initPostgresStore(url));
  auto store = open(url);
  ASSERT_TRUE(store->createSession({.sessionId = "s"}));
  ASSERT_TRUE(store->appendSessionEntries("s", {note("before")}));
  const pid_t child = ::fork();
  if (child == 0) {
    const auto late = store->appendSessionEntries("s", {note("child")});
    if (late || late.error().code != ErrorCode::Unsupported) ::_exit(1);
    auto own = SessionStore::open(url);
    ::_exit(own && (*own)->appendSessionEntries("s", {note("own")}) ? 0 : 2);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(store->appendSessionEntries("s", {note("after")}));
  EXPECT_EQ(idsOf(*store, "s"), (std::vector<std::string>{"before", "own", "after"}));
}

TEST_F(PostgresTrouble, AWrongPasswordIsToldAndNotRepeated) {
  PostgresServer server({"fsync = off"});
  ASSERT_TRUE(initPostgresStore(server.url("trouble")));
  runSql(server, "CREATE ROLE somebody LOGIN PASSWORD 'rightsecret'");
  std::ofstream(server.dataFolder() + "/pg_hba.conf") << "local all postgres trust\nlocal all all scram-sha-256\n";
  server.stop();
  server.start();
  const Error wrong = errorOf(server.url("trouble", "somebody:wrongsecret"));
  EXPECT_EQ(wrong.code, ErrorCode::InvalidArgument) << wrong.message;
  EXPECT_FALSE(wrong.retryable);
  EXPECT_TRUE(wrong.hint.contains("password")) << wrong.hint;
  EXPECT_FALSE((wrong.message + wrong.hint).contains("secret")) << wrong.message;
  const Error missing = errorOf(server.url("trouble", "somebody"));
  EXPECT_TRUE(missing.hint.contains("password")) << missing.message;
  // The right password, but no privileges.
  const Error lacking = errorOf(server.url("trouble", "somebody:rightsecret"));
  EXPECT_EQ(lacking.code, ErrorCode::InvalidArgument) << lacking.message;
  EXPECT_TRUE(lacking.hint.contains("bough store init --reader")) << lacking.hint;
  EXPECT_FALSE(lacking.message.contains("secret")) << lacking.message;
}

TEST_F(PostgresTrouble, ASchemaThatIsMissingOrNewerIsTold) {
  const std::string url = freshStoreUrl();
  const Error missing = errorOf(url);
  EXPECT_EQ(missing.code, ErrorCode::NotFound) << missing.message;
  EXPECT_TRUE(missing.hint.contains("bough store init")) << missing.hint;
  ASSERT_TRUE(initPostgresStore(url));
  const std::string schema = url.substr(url.find("schema=") + 7);
  const auto setVersion = [&](const std::string& version) {
    runSql(sharedServer(),
           "UPDATE " + schema + ".settings SET value = '" + version + "' WHERE name = 'schema_version'");
  };
  setVersion("99");
  const Error newer = errorOf(url);
  EXPECT_EQ(newer.code, ErrorCode::NewerFormat) << newer.message;
  EXPECT_TRUE(newer.hint.contains("upgrade")) << newer.hint;
}

TEST_F(PostgresTrouble, ARoleThatMayNotCreateTheSchemaIsToldWhoMay) {
  PostgresServer& server = sharedServer();
  const std::string url = freshStoreUrl();
  const std::string schema = url.substr(url.find("schema=") + 7);
  const std::string role = "owner_of_" + schema;
  runSql(server, "CREATE ROLE " + role + " LOGIN");
  const std::string own = server.url("", role) + "?schema=" + schema;
  const auto none = initPostgresStore(own);
  ASSERT_FALSE(none);
  EXPECT_TRUE(none.error().hint.contains("GRANT CREATE ON DATABASE")) << none.error().hint;
  // The schema belongs to another role, then to this one: no privilege to create schemas is needed.
  runSql(server, "CREATE SCHEMA " + schema);
  EXPECT_TRUE(initPostgresStore(own).error().hint.contains("create")) << initPostgresStore(own).error().hint;
  runSql(server, "ALTER SCHEMA " + schema + " OWNER TO " + role);
  ASSERT_TRUE(initPostgresStore(own)) << initPostgresStore(own).error().message;
  ASSERT_TRUE(initPostgresStore(own));
  // A role that may use the schema may not change it.
  const std::string keeper = "keeper_of_" + schema;
  runSql(server, "CREATE ROLE " + keeper + " LOGIN");
  must(grantPostgresStore(own, keeper, "keeper"));
  const auto others = initPostgresStore(server.url("", keeper) + "?schema=" + schema);
  ASSERT_FALSE(others);
  EXPECT_TRUE(others.error().hint.contains("the role that created the store")) << others.error().hint;
}

TEST_F(PostgresTrouble, AnOlderSchemaIsUpgradedAndKeepsEverything) {
  const std::string url = freshStoreUrl();
  const std::string schema = url.substr(url.find("schema=") + 7);
  must(initPostgresStore(url));
  must(open(url)->createSession({.sessionId = "s"}));
  must(open(url)->appendSessionEntries("s", {note("a")}));
  const auto functions = [&] {
    return runSql(sharedServer(),
                  "SELECT count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE "
                  "n.nspname = '" +
                      schema + "' AND p.proname IN ('append', 'create_session', 'known')");
  };
  EXPECT_EQ(functions(), "3");
  const std::string role = "writer_of_" + schema;
  runSql(sharedServer(), "CREATE ROLE " + role + " LOGIN");
  must(grantPostgresStore(url, role, "writer"));
  // Undoes the additions and removals of versions 2 to 4.
  runSql(sharedServer(), "CREATE FUNCTION " + schema +
                             ".known(text, integer, text, text[], bigint[], bigint[]) RETURNS integer LANGUAGE sql AS "
                             "'SELECT 1'");
  runSql(sharedServer(),
         "DROP TABLE " + schema + ".catalog_sessions, " + schema + ".catalog_answers, " + schema +
             ".catalog_texts; ALTER TABLE " + schema +
             ".entries DROP CONSTRAINT entries_pkey, ADD PRIMARY KEY (session_id, life, seq), DROP "
             "CONSTRAINT entries_session_id_entry_id_life_key, ADD UNIQUE (session_id, life, entry_id); "
             "ALTER TABLE " +
             schema +
             ".sessions DROP COLUMN cataloged, DROP COLUMN was_head_id, DROP COLUMN was_head_seq, DROP COLUMN "
             "lease_until_ms, DROP COLUMN lease_holder; UPDATE " +
             schema + ".settings SET value = '1' WHERE name = 'schema_version'");
  const Error older = errorOf(url);
  EXPECT_EQ(older.code, ErrorCode::MigrationNeeded) << older.message;
  EXPECT_TRUE(older.hint.contains("bough store init")) << older.hint;
  // Several at once: one does the upgrade, and the others find it done.
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] { EXPECT_EQ(must(initPostgresStore(url)).version, postgres::kSchemaVersion); });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(must(initPostgresStore(url)).versionBefore, postgres::kSchemaVersion);
  EXPECT_EQ(functions(), "3");
  // Its role keeps its privileges.
  auto store = open(sharedServer().url(schema, role));
  EXPECT_EQ(idsOf(*store, "s"), (std::vector<std::string>{"a"}));
  must(store->appendSessionEntries("s", {note("b")}, {.turn = must(must(store->session("s")).leaseTurn(1000))}));
  EXPECT_FALSE(store->trashSession("s"));
  auto catalog = must(Catalog::open(*store));
  must(catalog->catchUp());
  EXPECT_EQ(must(catalog->session("s")).entries, 3U);
}

TEST_F(PostgresTrouble, AServerThatIsNotThereAndADatabaseThatIsNotAreTold) {
  // A client that has never reached the server does not wait for it, however long it would wait for a lost connection.
  StoreOptions options;
  options.lockTimeoutMs = 3'600'000;
  for (const std::string place : {"localhost:1", "nowhere.invalid", "%2Fno%2Fsuch%2Ffolder"}) {
    const Error nowhere = refused(SessionStore::open("postgresql://me:hidden@" + place + "/sessions", options));
    EXPECT_EQ(nowhere.code, ErrorCode::Unavailable) << nowhere.message;
    EXPECT_TRUE(nowhere.retryable);
    EXPECT_TRUE(nowhere.hint.contains("URL")) << nowhere.hint;
    EXPECT_FALSE(nowhere.message.contains("hidden")) << nowhere.message;
  }
  // A text that looks like an address is not taken for the name of a folder.
  for (const char* const address :
       {"POSTGRESQL://me:hidden@localhost/x", "postgress://me:hidden@localhost/x", "mysql://me:hidden@localhost/x",
        "host=localhost password=hidden", "password=hidden host=localhost", "https://me:hidden@localhost/"}) {
    const Error refusal = refused(SessionStore::open(address, options));
    EXPECT_EQ(refusal.code, ErrorCode::InvalidArgument) << address;
    EXPECT_FALSE((refusal.message + refusal.hint).contains("hidden")) << refusal.message;
    EXPECT_FALSE(shownLocation(address).contains("hidden")) << address;
    EXPECT_FALSE(StoreSide::open(address)) << address;
  }
  const Error option = refused(SessionStore::open("postgresql://me:hidden@localhost/sessions?sslmode=sure", options));
  EXPECT_EQ(option.code, ErrorCode::InvalidArgument) << option.message;
  EXPECT_FALSE(option.retryable);
  std::string other = freshStoreUrl();
  other.replace(other.find("/postgres?"), 10, "/nobodys?");
  const Error missing = errorOf(other);
  EXPECT_EQ(missing.code, ErrorCode::NotFound) << missing.message;
  EXPECT_TRUE(missing.hint.contains("createdb")) << missing.hint;
}

// Simulates an engine with smaller rows than PostgreSQL.
TEST_F(PostgresTrouble, AnEntryThatIsTooLargeIsToldAndNothingOfItsBatchIsStored) {
  const std::string url = freshStoreUrl();
  ASSERT_TRUE(initPostgresStore(url));
  const std::string schema = url.substr(url.find("schema=") + 7);
  runSql(sharedServer(), "CREATE FUNCTION " + schema + R"sql(.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION 'row is too big' USING ERRCODE = '54000'; END $$; CREATE TRIGGER t BEFORE INSERT ON )sql" +
                             schema + ".entries FOR EACH ROW WHEN (length(NEW.body) > 100000) EXECUTE FUNCTION " +
                             schema + ".refuse()");
  auto store = open(url);
  ASSERT_TRUE(store->createSession({.sessionId = "s"}));
  Entry large = note("large");
  large.meta = R"({"x":")" + std::string(150'000, 'x') + "\"}";
  for (const bool alone : {true, false}) {
    auto entries = alone ? std::vector<Entry>{large} : std::vector<Entry>{note("small"), large};
    const Error error = refused(store->appendSessionEntries("s", std::move(entries)));
    EXPECT_EQ(error.code, ErrorCode::InvalidArgument) << error.message;
    EXPECT_TRUE(error.hint.contains("attachment")) << error.hint;
  }
  EXPECT_TRUE(idsOf(*store, "s").empty());
  // A large payload becomes an attachment, in parts that every engine accepts.
  EXPECT_TRUE(store->appendSessionEntries("s", {note("payload", std::string(9'000'000, 'x'))}));
}

TEST_F(PostgresTrouble, AClockThatIsDaysOffIsTold) {
  const std::string url = freshStoreUrl();
  ASSERT_TRUE(initPostgresStore(url));
  SimClock clock;
  Environment environment{.files = systemEnvironment().files, .clock = clock, .random = systemEnvironment().random};
  auto backend = must(postgres::PostgresBackend::open(url, {}, jsonEntrySerializer(), environment));
  must(backend->probe());  // a caller that provides its own clock may have reasons for it
  backend->requireClock();
  for (const std::uint64_t apartMs : {std::uint64_t{0}, std::uint64_t{3'600'000}}) {
    clock.set(systemEnvironment().clock.nowMs() + apartMs);
    must(backend->probe());
  }
  for (const std::uint64_t nowMs : {std::uint64_t{0}, systemEnvironment().clock.nowMs() + 200'000'000}) {
    clock.set(nowMs);
    const Error error = refused(backend->probe());
    EXPECT_EQ(error.code, ErrorCode::InvalidArgument) << error.message;
    EXPECT_TRUE(error.message.contains("clock")) << error.message;
    EXPECT_TRUE(error.hint.contains("clock")) << error.hint;
  }
}

TEST_F(PostgresTrouble, ASessionOfAnOlderFormatIsReadAndWrittenOnceItIsMigrated) {
  const std::string url = freshStoreUrl();
  ASSERT_TRUE(initPostgresStore(url));
  const std::string schema = url.substr(url.find("schema=") + 7);
  auto store = open(url);
  ASSERT_TRUE(store->createSession({.sessionId = "s"}));
  ASSERT_TRUE(store->appendSessionEntries("s", {note("a")}));
  runSql(sharedServer(), "UPDATE " + schema + ".sessions SET format = 0; UPDATE " + schema +
                             R"sql(.entries SET body = convert_to(replace(convert_from(body, 'UTF8'), '"format":1',
                                 '"format":0'), 'UTF8') WHERE seq = 0)sql");
  EXPECT_EQ(idsOf(*store, "s"), (std::vector<std::string>{"a"}));
  EXPECT_EQ(refused(store->appendSessionEntries("s", {note("b")})).code, ErrorCode::MigrationNeeded);
  const auto migrated = must(store->migrateSession("s"));
  EXPECT_EQ(migrated.fromFormat, 0);
  EXPECT_EQ(migrated.toFormat, 1);
  must(store->appendSessionEntries("s", {note("b")}));
  EXPECT_EQ(must(store->migrateSession("s")).fromFormat, 1);
  EXPECT_EQ(must(store->verifySession("s")).problemCount, 0U);
  EXPECT_EQ(refused(store->migrateSession("nobody")).code, ErrorCode::NotFound);
}

TEST_F(PostgresTrouble, ASessionThatGrowsWhileItIsVerifiedIsGood) {
  const std::string url = freshStoreUrl();
  ASSERT_TRUE(initPostgresStore(url));
  auto store = open(url);
  ASSERT_TRUE(store->createSession({.sessionId = "s"}));
  std::atomic<bool> stop = false;
  std::atomic<int> done = 0;
  std::thread writer([&] {
    auto mine = open(url);
    for (; !stop; ++done) must(mine->appendSessionEntries("s", batchOf(done)));
  });
  for (int i = 0; i < 100 || done < 100; ++i) {
    const auto report = must(store->verifySession("s"));
    EXPECT_EQ(report.problemCount, 0U) << report.problems.front().message;
    if (report.problemCount > 0) break;
  }
  stop = true;
  writer.join();
}

}  // namespace
}  // namespace bough
