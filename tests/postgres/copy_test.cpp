// Copying sessions into a database and back.

#include "bough/store.h"

#include <gtest/gtest.h>

#include "support/postgres_server.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

Entry message(const std::string& id, const std::string& text = "hello") {
  Entry entry;
  entry.id = id;
  entry.type = "message";
  entry.payload = R"({"text":")" + text + R"("})";
  return entry;
}

StoreSide openSide(const std::string& location) {
  auto side = StoreSide::open(location);
  if (!side) throw std::runtime_error(side.error().message);
  return std::move(*side);
}

std::vector<std::string> lines(StoreSide& side, const std::string& session) {
  std::vector<std::string> found;
  const auto entries = side.store->loadSessionEntries(session, {.showRedacted = true});
  EXPECT_TRUE(entries) << entries.error().message;
  for (const Entry& entry : *entries) {
    found.push_back(entry.id + " " + entry.parentId.value_or("") + " " + entry.type + " " + entry.timestamp + " " +
                    entry.payload);
  }
  return found;
}

std::uint64_t copiedEntries(StoreSide& from, StoreSide& to, const std::string& session) {
  const auto copied = copySession(from, to, session);
  EXPECT_TRUE(copied) << copied.error().message;
  std::uint64_t count = 0;
  for (const CopiedSession& each : *copied) count += each.copiedEntries;
  return count;
}

TEST(Copy, ASessionAndItsForkGoIntoADatabaseAndBack) {
  if (!PostgresServer::isInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
  const std::string url = freshStoreUrl();
  ASSERT_TRUE(initPostgresStore(url));
  const TempFolder folder;
  StoreSide from = openSide(folder / "from");
  StoreSide database = openSide(url);
  StoreSide back = openSide(folder / "back");
  ASSERT_TRUE(from.store->createSession({.sessionId = "s", .title = "Title"}));
  for (int i = 0; i < 1200; ++i)
    ASSERT_TRUE(from.store->appendSessionEntries("s", {message("m" + std::to_string(i))},
                                                 {.durability = Durability::Buffered}));
  ASSERT_TRUE(from.store->appendSessionEntries("s", {message("big", std::string(300'000, 'x'))}));
  ASSERT_TRUE(from.store->labelEntry("s", "m5", "five"));
  ASSERT_TRUE(from.store->branchFromEntry("s", "m7", {.sessionId = "f"}));
  ASSERT_TRUE(from.store->appendSessionEntries("f", {message("x")}));

  EXPECT_GT(copiedEntries(from, database, "f"), 1200U);
  EXPECT_EQ(lines(database, "s"), lines(from, "s"));
  EXPECT_EQ(lines(database, "f"), lines(from, "f"));
  EXPECT_EQ(copiedEntries(from, database, "f"), 0U);  // nothing is copied twice
  ASSERT_TRUE(from.store->appendSessionEntries("s", {message("more")}));
  EXPECT_EQ(copiedEntries(from, database, "s"), 1U);

  EXPECT_GT(copiedEntries(database, back, "f"), 1200U);
  EXPECT_EQ(lines(back, "s"), lines(from, "s"));
  EXPECT_EQ(back.store->verifySession("s")->problemCount, 0U);
  EXPECT_EQ(database.store->verifySession("f")->problemCount, 0U);
}

}  // namespace
}  // namespace bough
