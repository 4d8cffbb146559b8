// A list of the newest sessions reads only the files that may contain one of them, and equals a list of all sessions.
#include <bough/catalog.h>
#include <bough/transcript.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "base/text/timestamp.h"
#include "catalog/external.h"
#include "support/temp_folder.h"
#include "transcript/files.h"

namespace bough {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

constexpr std::uint64_t kBeginMs = 1'750'000'000'000;

std::string piSession(const std::string& sessionId, std::uint64_t timeMs, int messages = 1) {
  std::string bytes = fmt::format(R"({{"type":"session","version":3,"id":"{}","timestamp":"{}","cwd":"/x"}})"
                                  "\n",
                                  sessionId, formatTimestamp(kBeginMs));
  for (int i = 0; i < messages; ++i) {
    bytes += fmt::format(R"({{"type":"message","id":"{:08}","parentId":null,"timestamp":"{}",)"
                         R"("message":{{"role":"user","content":"{}","timestamp":1}}}})"
                         "\n",
                         i, formatTimestamp(timeMs - static_cast<std::uint64_t>(messages - 1 - i)), sessionId);
  }
  return bytes;
}

class NewestFiles : public testing::Test {
 protected:
  NewestFiles() { EXPECT_TRUE(SessionStore::open(list())); }

  [[nodiscard]] std::string list() const { return folder_ / "list"; }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_ / ("files/" + name); }

  // Writes a session whose last message is `seconds` after the start.
  void write(const std::string& name, std::uint64_t seconds, int messages = 1) {
    writeBytes(file(name), piSession(name, kBeginMs + seconds * 1000, messages));
  }

  catalog::ExternalReport take(const catalog::NewestRows* newest) {
    const catalog::ExternalWalk walk = [&](const auto& use) -> Result<void> {
      if (!fs::exists(folder_ / "files")) return {};
      Names paths;
      for (const auto& each : fs::directory_iterator(folder_ / "files")) paths.push_back(each.path());
      std::ranges::sort(paths);
      for (const std::string& path : paths) {
        const std::string bytes = readBytes(path);
        const std::string stamp = fmt::format("{}", std::hash<std::string>{}(bytes));
        if (!use({.path = path, .stamp = stamp, .sizeBytes = bytes.size(), .modifiedMs = modifiedMs_})) break;
      }
      return {};
    };
    const auto report = catalog::updateExternalRows(list(), walk, [](std::uint64_t) {}, newest);
    EXPECT_TRUE(report) << (report ? "" : report.error().message);
    return report.value_or(catalog::ExternalReport{});
  }

  std::uint64_t takeNewest(std::size_t limit, const SessionFilter& filter = {}) {
    const catalog::NewestRows newest{.filter = filter, .limit = limit};
    return take(&newest).read;
  }
  std::uint64_t takeAll() { return take(nullptr).read; }

  Names listed(std::size_t limit, const SessionFilter& filter = {}) {
    auto store = SessionStore::open(list());
    auto catalog = Catalog::open(**store);
    const auto rows = *(*catalog)->list({.filter = filter, .limit = limit});
    Names names;
    for (const SessionSummary& row : rows) {
      names.push_back(fmt::format("{} {}", row.sessionId, row.userMessages));
    }
    return names;
  }

  TempFolder folder_;
  std::uint64_t modifiedMs_ = kBeginMs + 1'000'000'000;  // of every file, later than all messages
};

TEST_F(NewestFiles, OnlyTheyAreRead) {
  for (int i = 1; i <= 9; ++i) write(fmt::format("s{}", i), static_cast<std::uint64_t>(i));
  EXPECT_EQ(takeNewest(2), 2U);
  EXPECT_EQ(listed(2), (Names{"s9 1", "s8 1"}));
  EXPECT_EQ(takeNewest(2), 0U);
  EXPECT_EQ(takeNewest(4), 4U);  // as many at once as may be missing
  EXPECT_EQ(listed(4), (Names{"s9 1", "s8 1", "s7 1", "s6 1"}));
  EXPECT_EQ(takeAll(), 3U);
  EXPECT_EQ(takeAll(), 0U);
  EXPECT_EQ(listed(100).size(), 9U);
}

