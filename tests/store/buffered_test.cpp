// Buffered appends: no accepted entry is lost silently.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <semaphore>
#include <thread>
#include <vector>

#include "store/file/file_backend.h"
#include "store/session_buffer.h"
#include "store/store_support.h"
#include "support/hooked_serializer.h"
#include "support/sim_environment.h"

namespace bough {
namespace {

class Buffered : public StoreTest {
 protected:
  static constexpr StoreOptions kOptions{.durability = Durability::Buffered, .bufferedMs = 1'000'000};
};

// The store is closed during an append: close waits for the append and writes its entries.
TEST_F(Buffered, ClosingLosesNothingThatIsBeingAccepted) {
  HookedSerializer serializer;
  auto backend = makeMemoryBackend(serializer);
  store = must(SessionStore::open({.backend = backend, .options = kOptions}));
  must(store->createSession({.sessionId = "s"}));
  std::future<Result<void>> closed;
  serializer.beforeDecode([&] {
    closed = std::async(std::launch::async, [&] { return store->close(); });
    (void)closed.wait_for(std::chrono::milliseconds(50));
  });
  must(store->appendSessionEntries("s", {message("x", "b1")}));
  must(closed.get());
  EXPECT_EQ(refused(store->appendSessionEntries("s", {message("x", "b2")})).code, ErrorCode::Closed);
  EXPECT_EQ(idsOf(*must(SessionStore::open({.backend = backend, .options = {}})), "s"), (Ids{"b1"}));
}

TEST_F(Buffered, AMoveOfTheHeadAndARedactionAreDurableAtOnce) {
  store = open(kOptions);
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("one", "a"), message("two", "b")}));
  must(store->moveHead("s", "a"));
  const auto other = open();
  EXPECT_EQ(must(other->sessionState("s")).headId, "a");
  must(store->redactEntry("s", "b", "me", "why"));
  EXPECT_EQ(must(other->loadEntry("s", "b")).payload.find("two"), std::string::npos);
}

// The first caller is told of a loss; a later flush reports it nevertheless.
TEST_F(Buffered, AFlushTellsOfALossThatAReaderWasToldOf) {
  auto other = open();
  store = open(kOptions);
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("m", "x")}));
  must(other->appendSessionEntries("s", {message("other", "x")}));
  EXPECT_EQ(refused(store->loadSessionEntries("s")).code, ErrorCode::IdConflict);
  EXPECT_EQ(idsOf(*store, "s"), (Ids{"x"})) << "told once, a reader goes on";
  EXPECT_EQ(refused(store->flush()).code, ErrorCode::IdConflict);
  must(store->flush());
  must(store->close());
}

// Calls that examine the whole store write the buffers of all sessions. Such a write does not count as a flush that the
// program requested.
TEST_F(Buffered, AFlushTellsOfALossThatAnyOtherCallWasToldOf) {
  const std::vector<std::function<bool(SessionStore&)>> calls{
      [](SessionStore& seen) { return seen.changesSince("").has_value(); },
      [](SessionStore& seen) { return seen.followAll().has_value(); },
      [](SessionStore& seen) { return seen.maintenance().findUnusedAttachments().has_value(); },
      [](SessionStore& seen) { return seen.maintenance().removeUnusedAttachments({}).has_value(); },
      [](SessionStore& seen) {
        return seen.maintenance().erase({.sessionId = "t", .entryIds = {"e"}, .by = "b", .reason = "r"}).has_value();
      },
      [](SessionStore& seen) {
        return seen.maintenance().trash({{.sessionId = "t", .detachForks = true}}).front().has_value();
      }};
  auto other = open();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    SCOPED_TRACE(i);
    const std::string id = "s" + std::to_string(i);
    store = open(kOptions);
    must(store->createSession({.sessionId = id}));
    must(store->appendSessionEntries(id, {message("m", "x")}));
    must(other->appendSessionEntries(id, {message("other", "x")}));
    EXPECT_FALSE(calls[i](*store));
    EXPECT_EQ(refused(store->flush()).code, ErrorCode::IdConflict);
    must(store->flush());
  }
}

