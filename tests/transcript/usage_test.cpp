// A scan of the files finds the same usage as reading them.
#include <bough/catalog.h>
#include <bough/message.h>
#include <bough/transcript.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "base/model/usage_counts.h"
#include "support/temp_folder.h"
#include "transcript/files.h"

namespace bough {
namespace {

namespace fs = std::filesystem;

std::string textOf(const Usage& used) {
  return fmt::format("{} {} {} {} {}", used.inputTokens, used.outputTokens, used.cacheReadTokens, used.cacheWriteTokens,
                     used.cacheWriteHourTokens);
}

// Returns each answer once, as reading the file gives it.
std::vector<std::string> readAnswers(const std::string& path) {
  std::map<std::string, std::pair<std::string, Usage>> byId;
  for (const Entry& entry : readAll(path).entries) {
    if (!holdsMessage(entry)) continue;
    const auto message = normalizeEntry(entry);
    if (!message || !message->usage) continue;
    const std::string id = message->id.present ? message->id.decode() : entry.id;
    auto& found = byId[id];
    found.first = message->model.decode();
    raiseTo(found.second, *message->usage);
  }
  std::vector<std::string> out;
  for (const auto& [id, answer] : byId) out.push_back(answer.first + " " + textOf(answer.second));
  std::ranges::sort(out);
  return out;
}

Result<TranscriptUsage> scanFiles(const std::vector<std::string>& paths, const std::string& agent = "claude-code") {
  return scanTranscriptUsage([&](const auto& use) -> Result<void> {
    for (const std::string& path : paths) {
      if (!use({.agent = agent, .path = path, .sizeBytes = 1})) break;
    }
    return {};
  });
}

std::vector<std::string> scannedAnswers(const std::string& path) {
  const auto usage = scanFiles({path});
  EXPECT_TRUE(usage);
  std::vector<std::string> out;
  for (const AnswerUsage& each : usage->answers) out.push_back(std::string(each.model) + " " + textOf(each.tokens));
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
  std::vector<std::string> files;
  for (const char* name : {"a.jsonl", "b.jsonl"}) {
    files.push_back((fs::path(folder.path()) / name).string());
    writeBytes(files.back(), bytes);
  }
  const auto total = [](const std::vector<std::string>& chosen) {
    auto usage = scanFiles(chosen);
    EXPECT_TRUE(usage);
    const UsageReport report = sumUsage(std::move(usage->answers), {.by = UsageBy::Model});
    return fmt::format("{} {}", report.total.messages, textOf(report.total.tokens));
  };
  EXPECT_EQ(total(files), total({files.front()}));
  EXPECT_FALSE(scanFiles({"x"}, "pi"));
}

std::string answerLine(std::string_view id) {
  return fmt::format(
      R"({{"type":"assistant","uuid":"u{0}","parentUuid":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{{"id":"msg_{0}","role":"assistant","model":"m","content":[],"usage":{{"input_tokens":1,"output_tokens":2}}}}}})",
      id);
}

// Most answers are read on a fast path, which no other line may take.
TEST(UsageScan, AnAnswerCountsHoweverItsLineIsWritten) {
  TempFolder folder;
  const std::string path = (fs::path(folder.path()) / "s.jsonl").string();
  const std::string begin = R"({"type":"assistant","uuid":"u","timestamp":"2026-01-01T00:00:00.000Z",)";
  const std::string cache =
      R"("cache_creation_input_tokens":9,"cache_creation":{"a":[1,"}"],"ephemeral_1h_input_tokens":4})";
  const std::string usage = R"("usage":{"input_tokens":7,)" + cache + R"(,"output_tokens":2,"more":null})";
  const std::string message = R"("message":{"id":"i","model":"m","content":[{"text":"a \"b\\ {"}],)" + usage + "}";
  std::string blanks = begin + message + "}";
  for (std::size_t at = 0; (at = blanks.find("\":", at)) != std::string::npos; at += 3) blanks.replace(at, 2, "\" : ");
  const std::string nuls(5, '\0');
  const std::string last = R"(,"usage":{"input_tokens":5,"input_tokens":7,"output_tokens":2,)" + cache + "}}}";
  for (const std::string& line :
       {begin + message + "}", blanks, begin + message + "}\r", begin + message + "}  ", " " + begin + message + "}",
        begin + R"("cwd":"C:\\me\\","n":-1.5e3,"b":true,)" + message + "}",
        R"({"filler":")" + std::string(5000, 'x') + "\"," + begin.substr(1) + message + "}",
        R"({"filler":"x)" + nuls + "\"," + begin.substr(1) + message + "}", nuls + begin + message + "}",
        begin + R"("m\u0065ssage":)" + message.substr(10) + "}",
        begin + R"("message":{"id":"\u0069","model":"\u006d",)" + usage + "}}",
        begin + R"("message":{"id":"i","model":"m","usage":{"input_tokens":1,"cache_read_input_tokens":3})" + last}) {
    SCOPED_TRACE(line);
    writeBytes(path, line + "\n");
    EXPECT_EQ(scannedAnswers(path), std::vector<std::string>{"m 7 2 0 9 4"});
    EXPECT_EQ(scanFiles({path})->unreadable, 0U);
  }
  for (const std::string& line :
       {begin + R"("message":{"id":"i","model":"m","usage":null}})",
        begin + R"("message":{"id":"i","model":"m",)" + usage + R"(,"usage":1}})",
        R"({"type":"user","a":"assistant",)" + message + "}", begin + R"("message":[{)" + usage + "}]}"}) {
    SCOPED_TRACE(line);
    writeBytes(path, line + "\n");
    EXPECT_EQ(scannedAnswers(path), std::vector<std::string>());
    EXPECT_EQ(scanFiles({path})->unreadable, 0U);
  }
}

