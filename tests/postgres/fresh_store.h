// A new store on the shared server for each test.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bough/store.h"
#include "store/postgres/client/pool.h"
#include "store/postgres/schema/schema.h"
#include "support/entries.h"
#include "support/postgres_server.h"

namespace bough {

/// SetUp() of a derived class must call this one first, and return when the test is skipped.
class FreshPostgresStore : public testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::isInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
    url_ = freshStoreUrl();
    schema_ = url_.substr(url_.find("schema=") + 7);
    must(initPostgresStore(url_));
  }
  // Holds locks while `work` runs.
  void whileLocked(const std::string& sql, const std::function<void()>& work) const {
    postgres::Pool pool(must(postgres::parseLocation(sharedServer().url(schema_))));
    const std::string lock = postgres::inSchema(sql, schema_);
    auto held = pool.withConnection([&](postgres::Connection& connection) -> postgres::Exchange<void> {
      const std::vector<postgres::Call> begin{{.sql = "BEGIN"}, {.sql = lock}};
      auto begun = connection.run(begin, false, pool.deadline());
      if (!begun) return std::unexpected(begun.error());
      work();
      const postgres::Call end{.sql = "ROLLBACK"};
      auto ended = connection.run(std::span(&end, 1), false, pool.deadline());
      if (!ended) return std::unexpected(ended.error());
      return {};
    });
    EXPECT_TRUE(held) << held.error().error.message;
  }
  static std::string sql(const std::string& text) { return runSql(sharedServer(), text); }

  std::string url_;
  std::string schema_;
};

}  // namespace bough
