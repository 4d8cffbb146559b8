// What a session remembers of the lines of its files.
#include "transcript/line_table.h"

#include <gtest/gtest.h>

#include "transcript/model/agent.h"

namespace bough::transcript {
namespace {

Entry entryOf(std::string id, const std::string& agent, int sizeBytes) {
  Entry entry;
  entry.id = std::move(id);
  entry.type = entry_type::kSessionInfo;
  entry.payload =
      R"({"transcript":{"agent":")" + agent + R"(","at":5,"size":)" + std::to_string(sizeBytes) + R"(,"line":["x"]}})";
  return entry;
}

TEST(LineTable, LinesOfDifferentAgentsAreDifferentRecordsHoweverManyAgentsThereAre) {
  constexpr std::size_t kAgents = 300;
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < kAgents; ++i) entries.push_back(entryOf("e" + std::to_string(i), std::to_string(i), 1));
  entries.push_back(entryOf("own", "codex", 1));
  entries.push_back(entryOf("other", "other", 0));
  const EntryList list(entries);
  const LineTable lines(list, *findAgent("codex"));
  std::vector<bool> own(entries.size());
  own[kAgents] = true;
  EXPECT_EQ(lines.wholeRecords(own), own);
}

}  // namespace
}  // namespace bough::transcript
