// What a scan of the files finds is what reading them finds.
#include <bough/catalog.h>
#include <bough/message.h>
#include <bough/transcript.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "support/temp_folder.h"
#include "transcript/files.h"

namespace bough {
namespace {

namespace fs = std::filesystem;

std::string textOf(const Usage& used) {
  return fmt::format("{} {} {} {}", used.inputTokens, used.outputTokens, used.cacheReadTokens, used.cacheWriteTokens);
}

void merge(Usage& sum, const Usage& other) {
  sum.inputTokens = std::max(sum.inputTokens, other.inputTokens);
  sum.outputTokens = std::max(sum.outputTokens, other.outputTokens);
  sum.cacheReadTokens = std::max(sum.cacheReadTokens, other.cacheReadTokens);
  sum.cacheWriteTokens = std::max(sum.cacheWriteTokens, other.cacheWriteTokens);
}

// Each answer once, as reading the file gives it.
std::vector<std::string> readAnswers(const std::string& path) {
  std::map<std::string, std::pair<std::string, Usage>> byId;
  for (const Entry& entry : readAll(path).entries) {
    if (!holdsMessage(entry)) continue;
    const auto message = normalizeEntry(entry);
    if (!message || !message->usage) continue;
    const std::string id = message->id.present ? message->id.decode() : entry.id;
    auto& found = byId[id];
    found.first = message->model.decode();
    merge(found.second, *message->usage);
  }
  std::vector<std::string> out;
  for (const auto& [id, answer] : byId) out.push_back(answer.first + " " + textOf(answer.second));
  std::ranges::sort(out);
  return out;
}

std::vector<std::string> scannedAnswers(const std::string& path) {
  const auto answers = scanTranscriptUsage({{.agent = "claude-code", .path = path, .sizeBytes = 1}});
  EXPECT_TRUE(answers);
  std::map<std::uint64_t, std::pair<std::string, Usage>> byId;
  for (const TranscriptAnswer& each : *answers) {
    auto& found = byId[each.id];
    found.first = each.model;
    merge(found.second, each.tokens);
  }
  std::vector<std::string> out;
  for (const auto& [id, answer] : byId) out.push_back(answer.first + " " + textOf(answer.second));
  std::ranges::sort(out);
  return out;
}

TEST(UsageScan, FindsInEveryFixtureWhatReadingFinds) {
  std::size_t count = 0;
  for (const auto& path : fixtures()) {
    if (path.string().find("/claude-code/") == std::string::npos) continue;
    SCOPED_TRACE(path.string());
    const auto expected = readAnswers(path);
    EXPECT_EQ(scannedAnswers(path), expected);
    count += expected.size();
  }
  EXPECT_GT(count, 20U);
}

TEST(UsageScan, FindsAnswersAcrossThePiecesThatAFileIsReadIn) {
  TempFolder folder;
  const fs::path path = fs::path(folder.path()) / "s.jsonl";
  std::string bytes;
  const std::size_t lines = 3000;
  for (std::size_t i = 0; i < lines; ++i) {
    bytes += fmt::format(
        R"({{"type":"assistant","uuid":"u{0}","parentUuid":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{{"id":"msg_{0}","role":"assistant","model":"m","content":[{{"type":"text","text":"a \"usage\": {{}} {1}"}}],"usage":{{"input_tokens":1,"output_tokens":2}}}}}})"
        "\n",
        i, std::string(i % 1700, 'u'));
    bytes +=
        R"({"type":"user","uuid":"x","toolUseResult":{"usage":{"input_tokens":9}},"message":{"role":"user","content":"x"}})"
        "\n";
  }
  writeBytes(path, bytes);
  EXPECT_EQ(scannedAnswers(path).size(), lines);
}

TEST(UsageScan, ACopyInAnotherFileCountsOnce) {
  TempFolder folder;
  const std::string bytes = readBytes(BOUGH_TESTS_DIR "/transcript/fixtures/claude-code/blocks.jsonl");
  std::vector<FoundTranscript> files;
  for (const char* name : {"a.jsonl", "b.jsonl"}) {
    writeBytes(fs::path(folder.path()) / name, bytes);
    files.push_back({.agent = "claude-code", .path = (fs::path(folder.path()) / name).string()});
  }
  const auto total = [](const std::vector<FoundTranscript>& chosen) {
    const auto answers = scanTranscriptUsage(chosen);
    EXPECT_TRUE(answers);
    std::vector<AnswerUsage> found;
    for (const TranscriptAnswer& each : *answers) {
      found.push_back({.id = each.id,
                       .certain = each.certain,
                       .session = chosen[each.file].path,
                       .model = each.model,
                       .timeMs = each.timeMs,
                       .tokens = each.tokens});
    }
    const UsageReport report = sumUsage(std::move(found), {.by = UsageBy::Model});
    return fmt::format("{} {}", report.total.messages, textOf(report.total.tokens));
  };
  EXPECT_EQ(total(files), total({files.front()}));
  EXPECT_FALSE(scanTranscriptUsage({{.agent = "pi", .path = "x"}}));
}

}  // namespace
}  // namespace bough
