// The lists that agents keep of their sessions: entries are never lost, and an unreadable list is reported.
#include <bough/transcript.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

#include "support/temp_folder.h"
#include "transcript/files.h"

namespace bough {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kId = "01a1dc74-8eea-7b72-9f3d-075316710001";

TranscriptHome homeAt(const fs::path& folder) {
  return {.home = folder.string(), .variable = [](const std::string&) { return std::string(); }};
}

struct Listed {
  std::string agent;
  std::string list;  // below the home folder
};

const std::vector<Listed>& agentsWithLists() {
  static const std::vector<Listed> kAgents = {{"openclaw", ".openclaw/agents/main/sessions/sessions.json"},
                                              {"myagents", ".myagents/sessions.json"},
                                              {"claw0", "workspace/.sessions/sessions.json"}};
  return kAgents;
}

class Lists : public testing::Test {
 protected:
  // Puts a session where the agent looks for it.
  std::string put(const Listed& agent) {
    const ReadFile file = readAll(BOUGH_TESTS_DIR "/transcript/fixtures/pi/01-linear.jsonl");
    facts_ = file.report.facts;
    facts_.agent = agent.agent;
    facts_.sessionId = kId;
    facts_.cwd = folder_.path().string();
    const auto place = placeForTranscript(homeAt(folder_.path()), facts_);
    EXPECT_TRUE(place);
    writeBytes(place->path, writeAll(file.entries, {.agent = agent.agent, .facts = facts_}));
    return place->path;
  }

  Result<void> announce(const std::string& path) { return announceTranscript(homeAt(folder_.path()), facts_, path); }

  TempFolder folder_;
  TranscriptFacts facts_;
};

TEST_F(Lists, AListThatCannotBeReadIsNeverReplaced) {
  for (const Listed& agent : agentsWithLists()) {
    SCOPED_TRACE(agent.agent);
    const std::string path = put(agent);
    const fs::path list = fs::path(folder_.path()) / agent.list;
    constexpr std::uint64_t kTooLarge = (std::uint64_t{64} << 20) + (std::uint64_t{1} << 18);
    writeBytes(list, "{}");
    fs::resize_file(list, kTooLarge);
    EXPECT_FALSE(announce(path));
    EXPECT_EQ(fs::file_size(list), kTooLarge);
    writeBytes(list, "{\"a\":{\"sessionId\":\"x\"");
    EXPECT_FALSE(announce(path));
    EXPECT_EQ(readBytes(list), "{\"a\":{\"sessionId\":\"x\"");
    fs::remove(list);
    EXPECT_TRUE(announce(path));
    EXPECT_NE(readBytes(list).find(kId), std::string::npos);
  }
}

TEST_F(Lists, OfManyThatAreAddedAtOnceNoneIsLost) {
  constexpr int kMany = 8;
  for (const Listed& agent : agentsWithLists()) {
    SCOPED_TRACE(agent.agent);
    const std::string path = put(agent);
    const auto idOf = [](int i) { return fmt::format("01a1dc74-8eea-7b72-9f3d-07531671{:04}", 100 + i); };
    std::atomic<int> failed = 0;
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < kMany; ++i) {
        threads.emplace_back([&, i] {
          TranscriptFacts facts = facts_;
          facts.sessionId = idOf(i);
          const std::string own = fs::path(path).replace_filename(facts.sessionId + ".jsonl").string();
          fs::copy_file(path, own, fs::copy_options::overwrite_existing);
          if (!announceTranscript(homeAt(folder_.path()), facts, own)) ++failed;
        });
      }
    }
    EXPECT_EQ(failed, 0);
    const std::string list = readBytes(folder_.path() / agent.list);
    for (int i = 0; i < kMany; ++i) EXPECT_NE(list.find(idOf(i)), std::string::npos) << idOf(i);
  }
}

TEST_F(Lists, ADamagedListIsDamageOfItsSessions) {
  for (const Listed& agent : agentsWithLists()) {
    SCOPED_TRACE(agent.agent);
    const std::string path = put(agent);
    const fs::path list = fs::path(folder_.path()) / agent.list;
    ASSERT_TRUE(announce(path));
    EXPECT_EQ(readAll(path).report.unreadable, 0U);
    writeBytes(list, readBytes(list).substr(0, readBytes(list).size() / 2));
    const TranscriptReport report = readAll(path).report;
    EXPECT_EQ(report.facts.agent, agent.agent);
    EXPECT_EQ(report.unreadable, 1U);
    ASSERT_EQ(report.damage.size(), 1U);
    EXPECT_EQ(report.damage.front().reason, list.string() + ", the agent's list of sessions, is damaged");
  }
}

TEST_F(Lists, ANameIsAddedToAnIndexWhoseLastLineWasCut) {
  const fs::path index = fs::path(folder_.path()) / ".codex/session_index.jsonl";
  writeBytes(index, "{\"id\":\"x\",\"thread_name\":\"torn");
  TranscriptFacts facts{.agent = "codex", .sessionId = std::string(kId), .title = "mine"};
  ASSERT_TRUE(announceTranscript(homeAt(folder_.path()), facts, "unused"));
  const std::string text = readBytes(index);
  EXPECT_TRUE(text.starts_with("{\"id\":\"x\",\"thread_name\":\"torn\n{\"id\":\"" + std::string(kId))) << text;
}