TEST_F(Buffered, AClosingTellsOfALossThatAnAppendWasToldOf) {
  auto other = open();
  store = open(kOptions);
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("m", "x")}));
  must(other->appendSessionEntries("s", {message("other", "x")}));
  EXPECT_EQ(refused(store->loadEntry("s", "x")).code, ErrorCode::IdConflict);
  must(store->appendSessionEntries("s", {message("m", "y")}));
  EXPECT_EQ(refused(store->close()).code, ErrorCode::IdConflict);
}

TEST_F(Buffered, EverySessionThatLosesSomethingIsToldOf) {
  auto other = open();
  store = open(kOptions);
  for (const std::string id : {"a", "b", "c"}) {
    must(store->createSession({.sessionId = id}));
    must(store->appendSessionEntries(id, {message("x", "x")}));
    if (id != "c") must(other->appendSessionEntries(id, {message("other", "x")}));
  }
  const Error error = refused(store->flush());
  EXPECT_EQ(error.code, ErrorCode::IdConflict);
  EXPECT_FALSE(error.retryable);
  EXPECT_TRUE(error.message.contains("1 buffered entries of session a were not stored")) << error.message;
  EXPECT_TRUE(error.message.contains("1 buffered entries of session b were not stored")) << error.message;
  EXPECT_FALSE(error.message.contains("session c")) << error.message;
  must(store->close());
  EXPECT_EQ(idsOf(*other, "c"), (Ids{"x"}));
}

TEST_F(Buffered, ABatchThatCannotBeStoredTakesNoOtherWithIt) {
  auto other = open();
  store = open(kOptions);
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("m", "g1"), message("m", "g2")}));
  must(store->appendSessionEntries("s", {message("m", "x"), message("m", "x2")}));
  must(store->appendSessionEntries("s", {message("m", "g3", "g2"), message("m", "g4")}));
  must(store->appendSessionEntries("s", {message("m", "x3", "x2")}));
  must(other->appendSessionEntries("s", {message("other", "x")}));
  const Error error = refused(store->flush());
  EXPECT_EQ(error.code, ErrorCode::IdConflict);
  EXPECT_TRUE(error.message.contains("an entry x with other content")) << error.message;
  EXPECT_TRUE(error.message.contains("entry x3: its parent x2 is not an entry")) << error.message;
  EXPECT_TRUE(error.message.contains("3 buffered entries of session s were not stored")) << error.message;
  must(store->close());
  EXPECT_EQ(idsOf(*other, "s"), (Ids{"x", "g1", "g2", "g3", "g4"}));
}

// The append that fills the buffer triggers the flush: it reports the result of its own entries, and the next append
// reports the others.
TEST_F(Buffered, AFlushByCountRefusesOnlyWhatIsNotStored) {
  auto other = open();
  store = open({.durability = Durability::Buffered, .bufferedEntries = 2, .bufferedMs = 1'000'000});
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("m", "x")}));
  must(other->appendSessionEntries("s", {message("other", "x")}));
  must(store->appendSessionEntries("s", {message("m", "g1", "")}));
  EXPECT_EQ(refused(store->appendSessionEntries("s", {message("m", "g2")})).code, ErrorCode::IdConflict);
  EXPECT_EQ(idsOf(*other, "s"), (Ids{"x", "g1"}));
}

