// A fork works in the folder of the session that it continues.

#include <gtest/gtest.h>

#include "cli/names/session_titles.h"
#include "support/failing_backend.h"

namespace bough::cli {
namespace {

TEST(FolderOf, IsNotEmptyWhereItCannotBeRead) {
  const auto backend = std::make_shared<FailingBackend>(makeMemoryBackend());
  const auto store = must(SessionStore::open({.backend = backend}));
  must(store->createSession({.sessionId = "s", .cwd = "/somewhere"}));
  EXPECT_EQ(must(folderOf(*store, "s")), "/somewhere");
  EXPECT_EQ(must(folderOf(*store, "none")), "");
  backend->untilFailure = 0;
  const auto failed = folderOf(*store, "s");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::Io);
}

}  // namespace
}  // namespace bough::cli
