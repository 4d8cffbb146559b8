// Answers of an open catalog while other processes empty the file: an erasure removes its tables, a rebuild creates
// them again.

#include <atomic>
#include <thread>

#include "catalog/catalog_support.h"

namespace bough {
namespace {

class EmptiedCatalogTest : public CatalogTest {
 protected:
  void SetUp() override {
    for (const char* id : {"a", "b", "c"}) {
      make({.sessionId = id, .key = std::string("main:cli:") + id},
           {said("user", "alpha", id + std::string("1")), answered(textBlock("beta"), id + std::string("2"), id)});
    }
  }
  // Erases an entry that does not matter here; all derived data is removed.
  void erase() {
    const std::string id = append("c", {said("user", "gamma")}).lastAppendedEntryId;
    must(other->maintenance().erase({.sessionId = "c", .entryIds = {id}, .by = "me", .reason = "why"}));
  }
  static void expectAll(Catalog& catalog) {
    for (const auto& [what, ask] : questions()) EXPECT_EQ(ask(catalog), 3u) << what;
  }
  // Each question has the result 3.
  static std::vector<std::pair<std::string, std::function<std::size_t(Catalog&)>>> questions() {
    return {
        {"count", [](Catalog& catalog) { return must(catalog.count()); }},
        {"list", [](Catalog& catalog) { return must(catalog.list()).size(); }},
        {"session", [](Catalog& catalog) { return must(catalog.session("b")).entries; }},
        {"key", [](Catalog& catalog) { return must(catalog.currentSession("main:cli:a")) == "a" ? 3u : 0u; }},
        {"name", [](Catalog& catalog) { return must(catalog.findByName("main:cli:b")).sessions.at(0).entries; }},
        {"search", [](Catalog& catalog) { return must(catalog.search("beta")).size(); }},
        {"usage", [](Catalog& catalog) { return must(catalog.usage()).total.messages; }},
        {"expired", [](Catalog& catalog) { return must(catalog.expired(INT64_MAX, 1)).size(); }},
    };
  }

  std::unique_ptr<SessionStore> other = must(SessionStore::open(location));
};

TEST_F(EmptiedCatalogTest, ARebuildThatHasOnlyBegunHidesNothing) {
  for (const auto& [what, ask] : questions()) {
    auto reader = open(true);
    auto rebuilder = must(Catalog::open(*other));
    must(rebuilder->rebuild({.search = true, .progress = [&](const CatchUpProgress&) { return false; }}));
    EXPECT_EQ(ask(*reader), 3u) << what;
  }
}

TEST_F(EmptiedCatalogTest, NothingIsHiddenAfterAnErasureWhoeverMakesTheTablesAgain) {
  for (const bool madeAgain : {false, true}) {
    for (const auto& [what, ask] : questions()) {
      auto reader = open(true);
      erase();
      if (madeAgain) must(Catalog::open(*other));
      EXPECT_EQ(ask(*reader), 3u) << what;
    }
  }
}

TEST_F(EmptiedCatalogTest, WhatWasPlannedForACatalogIsNotAllOfOneThatWasEmptiedMeanwhile) {
  for (const bool erased : {false, true}) {
    auto reader = open(true);
    append("a", {said("user", "delta")});
    bool first = true;
    must(reader->catchUp({.search = true, .progress = [&](const CatchUpProgress&) {
                            if (!std::exchange(first, false)) return true;
                            if (erased) {
                              erase();
                            } else {
                              auto rebuilder = must(Catalog::open(*other));
                              must(rebuilder->rebuild({.progress = [](const CatchUpProgress&) { return false; }}));
                            }
                            return true;
                          }}));
    expectAll(*reader);
    EXPECT_FALSE(must(reader->search("delta")).empty());
    EXPECT_EQ(must(must(Catalog::open(*other))->count()), 3u);
  }
}

TEST_F(EmptiedCatalogTest, ReadersSeeEverythingWhileOthersEraseAndRebuild) {
  constexpr int kRounds = 15;
  std::atomic<bool> done = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      auto mine = must(SessionStore::open(location));
      auto catalog = must(Catalog::open(*mine));
      do {
        const auto taken = catalog->catchUp();
        EXPECT_TRUE(taken) << taken.error().message;
        const auto counted = catalog->count();
        EXPECT_EQ(counted.value_or(0), 3u) << (counted ? "" : counted.error().message);
        const auto current = catalog->currentSession("main:cli:a");
        EXPECT_EQ(current.value_or("nothing"), "a") << (current ? "" : current.error().message);
      } while (!done);
    });
  }
  auto rebuilder = must(Catalog::open(*other));
  for (int i = 0; i < kRounds; ++i) {
    if (i % 3 == 0) erase();
    must(rebuilder->rebuild());
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace bough
