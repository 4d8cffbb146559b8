// What waits in memory: nothing that was accepted goes without a word.

#include <gtest/gtest.h>

#include "store/store_support.h"
#include "support/hooked_serializer.h"

namespace bough {
namespace {

class Buffered : public StoreTest {
 protected:
  static constexpr StoreOptions kOptions{.durability = Durability::Buffered, .bufferedMs = 1'000'000};
};

// The store is closed between the first look of an append and the moment it is taken in.
TEST_F(Buffered, NothingIsAcceptedOnceClosingHasBegun) {
  HookedSerializer serializer;
  auto backend = makeMemoryBackend(serializer);
  store = must(SessionStore::open({.backend = backend, .options = kOptions}));
  must(store->createSession({.sessionId = "s"}));
  serializer.beforeDecode([&] { must(store->close()); });
  EXPECT_EQ(refused(store->appendSessionEntries("s", {message("x", "b1")})).code, ErrorCode::Closed);
}

}  // namespace
}  // namespace bough
