// What each agent's files need in addition to the fixtures: folders, names, files that belong together, and the
// conversion to another agent and back.
#include <bough/transcript.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <filesystem>
#include <map>
#include <random>
#include <unordered_map>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "support/temp_folder.h"
#include "transcript/agents/claude_code/place.h"
#include "transcript/files.h"

namespace bough {
namespace {

namespace fs = std::filesystem;

std::string fixture(std::string_view name) {
  return fmt::format("{}/transcript/fixtures/{}", BOUGH_TESTS_DIR, name);
}

TranscriptHome homeAt(const std::string& folder, std::map<std::string, std::string> variables = {}) {
  return {.home = folder, .variable = [variables](const std::string& name) {
            const auto found = variables.find(name);
            return found == variables.end() ? std::string() : found->second;
          }};
}

TEST(ClaudeCode, NamesTheFolderOfAProjectAsTheProgramDoes) {
  using transcript::claude_code::projectFolder;
  EXPECT_EQ(projectFolder("/tmp/proj_one.x"), "-tmp-proj-one-x");
  EXPECT_EQ(projectFolder("/tmp/naïve"), "-tmp-na-ve");
  EXPECT_EQ(projectFolder("/tmp/🚀"), "-tmp---");
  // Names longer than 200: the first 200 characters, then Java's string hash in base 36.
  const std::string longPath = "/tmp/" + std::string(300, 'a');
  std::int32_t hash = 0;
  for (const char c : longPath)
    hash = static_cast<std::int32_t>(static_cast<std::uint32_t>(hash) * 31U + static_cast<std::uint32_t>(c));
  std::string digits;
  for (auto left = static_cast<std::uint64_t>(hash < 0 ? -static_cast<std::int64_t>(hash) : hash); left > 0;
       left /= 36) {
    digits.insert(digits.begin(), "0123456789abcdefghijklmnopqrstuvwxyz"[left % 36]);
  }
  EXPECT_EQ(projectFolder(longPath), "-tmp-" + std::string(195, 'a') + "-" + digits);
}

TEST(Places, AreWhereTheProgramsLook) {
  TempFolder folder;
  const TranscriptHome home = homeAt("/home/ada", {{"CODEX_HOME", "/data/codex"}});
  TranscriptFacts facts;
  facts.sessionId = "01a1dc74-8eea-7b72-9f3d-075316710001";
  facts.cwd = "/home/ada/bridge_one";
  facts.created = "2026-01-02T03:04:05.678Z";
  const auto place = [&](std::string_view agent) {
    facts.agent = agent;
    const auto found = placeForTranscript(home, facts);
    return found ? found->path + " " + found->command : found.error().message;
  };
  EXPECT_EQ(place("claude-code"),
            "/home/ada/.claude/projects/-home-ada-bridge-one/01a1dc74-8eea-7b72-9f3d-075316710001.jsonl claude "
            "--resume 01a1dc74-8eea-7b72-9f3d-075316710001");
  EXPECT_EQ(place("codex"),
            "/data/codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-01a1dc74-8eea-7b72-9f3d-075316710001.jsonl "
            "codex resume 01a1dc74-8eea-7b72-9f3d-075316710001");
  EXPECT_EQ(place("gemini-cli"),
            "/home/ada/.gemini/tmp/bridge-one/chats/session-2026-01-02T03-04-01a1dc74.jsonl gemini --resume "
            "01a1dc74-8eea-7b72-9f3d-075316710001");
}

TEST(Places, OfGeminiAvoidTheFolderOfAnotherProject) {
  TempFolder folder;
  const fs::path tmp = fs::path(folder.path()) / ".gemini/tmp";
  fs::create_directories(tmp / "bridge");
  writeBytes(tmp / "bridge/.project_root", "/elsewhere/bridge");
  TranscriptFacts facts;
  facts.agent = "gemini-cli";
  facts.sessionId = "01a1dc74-8eea-7b72-9f3d-075316710001";
  facts.cwd = "/home/ada/bridge";
  const auto place = placeForTranscript(homeAt(folder.path()), facts);
  ASSERT_TRUE(place);
  EXPECT_NE(place->path.find("/tmp/bridge-1/chats/"), std::string::npos) << place->path;
  ASSERT_TRUE(announceTranscript(homeAt(folder.path()), facts, place->path));
  EXPECT_EQ(readBytes(tmp / "bridge-1/.project_root"), "/home/ada/bridge");
}

TEST(Places, OfGeminiThatAnotherProjectTookMeanwhileAreRefused) {
  TempFolder folder;
  const TranscriptHome home = homeAt(folder.path());
  TranscriptFacts facts;
  facts.agent = "gemini-cli";
  facts.sessionId = "01a1dc74-8eea-7b72-9f3d-075316710001";
  facts.cwd = "/home/ada/bridge";
  TranscriptFacts other = facts;
  other.cwd = "/elsewhere/bridge";
  const auto place = placeForTranscript(home, facts);
  ASSERT_TRUE(place);
  ASSERT_EQ(placeForTranscript(home, other)->path, place->path);
  ASSERT_TRUE(announceTranscript(home, other, place->path));
  const auto late = announceTranscript(home, facts, place->path);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::AlreadyExists);
  EXPECT_EQ(readBytes(folder.path() / ".gemini/tmp/bridge/.project_root"), other.cwd);
}

TEST(Claw0, ListsASessionThatWasPutThereWithItsMessages) {
  TempFolder folder;
  const ReadFile file = readAll(fixture("pi/02-tools.jsonl"));
  TranscriptFacts facts = file.report.facts;
  facts.agent = "claw0";
  facts.cwd = folder.path().string();
  const auto place = placeForTranscript(homeAt(folder.path()), facts);
  ASSERT_TRUE(place);
  WriteTranscriptOptions options{.agent = "claw0", .facts = facts};
  options.bare = true;
  writeBytes(place->path, writeAll(file.entries, options));
  ASSERT_TRUE(announceTranscript(homeAt(folder.path()), facts, place->path));
  const std::string list = readBytes(fs::path(place->path).parent_path().parent_path() / "sessions.json");
  std::uint64_t said = 0;
  for (const Entry& entry : readAll(place->path).entries) {
    const auto message = holdsMessage(entry) ? normalizeEntry(entry) : Result<Message>(fail(ErrorCode::NotFound, ""));
    if (!message || message->role != Role::User) continue;
    const bool isResult =
        std::ranges::any_of(message->blocks, [](const Block& block) { return block.kind == BlockKind::ToolResult; });
    said += isResult ? 0 : 1;
  }
  EXPECT_GT(said, 0U);
  EXPECT_NE(list.find(fmt::format("\"message_count\":{}", said)), std::string::npos) << list;
}

TEST(MyAgents, ListsASessionThatWasPutThereByItsFirstWordsAndACopyByItsOwnId) {
  TempFolder folder;
  const ReadFile file = readAll(fixture("pi/02-tools.jsonl"));
  TranscriptFacts facts = file.report.facts;
  facts.agent = "myagents";
  facts.title.clear();
  const auto put = [&](const TranscriptFacts& wanted) {
    const auto place = placeForTranscript(homeAt(folder.path()), wanted);
    ASSERT_TRUE(place);
    EXPECT_TRUE(place->command.empty());
    EXPECT_FALSE(place->advice.empty());
    writeBytes(place->path, writeAll(file.entries, {.agent = "myagents", .facts = wanted}));
    ASSERT_TRUE(announceTranscript(homeAt(folder.path()), wanted, place->path));
  };
  put(facts);
  TranscriptFacts listed = facts;
  listed.metadata = "{\"id\":\"" + facts.sessionId + "\",\"agentDir\":\"/x\"}";
  const TranscriptFacts copy = factsOfCopy(listed, 1);
  put(copy);
  const std::string list = readBytes(fs::path(folder.path()) / ".myagents/sessions.json");
  EXPECT_NE(list.find("\"title\":\"List files and read main.cpp\""), std::string::npos) << list;
  EXPECT_NE(list.find("\"id\":\"" + facts.sessionId), std::string::npos) << list;
  EXPECT_NE(list.find("\"id\":\"" + copy.sessionId), std::string::npos) << list;
}

TEST(Codex, KnowsTheNamesOfThreadsFromItsIndex) {
  TempFolder folder;
  const std::string name = "rollout-2026-01-02T03-04-05-01a1dc74-8eea-7b72-9f3d-075316710001.jsonl";
  const fs::path day = fs::path(folder.path()) / "sessions/2026/01/02";
  fs::create_directories(day);
  fs::copy_file(fixture("codex/linear/" + name), day / name);
  writeBytes(
      fs::path(folder.path()) / "session_index.jsonl",
      R"({"id":"01a1dc74-8eea-7b72-9f3d-075316710001","thread_name":"Old name","updated_at":"2026-01-02T03:04:05Z"})"
      "\n"
      R"({"id":"01a1dc74-8eea-7b72-9f3d-075316710001","thread_name":"New name","updated_at":"2026-01-03T03:04:05Z"})"
      "\n");
  EXPECT_EQ(readAll(day / name).report.facts.title, "New name");
}

TEST(Codex, ReadsCompressedFilesAsIfTheyWereNot) {
  TempFolder folder;
  const std::string plain =
      readBytes(fixture("codex/calls/rollout-2026-01-02T03-04-05-01a1dc74-8eea-7b72-9f3d-075316710003.jsonl"));
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 3));
  const fs::path path =
      fs::path(folder.path()) / "rollout-2026-01-02T03-04-05-01a1dc74-8eea-7b72-9f3d-075316710003.jsonl.zst";
  writeBytes(path, packed);
  const ReadFile file = readAll(path);
  EXPECT_EQ(file.report.bytes, plain.size());
  EXPECT_EQ(writeAll(file.entries, {.agent = "codex"}), plain);
  writeBytes(path, packed.substr(0, packed.size() / 2));
  const auto broken = readTranscript(path, {}, [](Entry&&) -> Result<void> { return {}; });
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, ErrorCode::Damaged);
}

