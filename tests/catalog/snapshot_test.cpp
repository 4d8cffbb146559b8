// The parts of one answer while others write.
#include <gtest/gtest.h>

#include <fstream>

#include "catalog/database/database.h"
#include "support/temp_folder.h"

namespace bough::catalog {
namespace {

std::int64_t countIn(Database& database) {
  Query query(database, "SELECT count(*) FROM list");
  return query.next() ? query.integer(0) : -1;
}

TEST(Snapshot, QueriesOfOneAnswerSeeTheSameRows) {
  const TempFolder folder;
  const std::string path = folder / "list.db";
  std::ofstream(path).close();
  const auto writer = Database::open(path, OpenAs::ReadWrite, 1000);
  ASSERT_TRUE(writer) << writer.error().message;
  (*writer)->execute("PRAGMA journal_mode = WAL; CREATE TABLE list (id INTEGER); INSERT INTO list VALUES (1)");
  ASSERT_TRUE((*writer)->takeFailure());
  const auto reader = Database::open(path, OpenAs::ReadWrite, 1000);
  ASSERT_TRUE(reader) << reader.error().message;
  {
    const Snapshot snapshot(**reader);
    EXPECT_EQ(countIn(**reader), 1);
    (*writer)->execute("INSERT INTO list VALUES (2)");
    ASSERT_TRUE((*writer)->takeFailure());
    EXPECT_EQ(countIn(**reader), 1);
  }
  EXPECT_EQ(countIn(**reader), 2);
  ASSERT_TRUE((*reader)->takeFailure());
}

}  // namespace
}  // namespace bough::catalog
