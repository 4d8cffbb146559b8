// The catalog's own file: damage in it is found, and redacted content is not left in it.
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "catalog_support.h"

namespace bough {
namespace {

class CareTest : public CatalogTest {
 protected:
  std::string path(const std::string& ending = "") { return folder / ("catalog.db" + ending); }

  std::string bytesOf(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  bool stands(const std::string& text) {
    return bytesOf(path()).find(text) != std::string::npos || bytesOf(path("-wal")).find(text) != std::string::npos;
  }
  void put(std::uint64_t at, const std::string& bytes) {
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file << bytes;
  }
  void fill() {
    for (int i = 0; i < 60; ++i) {
      make({.sessionId = "s" + std::to_string(i)},
           {said("user", "question number " + std::to_string(i) + " about alpha"),
            answered(textBlock("answer " + std::to_string(i)), "", "msg" + std::to_string(i))});
    }
  }
};

TEST_F(CareTest, ASoundCatalogHasNothingWrong) {
  fill();
  auto catalog = open(true);
  EXPECT_TRUE(must(catalog->check()).empty());
  EXPECT_TRUE(must(catalog->check(true)).empty());
}

TEST_F(CareTest, ASessionThatIsUsedMeanwhileIsNotDamaged) {
  fill();
  auto catalog = open(true);
  make({.sessionId = "later"}, {said("user", "made after the last look")});
  must(store->appendSessionEntries("s3", {said("user", "and another question")}));
  EXPECT_EQ(must(catalog->check(true)), std::vector<std::string>());
}

// SQLite uses POSIX locks, which end when their process closes any descriptor of the file.
TEST_F(CareTest, LocksOfOneCatalogOutliveAnotherOfTheSameProcess) {
  fill();
  const auto isLocked = [&] {
    const pid_t other = ::fork();
    if (other == 0) {
      struct flock lock{};
      lock.l_type = F_WRLCK;
      lock.l_whence = SEEK_SET;
      const int file = ::open(path().c_str(), O_RDWR | O_CLOEXEC);
      ::_exit(file >= 0 && ::fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? 0 : 1);
    }
    int status = 0;
    ::waitpid(other, &status, 0);
    return status == 0;
  };
  const auto first = open(true);
  ASSERT_TRUE(isLocked());
  make({.sessionId = "new"}, {said("user", "beta")});
  open(true).reset();
  EXPECT_TRUE(isLocked());
}

// FTS5 writes its buffers whenever SQLite opens a savepoint, as it does for statements with triggers.
TEST_F(CareTest, AnswersDoNotCutTheIndexIntoPieces) {
  std::vector<Entry> entries;
  for (int i = 0; i < 200; ++i) {
    entries.push_back(answered(textBlock("answer " + std::to_string(i)), "", "msg" + std::to_string(i)));
  }
  make({.sessionId = "s"}, std::move(entries));
  open(true).reset();
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &database), SQLITE_OK);
  sqlite3_stmt* query = nullptr;
  // The higher bits of page ids are the segment's number; ids up to 10 are other records.
  constexpr const char* kSegments = "SELECT count(DISTINCT id >> 37) FROM search_data WHERE id > 10";
  ASSERT_EQ(sqlite3_prepare_v2(database, kSegments, -1, &query, nullptr), SQLITE_OK);
  ASSERT_EQ(sqlite3_step(query), SQLITE_ROW);
  EXPECT_EQ(sqlite3_column_int(query, 0), 1);
  sqlite3_finalize(query);
  sqlite3_close(database);
}

// Overwrites any one page: either SQLite notices and the catalog is rebuilt, or a check finds it. A deep check never
// misses a wrong answer.
TEST_F(CareTest, ADestroyedPageIsFoundOrReplaced) {
  fill();
  open(true).reset();
  const std::string sound = bytesOf(path());
  ASSERT_GT(sound.size(), 20 * 4096u);
  int found = 0;
  int replaced = 0;
  for (std::uint64_t page = 1; page < sound.size() / 4096; page += 1 + page / 20) {
    std::ofstream(path(), std::ios::binary | std::ios::trunc) << sound;
    put(page * 4096, std::string(4096, '\x5A'));
    auto catalog = must(Catalog::open(*store));
    must(catalog->catchUp({.search = true}));
    const auto listed = must(catalog->list({.limit = 1000}));
    const auto wrong = must(catalog->check(true));
    if (!catalog->notes().empty()) {
      ++replaced;
      EXPECT_TRUE(wrong.empty()) << "page " << page << ": " << wrong.front();
      EXPECT_EQ(listed.size(), 60u);
    } else if (!wrong.empty()) {
      ++found;
    } else {
      // The page is not in use.
      EXPECT_EQ(listed.size(), 60u) << page;
      EXPECT_EQ(must(catalog->search("alpha", {.limit = 1000})).size(), 60u) << page;
    }
    must(catalog->rebuild({.search = true}));
    EXPECT_TRUE(must(catalog->check(true)).empty()) << page;
    EXPECT_EQ(must(catalog->search("alpha", {.limit = 1000})).size(), 60u) << page;
  }
  EXPECT_GT(found + replaced, 10);
}

// SQLite has no checksums: a changed number in a row is wrong although the file is formally intact.
TEST_F(CareTest, ADeepCheckFindsAChangedWordInARow) {
  make({.sessionId = "a", .cwd = "/Unmistakable"}, {said("user", "alpha")});
  open().reset();
  // Including its index, so that SQLite's own check finds nothing.
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, "UPDATE session SET cwd = '/Xnmistakable'", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  auto catalog = open();
  ASSERT_EQ(must(catalog->session("a")).cwd, "/Xnmistakable");
  const auto wrong = must(catalog->check(true));
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_NE(wrong[0].find("session a"), std::string::npos);
  must(catalog->rebuild());
  EXPECT_EQ(must(catalog->session("a")).cwd, "/Unmistakable");
  EXPECT_TRUE(must(catalog->check(true)).empty());
}

TEST_F(CareTest, RedactedWordsDoNotStayInTheFile) {
  for (const bool together : {false, true}) {
    const std::string id = together ? "together" : "apart";
    const std::string secret = together ? "xylophonic" : "quizzaciously";
    make({.sessionId = id}, {said("user", secret + " my password", "u1"), said("user", "alpha beta gamma", "u2")});
    auto catalog = must(Catalog::open(*store));
    if (!together) {
      must(catalog->catchUp({.search = true}));
      ASSERT_EQ(must(catalog->search(secret)).size(), 1u);
      ASSERT_TRUE(stands(secret));
    }
    // More entries, so that the index has several segments.
    for (int i = 0; i < 30; ++i) {
      append(id, {said("user", "filler words number " + std::to_string(i))});
      must(catalog->catchUp({.search = !together}));
    }
    must(store->redactEntry(id, "u1", "me", "secret"));
    must(catalog->catchUp({.search = true}));
    EXPECT_EQ(must(catalog->search(secret)).size(), 0u);
    EXPECT_FALSE(stands(secret)) << id;
    EXPECT_EQ(must(catalog->search("beta")).size(), together ? 2u : 1u);
    EXPECT_TRUE(must(catalog->check(true)).empty());
    // Nothing is left to wipe, so a second catch-up writes nothing.
    const std::string before = bytesOf(path());
    must(catalog->catchUp({.search = true}));
    EXPECT_EQ(bytesOf(path()), before);
  }
}

// The index contains the words; the text is only in the log.
TEST_F(CareTest, TheTextIsNotInTheFile) {
  make({.sessionId = "a", .title = "t"}, {said("user", "alphabetical quizzaciously " + std::string(5000, 'x'), "u1")});
  auto catalog = open(true);
  EXPECT_TRUE(stands("quizzaciously"));
  EXPECT_FALSE(stands("alphabetical quizzaciously"));
  EXPECT_EQ(must(catalog->search("quizzaciously", {.excerptTokens = 2})).at(0).excerpt,
            "alphabetical \x01quizzaciously\x02…");
  EXPECT_EQ(must(catalog->search("quizzaciously", {.excerptTokens = 0})).at(0).excerpt, "");
}

// FTS5 can remove words only when it gets them again. When the log no longer has them, the index is emptied.
TEST_F(CareTest, RedactedWordsGoAlsoWhenTheLogHasLostThem) {
  make({.sessionId = "a"}, {said("user", "quizzaciously secret", "u1"), said("user", "alpha", "u2")});
  make({.sessionId = "b"}, {said("user", "alpha beta", "u3")});
  open(true).reset();
  ASSERT_TRUE(stands("quizzaciously"));
  must(store->redactEntry("a", "u1", "me", "secret"));
  const std::string file = folder / "sessions/a.jsonl";
  std::string log = bytesOf(file);
  log.replace(log.find("quizzaciously"), 5, "XXXXX");
  std::ofstream(file, std::ios::binary | std::ios::trunc) << log;
  auto catalog = open(true);
  EXPECT_FALSE(stands("quizzaciously"));
  EXPECT_EQ(must(catalog->search("alpha")).size(), 2u);
}

// Words of deleted sessions stay in the index until there are many.
TEST_F(CareTest, AnIndexThatIsMostlyOfRemovedSessionsIsMadeAgain) {
  std::vector<Entry> many;
  for (int i = 0; i < 1200; ++i) many.push_back(said("user", "quizzaciously number " + std::to_string(i)));
  make({.sessionId = "kept"}, {said("user", "alpha number 7", "u1")});
  make({.sessionId = "gone"}, std::move(many));
  auto catalog = open(true);
  ASSERT_EQ(must(catalog->search("quizzaciously", {.limit = 2000})).size(), 1200u);
  must(store->deleteSession("gone"));
  must(catalog->catchUp({.search = true}));
  EXPECT_TRUE(must(catalog->search("quizzaciously")).empty());
  EXPECT_EQ(must(catalog->search("number")).size(), 1u);
  must(catalog->catchUp({.search = true}));
  EXPECT_FALSE(stands("quizzaciously"));
  EXPECT_EQ(must(catalog->search("number")).size(), 1u);
  EXPECT_TRUE(must(catalog->check(true)).empty());
}

// While another process reads, the WAL cannot be truncated; it is truncated afterwards.
TEST_F(CareTest, AReaderOnlyPutsOffTheWiping) {
  make({.sessionId = "a"}, {said("user", "quizzaciously secret", "u1")});
  open(true).reset();
  sqlite3* reader = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &reader), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM session", nullptr, nullptr, nullptr), SQLITE_OK);
  must(store->redactEntry("a", "u1", "me", "secret"));
  auto catalog = open(true);
  EXPECT_TRUE(stands("quizzaciously"));
  sqlite3_exec(reader, "COMMIT", nullptr, nullptr, nullptr);
  sqlite3_close(reader);
  must(catalog->catchUp());
  EXPECT_FALSE(stands("quizzaciously"));
}

TEST_F(CareTest, AfterARebuildNothingOfTheOldFileIsLeft) {
  make({.sessionId = "a"}, {said("user", "quizzaciously said", "u1")});
  open(true).reset();
  ASSERT_TRUE(stands("quizzaciously"));
  must(store->deleteSession("a"));
  auto catalog = must(Catalog::open(*store));
  must(catalog->rebuild({.search = true}));
  EXPECT_FALSE(stands("quizzaciously"));
}

}  // namespace
}  // namespace bough