TEST(UsageScan, SaysWhatItCouldNotRead) {
  TempFolder folder;
  const std::string path = (fs::path(folder.path()) / "s.jsonl").string();
  const std::string line = answerLine("1");
  const std::string half = line.substr(0, line.size() - 9);  // inside the numbers
  for (const auto& [bytes, answers, unreadable] :
       {std::tuple(line + "\n" + answerLine("2") + "\n", 2U, 0U), std::tuple(line + answerLine("2") + "\n", 2U, 0U),
        std::tuple(half + "\n" + answerLine("2") + "\n", 1U, 1U), std::tuple(half, 0U, 1U),
        std::tuple(line + "\n" + line.substr(0, 60), 1U, 1U), std::tuple(line + "\r\n", 1U, 0U),
        std::tuple(line, 1U, 0U), std::tuple(std::string(), 0U, 0U)}) {
    SCOPED_TRACE(bytes);
    writeBytes(path, bytes);
    const auto usage = scanFiles({path});
    ASSERT_TRUE(usage);
    EXPECT_EQ(usage->answers.size(), answers);
    EXPECT_EQ(usage->unreadable, unreadable);
    EXPECT_EQ(usage->example.contains(path), unreadable > 0) << usage->example;
  }
  const auto usage = scanFiles({folder.path().string()});  // a folder is not a file
  ASSERT_TRUE(usage);
  EXPECT_EQ(usage->unreadable, 1U);
}

// Lines are read together with the following text, which must not complete a truncated line.
TEST(UsageScan, ALineThatWasCutTakesNothingOfTheNextOnes) {
  TempFolder folder;
  const std::string path = (fs::path(folder.path()) / "s.jsonl").string();
  const auto scan = [&](const std::string& bytes) {
    writeBytes(path, bytes);
    auto usage = scanFiles({path});
    EXPECT_TRUE(usage);
    return std::pair(usage->answers.size(), usage->unreadable);
  };
  const std::string line = answerLine("1");
  for (std::size_t cut = 1; cut <= line.size(); ++cut) {
    SCOPED_TRACE(cut);
    const std::string begun = line.substr(0, cut) + "\n";
    const auto alone = scan(answerLine("0") + "\n" + begun);
    const auto followed = scan(answerLine("0") + "\n" + begun + answerLine("2") + "\n" + answerLine("3") + "\n");
    EXPECT_EQ(followed.first, alone.first + 2);
    EXPECT_EQ(followed.second, alone.second);
  }
}

}  // namespace
}  // namespace bough