TEST(Codex, FindsWhatAForkContinuesInOtherFoldersOfItsHome) {
  TempFolder folder;
  const std::string stem = "rollout-2026-01-02T03-04-05-01a1dc74-8eea-7b72-9f3d-0753167100";
  const fs::path home = folder.path();
  fs::create_directories(home / "sessions/2026/01/03");
  fs::create_directories(home / "sessions/2026/11/14");
  fs::create_directories(home / "archived_sessions");
  fs::copy_file(fixture("codex/paginated/" + stem + "20.jsonl"), home / "archived_sessions" / (stem + "20.jsonl"));
  fs::copy_file(fixture("codex/paginated/" + stem + "21.jsonl"), home / "sessions/2026/11/14" / (stem + "21.jsonl"));
  fs::copy_file(fixture("codex/paginated/" + stem + "22.jsonl"), home / "sessions/2026/01/03" / (stem + "22.jsonl"));
  const ReadFile file = readAll(home / "sessions/2026/01/03" / (stem + "22.jsonl"));
  EXPECT_EQ(file.report.facts.parentEntryId, "01a1dc74-8eea-7b72-9f3d-075316710021:1184");
  EXPECT_EQ(file.report.recovered, 0U);
}

// Returns a branch of random messages in various dialects.
std::vector<Entry> randomBranch(std::mt19937& random) {
  std::vector<Entry> entries;
  const auto add = [&](std::string message) {
    Entry entry;
    entry.id = fmt::format("e{}", entries.size());
    entry.parentId = entries.empty() ? std::string() : entries.back().id;
    entry.type = entry_type::kMessage;
    entry.timestamp = fmt::format("2026-01-02T03:04:{:02}.000Z", entries.size() % 60);
    entry.payload = R"({"dialect":"anthropic","message":)" + message + "}";
    entries.push_back(std::move(entry));
  };
  const auto text = [&](std::string_view who) {
    constexpr std::string_view kWords[] = {"plain",     "two\nlines",   "quo\"ted \\ back",
                                           "日本語 🚀", "{\"json\":1}", "a\u2028b"};
    return json::quoted(fmt::format("{} {} {}", who, kWords[random() % std::size(kWords)], random() % 1000));
  };
  const std::size_t turns = 1 + random() % 5;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    add(fmt::format(R"({{"role":"user","content":{}}})", text("asks")));
    for (std::size_t step = random() % 3; step > 0; --step) {
      std::string calls;
      std::string results;
      for (std::size_t call = 1 + random() % 3; call > 0; --call) {
        const std::string id = fmt::format("call_{}_{}_{}", turn, step, call);
        calls += fmt::format(R"(,{{"type":"tool_use","id":"{}","name":"tool_{}","input":{{"n":{},"s":{}}}}})", id,
                             random() % 3, random() % 100, text("in"));
        results += fmt::format(R"({}{{"type":"tool_result","tool_use_id":"{}","content":{},"is_error":{}}})",
                               results.empty() ? "" : ",", id, text("out"), random() % 4 == 0);
      }
      add(fmt::format(R"({{"role":"assistant","content":[{{"type":"text","text":{}}}{}]}})", text("says"), calls));
      add(fmt::format(R"({{"role":"user","content":[{}]}})", results));
    }
    add(fmt::format(R"({{"role":"assistant","content":[{{"type":"text","text":{}}}]}})", text("answers")));
  }
  return entries;
}

