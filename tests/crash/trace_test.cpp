// The order of writes and syncs, operation by operation: data before its name, the name before the acknowledgement, an
// attachment before the entry that names it. tests/golden/trace has traces checked by a person.

#include <gtest/gtest.h>

#include <functional>

#include "crash/ledger.h"
#include "support/golden.h"

namespace bough {
namespace {

class Trace : public testing::Test {
 protected:
  Trace() { options_.attachmentBytes = 1000; }

  // Returns the file operations of a new process that does this work.
  std::string traceOf(const std::function<void(World&)>& work) {
    World world(files_, options_, 2);
    EXPECT_TRUE(world.isOpen());
    files_.clearTrace();
    work(world);
    return files_.trace();
  }
  void prepare() {
    World world(files_, options_);
    ASSERT_TRUE(world->createSession({.sessionId = "a"}));
    ASSERT_TRUE(world->appendSessionEntries("a", {message("one"), message("two")}));
  }

  SimFileSystem files_;
  StoreOptions options_;
};

TEST_F(Trace, OfCreate) {
  World world(files_, options_);
  ASSERT_TRUE(world.isOpen());
  ASSERT_TRUE(world->createSession({.sessionId = "a", .title = "golden"}));
  EXPECT_TRUE(matchesGolden("trace/create.txt", files_.trace()));
}

TEST_F(Trace, OfAppend) {
  prepare();
  EXPECT_TRUE(matchesGolden("trace/append.txt", traceOf([](World& world) {
                              ASSERT_TRUE(world->appendSessionEntries("a", {message("three")}));
                              ASSERT_TRUE(world->appendSessionEntries("a", {message("four")}));
                            })));
}

TEST_F(Trace, OfAppendBatch) {
  prepare();
  EXPECT_TRUE(matchesGolden("trace/append_batch.txt", traceOf([](World& world) {
                              std::vector<Entry> batch;
                              for (int i = 0; i < 1000; ++i) batch.push_back(message("m" + std::to_string(i)));
                              ASSERT_TRUE(world->appendSessionEntries("a", batch));
                            })));
}

TEST_F(Trace, OfAttachment) {
  prepare();
  EXPECT_TRUE(matchesGolden("trace/attachment.txt", traceOf([](World& world) {
                              ASSERT_TRUE(world->appendSessionEntries("a", {message("large", 5000)}));
                              ASSERT_TRUE(world->appendSessionEntries("a", {message("small")}));
                            })));
}

TEST_F(Trace, OfMigrate) {
  prepare();
  files_.put("/store/sessions/z.jsonl",
             R"({"type":"session_header","id":"h","parentId":null,"timestamp":"2026-01-01T00:00:00Z","payload":{}})"
             "\n"
             R"({"id":"old","parentId":"h","type":"message","timestamp":"2026-01-01T00:00:01Z","payload":{}})"
             "\n");
  EXPECT_TRUE(
      matchesGolden("trace/migrate.txt", traceOf([](World& world) { ASSERT_TRUE(world->migrateSession("z")); })));
}

TEST_F(Trace, OfArchive) {
  prepare();
  // Leaves out the compressed size, which depends on zstd.
  std::string trace = traceOf([](World& world) { ASSERT_TRUE(world->archiveSession("a")); });
  std::string shown;
  for (std::size_t at = 0; at < trace.size();) {
    const std::size_t end = trace.find('\n', at);
    const std::string line = trace.substr(at, end - at);
    shown += (line.starts_with("write archive/") ? line.substr(0, line.find(' ', 6)) : line) + "\n";
    at = end + 1;
  }
  EXPECT_TRUE(matchesGolden("trace/archive.txt", shown));
}

TEST_F(Trace, OfRestore) {
  prepare();
  (void)traceOf([](World& world) { ASSERT_TRUE(world->archiveSession("a")); });
  EXPECT_TRUE(matchesGolden("trace/restore.txt", traceOf([](World& world) {
                              ASSERT_TRUE(world->appendSessionEntries("a", {message("three")}));
                            })));
}

TEST_F(Trace, OfRecover) {
  prepare();
  files_.put("/store/sessions/a.jsonl", files_.contents("/store/sessions/a.jsonl").value() + "{\"id\":\"torn");
  EXPECT_TRUE(matchesGolden("trace/recover.txt", traceOf([](World& world) {
                              ASSERT_TRUE(world->appendSessionEntries("a", {message("three")}));
                            })));
}

TEST_F(Trace, OfDelete) {
  prepare();
  (void)traceOf([](World& world) { ASSERT_TRUE(world->branchFromEntry("a", "two", {.sessionId = "b"})); });
  EXPECT_TRUE(matchesGolden("trace/delete.txt", traceOf([](World& world) {
                              ASSERT_TRUE(world->deleteSession("a", {.detachForks = true}));
                            })));
}

}  // namespace
}  // namespace bough
