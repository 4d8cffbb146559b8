// Files that no program wrote: memory stays bounded, the error is clear, and other files still work.
#include <bough/store.h>
#include <bough/transcript.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <set>
#include <thread>

#include "support/temp_folder.h"
#include "transcript/files.h"

namespace bough {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUser =
    R"({"type":"message","id":"%ID%","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"hello","timestamp":1}})";
constexpr std::string_view kHeader =
    R"({"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/x"})";

std::string userLine(std::string_view id) {
  std::string line(kUser);
  line.replace(line.find("%ID%"), 4, id);
  return line + "\n";
}

void append(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::app) << bytes;
}

#ifdef BOUGH_SANITIZED
constexpr long kMostMegabytes = 255;  // sanitizers keep freed memory, and what was read still counts
#else
constexpr long kMostMegabytes = 200;
#endif

// Returns the peak memory for reading a file, in megabytes, measured in a separate process.
long peakMegabytes(const fs::path& path, std::uint64_t messages) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto report = readTranscript(path, {}, [](Entry&&) -> Result<void> { return {}; });
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const long megabytes = used.ru_maxrss / 1024;
    ::_exit(report && report->messages == messages ? static_cast<int>(std::min(megabytes, 250L)) : 255);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

TEST(Hostile, ALineOfFourGigabytesIsCountedAndTheRestIsRead) {
  TempFolder folder;
  const fs::path path = fs::path(folder.path()) / "s.jsonl";
  writeBytes(path, std::string(kHeader) + "\n" + userLine("00000001"));
  const std::uint64_t begin = fs::file_size(path);
  constexpr std::uint64_t kHole = (std::uint64_t{4} << 30) + 5;
  fs::resize_file(path, begin + kHole);  // uses no disk space
  append(path, "\n" + userLine("00000002"));
  EXPECT_LT(peakMegabytes(path, 2), kMostMegabytes);
  const ReadFile file = readAll(path);
  EXPECT_EQ(file.report.messages, 2U);
  EXPECT_EQ(file.report.skippedBytes, kHole + 1);
  EXPECT_EQ(file.report.unreadable, 1U);
}

TEST(Hostile, ALargeFileTakesLittleMemory) {
  TempFolder folder;
  const fs::path path = fs::path(folder.path()) / "s.jsonl";
  writeBytes(path, std::string(kHeader) + "\n");
  std::string many;
  constexpr std::uint64_t kMessages = 40;
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    std::string line = userLine(fmt::format("{:08x}", i));
    line.replace(line.find("hello"), 5, std::string(std::size_t{8} << 20, 'x'));
    append(path, line);
  }
  EXPECT_GT(fs::file_size(path), std::uint64_t{300} << 20);
  EXPECT_LT(peakMegabytes(path, kMessages), kMostMegabytes);
}

TEST(Hostile, ALongTurnOfCodexTakesLittleMemory) {
  TempFolder folder;
  const fs::path path =
      fs::path(folder.path()) / "rollout-2026-01-02T03-04-05-01a1dc74-8eea-7b72-9f3d-0753167100aa.jsonl";
  const auto line = [](std::string_view type, const std::string& payload) {
    return fmt::format("{{\"timestamp\":\"2026-01-02T03:04:05.000Z\",\"type\":\"{}\",\"payload\":{}}}\n", type,
                       payload);
  };
  writeBytes(path, line("session_meta", R"({"id":"01a1dc74-8eea-7b72-9f3d-0753167100aa","cwd":"/x"})"));
  constexpr std::uint64_t kMessages = 40;
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    const std::string words = fmt::format("{}{}", i, std::string(std::size_t{8} << 20, 'x'));
    append(path,
           line("response_item",
                R"({"type":"message","role":"assistant","content":[{"type":"output_text","text":")" + words + "\"}]}"));
    for (int part = 0; part < 4; ++part) {
      const std::string shown = fmt::format("{} {} {}", i, part, words.substr(0, std::size_t{1} << 20));
      append(path, line("event_msg", R"({"type":"agent_message","message":")" + shown.substr(0, 1 << 20) + "\"}"));
    }
  }
  EXPECT_LT(peakMegabytes(path, kMessages), kMostMegabytes);
}