ReadFile written(const std::vector<Entry>& entries, const std::string& head, const std::string& agent,
                 TempFolder& folder) {
  TranscriptFacts facts;
  facts.agent = agent;
  facts.sessionId = "01a1dc74-8eea-7b72-9f3d-075316710001";
  facts.cwd = "/home/ada/bridge";
  facts.created = "2026-01-02T03:04:05.000Z";
  std::string bytes;
  const auto done = writeTranscript(entries, {.agent = agent, .facts = facts, .headId = head, .bare = true},
                                    [&](std::string_view piece) -> Result<void> {
                                      bytes += piece;
                                      return {};
                                    });
  EXPECT_TRUE(done) << (done ? "" : done.error().message);
  const fs::path path = fs::path(folder.path()) / (facts.sessionId + ".jsonl");
  writeBytes(path, bytes);
  return readAll(path);
}

TEST(RoundTrips, CarryEveryTextCallAndResultFromAgentToAgent) {
  TempFolder folder;
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    const std::vector<Entry> entries = randomBranch(random);
    const std::string expected = story(entries, entries.back().id);
    for (const std::string first : {"claude-code", "codex", "gemini-cli", "pi", "claw0", "myagents", "plain"}) {
      const ReadFile there = written(entries, entries.back().id, first, folder);
      EXPECT_EQ(there.report.facts.agent, first);
      EXPECT_EQ(story(there.entries, there.report.headId), expected) << first << ", seed " << seed;
      for (const std::string second : {"claude-code", "codex", "gemini-cli"}) {
        const ReadFile further = written(there.entries, there.report.headId, second, folder);
        EXPECT_EQ(story(further.entries, further.report.headId), expected)
            << first << " to " << second << ", seed " << seed;
      }
      if (HasFailure()) return;
    }
  }
}

