// Memory that runs out in calls of the C interface that change something. The answer of a call is allocated before the
// change: a call that fails has changed nothing, and a call that changed something returns its answer.
#include <bough/bough_c.h>
#include <gtest/gtest.h>

#include <string>

#include "bough/store.h"
#include "memory/failing_memory.h"
#include "support/entries.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

// A store with a session of three messages, as a C program has it open, and the same store through the library.
struct CWorld {
  CWorld() {
    EXPECT_EQ(bough_store_open(bough_text_of(folder.path().string().c_str()), nullptr, &store), BOUGH_OK);
    must(behind->createSession({.sessionId = "s"}));
    must(behind->appendSessionEntries("s", {message("x", "1"), message("x", "2"), message("x", "3")}));
    EXPECT_EQ(bough_session_open(store, bough_text_of("s"), &session), BOUGH_OK);
  }
  CWorld(const CWorld&) = delete;
  CWorld& operator=(const CWorld&) = delete;
  ~CWorld() {
    bough_session_close(session);
    EXPECT_EQ(bough_store_close(store), BOUGH_OK);
  }
  [[nodiscard]] std::size_t entries() const { return must(behind->loadSessionEntries("s")).size(); }

  TempFolder folder;
  std::unique_ptr<SessionStore> behind = must(SessionStore::open(folder.path().string()));
  bough_store* store = nullptr;
  bough_session* session = nullptr;
};

std::string taken(bough_text text) {
  std::string copy(text.data, text.size);
  bough_free(text);
  return copy;
}

// Makes each allocation of `call` fail in turn, each time in a new world, and passes the result to `check`.
template <typename Call, typename Check>
void failEachOfCall(Call call, Check check) {
  for (long place = 0;; ++place) {
    SCOPED_TRACE("allocation " + std::to_string(place));
    CWorld world;
    bough_text answer{};
#ifdef BOUGH_SANITIZED
    long& left = allocationsLeft;
#else
    long& left = systemAllocationsLeft;
#endif
    left = place;
    const std::int32_t code = call(world, answer);
    const bool failed = left < 0;
    left = -1;
    ASSERT_TRUE(failed || code == BOUGH_OK) << code;
    check(world, code, answer);
    if (testing::Test::HasFailure()) return;
    if (!failed) {
      EXPECT_GT(place, 0);
      return;
    }
  }
}

bough_entry entryOfNoId() {
  bough_entry entry{};
  entry.type = bough_text_of("message");
  entry.payload = bough_text_of("{}");
  return entry;
}

TEST(AnswersMemory, AnAppendThatFailsHasStoredNothing) {
  failEachOfCall(
      [](CWorld& world, bough_text& answer) {
        const std::array entries = {entryOfNoId(), entryOfNoId()};
        return bough_append(world.session, entries.data(), entries.size(), nullptr, nullptr, &answer);
      },
      [](CWorld& world, std::int32_t code, bough_text answer) {
        EXPECT_EQ(world.entries(), code == BOUGH_OK ? 6U : 4U);
        if (code != BOUGH_OK) return;
        EXPECT_EQ(taken(answer), must(world.behind->loadSessionEntries("s")).back().id);
      });
}

TEST(AnswersMemory, AnAppendOfOneThatFailsHasStoredNothing) {
  failEachOfCall(
      [](CWorld& world, bough_text&) {
        const bough_entry entry = entryOfNoId();
        bough_appended_one one{};
        return bough_append_one(world.session, &entry, nullptr, &one);
      },
      [](CWorld& world, std::int32_t code, bough_text) { EXPECT_EQ(world.entries(), code == BOUGH_OK ? 5U : 4U); });
}

TEST(AnswersMemory, AnAttachmentThatFailsCanBePutAgain) {
  failEachOfCall([](CWorld& world,
                    bough_text& answer) { return bough_attachment_put(world.store, bough_text_of("bytes"), &answer); },
                 [](CWorld& world, std::int32_t code, bough_text answer) {
                   const bool isPut = code == BOUGH_OK ||
                                      bough_attachment_put(world.store, bough_text_of("bytes"), &answer) == BOUGH_OK;
                   ASSERT_TRUE(isPut);
                   EXPECT_EQ(must(world.behind->readAttachment(taken(answer))), "bytes");
                 });
}

TEST(AnswersMemory, AnArchiveThatIsMadeIsAnswered) {
  failEachOfCall([](CWorld& world, bough_text& answer) { return bough_archive(world.session, &answer); },
                 [](CWorld& world, std::int32_t code, bough_text answer) {
                   EXPECT_EQ(must(must(world.behind->session("s")).state()).archived, code == BOUGH_OK);
                   if (code != BOUGH_OK) return;
                   EXPECT_NE(taken(answer).find("bytesAfter"), std::string::npos);
                 });
}

}  // namespace
}  // namespace bough
