// Behaviour of the memory backend alone. The scripts and tests/threads check that it behaves like the file backend.

#include "store/memory/memory_backend.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

#include "support/entries.h"
#include "support/hooked_serializer.h"

namespace bough {
namespace {

class Memory : public testing::Test {
 protected:
  Memory() {
    must(store->createSession({.sessionId = "s"}));
    must(store->appendSessionEntries("s", {message("x", "a"), message("x", "b")}));
  }

  // Starts work on another thread and gives it a chance to finish before this thread continues.
  template <typename Work>
  static auto meanwhile(Work work) {
    auto done = std::async(std::launch::async, work);
    (void)done.wait_for(std::chrono::milliseconds(100));
    return done;
  }

  HookedSerializer serializer;
  std::shared_ptr<MemoryBackend> backend = std::make_shared<MemoryBackend>(serializer, systemEnvironment());
  std::unique_ptr<SessionStore> store = must(SessionStore::open({.backend = backend, .options = {}}));
};

// As for a session that was rebuilt with fewer entries.
TEST_F(Memory, SequencesThatAreNotThereAreRefused) {
  EXPECT_EQ(refused(store->loadEntriesAt("s", {999'999})).code, ErrorCode::NotFound);
  const std::uint64_t sequences[] = {1, 3};
  const Error error = refused(must(backend->session("s"))->ownRead(sequences));
  EXPECT_EQ(error.code, ErrorCode::Damaged);
  EXPECT_TRUE(error.retryable) << "they are asked for again";
  EXPECT_EQ(refused(must(backend->session("s"))->ownBranch(3, 10)).code, ErrorCode::Damaged);
}

TEST_F(Memory, ASessionStaysWhileItIsForked) {
  std::future<Result<void>> removed;
  serializer.beforeEncode([&] { removed = meanwhile([&] { return store->deleteSession("s"); }); });
  must(store->branchFromEntry("s", "b", {.sessionId = "f"}));
  EXPECT_EQ(refused(removed.get()).code, ErrorCode::HasForks);
  EXPECT_EQ(idsOf(*store, "f"), (Ids{"a", "b"}));
}

TEST_F(Memory, ASessionThatIsBeingRemovedCannotBeForked) {
  std::future<Result<SessionHandle>> forked;
  const auto fork = [&]() -> Result<void> {
    forked = meanwhile([&] { return store->branchFromEntry("s", "b", {.sessionId = "f"}); });
    return {};
  };
  must(backend->removeIf("s", fork));
  EXPECT_EQ(refused(forked.get()).code, ErrorCode::NotFound);

  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("x", "b")}));
  must(backend->sharedTrash().moveIf("s", fork));
  EXPECT_EQ(refused(forked.get()).code, ErrorCode::NotFound);
}

// Another session takes the name between the lookup of the position and the read, so positions refer to other entries.
TEST_F(Memory, ACursorReadsNothingByThePlacesOfAnotherLog) {
  auto cursor = must(store->openCursor("s"));
  ASSERT_EQ(must(cursor.next(2)).back().id, "a");
  const auto replaceSession = [&] {
    must(backend->removeIf("s", [] { return Result<void>(); }));
    must(store->createSession({.sessionId = "s"}));
    must(store->appendSessionEntries("s",
                                     {message("x", "n1"), message("x", "n2"), message("x", "a"), message("x", "n3")}));
  };
  serializer.beforeDecode([&] { std::thread(replaceSession).join(); });
  EXPECT_EQ(idsOf(must(cursor.next(9))), (Ids{"n3"}));
}

TEST_F(Memory, AnAttachmentStaysUntilItsEntryNamesIt) {
  const std::string bytes = "kept apart";
  const std::string sha256 = must(store->putAttachment(bytes));
  auto hold = must(backend->attachments()->hold());
  auto removed = meanwhile([&] { return store->removeUnusedAttachments({sha256}); });
  must(store->appendSessionEntries("s", {entryOf("note", R"({"file":")" + sha256 + R"("})")}));
  hold.reset();
  EXPECT_EQ(must(removed.get()), 0U);
  EXPECT_EQ(must(store->readAttachment(sha256)), bytes);
}

}  // namespace
}  // namespace bough