struct WrittenFile {
  TranscriptFacts facts;
  std::string bytes{};
};

std::vector<WrittenFile> treeFiles(const TranscriptSource& entries, const WriteTranscriptOptions& options) {
  std::vector<WrittenFile> files;
  const auto begin = [&](const std::vector<TranscriptFacts>& all) -> Result<void> {
    for (const TranscriptFacts& facts : all) files.push_back({.facts = facts});
    return {};
  };
  const auto add = [&](std::size_t file, std::string_view piece) -> Result<void> {
    files[file].bytes += piece;
    return {};
  };
  EXPECT_TRUE(writeTranscriptTree(entries, options, {.begin = begin, .add = add}));
  return files;
}

TEST(RoundTrips, OfATreeKeepEveryBranchInCodexFiles) {
  TempFolder folder;
  const ReadFile file = readAll(fixture("pi/03-branches.jsonl"));
  TranscriptFacts facts = file.report.facts;
  facts.agent = "codex";
  const auto files = treeFiles(file.entries, {.agent = "codex", .facts = facts, .headId = file.report.headId});
  ASSERT_EQ(files.size(), 6U);
  for (const WrittenFile& one : files) {
    writeBytes(fs::path(folder.path()) / fmt::format("rollout-2026-01-02T03-04-05-{}.jsonl", one.facts.sessionId),
               one.bytes);
  }
  std::vector<Entry> all;
  std::vector<std::string> stories;
  for (const WrittenFile& one : files) {
    const ReadFile back =
        readAll(fs::path(folder.path()) / fmt::format("rollout-2026-01-02T03-04-05-{}.jsonl", one.facts.sessionId));
    EXPECT_EQ(back.report.recovered + back.report.unreadable, 0U);
    all.insert(all.end(), back.entries.begin(), back.entries.end());
    stories.push_back(story(all, back.report.headId));
  }
  EXPECT_EQ(stories[0], story(file.entries, file.report.headId));
  EXPECT_NE(stories[1].find("user: Try B\nassistant: B done\nuser: B more\n"), std::string::npos) << stories[1];
  EXPECT_NE(stories[3].find("user: Try A\nassistant: A done\nuser: A again\n"), std::string::npos) << stories[3];
  EXPECT_EQ(stories[4].find("Plan A or B?"), std::string::npos) << stories[4];
}

