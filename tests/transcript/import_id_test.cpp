// Imports into a session whose id somebody chose.
#include <gtest/gtest.h>

#include <algorithm>

#include "files.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

// Lines without ids are named by where they are, in both files alike.
TEST(Import, AnIdThatWasGivenIsNotThatOfAnotherFilesSession) {
  const TempFolder folder;
  const auto file = [&](const std::string& id, std::string_view words, std::string_view more = "") {
    std::string path = folder / (id + ".jsonl");
    writeBytes(path, fmt::format(R"({{"type":"session","id":"{}","key":"k","created":"2026-01-01T00:00:00Z"}})"
                                 "\n"
                                 R"({{"type":"user","content":"{}","ts":"2026-01-01T00:00:01Z"}})"
                                 "\n{}",
                                 id, words, more));
    return path;
  };
  const auto store = memoryStore();
  const ImportOptions named{.agent = {}, .sessionId = "m"};
  ASSERT_TRUE(importTranscript(*store, file("one", "said in one"), named));
  const auto other = importTranscript(*store, file("two", "said in two"), named);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::AlreadyExists);
  EXPECT_TRUE(other.error().hint.contains("--id"));
  // The same file, and one that was given another name and went on.
  ASSERT_TRUE(importTranscript(*store, file("one", "said in one"), named));
  const auto renamed = importTranscript(
      *store,
      file("six", "said in one", "{\"type\":\"assistant\",\"content\":\"more\",\"ts\":\"2026-01-01T00:00:02Z\"}\n"),
      named);
  ASSERT_TRUE(renamed) << renamed.error().message;
  EXPECT_EQ(renamed->appended, 2U);  // with the facts
}

// Such an id is that of a place in a log, which no stored entry may have.
TEST(Import, AnEntryWhoseIdLooksLikeThatOfAPlaceIsImported) {
  const TempFolder folder;
  const std::string path = folder / "places.jsonl";
  writeBytes(path,
             R"({"id":"unreadable:7","parentId":null,"timestamp":"2026-01-01T00:00:00Z","type":"user","content":"one"})"
             "\n"
             R"({"id":"b","parentId":"unreadable:7","timestamp":"2026-01-01T00:00:01Z","type":"user","content":"two"})"
             "\n");
  const auto store = memoryStore();
  const auto imported = importTranscript(*store, path, {.agent = {}, .sessionId = "m"});
  ASSERT_TRUE(imported) << imported.error().message;
  auto session = store->session("m");
  ASSERT_TRUE(session);
  const auto entries = session->load();
  ASSERT_TRUE(entries);
  const auto second = std::ranges::find(*entries, "b", &Entry::id);
  ASSERT_NE(second, entries->end());
  const auto first = std::ranges::find(*entries, second->parentId.value_or(""), &Entry::id);
  ASSERT_NE(first, entries->end());
  EXPECT_TRUE(first->payload.contains("one"));
}

}  // namespace
}  // namespace bough
