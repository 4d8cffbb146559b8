// A full disk for the catalog: whichever write fails, sessions are listed, and everything is correct once there is
// space again. Writes fail inside SQLite, through a layer over its files.
#include <sqlite3.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "catalog/database/database.h"
#include "catalog_support.h"

namespace bough {
namespace {

// How many more writes the disk accepts; std::nullopt: no limit.
std::optional<int> gWritesLeft;
std::optional<int> gFailedWrites;
// The errno of a failed write; 0: SQLite itself noticed that the disk is full.
int gSystemError = 0;

using Methods = sqlite3_io_methods;
struct Patched {
  const Methods* original;
  Methods methods;
};
std::vector<std::unique_ptr<Patched>> gPatched;

int limitedWrite(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset) {
  const Methods* mine = file->pMethods;
  for (const auto& each : gPatched) {
    if (mine != &each->methods) continue;
    if (gWritesLeft && *gWritesLeft <= 0) {
      gFailedWrites = gFailedWrites.value_or(0) + 1;
      return gSystemError == 0 ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    }
    if (gWritesLeft) --*gWritesLeft;
    return each->original->xWrite(file, bytes, count, offset);
  }
  return SQLITE_INTERNAL;
}

const Methods* patched(const Methods* original) {
  for (const auto& each : gPatched) {
    if (each->original == original) return &each->methods;
  }
  gPatched.push_back(std::make_unique<Patched>(Patched{original, *original}));
  gPatched.back()->methods.xWrite = limitedWrite;
  return &gPatched.back()->methods;
}

sqlite3_vfs* gSystem = nullptr;

int openLimited(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* outFlags) {
  const int code = gSystem->xOpen(gSystem, name, file, flags, outFlags);
  if (code == SQLITE_OK && file->pMethods != nullptr) file->pMethods = patched(file->pMethods);
  return code;
}

class FullDiskTest : public CatalogTest {
 protected:
  FullDiskTest() {
    sqlite3_initialize();
    gSystem = sqlite3_vfs_find(nullptr);
    limited_ = *gSystem;
    limited_.zName = "limited";
    limited_.pNext = nullptr;
    limited_.xOpen = openLimited;
    limited_.xGetLastError = [](sqlite3_vfs*, int, char*) { return gSystemError; };
    sqlite3_vfs_register(&limited_, 1);
    gWritesLeft.reset();
    gFailedWrites.reset();
  }
  ~FullDiskTest() override {
    gWritesLeft.reset();
    gSystemError = 0;
    sqlite3_vfs_unregister(&limited_);
    sqlite3_vfs_register(gSystem, 1);
  }

  Ids listed(Catalog& catalog) {
    Ids ids = idsOf(must(catalog.list()));
    std::ranges::sort(ids);
    return ids;
  }

