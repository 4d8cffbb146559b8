// A catalog whose file or folder is read-only.

#include <filesystem>
#include <fstream>
#include <functional>

#include "catalog_support.h"
#include "support/not_root.h"

namespace bough {
namespace {

class ReadOnlyTest : public CatalogTest {};

TEST_F(ReadOnlyTest, AReadOnlyStoreIsListedAllTheSame) {
  make({.sessionId = "a"}, {said("user", "alpha", "e1")});
  const NotRoot notRoot(folder.path());
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  auto catalog = open(true);
  EXPECT_EQ(must(catalog->count()), 1u);
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
}

// SQLite cannot read its WAL where it cannot create a file beside it. Then the catalog is used only when its WAL is
// empty.
TEST_F(ReadOnlyTest, ACatalogOfAReadOnlyStoreIsUsedUnlessItsLogHoldsMore) {
  make({.sessionId = "a"}, {said("user", "alpha", "e1")});
  open(true).reset();
  const std::string log = folder / "catalog.db-wal";
  for (const int bytes : {-1, 0, 100}) {
    std::filesystem::remove(folder / "catalog.db-shm");
    std::filesystem::remove(log);
    if (bytes >= 0) std::ofstream(log) << std::string(static_cast<std::size_t>(bytes), 'x');
    const NotRoot notRoot(folder.path());
    std::filesystem::permissions(folder.path(),
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    const auto catalog = must(Catalog::open(*store));
    EXPECT_EQ(catalog->notes().empty(), bytes <= 0) << bytes;
    must(catalog->catchUp());
    EXPECT_EQ(must(catalog->count()), 1u) << bytes;
    std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
  }
}

// Nobody writes to such a catalog, so an error in it persists. A check that finds the log longer than the catalog
// continues with another database.
TEST_F(ReadOnlyTest, WhatFailsInACatalogOfAReadOnlyStoreFails) {
  make({.sessionId = "a"}, {said("user", "alpha", "e1")});
  open(true).reset();
  append("a", {said("user", "beta", "e2")});
  std::filesystem::remove(folder / "catalog.db-shm");
  std::filesystem::remove(folder / "catalog.db-wal");
  const NotRoot notRoot(folder.path());
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const auto catalog = must(Catalog::open(*store));
  EXPECT_EQ(catalog->session("nobody").error().code, ErrorCode::NotFound);
  EXPECT_EQ(must(catalog->check(true)), std::vector<std::string>());
  EXPECT_EQ(must(catalog->session("a")).userMessages, 2u);
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
}

TEST_F(ReadOnlyTest, AReaderThatMayNotWriteGoesOnAfterAnErasure) {
  make({.sessionId = "a"}, {said("user", "alpha", "e1"), said("user", "beta", "e2"), said("user", "gamma", "e3")});
  std::vector<std::string> ids{"e1", "e2"};
  for (const char* const name : {"", "catalog.db"}) {  // read-only: the folder, or only the file
    open(true).reset();
    std::unique_ptr<Catalog> reader;
    const auto asReader = [&](const std::function<void()>& work) {
      using enum std::filesystem::perms;
      const NotRoot notRoot(folder.path());
      std::filesystem::permissions(folder.path() / name, owner_read | owner_exec);
      work();
      std::filesystem::permissions(folder.path() / name, owner_all);
    };
    asReader([&] {
      reader = must(Catalog::open(*store));
      must(reader->catchUp());
      EXPECT_EQ(must(reader->count()), 1u);
    });
    must(store->maintenance().erase({.sessionId = "a", .entryIds = {ids.back()}, .by = "me", .reason = "a request"}));
    ids.pop_back();
    asReader([&] {
      EXPECT_EQ(must(reader->count()), 1u) << name;
      must(reader->catchUp());
      EXPECT_EQ(must(reader->list()).size(), 1u) << name;
    });
  }
}

}  // namespace
}  // namespace bough
