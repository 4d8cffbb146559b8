// Setups by operators: names of schemas, encodings, read-only servers, several concurrent `store init`.

#include <gtest/gtest.h>

#include <thread>

#include "bough/catalog.h"
#include "bough/store.h"
#include "bough/torn.h"
#include "store/postgres/postgres_backend.h"
#include "support/entries.h"
#include "support/postgres_server.h"

namespace bough {
namespace {

class PostgresOperator : public testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::isInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
  }
  // Returns the URL of a new database.
  static std::string databaseUrl(const std::string& name, const std::string& options = {}) {
    runSql(sharedServer(), "CREATE DATABASE " + name + " " + options);
    std::string url = sharedServer().url();
    url.replace(url.rfind("/postgres"), 9, "/" + name);
    return url;
  }
  static std::uint64_t listed(SessionStore& store) {
    auto catalog = must(Catalog::open(store));
    must(catalog->catchUp());
    return must(catalog->count());
  }
};

TEST_F(PostgresOperator, ASchemaMayBeCalledLikeAWordOfSql) {
  for (const char* const name : {"user", "select", "order", "table", "analyze"}) {
    const std::string url = sharedServer().url(name);
    ASSERT_TRUE(initPostgresStore(url)) << name;
    runSql(sharedServer(), std::string("CREATE ROLE writer_of_") + name + " LOGIN");
    must(grantPostgresStore(url, std::string("writer_of_") + name, "writer"));
    auto store = must(SessionStore::open(sharedServer().url(name, std::string("writer_of_") + name)));
    must(store->createSession({.sessionId = "s"}));
    EXPECT_EQ(listed(*store), 1U) << name;
  }
  const auto reserved = initPostgresStore(sharedServer().url("pg_mine"));
  ASSERT_FALSE(reserved);
  EXPECT_EQ(reserved.error().code, ErrorCode::InvalidArgument);
  EXPECT_FALSE(reserved.error().hint.empty());
}

TEST_F(PostgresOperator, LongEntriesOfANewStoreAreCompressedByLz4WhereTheServerKnowsIt) {
  const std::string url = freshStoreUrl();
  must(initPostgresStore(url));
  const std::string known =
      runSql(sharedServer(), "SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression'");
  EXPECT_EQ(
      runSql(sharedServer(), "SELECT attcompression = 'l' FROM pg_attribute WHERE attname = 'body' AND attrelid = '" +
                                 url.substr(url.find("schema=") + 7) + ".entries'::regclass"),
      known);
}

TEST_F(PostgresOperator, RightsAreGivenByManyAtOnce) {
  const std::string url = freshStoreUrl();
  const std::string schema = url.substr(url.find("schema=") + 7);
  for (const char* const kind : {"reader", "writer"}) {
    runSql(sharedServer(), std::string("CREATE ROLE ") + kind + "_at_once_" + schema + " LOGIN");
  }
  std::vector<std::thread> operators;
  for (int i = 0; i < 6; ++i) {
    operators.emplace_back([&] {
      must(initPostgresStore(url));
      for (const char* const kind : {"reader", "writer"}) {
        const auto granted = grantPostgresStore(url, std::string(kind) + "_at_once_" + schema, kind);
        EXPECT_TRUE(granted) << granted.error().message;
      }
    });
  }
  for (std::thread& each : operators) each.join();
}

