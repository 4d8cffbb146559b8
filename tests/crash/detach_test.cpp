// When a fork gets its own copy, entries that another process appends meanwhile must not be lost.

#include <gtest/gtest.h>

#include "crash/ledger.h"
#include "store/file/file_backend.h"

namespace bough {
namespace {

TEST(Rewrite, IsRefusedWhenTheTailHasMoved) {
  SimFileSystem files;
  Ledger ledger;
  World world(files);
  ASSERT_TRUE(ledger.create(world, "a"));
  ASSERT_TRUE(ledger.append(world, "a", {message("one")}));
  SimEnvironment environment(files, 2);
  auto backend = FileBackend::open(kStore, {}, jsonEntrySerializer(), environment.environment()).value();
  const std::uint64_t sequences[] = {0, 1};
  const auto read = backend->session("a").value()->ownRead(sequences).value();

  ASSERT_TRUE(ledger.append(world, "a", {message("two")}));
  const auto refused = backend->rewrite("a", read, "one");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Conflict);
  EXPECT_EQ(refused.error().actualTail, "two");
  EXPECT_TRUE(ledger.holds(world));
  EXPECT_EQ(files.names("/store/sessions"), std::vector<std::string>{"a.jsonl"});

  EXPECT_TRUE(backend->rewrite("a", read, "two"));
  EXPECT_EQ(world->loadSessionEntries("a")->size(), 2U);
}

}  // namespace
}  // namespace bough
