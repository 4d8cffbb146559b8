// Stores made by earlier versions of the schema, with sessions in them, are upgraded and remain usable. `schemas/` has
// what these versions created, unchanged.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "base/bytes/sha256.h"
#include "bough/catalog.h"
#include "bough/store.h"
#include "store/postgres/schema/catalog_functions.h"
#include "store/postgres/schema/schema.h"
#include "store/postgres/schema/schema_functions.h"
#include "store/postgres/schema/schema_tables.h"
#include "support/entries.h"
#include "support/postgres_server.h"

namespace bough {
namespace {

std::string fixture(const std::string& name, const std::string& schema) {
  std::ostringstream text;
  text << std::ifstream(std::string(BOUGH_TESTS_DIR) + "/postgres/schemas/" + name + ".sql").rdbuf();
  return postgres::inSchema(text.str(), schema);
}

class PostgresUpgrade : public testing::TestWithParam<int> {};

TEST_P(PostgresUpgrade, AStoreKeepsEverythingAndGoesOn) {
  if (!PostgresServer::isInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
  const std::string url = freshStoreUrl();
  const std::string schema = url.substr(url.find("schema=") + 7);
  const std::string version = std::to_string(GetParam());
  std::string sql = "CREATE SCHEMA " + schema + ";" + fixture("tables_2", schema);
  for (int step = 3; step <= GetParam(); ++step) sql += fixture("tables_" + std::to_string(step), schema);
  runSql(sharedServer(), sql + fixture("functions_" + version, schema) + fixture("rows", schema));
  EXPECT_EQ(refused(SessionStore::open(url)).code, ErrorCode::MigrationNeeded);
  EXPECT_EQ(must(initPostgresStore(url)).versionBefore, GetParam());

  auto store = must(SessionStore::open(url));
  EXPECT_EQ(must(store->listSessions()), (Ids{"fork", "main"}));
  EXPECT_EQ(idsOf(*store, "main", {.branch = "b1"}), (Ids{"a1", "a2", "b1"}));
  EXPECT_EQ(idsOf(*store, "fork", {.branch = ""}), (Ids{"a1", "a2", "f1"}));
  EXPECT_EQ(must(store->sessionState("main")).headId, "a2");
  EXPECT_EQ(must(store->labels("main")).front().entryId, "a2");
  EXPECT_TRUE(must(store->loadEntry("main", "a3")).redacted);
  must(store->restoreSession(must(store->listTrash()).front().trashId));
  const auto words = [](const std::string& id) {
    return entryOf(entry_type::kMessage, R"({"role":"user","content":"new words"})", id);
  };
  for (const char* const session : {"main", "fork", "gone"}) {
    must(store->appendSessionEntries(session, {words("n1")}));
    must(store->appendSessionEntries(session, {words("n2"), words("n3")},
                                     {.turn = must(must(store->session(session)).leaseTurn(1000))}));
    EXPECT_EQ(must(store->verifySession(session)).problemCount, 0U);
  }
  EXPECT_EQ(idsOf(*store, "main", {.branch = ""}), (Ids{"a1", "a2", "n1", "n2", "n3"}));
  must(store->branchFromEntry("fork", "n1", {.sessionId = "again"}));
  EXPECT_EQ(idsOf(*store, "again", {.branch = ""}), (Ids{"a1", "a2", "f1", "n1"}));
  auto catalog = must(Catalog::open(*store));
  must(catalog->catchUp({.search = true}));
  EXPECT_EQ(must(catalog->session("main")).title, "A title");
  EXPECT_EQ(must(catalog->search("first words")).size(), 1U);

  // Nothing remains that a new store does not have.
  const std::string today = freshStoreUrl();
  must(initPostgresStore(today));
  const auto parts = [](const std::string& of) {
    return runSql(sharedServer(),
                  "SELECT proname || ' ' || pronargs FROM pg_proc WHERE pronamespace = '" + of +
                      "'::regnamespace UNION ALL SELECT table_name || ' ' || column_name || ' ' || data_type FROM "
                      "information_schema.columns WHERE table_schema = '" +
                      of + "' UNION ALL SELECT indexname FROM pg_indexes WHERE schemaname = '" + of + "' ORDER BY 1");
  };
  EXPECT_EQ(parts(schema), parts(today.substr(today.find("schema=") + 7)));
}

// A program of this version reads the schema's version, and a newer one upgrades the schema before the first gets its
// lock.
TEST(PostgresUpgradeRace, ASchemaThatIsUpgradedMeanwhileIsNotSetBack) {
  if (!PostgresServer::isInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
  const std::string url = freshStoreUrl();
  must(initPostgresStore(url));
  const std::string settings = url.substr(url.find("schema=") + 7) + ".settings";
  std::thread newer([&] {
    runSql(sharedServer(), "BEGIN; SELECT 1 FROM " + settings + R"sql( WHERE name = 'schema_version' FOR UPDATE;
      DO $$ BEGIN
        WHILE NOT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted) LOOP
          PERFORM pg_sleep(0.01);
        END LOOP;
      END $$; UPDATE )sql" + settings +
                               " SET value = '99' WHERE name = 'schema_version'; COMMIT");
  });
  while (runSql(sharedServer(), "SELECT count(*) FROM pg_locks WHERE mode = 'RowShareLock' AND relation = '" +
                                    settings + "'::regclass") == "0") {
    std::this_thread::yield();
  }
  const auto made = initPostgresStore(url);
  newer.join();
  EXPECT_EQ(refused(made).code, ErrorCode::NewerFormat);
  EXPECT_EQ(runSql(sharedServer(), "SELECT value FROM " + settings + " WHERE name = 'schema_version'"), "99");
}

// Programs that use the same version number may be used alternately: `store init` of one must not restore functions
// that break the other.
TEST(PostgresSchema, NoVersionHasTwoTexts) {
  Sha256 texts;
  for (const std::string_view step : postgres::kSchemaSteps) texts.add(step);
  for (const std::string_view function : postgres::kReadFunctions) texts.add(function);
  for (const std::string_view function : postgres::kAppendFunctions) texts.add(function);
  for (const std::string_view function : postgres::kCatalogFunctions) texts.add(function);
  const std::string now = fmt::format("{} {}\n", postgres::kSchemaVersion, texts.hex());
  std::ostringstream known;
  known << std::ifstream(std::string(BOUGH_TESTS_DIR) + "/postgres/schemas/digests.txt").rdbuf();
  EXPECT_TRUE(known.str().ends_with(now))
      << "Statements of the schema have changed. If a program with this version was "
         "given to anybody, raise kSchemaVersion and add a line, else change the "
         "last line of schemas/digests.txt:\n"
      << now;
}

INSTANTIATE_TEST_SUITE_P(Versions, PostgresUpgrade, testing::Values(2, 3, 4));

}  // namespace
}  // namespace bough