TEST_F(PostgresOperator, ADatabaseThatCannotHoldEveryTextIsRefused) {
  const std::string url = databaseUrl("latin", "ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
  const auto refusal = initPostgresStore(url);
  ASSERT_FALSE(refusal);
  EXPECT_EQ(refusal.error().code, ErrorCode::InvalidArgument) << refusal.error().message;
  EXPECT_TRUE(refusal.error().message.contains("LATIN1")) << refusal.error().message;
  EXPECT_TRUE(refusal.error().hint.contains("UTF8")) << refusal.error().hint;
}

TEST_F(PostgresOperator, NothingIsSetAsideInADatabase) {
  const std::string url = freshStoreUrl();
  must(initPostgresStore(url));
  auto store = must(SessionStore::open(url));
  must(store->createSession({.sessionId = "s"}));
  EXPECT_EQ(readTorn(*store, "s").error().code, ErrorCode::Unsupported);
  EXPECT_EQ(putBackTorn(*store, "s").error().code, ErrorCode::Unsupported);
  EXPECT_EQ(dropTorn(*store, "s", 0).error().code, ErrorCode::Unsupported);
}

TEST_F(PostgresOperator, ASchemaOfAnotherApplicationIsLeftAlone) {
  runSql(sharedServer(), "CREATE SCHEMA foreign_tables; CREATE TABLE foreign_tables.sessions (n integer)");
  const Error told = refused(initPostgresStore(sharedServer().url("foreign_tables")));
  EXPECT_TRUE(told.hint.contains("?schema=")) << told.message;
  EXPECT_EQ(runSql(sharedServer(),
                   "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
                   "WHERE n.nspname = 'foreign_tables'"),
            "1");
  for (const char* const columns : {"key text, data text", "name integer, value text"}) {
    runSql(sharedServer(), std::string("DROP TABLE IF EXISTS foreign_tables.settings; CREATE TABLE "
                                       "foreign_tables.settings (") +
                               columns + ")");
    const auto opened = SessionStore::open(sharedServer().url("foreign_tables"));
    ASSERT_FALSE(opened) << columns;
    for (const Error& each : {refused(initPostgresStore(sharedServer().url("foreign_tables"))), opened.error()}) {
      EXPECT_EQ(each.code, ErrorCode::InvalidArgument) << each.message;
      EXPECT_TRUE(each.hint.contains("?schema=")) << each.message;
    }
  }
}

TEST_F(PostgresOperator, AVersionThatIsNotANumberIsTold) {
  const std::string url = freshStoreUrl();
  must(initPostgresStore(url));
  const std::string schema = url.substr(url.find("schema=") + 7);
  for (const char* const version : {"", "four", "99999999999999999999", "4x"}) {
    runSql(sharedServer(),
           "UPDATE " + schema + ".settings SET value = '" + version + "' WHERE name = 'schema_version'");
    const auto opened = SessionStore::open(url);
    ASSERT_FALSE(opened) << version;
    EXPECT_EQ(opened.error().code, ErrorCode::Damaged) << opened.error().message;
  }
}

// Taking seconds would mean waiting for another server, which does not exist here.
TEST_F(PostgresOperator, ADatabaseThatOnlyReadsSaysSoAtOnceAndIsListed) {
  const std::string url = databaseUrl("reading");
  must(initPostgresStore(url));
  {
    auto store = must(SessionStore::open(url));
    must(store->createSession({.sessionId = "s"}));
    EXPECT_EQ(listed(*store), 1U);
    must(store->createSession({.sessionId = "t"}));
  }
  runSql(sharedServer(), "ALTER DATABASE reading SET default_transaction_read_only = on");
  StoreOptions options;
  options.lockTimeoutMs = 3'600'000;  // so long that a wait would become the test's timeout
  auto store = must(SessionStore::open(url, options));
  const auto refusal = store->createSession({.sessionId = "u"});
  ASSERT_FALSE(refusal);
  EXPECT_EQ(refusal.error().code, ErrorCode::ReadOnly) << refusal.error().message;
  EXPECT_TRUE(refusal.error().hint.contains("default_transaction_read_only")) << refusal.error().hint;
  auto catalog = must(Catalog::open(*store));
  const auto behind = catalog->catchUp();
  ASSERT_FALSE(behind);
  EXPECT_EQ(behind.error().code, ErrorCode::ReadOnly) << behind.error().message;
  EXPECT_FALSE(behind.error().hint.empty());
  EXPECT_EQ(must(catalog->count()), 1U);
}

TEST_F(PostgresOperator, AStandbyIsReadAndListed) {
  const PostgresServer primary({"wal_level = replica", "max_wal_senders = 4", "hot_standby = on"});
  const std::string url = primary.url();
  must(initPostgresStore(url));
  auto writing = must(SessionStore::open(url));
  must(writing->createSession({.sessionId = "s"}));
  EXPECT_EQ(listed(*writing), 1U);
  must(writing->createSession({.sessionId = "t"}));
  const PostgresServer standby(primary, "standby");
  StoreOptions options;
  options.lockTimeoutMs = 3'600'000;
  auto store = must(SessionStore::open(standby.url(), options));
  EXPECT_EQ(must(store->listSessions()).size(), 2U);
  auto catalog = must(Catalog::open(*store));
  const auto behind = catalog->catchUp();
  ASSERT_FALSE(behind);
  EXPECT_EQ(behind.error().code, ErrorCode::ReadOnly) << behind.error().message;
  EXPECT_EQ(must(catalog->count()), 1U);
}

}  // namespace
}  // namespace bough
