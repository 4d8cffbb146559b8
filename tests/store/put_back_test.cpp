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

}  // namespace
}  // namespace bough
