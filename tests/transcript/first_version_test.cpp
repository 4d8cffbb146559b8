// The first version of pi's format, whose lines have no ids: each continues the previous one. OpenClaw has such files,
// too.
#include <gtest/gtest.h>

#include "files.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

TEST(FirstVersion, WhatIsAddedFollowsTheLastLine) {
  const TempFolder folder;
  const std::string folderOfAgent = folder / ".openclaw/agents/main/sessions/";
  const std::string bytes =
      R"({"type":"session","id":"aaaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/tmp"})"
      "\n"
      R"({"type":"message","timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"one","timestamp":1}})"
      "\n"
      R"({"type":"message","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"user","content":"two","timestamp":1}})"
      "\n";
  for (const std::string& path : {folder / "s.jsonl", folderOfAgent + "s.jsonl"}) {
    writeBytes(path, bytes);
    const auto store = memoryStore();
    const ImportResult done = import(*store, path);
    const std::string agent = done.report.facts.agent;
    SCOPED_TRACE(agent);
    Entry more;
    more.type = entry_type::kMessage;
    more.payload = R"({"dialect":"bough","message":{"role":"user","content":"three"}})";
    ASSERT_TRUE(store->appendSessionEntries(done.sessionId, {more}));
    const auto entries = store->loadSessionEntries(done.sessionId);
    ASSERT_TRUE(entries);
    Entry summary;
    summary.type = entry_type::kCompactionSummary;
    summary.payload =
        fmt::format(R"({{"summary":"four","firstKeptEntryId":"{}","tokensBefore":9}})", entries->back().id);
    ASSERT_TRUE(store->appendSessionEntries(done.sessionId, {summary}));
    const auto all = store->loadSessionEntries(done.sessionId);
    ASSERT_TRUE(all);
    const auto facts = factsForExport(*store, done.sessionId, agent, *all);
    ASSERT_TRUE(facts);
    for (const bool bare : {false, true}) {
      const std::string written = writeAll(*all, {.agent = agent, .facts = *facts, .bare = bare});
      EXPECT_TRUE(written.starts_with(bytes)) << written;
      EXPECT_TRUE(written.contains("\"firstKeptEntryIndex\":3")) << written;
      writeBytes(path, written);
      const ReadFile again = readAll(path);
      EXPECT_EQ(again.report.recovered + again.report.unreadable, 0U) << damageText(again.report);
      EXPECT_EQ(story(again.entries, again.report.headId), "user: one\nuser: two\nuser: three\n");
    }
  }
}

}  // namespace
}  // namespace bough