// What the format cannot represent comes back: entries as they were stored, labels, titles.
TEST(RoundTrips, OfATreeInCodexFilesBringTheEntriesBack) {
  for (const std::string name : {"pi/03-branches.jsonl", "pi/entry_types.jsonl", "claude-code/branches.jsonl"}) {
    SCOPED_TRACE(name);
    TempFolder folder;
    const ReadFile file = readAll(fixture(name));
    TranscriptFacts facts = file.report.facts;
    facts.agent = "codex";
    const auto files = treeFiles(file.entries, {.agent = "codex", .facts = facts, .headId = file.report.headId});
    ASSERT_FALSE(files.empty());
    auto store = SessionStore::open(folder / "store");
    ASSERT_TRUE(store);
    std::unordered_map<std::string, Entry> came;
    for (const WrittenFile& one : files) {
      const std::string path = folder / fmt::format("rollout-2026-01-02T03-04-05-{}.jsonl", one.facts.sessionId);
      writeBytes(path, one.bytes);
      const ReadFile back = readAll(path);
      EXPECT_EQ(back.report.recovered + back.report.unreadable, 0U);
      for (const Entry& entry : back.entries) came.emplace(entry.id, entry);
      const auto imported = importTranscript(**store, path);
      ASSERT_TRUE(imported) << imported.error().message;
    }
    for (const Entry& entry : file.entries) {
      const bool isLabel = entry.type == entry_type::kLabel;
      if (!isConversation(entryKind(entry.type)) && !isLabel && entry.type != entry_type::kSessionInfo) continue;
      ASSERT_TRUE(came.contains(entry.id)) << entry.type << " " << entry.id;
      EXPECT_EQ(came[entry.id].payload, entry.payload);
      if (!isLabel && entry.type != entry_type::kSessionInfo) {
        EXPECT_EQ(came[entry.id].parentId, entry.parentId);
      }
    }
  }
}

