// Attachments in PostgreSQL: large ones, and ones that were changed in the database.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bough/store.h"
#include "postgres/fresh_store.h"
#include "postgres/proxy.h"
#include "support/entries.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

class PostgresAttachment : public FreshPostgresStore {};

TEST_F(PostgresAttachment, NamesFromOutsideAreCheckedAsInAFolder) {
  for (const std::string& location : {url_, std::string("memory:")}) {
    auto store = must(SessionStore::open(location));
    const std::string unused = must(store->putAttachment("unused"));
    for (const std::string bad : {"", "x", "../../../etc/passwd", ".tmp"}) {
      EXPECT_EQ(refused(store->removeUnusedAttachments({unused, bad})).code, ErrorCode::InvalidArgument) << bad;
    }
    EXPECT_EQ(must(store->readAttachment(unused)), "unused");
    EXPECT_EQ(must(store->removeUnusedAttachments({unused})), 1U);
  }
}

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

// Sanitizers need additional memory.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kCountsMemory = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
constexpr bool kCountsMemory = false;
#else
constexpr bool kCountsMemory = true;
#endif
#else
constexpr bool kCountsMemory = true;
#endif

std::string payloadOf(const std::string& name, std::size_t bytes) {
  std::string payload;
  payload.reserve(bytes + name.size() + 16);
  payload.append("{\"").append(name).append("\":\"").append(bytes, 'x').append("\"}");
  return payload;
}

