#include "cli/definition/new_store.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "bough/store.h"
#include "support/temp_folder.h"

namespace bough::cli {
namespace {

std::unique_ptr<SessionStore> openNew(const std::string& location) {
  StoreOptions options;
  options.create = true;
  auto store = SessionStore::open(location, options);
  EXPECT_TRUE(store);
  return store ? std::move(*store) : nullptr;
}

TEST(NewStore, AnEmptyOneIsRemovedWithItsFolders) {
  const TempFolder folder;
  NewStore made;
  made.watch(folder / "a/b");
  ASSERT_NE(openNew(folder / "a/b"), nullptr);
  made.removeEmpty();
  EXPECT_FALSE(std::filesystem::exists(folder / "a"));
}

TEST(NewStore, OneThatSomebodyElseHasOpenStays) {
  const TempFolder folder;
  NewStore made;
  made.watch(folder / "a/b");
  ASSERT_NE(openNew(folder / "a/b"), nullptr);
  const auto other = openNew(folder / "a/b");
  ASSERT_NE(other, nullptr);
  made.removeEmpty();
  const auto stored = other->createSession({.sessionId = "s"});
  EXPECT_TRUE(stored) << stored.error().message;
  EXPECT_TRUE(std::filesystem::exists(folder / "a/b/sessions/s.jsonl"));
}

}  // namespace
}  // namespace bough::cli