// The same agent for reading and writing. Each message is compared with earlier ones only by its id, and the document
// is in memory once.
TEST(Hostile, ALongDocumentTakesLittleMemoryAndTimeForEachMessage) {
  constexpr std::uint64_t kMessages = 100'000;
  TempFolder folder;
  const fs::path path = folder.path() / "long.json";
  std::string text =
      R"({"sessionId":"long","projectHash":"a","startTime":"2026-01-01T00:00:00Z","lastUpdated":"2026-01-01T00:00:00Z","messages":[)";
  const std::string words(1'000, 'w');
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    text += fmt::format(R"({}{{{}"id":"{}","type":"{}","content":"{}","timestamp":"2026-01-01T00:00:00Z"}})",
                        i == 0 ? "" : ",", "\n", i, i % 2 == 0 ? "user" : "gemini", words);
    if (text.size() > (std::size_t{1} << 20)) {
      append(path, text);
      text.clear();
    }
  }
  append(path, text + "]}");
  EXPECT_LT(peakMegabytes(path, kMessages), kMostMegabytes);
}

TEST(Hostile, ALargeSessionIsExportedWithLittleMemory) {
  TempFolder folder;
  const fs::path path = fs::path(folder.path()) / "s.jsonl";
  writeBytes(path, std::string(kHeader) + "\n");
  constexpr std::uint64_t kMessages = 80;
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    std::string line = userLine(fmt::format("{:08x}", i));
    line.replace(line.find("hello"), 5, std::string(std::size_t{4} << 20, static_cast<char>('a' + i % 26)));
    append(path, line);
  }
  const pid_t child = ::fork();
  if (child == 0) {
    const auto store = SessionStore::open((fs::path(folder.path()) / "store").string());
    const auto imported = importTranscript(**store, path.string());
    std::uint64_t bytes = 0;
    const auto copied = copyTranscript(**store, imported->sessionId, "pi", [&](std::string_view piece) -> Result<void> {
      bytes += piece.size();
      return {};
    });
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const bool isWhole = copied && *copied && (*copied)->written.sameBytes && bytes == fs::file_size(path);
    ::_exit(isWhole ? static_cast<int>(std::min(used.ru_maxrss / 1024, 250L)) : 255);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_LT(WIFEXITED(status) ? WEXITSTATUS(status) : 255, kMostMegabytes);
}

// A picture or a model's instructions may fill the first lines.
TEST(Hostile, AFileIsRecognizedHoweverLongItsFirstRecordsAre) {
  const auto line = [](std::string_view form, std::size_t bytes) {
    std::string text(form);
    text.replace(text.find("%LONG%"), 6, std::string(bytes, 'x'));
    return text + "\n";
  };
  const std::string claude = line(
      R"({"parentUuid":null,"type":"user","message":{"role":"user","content":"%LONG%"},"uuid":"u1","timestamp":"2026-01-01T00:00:00Z","sessionId":"s","cwd":"/work"})",
      1'000'000);
  const std::string codex =
      line(
          R"({"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"01a1dc74-8eea-7b72-9f3d-075316710001","timestamp":"2026-01-01T00:00:00Z","cwd":"/work","base_instructions":{"text":"%LONG%"}}})",
          400'000) +
      R"({"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}})"
      "\n";
  TempFolder folder;
  const fs::path path = fs::path(folder.path()) / "s.jsonl";
  for (const auto& [bytes, agent] :
       {std::pair(claude, "claude-code"),
        std::pair("{\"type\":\"summary\",\"summary\":\"a\"}\n" + claude, "claude-code"), std::pair(codex, "codex")}) {
    SCOPED_TRACE(agent);
    writeBytes(path, bytes);
    const auto recognized = recognizeTranscript(path);
    ASSERT_TRUE(recognized) << recognized.error().message;
    EXPECT_EQ(*recognized, agent);
    const auto facts = peekTranscript(path);
    ASSERT_TRUE(facts);
    EXPECT_EQ(facts->cwd, "/work");
    EXPECT_EQ(readAll(path).report.messages, 1U);
  }
  // A file of no agent is rejected without reading all of it.
  writeBytes(path, std::string(40, '\n') + std::string(std::size_t{1} << 20, 'x'));
  EXPECT_FALSE(recognizeTranscript(path));
}

