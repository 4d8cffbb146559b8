// Memory that runs out in a thread of the library: the waiting thread gets the failure, or the thread retries. The
// process continues, and no thread waits forever.
#include <bough/bough_c.h>
#include <bough/transcript.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <ranges>
#include <string>
#include <thread>

#include "bough/catalog.h"
#include "catalog/external.h"
#include "catalog/external_search.h"
#include "catalog/session_scan.h"
#include "memory/failing_memory.h"
#include "support/entries.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> claudeCodeFiles() {
  std::vector<std::string> paths;
  for (const auto& file :
       fs::recursive_directory_iterator(fs::path(BOUGH_TESTS_DIR) / "transcript/fixtures/claude-code")) {
    if (file.path().extension() == ".jsonl") paths.push_back(file.path().string());
  }
  std::ranges::sort(paths);
  paths.resize(std::min<std::size_t>(paths.size(), 12));
  return paths;
}

TEST(ThreadMemory, AScanEndsForWhoeverCalledIt) {
  const TempFolder folder;
  const auto store = must(SessionStore::open(folder.path().string()));
  std::vector<std::string> sessions;
  for (int i = 0; i < 6; ++i) {
    sessions.push_back("scanned" + std::to_string(i));
    must(store->createSession({.sessionId = sessions.back()}));
    must(store->appendSessionEntries(sessions.back(), {message("it is cloudy today"), message("and cloudy")}));
  }
  const catalog::ScanQuery query = must(catalog::scanForWords("cloudy"));
  failEachOfAll([&](bool /*mayFail*/) {
    std::size_t found = 0;
    bool problem = false;
    catalog::scanSessions(
        *store, sessions, query, {},
        [&](SearchHit&) {
          ++found;
          return true;
        },
        [&](const std::string&, const Error&) { problem = true; });
    EXPECT_TRUE(problem || found == 12) << found;
  });
}

TEST(ThreadMemory, TheUsageOfFilesIsSummedUpOrNot) {
  const std::vector<std::string> paths = claudeCodeFiles();
  ASSERT_GT(paths.size(), 3U);
  const auto answers = [&] {
    const auto usage = scanTranscriptUsage([&](const auto& use) -> Result<void> {
      for (const std::string& path : paths) {
        if (!use({.agent = "claude-code", .path = path, .sizeBytes = 1})) break;
      }
      return {};
    });
    return usage ? usage->answers.size() : 0;
  };
  const std::size_t expected = answers();
  EXPECT_GT(expected, 0U);
  failEachOfAll([&](bool mayFail) {
    const std::size_t found = answers();
    EXPECT_TRUE(mayFail || found == expected) << found;
  });
}

TEST(ThreadMemory, FilesOfOtherAgentsAreListedAndSearchedOrNot) {
  const std::vector<std::string> paths = claudeCodeFiles();
  const catalog::ExternalWalk walk = [&](const auto& use) -> Result<void> {
    for (const std::string& path : paths) {
      if (!use({.path = path, .stamp = "1", .sizeBytes = 1})) break;
    }
    return {};
  };
  failEachOfAll([&](bool mayFail) {
    const TempFolder list;
    const auto report = catalog::updateExternalRows(list.path().string(), walk, [](std::uint64_t) {});
    EXPECT_TRUE(mayFail || must(report).read == paths.size());
  });
  const TempFolder list;
  must(catalog::updateExternalRows(list.path().string(), walk, [](std::uint64_t) {}));
  std::vector<std::string> sessions;
  {
    const auto store = must(SessionStore::open(list.path().string()));
    for (const SessionSummary& row : must(must(Catalog::open(*store))->list())) sessions.push_back(row.sessionId);
  }
  const catalog::ScanQuery query = must(catalog::scanForWords("the"));
  const auto hits = [&] {
    std::size_t found = 0;
    catalog::searchExternalSessions(
        list.path().string(), sessions, query, {},
        [&](SearchHit&) {
          ++found;
          return true;
        },
        [](const std::string&, const Error&) {});
    return found;
  };
  const std::size_t expected = hits();
  EXPECT_GT(expected, 0U);
  failEachOfAll([&](bool mayFail) {
    const std::size_t found = hits();
    EXPECT_TRUE(mayFail || found == expected) << found;
  });
}

TEST(ThreadMemory, ACatalogThatReadsAheadIsMadeOrNot) {
  const TempFolder folder;
  const auto store = must(SessionStore::open(folder.path().string()));
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("it is cloudy today"), message("and cloudy")}));
  failEachOfAll([&](bool mayFail) {
    fs::remove(folder.path() / "catalog.db");
    auto catalog = Catalog::open(*store);
    const bool made = catalog && (*catalog)->catchUp({.search = true});
    if (mayFail) return;
    ASSERT_TRUE(made);
    EXPECT_EQ(must((*catalog)->search("cloudy")).size(), 2U);
  });
}

TEST(ThreadMemory, WhatWaitsInTheBufferIsWrittenLater) {
  for (long place = 0; place < 60; ++place) {
    SCOPED_TRACE("allocation " + std::to_string(place));
    ::alarm(60);
    const TempFolder folder;
    const auto store = must(SessionStore::open(
        folder.path().string(), {.durability = Durability::Buffered, .bufferedEntries = 1000, .bufferedMs = 2}));
    const auto other = must(SessionStore::open(folder.path().string()));
    must(store->createSession({.sessionId = "s"}));
    must(store->flush());
    must(store->appendSessionEntries("s", {message("x", "1"), message("x", "2")}));
    allocationsLeftOfAll = place;
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
    allocationsLeftOfAll = -1;
    while (must(other->loadSessionEntries("s")).size() < 3) std::this_thread::yield();
    must(store->close());
    EXPECT_EQ(must(other->loadSessionEntries("s")).size(), 3U);
    EXPECT_EQ(must(other->verifySession("s")).problemCount, 0U);
    ::alarm(0);
  }
}