TEST(Renamed, ASessionsNewIdTakesThePlaceOfTheOldOneInTheAgentsOwnLines) {
  for (const std::string name :
       {"pi/01-linear.jsonl", "claude-code/blocks.jsonl",
        "codex/linear/rollout-2026-01-02T03-04-05-01a1dc74-8eea-7b72-9f3d-075316710001.jsonl"}) {
    SCOPED_TRACE(name);
    const ReadFile file = readAll(fixture(name));
    const TranscriptFacts& before = file.report.facts;
    WriteTranscriptOptions options{.agent = before.agent, .facts = factsOfCopy(before, 1)};
    options.renamedFrom = before.sessionId;
    TempFolder folder;
    const std::string renamed = folder / ("rollout-2026-01-02T03-04-05-" + options.facts.sessionId + ".jsonl");
    const std::string bytes = writeAll(file.entries, options);
    writeBytes(renamed, bytes);
    const ReadFile back = readAll(renamed);
    EXPECT_EQ(back.report.facts.sessionId, options.facts.sessionId);
    EXPECT_NE(back.report.facts.sessionId, before.sessionId);
    EXPECT_EQ(bytes.find(before.sessionId), std::string::npos);
    EXPECT_EQ(back.report.messages, file.report.messages);
    EXPECT_EQ(back.report.recovered + back.report.unreadable, 0U);
  }
}

TEST(Moved, AProjectsNewFolderTakesThePlaceOfTheOldOneInTheAgentsOwnLines) {
  for (const std::string name :
       {"pi/01-linear.jsonl", "claude-code/blocks.jsonl",
        "codex/linear/rollout-2026-01-02T03-04-05-01a1dc74-8eea-7b72-9f3d-075316710001.jsonl"}) {
    SCOPED_TRACE(name);
    const ReadFile file = readAll(fixture(name));
    ASSERT_FALSE(file.report.facts.cwd.empty());
    WriteTranscriptOptions options{.agent = file.report.facts.agent, .facts = file.report.facts};
    options.facts.cwd = "/new \"place\"";
    options.moves = {{.from = file.report.facts.cwd, .to = options.facts.cwd}};
    TempFolder folder;
    const std::string moved = folder.path().string() + "/" + fs::path(fixture(name)).filename().string();
    const std::string bytes = writeAll(file.entries, options);
    writeBytes(moved, bytes);
    const ReadFile back = readAll(moved);
    EXPECT_EQ(back.report.facts.cwd, options.facts.cwd);
    EXPECT_EQ(bytes.find("\"cwd\":\"" + file.report.facts.cwd), std::string::npos);
    EXPECT_EQ(back.report.messages, file.report.messages);
    EXPECT_EQ(back.report.recovered + back.report.unreadable, 0U);
  }
}

TEST(Moved, AFolderMovesWithThoseAboveIt) {
  const auto moved = [](std::string_view folder, const std::vector<MovedFolder>& moves) {
    return movedFolder(folder, moves).value_or("-");
  };
  const std::vector<MovedFolder> one = {{.from = "/home/ada/", .to = "/place//"}};
  EXPECT_EQ(moved("/home/ada/bridge", one), "/place/bridge");
  EXPECT_EQ(moved("/home/ada/", one), "/place");
  EXPECT_EQ(moved("/home/adam", one), "-");
  EXPECT_EQ(moved("/home", one), "-");
  EXPECT_EQ(moved("", one), "-");
  EXPECT_EQ(moved("/a/b", {{.from = "/", .to = "/mnt"}}), "/mnt/a/b");
  EXPECT_EQ(moved("/a/b/c", {{.from = "/a/b", .to = "/"}}), "/c");
  EXPECT_EQ(moved("/a/b", {{.from = "/a/b", .to = "/"}}), "/");
  EXPECT_EQ(moved("/a/b/c", {{.from = "/a/b", .to = "/x"}, {.from = "/a", .to = "/y"}}), "/x/c");
  EXPECT_EQ(moved("/a/C", {{.from = "/A", .to = "/x"}}), "-");
}