// One session was removed; the disk is full for the other.
TEST(BufferedSim, AClosedStoreStaysOpenAsLongAsAnythingWaits) {
  SimFileSystem files;
  SimEnvironment world{files};
  const auto open = [&] {
    auto backend = must(FileBackend::open("/store", {}, jsonEntrySerializer(), world.environment()));
    return must(SessionStore::open(SessionStoreInit{
        .backend = backend, .options = {.durability = Durability::Buffered, .bufferedMs = 1'000'000}}));
  };
  auto store = open();
  for (const std::string id : {"a", "b"}) {
    must(store->createSession({.sessionId = id}));
    must(store->appendSessionEntries(id, {message("x", id + "1")}));
  }
  must(open()->deleteSession("a"));
  files.limitSpace(0);
  const Error error = refused(store->close());
  EXPECT_TRUE(error.retryable);
  EXPECT_EQ(error.code, ErrorCode::NoSpace);
  EXPECT_TRUE(error.message.contains("1 buffered entries of session a were not stored")) << error.message;
  EXPECT_TRUE(error.message.contains("1 buffered entries of session b still wait")) << error.message;
  files.limitSpace(std::nullopt);
  must(store->close());
  EXPECT_EQ(idsOf(*open(), "b"), (Ids{"b1"}));
}

// A session that only counts the writes to it.
class WrittenSession final : public StoredSession {
 public:
  explicit WrittenSession(std::function<void()> onAppend) : onAppend_(std::move(onAppend)) {}
  [[nodiscard]] const std::string& sessionId() const override { return id_; }
  [[nodiscard]] Result<AppendResult> append(AppendRequest&) override {
    onAppend_();
    return AppendResult();
  }
  [[nodiscard]] Result<SessionState> state() override { return SessionState(); }
  [[nodiscard]] Result<Entry> header() override { return Entry(); }
  [[nodiscard]] Result<LoadResult> load(const LoadQuery&) override { return LoadResult(); }
  [[nodiscard]] Result<std::vector<Entry>> loadOwn(std::uint64_t, std::size_t) override { return std::vector<Entry>(); }
  [[nodiscard]] Result<SessionShape> shape() override { return SessionShape(); }
  [[nodiscard]] Result<std::vector<SessionLabel>> labels() override { return std::vector<SessionLabel>(); }
  [[nodiscard]] Result<std::vector<std::string>> findIds(std::string_view, std::size_t) override { return Ids(); }
  [[nodiscard]] Result<void> exportLines(const std::function<bool(std::string_view)>&) override { return {}; }
  [[nodiscard]] Result<std::unique_ptr<ChangeWatcher>> watch() override { return nullptr; }

 private:
  std::function<void()> onAppend_;
  std::string id_ = "s";
};

// Tests the order of events, because times on a loaded machine prove nothing.
TEST(SessionBufferTest, EachWaitsAsLongAsItIsTold) {
  std::binary_semaphore flushed(0);
  std::atomic<int> slowWrites = 0;
  const auto fastSession = std::make_shared<WrittenSession>([&] { flushed.release(); });
  const auto slowSession = std::make_shared<WrittenSession>([&] { ++slowWrites; });
  SessionBuffer fast(1000, 1);
  SessionBuffer slow(1000, 8000);
  const auto add = [](std::vector<Entry>& waiting) -> Result<AppendResult> {
    waiting.push_back(message("x"));
    return {};
  };
  must(slow.accept(slowSession, add));
  for (int i = 0; i < 20; ++i) {
    must(fast.accept(fastSession, add));
    flushed.acquire();
  }
  EXPECT_EQ(slowWrites, 0) << "twenty short waits are over before one long one";
  must(slow.flush("s"));
  EXPECT_EQ(slowWrites, 1);
}

// The second close starts while the first is still writing the buffers.
TEST_F(Buffered, ASecondCloseWaitsForTheFirst) {
  HookedSerializer serializer;
  store = must(SessionStore::open({.backend = makeMemoryBackend(serializer), .options = kOptions}));
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("x", "b1")}));
  std::atomic<bool> written = false;
  std::promise<void> secondDone;
  std::thread second;
  serializer.beforeEncode([&] {
    second = std::thread([&] {
      must(store->close());
      EXPECT_TRUE(written);
      secondDone.set_value();
    });
    (void)secondDone.get_future().wait_for(std::chrono::milliseconds(100));  // give it a chance to finish too early
    written = true;
  });
  must(store->close());
  ASSERT_TRUE(second.joinable());
  second.join();
}

}  // namespace
}  // namespace bough