TEST_F(NewestFiles, WhatIsNewOrHasChangedSinceIsRead) {
  for (int i = 1; i <= 5; ++i) write(fmt::format("s{}", i), static_cast<std::uint64_t>(i));
  takeNewest(2);
  write("s1", 10, 3);  // it was waiting
  write("s4", 5, 4);   // it had been read
  write("s6", 0);
  EXPECT_EQ(takeNewest(2), 2U);
  EXPECT_EQ(listed(2), (Names{"s1 3", "s5 1"}));
  write("s5", 3, 2);  // older than before, so another session is needed
  takeNewest(2);
  EXPECT_EQ(listed(2), (Names{"s1 3", "s4 4"}));
}

TEST_F(NewestFiles, AFileThatWaitsAndGoesIsForgotten) {
  for (int i = 1; i <= 5; ++i) write(fmt::format("s{}", i), static_cast<std::uint64_t>(i));
  takeNewest(1);
  fs::remove(file("s4"));
  const catalog::NewestRows two{.filter = {}, .limit = 2};
  EXPECT_EQ(take(&two).unreadable, 0U);
  EXPECT_EQ(listed(2), (Names{"s5 1", "s3 1"}));
  fs::remove(file("s2"));
  EXPECT_EQ(takeAll(), 1U);
  EXPECT_EQ(listed(9), (Names{"s5 1", "s3 1", "s1 1"}));
}

