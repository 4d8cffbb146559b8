// The number of backend calls of each operation, which are round trips over a network. The table is a golden file.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "bough/bough.h"
#include "support/counting_backend.h"

namespace bough {
namespace {

class BackendCalls : public testing::Test {
 protected:
  void note(const std::string& operation) { table += fmt::format("{:<50} {}\n", operation, backend->takeCount()); }

  // A session, a fork of it, a fork of that fork, …: `depth` forks, each session with entries of its own.
  Session forkOfDepth(int depth) {
    Session session = must(store->create({.sessionId = "root"}));
    for (int i = 0;; ++i) {
      const auto appended = must(session.append({userText("question"), assistantText("answer")}));
      if (i == depth) return session;
      session = must(session.fork(appended.lastAppendedEntryId, {.sessionId = fmt::format("fork-{}", i + 1)}));
    }
  }

  std::shared_ptr<CountingBackend> backend = std::make_shared<CountingBackend>(makeMemoryBackend());
  std::unique_ptr<SessionStore> store = must(SessionStore::open({.backend = backend, .options = {}}));
  std::string table;
};

TEST_F(BackendCalls, AreAsFewAsTheGoldenTableSays) {
  const Session fork = forkOfDepth(5);
  const Session plain = must(store->create({.sessionId = "plain"}));
  backend->takeCount();

  must(plain.append({userText("hello")}));
  note("append of one entry");
  const std::vector<Entry> ten(10, userText("again"));
  must(fork.append(ten));
  note("append of ten entries to a fork of depth 5");
  must(fork.load({.last = 50}));
  note("the last 50 of a fork of depth 5");
  must(fork.load({.last = 50, .branch = must(fork.head())}));
  note("the head, then the last 50 of its branch");
  must(buildContext(*store, fork.id(), {}));
  note("a context");
  for (int i = 0; i < 20; ++i) must(plain.append(std::vector<Entry>(100, userText("once more"))));
  backend->takeCount();
  EXPECT_FALSE(buildContext(*store, plain.id(), {.budgetTokens = 1}));
  note("a context of 2,000 entries that fits no budget");
  must(fork.tree());
  note("a tree");
  must(fork.labels());
  note("labels");
  auto cursor = must(fork.cursor());
  backend->takeCount();
  must(cursor.next(20));
  note("20 entries of a cursor");
  must(plain.fork(must(plain.head()), {.sessionId = "another"}));
  note("the head, then a fork from it");

  for (int i = 0; i < 1000; ++i) must(store->create({.sessionId = fmt::format("s{}", i)}));
  backend->takeCount();
  must(store->trashSession("s500"));
  note("trash of one of 1,000 sessions");
  auto catalog = must(Catalog::open(*store));
  must(catalog->catchUp());
  EXPECT_EQ(must(catalog->list({.limit = 1000})).size(), 1000U);
  note("a list of 1,000 sessions");

  const std::string path = std::string(BOUGH_TESTS_DIR) + "/golden/backend_calls.txt";
  if (std::getenv("BOUGH_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << table;
  std::stringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_EQ(table, golden.str());
}

}  // namespace
}  // namespace bough
