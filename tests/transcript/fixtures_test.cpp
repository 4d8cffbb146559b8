// Every fixture of every agent: what is read from it, and that writing it gives the same bytes.
//
// tests/transcript/fixtures/AGENT/NAME is a file of that agent; tests/golden/transcript/AGENT/NAME.txt has what bough
// reads from it.
#include <bough/message.h>
#include <bough/transcript.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/golden.h"
#include "support/temp_folder.h"
#include "transcript/files.h"

namespace bough {
namespace {

// Returns what a person would check: every entry with its parent and its text, then the facts and the damage.
std::string describe(const ReadFile& file) {
  std::string out;
  for (const Entry& entry : file.entries) {
    const auto summary = summarizeEntry(entry, 60);
    out += fmt::format("{} <- {} {} {} {}\n", entry.id, entry.parentId.value_or("-"), entry.type, entry.timestamp,
                       isControlType(entry.type) ? "" : summary.speaker + ": " + summary.text);
  }
  const TranscriptReport& report = file.report;
  const TranscriptFacts& facts = report.facts;
  out += fmt::format("agent {} session {} key {} cwd {} title {} model {} created {} version {} parent {} {}\n",
                     facts.agent, facts.sessionId, facts.key, facts.cwd, facts.title, facts.model, facts.created,
                     facts.version, facts.parentSession, facts.parentEntryId);
  out += fmt::format("head {} entries {} messages {} recovered {} unreadable {} covered {} of {}\n", report.headId,
                     report.entries, report.messages, report.recovered, report.unreadable, report.coveredBytes,
                     report.bytes);
  for (const TranscriptDamage& damage : report.damage) {
    out += fmt::format("damage at {} of {} bytes: {}{}\n", damage.offset, damage.sizeBytes, damage.reason,
                       damage.recovered ? " (recovered)" : "");
  }
  return out;
}

TEST(Fixtures, AreReadAsTheirExpectedFilesSay) {
  for (const auto& path : fixtures()) {
    SCOPED_TRACE(path.string());
    const auto name = std::filesystem::relative(path, BOUGH_TESTS_DIR "/transcript/fixtures");
    EXPECT_TRUE(matchesGolden("transcript/" + name.string() + ".txt", describe(readAll(path))));
  }
}

TEST(Fixtures, ComeOutAsTheyWentIn) {
  for (const auto& path : fixtures()) {
    SCOPED_TRACE(path.string());
    const ReadFile file = readAll(path);
    EXPECT_EQ(writeAll(file.entries, {.agent = file.report.facts.agent}), readBytes(path));
  }
}

// A growing file: read up to any byte, then the rest. The written result equals the file, and no id is used twice.
TEST(Fixtures, ThatGrowContinueWhereTheyWereRead) {
  TempFolder folder;
  for (const auto& path : fixtures()) {
    if (path.extension() == ".json") continue;  // a document is not appended to
    SCOPED_TRACE(path.string());
    const std::string bytes = readBytes(path);
    const std::string agent = readAll(path).report.facts.agent;
    const std::filesystem::path grown = std::filesystem::path(folder.path()) / path.filename();
    const std::size_t step = std::max<std::size_t>(1, bytes.size() / 12);
    for (std::size_t cut = step; cut < bytes.size(); cut += step) {
      writeBytes(grown, bytes.substr(0, cut));
      const auto recognized = recognizeTranscript(grown);
      if (!recognized || *recognized != agent) continue;  // too short to recognize
      ReadFile file = readAll(grown);
      writeBytes(grown, bytes);
      const ReadFile rest = readAll(grown, file.report.coveredBytes);
      for (const Entry& entry : rest.entries) {
        const auto same = [&](const Entry& other) { return other.id == entry.id; };
        ASSERT_TRUE(std::ranges::none_of(file.entries, same)) << entry.id << " was given twice; cut at " << cut;
        file.entries.push_back(entry);
      }
      ASSERT_EQ(writeAll(file.entries, {.agent = agent}), bytes) << "cut at " << cut;
    }
  }
}

}  // namespace
}  // namespace bough