struct Called {
  std::atomic<int> entries = 0;
  std::atomic<bool> failed = false;
  std::atomic<bool> destroyed = false;
};

std::int32_t onEntries(void* data, bough_entries* entries, std::int32_t code) {
  auto& called = *static_cast<Called*>(data);
  if (code != BOUGH_OK) called.failed = true;
  if (entries != nullptr) {
    ++called.entries;
    bough_entries_close(entries);
  }
  return 1;
}

// The callback gets the entries, or an error that ends following; in both cases its data is released.
TEST(ThreadMemory, ACallbackIsToldThatMemoryHasRunOut) {
  const TempFolder folder;
  const std::string path = folder.path().string();
  bough_store* store = nullptr;
  bough_session* session = nullptr;
  ASSERT_EQ(bough_store_open(bough_text_of(path.c_str()), nullptr, &store), BOUGH_OK);
  const auto writer = must(SessionStore::open(path));
  must(writer->createSession({.sessionId = "s"}));
  ASSERT_EQ(bough_session_open(store, bough_text_of("s"), &session), BOUGH_OK);
  bool failedOnce = false;
  for (long place = 0; place < 60; ++place) {
    SCOPED_TRACE("allocation " + std::to_string(place));
    ::alarm(60);
    bough_follower* follower = nullptr;
    ASSERT_EQ(bough_follower_open(session, {nullptr, 0}, &follower), BOUGH_OK);
    Called called;
    allocationsLeftOfAll = place;
    const auto started = bough_follower_start(follower, onEntries, &called,
                                              [](void* data) { static_cast<Called*>(data)->destroyed = true; });
    while (started == BOUGH_OK && called.entries == 0 && !called.failed) std::this_thread::yield();
    allocationsLeftOfAll = -1;
    failedOnce = failedOnce || called.failed;
    bough_follower_close(follower);
    EXPECT_TRUE(called.destroyed || started != BOUGH_OK);
    ::alarm(0);
  }
  EXPECT_TRUE(failedOnce);
  bough_session_close(session);
  EXPECT_EQ(bough_store_close(store), BOUGH_OK);
}

std::string taken(bough_text text) {
  std::string copy(text.data, text.size);
  bough_free(text);
  return copy;
}

// Makes each allocation of a read fail in turn. A failed read does not advance: the next read returns everything.
template <typename Open, typename Read, typename Position, typename Close>
void failEachOfReads(Open open, Read read, Position position, Close close) {
  for (bool failed = true; const long place : std::views::iota(0L)) {
    if (!failed) return;
    SCOPED_TRACE("allocation " + std::to_string(place));
    auto* const reader = open();
    bough_entries* entries = nullptr;
    allocationsLeft = place;
    const std::int32_t code = read(reader, &entries);
    allocationsLeft = -1;
    failed = code != BOUGH_OK;
    bough_text at{};
    if (failed) {
      EXPECT_EQ(code, BOUGH_NO_MEMORY);
      ASSERT_EQ(position(reader, &at), BOUGH_OK);
      EXPECT_EQ(taken(at), "");
      ASSERT_EQ(read(reader, &entries), BOUGH_OK);
    }
    EXPECT_EQ(bough_entries_count(entries), 4U);
    bough_entries_close(entries);
    ASSERT_EQ(position(reader, &at), BOUGH_OK);
    EXPECT_EQ(taken(at), "c");
    close(reader);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(ThreadMemory, AReaderGivesWhatItCouldNotHandOver) {
  bough_store* store = nullptr;
  bough_session* session = nullptr;
  ASSERT_EQ(bough_store_open(bough_text_of("memory:"), nullptr, &store), BOUGH_OK);
  ASSERT_EQ(bough_session_create(store, nullptr, &session), BOUGH_OK);
  for (const char* id : {"a", "b", "c"}) {
    bough_entry entry{};
    entry.id = bough_text_of(id);
    entry.type = bough_text_of("message");
    entry.payload = bough_text_of("{}");
    bough_appended_one appended{};
    ASSERT_EQ(bough_append_one(session, &entry, nullptr, &appended), BOUGH_OK);
  }
  const auto openCursor = [&] {
    bough_cursor* cursor = nullptr;
    EXPECT_EQ(bough_cursor_open(session, {nullptr, 0}, &cursor), BOUGH_OK);
    return cursor;
  };
  const auto readCursor = [](bough_cursor* cursor, bough_entries** out) { return bough_cursor_next(cursor, 10, out); };
  failEachOfReads(openCursor, readCursor, bough_cursor_position, bough_cursor_close);
  const auto openFollower = [&] {
    bough_follower* follower = nullptr;
    EXPECT_EQ(bough_follower_open(session, {nullptr, 0}, &follower), BOUGH_OK);
    return follower;
  };
  const auto readFollower = [](bough_follower* follower, bough_entries** out) {
    return bough_follower_next(follower, 1000, out);
  };
  failEachOfReads(openFollower, readFollower, bough_follower_position, bough_follower_close);
  bough_session_close(session);
  EXPECT_EQ(bough_store_close(store), BOUGH_OK);
}

}  // namespace
}  // namespace bough
