// A system without free threads: the library works more slowly or returns an error, and nothing is left half done.
#include <bough/bough_c.h>
#include <gtest/gtest.h>

#include "base/system/threads.h"
#include "bough/catalog.h"
#include "support/entries.h"
#include "support/temp_folder.h"

extern "C" void bough_test_allow_threads(long count);

namespace bough {
namespace {

class NoThreads : public testing::Test {
 protected:
  NoThreads() { bough_test_allow_threads(0); }
  ~NoThreads() override { bough_test_allow_threads(-1); }

  TempFolder folder;
};

TEST_F(NoThreads, StartingOneIsAnErrorThatSaysWhatToDo) {
  const auto started = startThread("to wait", [] { FAIL() << "it must not run"; });
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::Busy);
  EXPECT_EQ(started.error().message, "the system has no thread left to wait");
  EXPECT_TRUE(started.error().hint.contains("ulimit"));
  EXPECT_TRUE(started.error().retryable);
}

TEST_F(NoThreads, OfSeveralAsManyAreStartedAsThereAre) {
  bough_test_allow_threads(2);
  std::atomic<std::size_t> sum = 0;
  auto threads = startThreads(5, [&](std::size_t number) { sum += number + 10; });
  EXPECT_EQ(threads.size(), 2U);
  threads.clear();
  EXPECT_EQ(sum, 21U);
}

TEST_F(NoThreads, ABufferedAppendIsWrittenAtOnce) {
  const auto store = must(SessionStore::open(folder.path().string(), {.bufferedMs = 3'600'000}));
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("x", "1"), message("x", "2")}, {.durability = Durability::Buffered}));
  const auto other = must(SessionStore::open(folder.path().string()));
  EXPECT_EQ(must(other->loadSessionEntries("s")).size(), 3U) << "header and two: nothing would ever write it";
  // With a thread available again, entries are buffered again.
  bough_test_allow_threads(-1);
  must(store->appendSessionEntries("s", {message("x", "3")}, {.durability = Durability::Buffered}));
  EXPECT_EQ(must(other->loadSessionEntries("s")).size(), 3U);
  must(store->flush());
  EXPECT_EQ(must(other->loadSessionEntries("s")).size(), 4U);
}

TEST_F(NoThreads, TheCatalogCatchesUpAndSearches) {
  const auto store = must(SessionStore::open(folder.path().string()));
  must(store->createSession({.sessionId = "s"}));
  std::vector<Entry> entries;
  for (int i = 0; i < 40; ++i) entries.push_back(message("word" + std::to_string(i)));
  must(store->appendSessionEntries("s", std::move(entries)));
  const auto catalog = must(Catalog::open(*store));
  must(catalog->catchUp({.search = true}));
  EXPECT_EQ(must(catalog->list({})).size(), 1U);
  EXPECT_EQ(must(catalog->search("word39")).size(), 1U);
}

std::int32_t ignore(void*, bough_entries* entries, std::int32_t) {
  bough_entries_close(entries);
  return 1;
}

TEST_F(NoThreads, AFollowerOfCGetsNoCallbackAndCanStillBeAsked) {
  bough_store* store = nullptr;
  bough_session* session = nullptr;
  bough_follower* follower = nullptr;
  bough_entries* entries = nullptr;
  const std::string path = folder.path().string();
  ASSERT_EQ(bough_store_open(bough_text_of(path.c_str()), nullptr, &store), BOUGH_OK);
  ASSERT_EQ(bough_session_create(store, nullptr, &session), BOUGH_OK);
  ASSERT_EQ(bough_follower_open(session, {}, &follower), BOUGH_OK);
  bool destroyed = false;
  EXPECT_EQ(bough_follower_start(follower, ignore, &destroyed, [](void* data) { *static_cast<bool*>(data) = true; }),
            BOUGH_BUSY);
  bough_error_info info;
  bough_error(follower, &info);
  EXPECT_TRUE(std::string_view(info.message.data, info.message.size).contains("no thread left"));
  EXPECT_FALSE(destroyed) << "the caller still has it";
  EXPECT_EQ(bough_follower_next(follower, 0, &entries), BOUGH_OK);
  bough_entries_close(entries);
  bough_test_allow_threads(-1);
  EXPECT_EQ(bough_follower_start(follower, ignore, &destroyed, [](void* data) { *static_cast<bool*>(data) = true; }),
            BOUGH_OK);
  bough_follower_close(follower);
  EXPECT_TRUE(destroyed);
  bough_session_close(session);
  bough_store_close(store);
}

}  // namespace
}  // namespace bough