TEST_F(NewestFiles, AFileWhoseEndNamesNoTimeGoesByItsOwn) {
  write("s1", 1);
  write("s2", 2);
  // Its last line is longer than the part that is examined.
  writeBytes(file("s3"), piSession("s3", kBeginMs) + R"({"type":"custom","id":"1","parentId":null,"timestamp":")" +
                             formatTimestamp(kBeginMs + 900'000) + R"(","data":")" + std::string(50'000, 'x') +
                             "\"}\n");
  EXPECT_EQ(takeNewest(1), 1U);
  EXPECT_EQ(listed(1), (Names{"s3 1"}));
  modifiedMs_ = kBeginMs - 1'000'000;
  write("s4", 3);
  writeBytes(file("s5"), std::string(50'000, ' ') + piSession("s5", kBeginMs).substr(0, 20));
  EXPECT_EQ(takeNewest(1), 0U);
}

TEST_F(NewestFiles, AFilterReadsOnUntilEnoughFit) {
  for (int i = 1; i <= 9; ++i) write(fmt::format("s{}", i), static_cast<std::uint64_t>(i));
  const SessionFilter titled{.title = "s3"};
  takeNewest(1, titled);
  EXPECT_EQ(listed(1, titled), (Names{"s3 1"}));
  const SessionFilter none{.title = "nothing like it"};
  takeNewest(1, none);
  EXPECT_EQ(takeAll(), 0U);
}

TEST_F(NewestFiles, WhatIsOlderThanTheFilterAsksForIsNotRead) {
  for (int i = 1; i <= 9; ++i) write(fmt::format("s{}", i), static_cast<std::uint64_t>(i));
  EXPECT_EQ(takeNewest(50, {.sinceMs = kBeginMs + 7'000}), 3U);
}

TEST_F(NewestFiles, AForkWithoutATitleGetsThatOfItsOrigin) {
  constexpr std::string_view kParent = "0199a213-81a0-7800-8aa0-bbab2a035a53";
  constexpr std::string_view kChild = "0199a213-81a0-7800-8aa0-bbab2a035a54";
  const auto line = [](int seconds, std::string_view type, const std::string& payload) {
    return fmt::format(R"({{"timestamp":"{}","type":"{}","payload":{}}})"
                       "\n",
                       formatTimestamp(kBeginMs + static_cast<std::uint64_t>(seconds) * 1000), type, payload);
  };
  const auto meta = [](std::string_view id, const std::string& base) {
    return fmt::format(R"({{"id":"{}","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/x"{}}})", id, base);
  };
  const std::string parent =
      line(1, "session_meta", meta(kParent, "")) +
      line(1, "response_item",
           R"({"type":"message","role":"user","content":[{"type":"input_text","text":"the origin"}]})");
  const std::string base =
      fmt::format(R"(,"history_base":{{"thread_id":"{}","end_byte_offset":{}}})", kParent, parent.size());
  fs::create_directories(folder_ / "files");
  writeBytes(file(fmt::format("rollout-2026-01-01T00-00-00-{}.jsonl", kParent)), parent);
  writeBytes(file(fmt::format("rollout-2026-01-01T00-00-00-{}.jsonl", kChild)),
             line(5, "session_meta", meta(kChild, base)) +
                 line(5, "response_item",
                      R"({"type":"message","role":"assistant","content":[{"type":"output_text","text":"yes"}]})"));
  write("s3", 3);
  EXPECT_EQ(takeNewest(1), 3U);
}

TEST_F(NewestFiles, TheyAreTheFirstOfAll) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 10; ++i)
      write(fmt::format("s{:02}", random() % 60), random() % 30, 1 + static_cast<int>(random() % 3));
    const std::size_t limit = 1 + random() % 12;
    takeNewest(limit);
    const Names newest = listed(limit);
    if (round % 4 != 3) continue;
    takeAll();
    EXPECT_EQ(newest, listed(limit)) << round;
  }
}

TEST(LatestTimeAtEnd, IsThatOfWholeLinesAndNotOfWhatTheyQuote) {
  const TempFolder folder;
  const std::string path = folder / "a.jsonl";
  const auto latest = [&](const std::string& bytes) {
    writeBytes(path, bytes);
    return latestTimeAtEnd(path);
  };
  EXPECT_EQ(latest(""), std::nullopt);
  EXPECT_EQ(latest("{\"timestamp\":1750000000000}\n"), 1'750'000'000'000U);
  EXPECT_EQ(latest("{\"timestamp\":1750000000000}\n{\"timestamp\":\"2020-01-01T00:00:00Z\"}"), 1'750'000'000'000U);
  EXPECT_EQ(latest("{\"of\":{\"timestamp\":1750000000000}}\n[]\nnot JSON\n"), std::nullopt);
  const std::string cut = "{\"x\":\"" + std::string(40'000, 'y') + "\",\"timestamp\":1750000000000}";
  EXPECT_EQ(latest(cut), std::nullopt);
  EXPECT_EQ(latest(cut + "\n{\"timestamp\":5}\n"), 5'000U);
  // The last 16 KiB are exactly one line.
  const std::string first = "{\"timestamp\":7,\"x\":\"";
  const std::string whole = first + std::string((std::size_t{16} << 10) - first.size() - 3, 'y') + "\"}\n";
  EXPECT_EQ(latest("{\"timestamp\":6}\n" + whole), 7'000U);
  EXPECT_EQ(latestTimeAtEnd(folder.path()), std::nullopt);
  EXPECT_EQ(latestTimeAtEnd(folder / "missing"), std::nullopt);
}

// Restored permissions or a remounted disk do not change the file's size or time.
TEST_F(NewestFiles, AFileThatCouldNotBeReadIsTriedAgain) {
  const std::string path = file("b.jsonl");
  const catalog::ExternalWalk walk = [&](const auto& use) -> Result<void> {
    use({.path = path, .stamp = "1", .sizeBytes = 1, .modifiedMs = kBeginMs});
    return {};
  };
  const auto look = [&] { return *catalog::updateExternalRows(list(), walk, [](std::uint64_t) {}); };
  // A regular file whose first bytes nobody can read.
  fs::create_directories(folder_ / "files");
  fs::create_symlink("/proc/self/mem", path);
  for (int i = 0; i < 2; ++i) {
    const auto report = look();
    EXPECT_EQ(report.unreadable, 1U);
    EXPECT_TRUE(report.example.contains("b.jsonl")) << report.example;
  }
  fs::remove(path);
  write("b.jsonl", 1);
  EXPECT_EQ(look().unreadable, 0U);
  EXPECT_EQ(listed(10).size(), 1U);
  // A file without a session is not read again until it changes.
  writeBytes(path, "nothing");
  const catalog::ExternalWalk changed = [&](const auto& use) -> Result<void> {
    use({.path = path, .stamp = "2", .sizeBytes = 1, .modifiedMs = kBeginMs});
    return {};
  };
  EXPECT_EQ(catalog::updateExternalRows(list(), changed, [](std::uint64_t) {})->read, 1U);
  const auto again = *catalog::updateExternalRows(list(), changed, [](std::uint64_t) {});
  EXPECT_EQ(again.read, 0U);
  EXPECT_EQ(again.unreadable, 1U);
}

}  // namespace
}  // namespace bough