TEST(Moved, WindowsPathsFitWhateverTheirCaseAndSlashes) {
  const auto moved = [](std::string_view folder, const MovedFolder& move) {
    return movedFolder(folder, {move}).value_or("-");
  };
  EXPECT_EQ(moved(R"(C:\Users\Ada\proj\sub)", {.from = R"(c:\users\ada\)", .to = "/home/ada"}), "/home/ada/proj/sub");
  EXPECT_EQ(moved(R"(C:\Users\Ada)", {.from = "C:/Users/Ada", .to = R"(D:\)"}), R"(D:\)");
  EXPECT_EQ(moved(R"(C:\Users\Adam)", {.from = R"(C:\Users\Ada)", .to = "/x"}), "-");
  EXPECT_EQ(moved(R"(\\host\share\a)", {.from = R"(\\host\share)", .to = "/mnt"}), "/mnt/a");
  EXPECT_EQ(moved("/home/ada/proj", {.from = "/home/ada", .to = R"(C:\Users\Ada)"}), R"(C:\Users\Ada\proj)");
  EXPECT_EQ(moved(R"(/home/a\b/c)", {.from = R"(/home/a\b)", .to = "/x"}), "/x/c");
}

TEST(Pi, IsRecognizedByItsHeaderWhateverTheLinesAfterItAre) {
  TempFolder folder;
  const std::string path = folder.path() / "s.jsonl";
  writeBytes(path, R"({"type":"session","version":3,"id":"s","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/p"})"
                   "\n"
                   R"({"type":"newer","id":"00000001","parentId":null,"timestamp":"2026-01-02T03:04:05.000Z"})"
                   "\n");
  EXPECT_EQ(recognizeTranscript(path).value_or(""), "pi");
}

// Version 1 has no ids, so each line continues the previous one.
TEST(Pi, AFileWithoutIdsIsWrittenAgainWhenTheSessionContinuesFromTheMiddleOfIt) {
  TempFolder folder;
  const ReadFile file = readAll(BOUGH_TESTS_DIR "/transcript/fixtures/pi/09-legacy-v1.jsonl");
  const std::string path = folder.path() / "s.jsonl";
  writeBytes(path,
             writeAll(file.entries, {.agent = "pi", .facts = file.report.facts, .headId = file.entries.at(2).id}));
  const ReadFile there = readAll(path);
  EXPECT_EQ(there.report.headId, file.entries.at(2).id);
  EXPECT_EQ(there.report.facts.version, "3");
}

TEST(OpenClaw, FindsArchivesAlsoPackedOnes) {
  TempFolder folder;
  const std::string bytes = readBytes(fixture("pi/01-linear.jsonl"));
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3));
  const fs::path sessions = fs::path(folder.path()) / ".openclaw/agents/main/sessions";
  writeBytes(sessions / "a.jsonl", bytes);
  writeBytes(sessions / "b.jsonl.deleted.2026-02-01T10-00-00.000Z.zst", packed);
  writeBytes(sessions / "c.jsonl.reset.2026-02-01T10-00-00.000Z", bytes);
  writeBytes(sessions / "a.jsonl.lock", "{}");
  writeBytes(sessions / "sessions.json", "{}");
  const auto found = findTranscripts(homeAt(folder.path().string()), {"openclaw"});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 3U);
  for (const FoundTranscript& each : *found) {
    const ReadFile file = readAll(each.path);
    EXPECT_EQ(file.report.facts.agent, "openclaw") << each.path;
    EXPECT_EQ(file.report.messages, readAll(fixture("pi/01-linear.jsonl")).report.messages) << each.path;
  }
}

}  // namespace
}  // namespace bough