  sqlite3_vfs limited_{};
};

TEST_F(FullDiskTest, AFullQuotaIsAFullDiskAndAnythingElseIsNot) {
  const std::string path = folder / "other.db";
  const std::pair<int, ErrorCode> kinds[] = {
      {0, ErrorCode::NoSpace}, {ENOSPC, ErrorCode::NoSpace}, {EDQUOT, ErrorCode::NoSpace}, {EIO, ErrorCode::Io}};
  for (const auto& [systemError, expected] : kinds) {
    std::ofstream(path, std::ios::trunc).close();
    auto database = must(catalog::Database::open(path, catalog::OpenAs::ReadWrite, 1000));
    database->execute("CREATE TABLE t(x);");
    must(database->takeFailure());
    gSystemError = systemError;
    gWritesLeft = 0;
    database->execute("INSERT INTO t VALUES(1);");
    EXPECT_EQ(refused(database->takeFailure()).code, expected) << systemError;
    gWritesLeft.reset();
  }
}

TEST_F(FullDiskTest, WithoutSpaceForACatalogItIsPutTogetherInMemory) {
  make({.sessionId = "a"}, {said("user", "alpha", "e1")});
  make({.sessionId = "b"}, {said("user", "beta", "e2")});
  int budget = 0;
  // Every one of the first writes, then at growing distances.
  for (;; budget += 1 + budget / 8) {
    for (const char* name : {"catalog.db", "catalog.db-wal", "catalog.db-shm"}) {
      std::filesystem::remove(folder / name);
    }
    gFailedWrites.reset();
    gWritesLeft = budget;
    {
      auto catalog = must(Catalog::open(*store));
      must(catalog->catchUp());
      EXPECT_EQ(listed(*catalog), (Ids{"a", "b"})) << budget;
      if (gFailedWrites) {
        ASSERT_EQ(catalog->notes().size(), 1u) << budget;
        EXPECT_NE(catalog->notes()[0].find("in memory"), std::string::npos) << catalog->notes()[0];
      }
    }
    gWritesLeft.reset();
    EXPECT_EQ(listed(*open()), (Ids{"a", "b"})) << "with space again, after " << budget;
    if (!gFailedWrites) break;
  }
  EXPECT_GT(budget, 10) << "there was nothing to fail";
}

TEST_F(FullDiskTest, WhatIsNewIsListedAllTheSame) {
  make({.sessionId = "a"}, {said("user", "alpha", "e1")});
  must(must(Catalog::open(*store))->catchUp({.search = true}));
  int round = 0;
  for (;; ++round) {
    const std::string id = "n" + std::to_string(round);
    make({.sessionId = id}, {said("user", "gamma " + id, "e1")});
    gFailedWrites.reset();
    gWritesLeft = round;
    {
      auto catalog = must(Catalog::open(*store));
      must(catalog->catchUp());
      EXPECT_EQ(must(catalog->session(id)).userMessages, 1u) << round;
      EXPECT_EQ(must(catalog->count()), static_cast<std::uint64_t>(round) + 2);
    }
    gWritesLeft.reset();
    auto catalog = open(true);
    EXPECT_EQ(must(catalog->count()), static_cast<std::uint64_t>(round) + 2);
    EXPECT_EQ(must(catalog->search(id)).size(), 1u) << round;
    EXPECT_TRUE(must(catalog->check(true)).empty()) << round;
    if (!gFailedWrites) break;
  }
  EXPECT_GT(round, 1) << "there was nothing to fail";
}

TEST_F(FullDiskTest, MakingItAnewIsRefusedWhereItCannotBeKept) {
  make({.sessionId = "a"}, {said("user", "alpha", "e1")});
  gWritesLeft = 0;
  auto catalog = must(Catalog::open(*store));
  EXPECT_EQ(refused(catalog->rebuild()).code, ErrorCode::ReadOnly);
  must(catalog->catchUp());
  EXPECT_EQ(listed(*catalog), Ids{"a"});
  gWritesLeft.reset();
  EXPECT_EQ(must(catalog->rebuild()).sessions, 1u);
}

// All the text might not fit into memory, so a search is answered from what was known before.
TEST_F(FullDiskTest, ASearchAnswersFromWhatWasKnown) {
  make({.sessionId = "a"}, {said("user", "alpha", "e1")});
  must(must(Catalog::open(*store))->catchUp({.search = true}));
  make({.sessionId = "b"}, {said("user", "alpha too", "e1")});
  auto catalog = must(Catalog::open(*store));
  gWritesLeft = 0;
  const Error error = refused(catalog->catchUp({.search = true}));
  EXPECT_EQ(error.code, ErrorCode::NoSpace);
  EXPECT_TRUE(error.retryable);
  EXPECT_NE(error.hint.find("free some space"), std::string::npos);
  EXPECT_EQ(must(catalog->search("alpha")).size(), 1u);
  // An append does not need the catalog.
  append("a", {said("user", "more", "e2")});
  gWritesLeft.reset();
  must(catalog->catchUp({.search = true}));
  EXPECT_EQ(must(catalog->search("alpha")).size(), 2u);
  EXPECT_EQ(must(catalog->session("a")).userMessages, 2u);
}

}  // namespace
}  // namespace bough