// Attachments are imported with the session, so a link must not lead out of their folder.
TEST_F(Lists, AnAttachmentThatIsALinkOutOfItsFolderIsNotRead) {
  const fs::path root = fs::path(folder_.path()) / ".myagents";
  const std::string line =
      R"({"id":"m1","role":"user","content":"look","timestamp":"2026-01-01T00:00:00.000Z","attachments":[{"id":"a","name":"a.png","mimeType":"image/png","path":"s/a.png","size":3}]})"
      "\n";
  writeBytes(root / "sessions/s.jsonl", line);
  writeBytes(folder_.path() / "secret.png", "secret");
  fs::create_directories(root / "attachments/s");
  fs::create_symlink(folder_.path() / "secret.png", root / "attachments/s/a.png");
  const auto holdsImage = [&] {
    bool found = false;
    for (const Entry& entry : readAll((root / "sessions/s.jsonl").string()).entries) {
      found = found || entry.payload.find("c2VjcmV0") != std::string::npos;
    }
    return found;
  };
  EXPECT_FALSE(holdsImage());
  fs::remove(root / "attachments/s/a.png");
  writeBytes(root / "attachments/s/a.png", "secret");
  EXPECT_TRUE(holdsImage());
}

// An image of one pixel.
constexpr std::string_view kPixel =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

// Writes a session into the folders of MyAgents, like `resume --in`.
std::string putIntoMyAgents(const ReadFile& file, const TranscriptFacts& facts, const fs::path& home) {
  const auto place = placeForTranscript(homeAt(home), facts);
  EXPECT_TRUE(place);
  WriteTranscriptOptions options{.agent = "myagents", .facts = facts};
  options.keepBeside = [&](const std::string& name, std::string_view bytes) {
    return keepBesideTranscript("myagents", place->path, name, bytes);
  };
  writeBytes(place->path, writeAll(file.entries, options));
  return place->path;
}

TEST(MyAgents, GetsWordsAsTextAndImagesAsFiles) {
  TempFolder folder;
  const fs::path from = fs::path(folder.path()) / "01a1dc74-8eea-7b72-9f3d-075316710001.jsonl";
  writeBytes(
      from, fmt::format(R"({{"parentUuid":null,"isSidechain":false,"type":"user","message":{{"role":"user","content":[)"
                        R"({{"type":"text","text":"What is this?"}},{{"type":"image","source":{{"type":"base64",)"
                        R"("media_type":"image/png","data":"{}"}}}}]}},"uuid":"b724","timestamp":)"
                        R"("2026-11-14T23:45:00.648Z","cwd":"/x","sessionId":"01a1dc74-8eea-7b72-9f3d-075316710001"}})"
                        "\n",
                        kPixel));
  const ReadFile file = readAll(from);
  TranscriptFacts facts = file.report.facts;
  facts.agent = "myagents";
  const std::string path = putIntoMyAgents(file, facts, folder.path());
  const std::string line = readBytes(path);
  EXPECT_EQ(json::findString(line.substr(0, line.find('\n')), "content"), "What is this?") << line;
  const auto attachments = json::findMember(line.substr(0, line.find('\n')), "attachments");
  ASSERT_TRUE(attachments) << line;
  const fs::path kept = fs::path(folder.path()) / ".myagents/attachments" / facts.sessionId;
  ASSERT_TRUE(fs::is_directory(kept));
  const auto image = *fs::directory_iterator(kept);
  EXPECT_TRUE(line.contains(image.path().filename().string())) << line;
  EXPECT_FALSE(fs::exists(fs::path(folder.path()) / ".myagents/sessions.lock"));
  // MyAgents' own sessions are read like any others.
  WriteTranscriptOptions bare{.agent = "myagents", .facts = facts};
  bare.bare = true;
  bare.keepBeside = [](const std::string&, std::string_view) -> Result<void> { return {}; };
  writeBytes(path, writeAll(file.entries, bare));
  const ReadFile back = readAll(path);
  ASSERT_EQ(back.entries.size(), 1U);
  EXPECT_TRUE(back.entries.front().payload.contains(kPixel)) << back.entries.front().payload;
  EXPECT_TRUE(back.entries.front().payload.contains("What is this?"));
}

TEST(MyAgents, AttachedFilesThatAreGoneComeBackWithTheSession) {
  TempFolder folder;
  constexpr std::string_view kName = "session-1769900000000-ab12cd";
  const fs::path origin = fs::path(BOUGH_TESTS_DIR "/transcript/fixtures/myagents");
  const ReadFile file = readAll(origin / "sessions" / fmt::format("{}.jsonl", kName));
  putIntoMyAgents(file, file.report.facts, folder.path());
  const fs::path there = fs::path(folder.path()) / ".myagents/attachments" / kName / "att1.png";
  EXPECT_EQ(readBytes(there), readBytes(origin / "attachments" / kName / "att1.png"));
  // An existing file is not changed.
  writeBytes(there, "changed");
  putIntoMyAgents(file, file.report.facts, folder.path());
  EXPECT_EQ(readBytes(there), "changed");
}

TEST(MyAgents, AttachedFilesStayBelowTheirFolder) {
  TempFolder folder;
  const fs::path sessions = fs::path(folder.path()) / ".myagents/sessions";
  fs::create_directories(sessions);
  const std::string path = (sessions / "a.jsonl").string();
  for (const std::string name : {"../a.png", "/a.png", "a/../../b.png", "", "a\\b", "a//b"}) {
    EXPECT_FALSE(keepBesideTranscript("myagents", path, name, "x")) << name;
  }
  fs::create_directories(fs::path(folder.path()) / "elsewhere");
  fs::create_directories(fs::path(folder.path()) / ".myagents/attachments");
  fs::create_symlink(fs::path(folder.path()) / "elsewhere", fs::path(folder.path()) / ".myagents/attachments/link");
  EXPECT_FALSE(keepBesideTranscript("myagents", path, "link/a.png", "x"));
  EXPECT_TRUE(fs::is_empty(fs::path(folder.path()) / "elsewhere"));
}

}  // namespace
}  // namespace bough