// Returns how much memory `work` needs in a child process, beyond the memory at its start.
std::size_t peakBytes(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  EXPECT_EQ(status, 0);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

TEST_F(PostgresAttachment, ALargeOneIsHeldOnceWhereverItGoes) {
  if (!kCountsMemory) GTEST_SKIP() << "a sanitizer needs memory of its own";
  constexpr std::size_t kBytes = 160 * kMegabyte;
  const std::size_t nothing =
      peakBytes([&] { must(must(SessionStore::open(url_))->createSession({.sessionId = "s"})); });
  // The payload, and at most a few parts beside it.
  constexpr std::size_t kRest = 64 * kMegabyte;
  const std::size_t appended = peakBytes([&] {
    std::vector<Entry> entries;
    entries.push_back(entryOf("message", "{}", "a"));
    entries.back().payload = payloadOf("x", kBytes);
    must(must(SessionStore::open(url_))->appendSessionEntries("s", std::move(entries)));
  });
  EXPECT_LT(appended, nothing + kBytes + kRest);
  const std::size_t loaded = peakBytes([&] {
    const auto entries = must(must(SessionStore::open(url_))->loadSessionEntries("s"));
    EXPECT_EQ(entries.back().payload.size(), kBytes + 8);
  });
  EXPECT_LT(loaded, nothing + kBytes + kRest);
}

TEST_F(PostgresAttachment, ManyAreCopiedAFewAtATime) {
  if (!kCountsMemory) GTEST_SKIP() << "a sanitizer needs memory of its own";
  constexpr int kCount = 60;
  constexpr std::size_t kBytes = 4 * kMegabyte;
  const TempFolder folder;
  {
    auto store = must(SessionStore::open(folder / "store"));
    must(store->createSession({.sessionId = "s"}));
    for (int i = 0; i < kCount; ++i) {
      const std::string id = "a" + std::to_string(i);
      must(store->appendSessionEntries("s", {entryOf("message", payloadOf(id, kBytes), id)}));
    }
  }
  const auto within = [&](const std::function<void(StoreSide&, StoreSide&)>& work) {
    return peakBytes([&] {
      auto left = must(StoreSide::open(folder / "store"));
      auto right = must(StoreSide::open(url_));
      work(left, right);
    });
  };
  const std::size_t most = kCount * kBytes / 2;
  EXPECT_LT(within([](StoreSide& left, StoreSide& right) { must(syncSession(left, right, "s")); }), most);
  EXPECT_LT(within([](StoreSide& left, StoreSide& right) { must(copySession(left, right, "s")); }), most);
  EXPECT_LT(within([](StoreSide& left, StoreSide& right) { must(copySession(right, left, "s")); }), most);
  auto store = must(SessionStore::open(url_));
  EXPECT_EQ(must(store->loadSessionEntries("s", {.limitBytes = 10 * kMegabyte})).size(), 4U);  // including the header
  EXPECT_EQ(must(store->verifySession("s")).problemCount, 0U);
}

TEST_F(PostgresAttachment, OneThatWasChangedOrIsGoneCostsItsEntryAlone) {
  auto store = must(SessionStore::open(url_));
  must(store->createSession({.sessionId = "s"}));
  const std::string payload = payloadOf("x", 9 * kMegabyte);
  must(store->appendSessionEntries("s", {entryOf("message", payload, "a")}));
  const TempFolder folder;
  auto here = must(StoreSide::open(url_));
  auto there = must(StoreSide::open(folder / "store"));
  const auto expectLost = [&](std::string_view why) {
    for (const Entry& lost : {must(store->loadSessionEntries("s")).at(1), must(store->loadEntry("s", "a"))}) {
      EXPECT_EQ(lost.id, "a");
      EXPECT_EQ(lost.type, "unreadable");
      EXPECT_TRUE(lost.payload.contains(why)) << lost.payload;
    }
    EXPECT_GT(must(store->sessionState("s")).lostPayloads, 0U);
  };
  // The remaining parts have no gap between them.
  sql("DELETE FROM " + schema_ + ".attachments WHERE part = 2");
  expectLost("is not what its name says");
  EXPECT_EQ(refused(copySession(here, there, "s")).code, ErrorCode::Damaged);
  const VerifyReport report = must(store->verifySession("s"));
  EXPECT_EQ(report.problemCount, 1U);
  EXPECT_EQ(report.problems.front().kind, ProblemKind::Attachment);
  EXPECT_GT(report.problems.front().bytes, 64U);
  must(store->appendSessionEntries("s", {entryOf("message", payload, "b")}));  // brings the part back
  EXPECT_EQ(must(store->loadSessionEntries("s")).back().payload, payload);
  EXPECT_EQ(must(store->sessionState("s")).lostPayloads, 0U);
  sql("UPDATE " + schema_ + ".attachments SET bytes = overlay(bytes PLACING 'y' FROM 100) WHERE part = 1");
  expectLost("is not what its name says");
  sql("DELETE FROM " + schema_ + ".attachments");
  expectLost("is missing");
  // A redacted entry shows nothing, whether or not its attachment is lost.
  must(store->redactEntry("s", "a", "test", "its attachment is gone"));
  must(store->redactEntry("s", "b", "test", "its attachment is gone"));
  must(store->loadSessionEntries("s"));
  EXPECT_EQ(must(store->sessionState("s")).lostPayloads, 0U);
}

TEST_F(PostgresAttachment, OneThatIsGoneComesBackFromAnotherStore) {
  const TempFolder folder;
  auto here = must(StoreSide::open(url_));
  auto there = must(StoreSide::open(folder / "store"));
  must(here.store->createSession({.sessionId = "s"}));
  const std::string payload = payloadOf("x", 9 * kMegabyte);
  must(here.store->appendSessionEntries("s", {entryOf("message", payload, "a")}));
  must(copySession(here, there, "s"));
  const auto lose = [&] { sql("DELETE FROM " + schema_ + ".attachments WHERE part = 2"); };
  const auto expectBack = [&] {
    EXPECT_EQ(must(here.store->loadSessionEntries("s")).back().payload, payload);
    EXPECT_EQ(must(here.store->verifySession("s")).problemCount, 0U);
  };
  lose();
  EXPECT_EQ(refused(copySession(here, there, "s")).code, ErrorCode::Damaged);  // the source is only read
  must(copySession(there, here, "s"));
  expectBack();
  lose();
  must(syncSession(there, here, "s"));
  expectBack();
}

}  // namespace
}  // namespace bough
