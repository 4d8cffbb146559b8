// Bytes that were set aside are put back at their place, or later: a failed question does not count as "they are not in
// the log".

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "bough/torn.h"
#include "store_support.h"
#include "support/failing_backend.h"

namespace bough {
namespace {

class PutBackTest : public StoreTest {
 protected:
  // Appends b, c and d to the session. A changed byte in d makes its whole batch look torn.
  void setAside() {
    fill("s", 1);
    Entry b = message("b", "b");
    Entry c = message("c", "c");
    Entry d = message("d", "d");
    b.parentId = "e1";
    c.parentId = "b";
    d.parentId = "c";
    must(store->appendSessionEntries("s", {b, c, d}));
    store.reset();
    std::filesystem::resize_file(logPath("s"), std::filesystem::file_size(logPath("s")) - 20);
    store = open();
    must(store->appendSessionEntries("s", {message("on", "on")}));
    ASSERT_GT(tornBytes(*store, "s"), 0U);
    store.reset();
  }
};

TEST_F(PutBackTest, AFailedLookForAnEntryChangesNothing) {
  setAside();
  auto backend = std::make_shared<FailingBackend>(must(makeFileBackend(folder.path().string())));
  store = must(SessionStore::open({.backend = backend}));
  int failures = 0;
  for (bool done = false; !done; ++failures) {
    backend->untilFailure = failures;
    const auto back = putBackTorn(*store, "s");
    done = back.has_value();
    if (!done) {
      EXPECT_EQ(back.error().code, ErrorCode::Io);
      EXPECT_EQ(idsOf(*store, "s"), (Ids{"e1", "on"}));
    }
  }
  backend->untilFailure = -1;
  EXPECT_GT(failures, 2);
  EXPECT_EQ(must(store->loadEntry("s", "b")).parentId, "e1");
  EXPECT_EQ(must(store->loadEntry("s", "c")).parentId, "b");
}

// The first line is checked against the seal of the log before it, as every line is.
TEST_F(PutBackTest, ADamagedFirstLineIsNotPutBackAsIntact) {
  fill("s", 3);
  store.reset();
  std::string log = slurp(logPath("s"));
  log.replace(log.find("m1"), 2, "#1");
  spill(logPath("s"), log);
  store = open();
  must(store->appendSessionEntries("s", {message("on", "on")}));
  const auto report = must(readTorn(*store, "s"));
  ASSERT_EQ(report.records.size(), 1U);
  Ids intact;
  for (const Entry& entry : report.records[0].entries) intact.push_back(entry.id);
  EXPECT_EQ(intact, (Ids{"e2", "e3"}));
  EXPECT_GT(report.records[0].unreadableBytes, 0U);
  const auto back = must(putBackTorn(*store, "s"));
  EXPECT_EQ(back.appendedCount, 2U);
  EXPECT_GT(back.keptBytes, 0U);
  EXPECT_FALSE(store->loadEntry("s", "e1").has_value());
  EXPECT_EQ(must(store->loadEntry("s", "e3")).parentId, "e2");
}

// An erasure seals the lines of the record again, without the seal of the log before them.
TEST_F(PutBackTest, AnEntryThatWasErasedWhileItWasSetAsideIsIntact) {
  setAside();
  store = open();
  must(store->appendSessionEntries("s", {message("b", "b")}));
  must(store->maintenance().erase({.sessionId = "s", .entryIds = {"b"}, .by = "me", .reason = "a request"}));
  const auto report = must(readTorn(*store, "s"));
  ASSERT_EQ(report.records.size(), 1U);
  ASSERT_FALSE(report.records[0].entries.empty());
  EXPECT_EQ(report.records[0].entries[0].id, "b");
  EXPECT_FALSE(report.records[0].entries[0].payload.contains("\"b\""));
}

}  // namespace
}  // namespace bough