TEST(Hostile, DeepNestingIsDamageAndNotACrash) {
  TempFolder folder;
  const fs::path path = fs::path(folder.path()) / "s.jsonl";
  for (const std::string_view open : {"[", "{\"a\":"}) {
    std::string deep = R"({"type":"message","id":"00000009","timestamp":"2026-01-01T00:00:01.000Z","message":)";
    for (int i = 0; i < 200'000; ++i) deep += open;
    writeBytes(path, std::string(kHeader) + "\n" + userLine("00000001") + deep + "\n" + userLine("00000002"));
    const ReadFile file = readAll(path);
    EXPECT_EQ(file.report.messages, 2U);
    EXPECT_EQ(file.report.unreadable, 1U);
  }
}

TEST(Hostile, AFileThatGrowsAndShrinksWhileItIsImportedLosesNothingAndRepeatsNothing) {
  TempFolder folder;
  const fs::path path = fs::path(folder.path()) / "s.jsonl";
  writeBytes(path, std::string(kHeader) + "\n");
  constexpr int kLines = 400;
  std::atomic<bool> written = false;
  std::jthread agent([&] {
    for (int i = 0; i < kLines; ++i) {
      const std::string line = userLine(fmt::format("{:08x}", i));
      append(path, line.substr(0, line.size() / 2));  // torn for a moment
      append(path, line.substr(line.size() / 2));
    }
    written = true;
  });
  const auto opened = SessionStore::open("memory:");
  ASSERT_TRUE(opened);
  SessionStore& store = **opened;
  // While only the beginning of the file exists, it may belong to any agent.
  while (!written) (void)importTranscript(store, path);
  agent.join();
  const auto done = importTranscript(store, path);
  ASSERT_TRUE(done) << done.error().message;
  const std::string id = done->sessionId;
  const auto messages = store.loadSessionEntries(id, {.type = std::string(entry_type::kMessage)});
  ASSERT_TRUE(messages);
  EXPECT_EQ(messages->size(), static_cast<std::size_t>(kLines));
  // Truncated and continued differently: existing entries stay, and new ones are added.
  writeBytes(path, std::string(kHeader) + "\n" + userLine("00000000") + userLine("ffffffff"));
  const auto rewritten = importTranscript(store, path);
  ASSERT_TRUE(rewritten);
  EXPECT_TRUE(rewritten->rewritten);
  EXPECT_EQ(store.loadSessionEntries(id, {.type = std::string(entry_type::kMessage)})->size(),
            static_cast<std::size_t>(kLines) + 1);
}

TEST(Hostile, ACompactionInALongLineIsImported) {
  TempFolder folder;
  const fs::path path = fs::path(folder.path()) / "session.jsonl";
  const std::string words(std::size_t{400} << 10, 'x');
  append(path, R"({"sessionId":"s","projectHash":"h","startTime":"2026-01-01T00:00:00.000Z","kind":"main"})"
               "\n"
               R"({"id":"1","timestamp":"2026-01-01T00:00:00.000Z","type":"user","content":"one"})"
               "\n");
  append(path,
         R"({"$set":{"messages":[{"id":"2","timestamp":"2026-01-01T00:00:01.000Z","type":"user","content":"sum"},)"
         R"({"id":"3","timestamp":"2026-01-01T00:00:01.000Z","type":"gemini","content":")" +
             words + "\"}]}}\n");
  const auto store = SessionStore::open(fs::path(folder.path()) / "store");
  ASSERT_TRUE(store);
  const auto done = importTranscript(**store, path);
  ASSERT_TRUE(done) << done.error().message;
  const auto entries = (*store)->loadSessionEntries(done->sessionId, {.types = {"compaction_summary"}});
  ASSERT_TRUE(entries);
  ASSERT_EQ(entries->size(), 1U);
  EXPECT_EQ(json::findString(entries->front().payload, "summary"), "sum");
}

// A rollout whose second to last line becomes that many entries.
std::string longCompaction(int count) {
  const std::string begin = R"({"timestamp":"2026-01-02T03:04:05.000Z","type":)";
  const auto message = [](int number) {
    return fmt::format(R"({{"type":"message","role":"user","content":[{{"type":"input_text","text":"{}"}}]}})", number);
  };
  std::string text =
      begin + R"("session_meta","payload":{"id":"01a1dc74-8eea-7b72-9f3d-075316710001","cwd":"/x"}})" + "\n";
  text += begin + R"("compacted","payload":{"message":"S","replacement_history":[)";
  for (int i = 0; i < count; ++i) text += message(i) + ",";
  text += message(count) + "]}}\n";
  return text + begin + R"("response_item","payload":)" + message(-1) + "}\n";
}

