// Recently read lines are cached; the cache must never differ from the file.

#include <gtest/gtest.h>

#include <algorithm>

#include <fstream>
#include <random>

#include "bough/store.h"
#include "support/entries.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

class KeptLines : public testing::Test {
 protected:
  KeptLines() { must(store->createSession({.sessionId = "s"})); }

  void append(SessionStore& to, std::size_t count, std::size_t bytes) {
    std::vector<Entry> batch;
    for (std::size_t i = 0; i < count; ++i) {
      all.push_back(
          message(std::string(bytes + i, 'x') + std::to_string(all.size()), "e" + std::to_string(all.size())));
      if (all.size() % 3 == 0) all.back().meta = R"({"payload":{"n":)" + std::to_string(all.size()) + "}}";
      if (all.size() % 5 == 0) all.back().extra = R"("other":[1,{"meta":{}}])";
      if (all.size() % 7 == 0) all.back().runId = "run" + std::to_string(all.size());
      batch.push_back(all.back());
    }
    must(to.appendSessionEntries("s", std::move(batch)));
  }

  void expectLast(std::size_t count) {
    const std::size_t expected = std::min(count, all.size());
    const auto entries = must(store->loadSessionEntries("s", {.last = count, .branch = all.back().id}));
    ASSERT_EQ(entries.size(), expected);
    for (std::size_t i = 0; i < expected; ++i) {
      const Entry& wanted = all[all.size() - expected + i];
      ASSERT_EQ(entries[i].id, wanted.id);
      ASSERT_EQ(entries[i].payload, wanted.payload);
      ASSERT_EQ(entries[i].meta, wanted.meta);
      ASSERT_EQ(entries[i].extra, wanted.extra);
      ASSERT_EQ(entries[i].runId, wanted.runId);
    }
  }

  [[nodiscard]] std::string path() const { return folder / "sessions/s.jsonl"; }

  TempFolder folder;
  std::unique_ptr<SessionStore> store = must(SessionStore::open(folder.path().string()));
  std::vector<Entry> all;
};

TEST_F(KeptLines, TheEndOfABranchIsTheSameHoweverItIsReadAndWhoeverAppends) {
  auto other = must(SessionStore::open(folder.path().string()));
  std::mt19937_64 random(3);
  append(*store, 50, 10);
  for (int round = 0; round < 400; ++round) {
    if (random() % 3 == 0) append(random() % 4 == 0 ? *other : *store, 1 + random() % 3, random() % 20'000);
    expectLast(1 + random() % 120);
    const std::size_t from = random() % all.size();
    const auto part = must(store->loadSessionEntries("s", {.fromSequence = from + 1, .limit = 1 + random() % 9}));
    ASSERT_EQ(part.front().id, all[from].id);
  }
}

TEST_F(KeptLines, DamageBehindOurBackIsNotHidden) {
  append(*store, 100, 200);
  expectLast(50);
  {
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-2000, std::ios::end);
    file.put('\x01');
  }
  const auto entries = store->loadSessionEntries("s", {.last = 50, .branch = all.back().id});
  if (!entries) return;  // the error reports the damage
  EXPECT_EQ(std::ranges::count(*entries, "unreadable", &Entry::type), 1);
}

TEST_F(KeptLines, AFileThatTookTheNameOfAnotherIsReadAnew) {
  append(*store, 100, 200);
  expectLast(50);
  TempFolder elsewhere;
  auto copy = must(SessionStore::open(elsewhere.path().string()));
  must(copy->createSession({.sessionId = "s"}));
  all.clear();
  append(*copy, 100, 201);
  must(copy->close());
  std::filesystem::rename(elsewhere / "sessions/s.jsonl", path());
  expectLast(50);
}

}  // namespace
}  // namespace bough
