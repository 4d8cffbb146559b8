// A store of its own on the shared server, for each test.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "bough/store.h"
#include "support/entries.h"
#include "support/postgres_server.h"

namespace bough {

/// A SetUp() of a derived class calls this one first, and returns when the test is skipped.
class FreshPostgresStore : public testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::isInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
    url_ = freshStoreUrl();
    schema_ = url_.substr(url_.find("schema=") + 7);
    must(initPostgresStore(url_));
  }
  static std::string sql(const std::string& text) { return runSql(sharedServer(), text); }

  std::string url_;
  std::string schema_;
};

}  // namespace bough
