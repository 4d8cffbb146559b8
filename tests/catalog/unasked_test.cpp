// A log whose end looks torn, and a catalog that has counted it but cannot be read: nothing is set aside, and the
// catalog keeps what it knows of the log.

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "bough/torn.h"
#include "catalog_support.h"
#include "support/not_root.h"

namespace bough {
namespace {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
using OpenDatabase = std::unique_ptr<sqlite3, CloseDatabase>;

class UnaskedCatalog : public CatalogTest {
 protected:
  void SetUp() override {
    make({.sessionId = "s"}, {said("user", "one", "e1"), said("user", "two", "e2"), said("user", "three", "e3")});
    (void)open();
    damage();
  }

  static std::string slurp(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  static void spill(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  void damage() {
    store.reset();
    std::string log = slurp(log_);
    log.replace(log.find("two"), 3, "#wo");
    spill(log_, log);
    store = must(SessionStore::open(location));
  }
  [[nodiscard]] Result<AppendResult> appendMore() const {
    return store->appendSessionEntries("s", {said("user", "on")});
  }
  // The append, which would have to set bytes aside or read the catalog, fails; existing entries are readable.
  void expectRefusal(ErrorCode code) {
    const Error error = refused(appendMore());
    EXPECT_EQ(error.code, code) << error.message;
    EXPECT_TRUE(error.retryable);
    EXPECT_NE(error.message.find("catalog.db"), std::string::npos) << error.message;
    EXPECT_FALSE(error.hint.empty());
    EXPECT_FALSE(store->repairSession("s").has_value());
    EXPECT_EQ(must(store->loadSessionEntries("s")).size(), 1U);
    EXPECT_TRUE(must(store->sessionState("s")).trailingInDoubt);
    EXPECT_EQ(tornBytes(*store, "s"), 0U);
  }
  void expectDamage() {
    must(appendMore());
    EXPECT_EQ(tornBytes(*store, "s"), 0U);
    EXPECT_EQ(must(store->loadSessionEntries("s", {.branch = "e3"})).size(), 3U);
    EXPECT_EQ(must(missingFromLog(*store, "s")), "");
  }
  [[nodiscard]] OpenDatabase lockCatalog() const {
    sqlite3* opened = nullptr;
    EXPECT_EQ(sqlite3_open(catalog_.c_str(), &opened), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(opened, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; PRAGMA user_version", nullptr,
                           nullptr, nullptr),
              SQLITE_OK);
    return OpenDatabase(opened);
  }

  const std::string log_ = folder / "sessions/s.jsonl";
  const std::string catalog_ = folder / "catalog.db";
};

TEST_F(UnaskedCatalog, ThatIsLocked) {
  {
    const auto locked = lockCatalog();
    expectRefusal(ErrorCode::Busy);
    EXPECT_FALSE(missingFromLog(*store, "s").has_value());
  }
  expectDamage();
}

TEST_F(UnaskedCatalog, ThatIsDamaged) {
  const std::string good = slurp(catalog_);
  spill(catalog_, std::string(good.size(), 'x'));
  expectRefusal(ErrorCode::Io);
  EXPECT_FALSE(missingFromLog(*store, "s").has_value());
  spill(catalog_, good.substr(0, 100) + std::string(good.size() - 100, 'x'));
  expectRefusal(ErrorCode::Io);
  spill(catalog_, good);
  expectDamage();
}

// Opening a damaged catalog sets it aside and creates a new one, which knows nothing of the bytes in doubt.
TEST_F(UnaskedCatalog, ThatIsDamagedAndWasSetAside) {
  spill(catalog_, std::string(8192, 'x'));
  {
    const auto catalog = must(Catalog::open(*store));
    EXPECT_EQ(must(catalog->catchUp()).notes.size() + catalog->notes().size(), 1U);
    EXPECT_EQ(must(catalog->session("s")).entries, 1U);
  }
  ASSERT_TRUE(std::filesystem::exists(catalog_ + ".damaged"));
  expectRefusal(ErrorCode::Io);
  const auto rebuilt = must(Catalog::open(*store));
  must(rebuilt->rebuild());
  EXPECT_FALSE(std::filesystem::exists(catalog_ + ".damaged"));
  must(appendMore());
  EXPECT_GT(tornBytes(*store, "s"), 0U);
}

// Rows that can still be read from it are proof as before, even when they are only in its WAL.
TEST_F(UnaskedCatalog, ThatWasSetAsideProvesWhatItCanTell) {
  make({.sessionId = "t"}, {said("user", "one", "e1"), said("user", "two", "e2"), said("user", "three", "e3")});
  const std::string copy = folder / "copy";
  {
    const auto catalog = open();
    ASSERT_GT(std::filesystem::file_size(catalog_ + "-wal"), 0U);
    std::filesystem::create_directories(copy);
    std::filesystem::copy(folder / "sessions", copy + "/sessions");
    std::filesystem::copy(catalog_, copy + "/catalog.db.damaged");
    std::filesystem::copy(catalog_ + "-wal", copy + "/catalog.db.damaged-wal");
  }
  const std::string path = copy + "/sessions/t.jsonl";
  std::string log = slurp(path);
  log.replace(log.find("two"), 3, "#wo");
  spill(path, log);
  std::filesystem::rename(copy + "/catalog.db.damaged", copy + "/moved");
  std::filesystem::rename(copy + "/moved", copy + "/catalog.db.damaged");
  const auto other = must(SessionStore::open(copy));
  must(other->appendSessionEntries("t", {said("user", "on")}));
  EXPECT_EQ(tornBytes(*other, "t"), 0U);
  EXPECT_EQ(must(other->loadSessionEntries("t", {.branch = "e3"})).size(), 3U);
}

// A log that was written after that catalog was set aside has an end that the catalog never counted.
TEST_F(UnaskedCatalog, ThatIsOlderThanTheLogSaysNothing) {
  spill(catalog_ + ".damaged", std::string(8192, 'x'));
  std::filesystem::remove(catalog_);
  const auto later = std::filesystem::last_write_time(catalog_ + ".damaged") + std::chrono::seconds(1);
  std::filesystem::last_write_time(log_, later);
  must(appendMore());
  EXPECT_GT(tornBytes(*store, "s"), 0U);
}

TEST_F(UnaskedCatalog, ThatMayNotBeRead) {
  const NotRoot nobody(folder.path());
  ASSERT_EQ(::chmod(catalog_.c_str(), 0), 0);
  expectRefusal(ErrorCode::Io);
  ASSERT_EQ(::chmod(catalog_.c_str(), 0600), 0);
  expectDamage();
}

// A catalog of another version proves nothing, as if it did not exist.
TEST_F(UnaskedCatalog, OfAnotherVersionSaysNothing) {
  {
    sqlite3* opened = nullptr;
    ASSERT_EQ(sqlite3_open(catalog_.c_str(), &opened), SQLITE_OK);
    const OpenDatabase database(opened);
    ASSERT_EQ(sqlite3_exec(opened, "DROP VIEW counted", nullptr, nullptr, nullptr), SQLITE_OK);
  }
  must(appendMore());
  EXPECT_GT(tornBytes(*store, "s"), 0U);
}

// A child of fork(2) must not use SQLite's locks, but still reads the catalog, including rows that are only in its WAL.
TEST_F(UnaskedCatalog, IsAskedByAChildOfFork) {
  store.reset();
  store = must(SessionStore::open(location));
  make({.sessionId = "t"}, {said("user", "one", "e1"), said("user", "two", "e2"), said("user", "three", "e3")});
  const auto catalog = open();
  ASSERT_GT(std::filesystem::file_size(catalog_ + "-wal"), 0U);
  const std::string path = folder / "sessions/t.jsonl";
  std::string log = slurp(path);
  log.replace(log.find("two"), 3, "#wo");
  spill(path, log);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto opened = SessionStore::open(location);
    const auto appended = (*opened)->appendSessionEntries("t", {said("user", "on")});
    ::_exit(appended && tornBytes(**opened, "t") == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(must(must(Catalog::open(*store))->session("t")).sessionId, "t");
}

// In a read-only folder, SQLite cannot create the file for its locks.
TEST_F(UnaskedCatalog, IsAskedInAFolderThatCannotBeWrittenTo) {
  const std::string copy = folder / "copy";
  make({.sessionId = "t"}, {said("user", "one", "e1"), said("user", "two", "e2"), said("user", "three", "e3")});
  {
    const auto catalog = open();
    std::filesystem::create_directories(copy);
    for (const char* const each : {"sessions", "catalog.db", "catalog.db-wal"}) {
      std::filesystem::copy(folder / each, copy + "/" + each, std::filesystem::copy_options::recursive);
    }
  }
  std::string log = slurp(copy + "/sessions/t.jsonl");
  log.replace(log.find("two"), 3, "#wo");
  spill(copy + "/sessions/t.jsonl", log);
  const NotRoot nobody(folder.path());
  std::filesystem::permissions(copy, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const auto readOnly = must(SessionStore::open(copy, {.create = false}));
  EXPECT_EQ(must(readOnly->loadSessionEntries("t", {.branch = "e3"})).size(), 3U);
  std::filesystem::permissions(copy, std::filesystem::perms::owner_all);
}

// While another process holds the log's lock, a reader cannot check the end. The catalog keeps its counts meanwhile.
TEST_F(UnaskedCatalog, KeepsWhatItHasCounted) {
  const int file = ::open(log_.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(file, LOCK_EX), 0);
  {
    const auto catalog = must(Catalog::open(*store));
    const auto report = must(catalog->catchUp());
    ASSERT_EQ(report.notes.size(), 1U);
    EXPECT_NE(report.notes[0].find("session s was left out"), std::string::npos) << report.notes[0];
    EXPECT_EQ(must(catalog->session("s")).entries, 4U);
  }
  ::close(file);
  store = must(SessionStore::open(location));
  must(must(Catalog::open(*store))->catchUp());
  expectDamage();
}

}  // namespace
}  // namespace bough