TEST(Hostile, AnInterruptedImportLosesNoneOfALinesEntries) {
  TempFolder folder;
  const fs::path path = fs::path(folder.path()) / "rollout.jsonl";
  append(path, longCompaction(1'500));
  const auto store = SessionStore::open(fs::path(folder.path()) / "store");
  const auto done = importTranscript(**store, path);
  ASSERT_TRUE(done) << done.error().message;
  // The whole line is one batch, so that no crash can split it.
  std::ifstream log(fs::path(folder.path()) / "store/sessions" / (done->sessionId + ".jsonl"));
  std::set<std::string> batches;
  for (std::string line; std::getline(log, line);) {
    if (!line.contains("input_text") || line.contains(R"("text":"-1")")) continue;
    const std::size_t seal = line.rfind("\"seal\":\"");
    const std::size_t slash = line.find('/', seal);
    batches.insert(line.substr(slash, line.find(' ', slash) - slash));
  }
  EXPECT_EQ(batches.size(), 1U);
}

TEST(Hostile, ALineOfVeryManyEntriesIsReadAgainAfterAnInterruption) {
  TempFolder folder;
  const fs::path path = fs::path(folder.path()) / "rollout.jsonl";
  append(path, longCompaction(21'000));
  const auto whole = SessionStore::open("memory:");
  const auto done = importTranscript(**whole, path);
  ASSERT_TRUE(done) << done.error().message;
  auto entries = *(*whole)->loadSessionEntries(done->sessionId);
  const std::size_t count = entries.size();
  const auto part = SessionStore::open("memory:");
  ASSERT_TRUE((*part)->createSession({.sessionId = done->sessionId}));
  entries.erase(entries.begin());  // the header
  entries.resize(20'000);
  ASSERT_TRUE((*part)->appendSessionEntries(done->sessionId, std::move(entries)));
  const auto again = importTranscript(**part, path);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ((*part)->loadSessionEntries(done->sessionId)->size(), count);
}

TEST(Hostile, AFileThatIsItsOwnParentIsReadWithoutIt) {
  TempFolder folder;
  const std::string thread = "01a1dc74-8eea-7b72-9f3d-075316710001";
  const fs::path path = fs::path(folder.path()) / ("rollout-2026-01-02T03-04-05-" + thread + ".jsonl");
  append(path, fmt::format(R"({{"timestamp":"2026-01-02T03:04:05.000Z","type":"session_meta","payload":{{"id":"{}",)"
                           R"("history_base":{{"thread_id":"{}","end_byte_offset":9}}}}}})"
                           "\n",
                           thread, thread));
  append(path, R"({"timestamp":"2026-01-02T03:04:05.000Z","type":"response_item","payload":{"type":"message",)"
               R"("role":"user","content":[{"type":"input_text","text":"hi"}]}})"
               "\n");
  const ReadFile file = readAll(path);
  EXPECT_EQ(file.report.recovered, 1U);
  const auto store = SessionStore::open("memory:");
  const auto done = importTranscript(**store, path);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->report.messages, 1U);
}

TEST(Hostile, AnIdIsNeverAWayToAnotherFolder) {
  const TranscriptHome home{.home = "/home/ada", .variable = [](const std::string&) { return std::string(); }};
  const std::string withNul("a\0b", 3);
  for (const std::string& id :
       {std::string("../../x"), std::string("/etc/passwd"), std::string("a/b"), std::string(".."), std::string("."),
        std::string(), std::string("-rf"), std::string("a\nb"), withNul}) {
    for (const std::string agent : {"claude-code", "codex", "gemini-cli", "myagents", "openclaw", "pi"}) {
      TranscriptFacts facts;
      facts.agent = agent;
      facts.sessionId = id;
      facts.cwd = "/home/ada/../../etc";
      facts.created = "2026-01-02T03:04:05.000Z";
      const auto place = placeForTranscript(home, facts);
      if (!place) {
        EXPECT_EQ(place.error().code, ErrorCode::InvalidArgument);
        continue;
      }
      EXPECT_TRUE(place->path.starts_with("/home/ada/.")) << place->path;
      EXPECT_EQ(place->path.find("/../"), std::string::npos) << place->path;
      EXPECT_EQ(place->path.find('\n'), std::string::npos) << place->path;
    }
    EXPECT_TRUE(transcriptSessionId({.agent = "pi", .sessionId = id}).find('/') == std::string::npos);
  }
}

}  // namespace
}  // namespace bough
