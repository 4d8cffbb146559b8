// Records between the lines of a conversation do not change it: blank lines, unknown lines, damage, several records on
// one line. Each is inserted after every line of each fixture. A concurrent import does not change what is stored
// either, nor does the position of its lines.
#include <fmt/format.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <thread>

#include "support/temp_folder.h"
#include "transcript/files.h"

namespace bough {
namespace {

namespace fs = std::filesystem;

struct Interruption {
  std::string_view name;
  std::string_view text;         // inserted after each line
  bool withoutLineEnds = false;  // the text replaces line ends
  bool isDamage = false;
};

constexpr Interruption kInterruptions[] = {
    {.name = "a blank line", .text = "\n"},
    {.name = "blanks", .text = " \t\r\n\n"},
    {.name = "an unknown line", .text = "{\"type\":\"from-the-future\",\"x\":1}\n"},
    {.name = "words", .text = "panic: not JSON\n", .isDamage = true},
    {.name = "a line that broke off", .text = "{\"type\":\"user\",\"message\":{\"ro\n", .isDamage = true},
    {.name = "a record that broke off",
     .text = "\n{\"type\":\"user\",\"mess",
     .withoutLineEnds = true,
     .isDamage = true},
    {.name = "NUL bytes", .text = std::string_view("\n\0\0\0", 4), .withoutLineEnds = true, .isDamage = true},
    {.name = "no line end", .text = "", .withoutLineEnds = true, .isDamage = true},
};

std::string interrupted(std::string_view bytes, const Interruption& how) {
  std::string out;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const bool isLast = end == std::string_view::npos || end + 1 == bytes.size();
    const std::size_t size = end == std::string_view::npos ? bytes.size() : how.withoutLineEnds ? end : end + 1;
    out += bytes.substr(0, size);
    if (!isLast) out += how.text;
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
  }
  if (!out.ends_with('\n')) out += '\n';
  return out;
}

std::vector<fs::path> soundFilesOfLines() {
  std::vector<fs::path> paths = fixtures();
  std::erase_if(paths, [](const fs::path& path) {
    if (path.extension() != ".jsonl") return true;
    const ReadFile file = readAll(path);
    return file.report.recovered + file.report.unreadable > 0 || !file.report.facts.parentSession.empty();
  });
  return paths;
}

std::size_t messagesIn(const std::vector<Entry>& entries) {
  return static_cast<std::size_t>(std::ranges::count_if(entries, holdsMessage));
}

TEST(Interruptions, BetweenLinesLeaveTheConversationAsItIs) {
  TempFolder folder;
  std::size_t tried = 0;
  for (const fs::path& path : soundFilesOfLines()) {
    const fs::path other = folder.path() / path.filename();  // names and files beside it count, too
    writeBytes(other, readBytes(path));
    const ReadFile file = readAll(other);
    for (const Interruption& how : kInterruptions) {
      SCOPED_TRACE(fmt::format("{} with {}", path.string(), how.name));
      const std::string bytes = interrupted(readBytes(path), how);
      writeBytes(other, bytes);
      const ReadFile read = readAll(other);
      EXPECT_EQ(read.report.facts.agent, file.report.facts.agent);
      EXPECT_EQ(messagesIn(read.entries), messagesIn(file.entries));
      EXPECT_EQ(story(read.entries, read.report.headId), story(file.entries, file.report.headId));
      const std::uint64_t places = read.report.recovered + read.report.unreadable;
      EXPECT_EQ(places > 0, how.isDamage) << damageText(read.report);
      const WriteTranscriptOptions back{
          .agent = file.report.facts.agent, .facts = read.report.facts, .headId = read.report.headId};
      EXPECT_EQ(writeAll(read.entries, back), bytes);
      WriteTranscriptOptions clean = back;
      clean.clean = true;
      const fs::path copy = folder.path() / "copy" / path.filename();
      writeBytes(copy, writeAll(read.entries, clean));
      const ReadFile again = readAll(copy);
      EXPECT_EQ(story(again.entries, again.report.headId), story(file.entries, file.report.headId));
      EXPECT_EQ(messagesIn(again.entries), messagesIn(file.entries));
      EXPECT_EQ(damageText(again.report), "");
      ++tried;
    }
  }
  EXPECT_GT(tried, 100U);
}

// Lines of unknown types may be part of the chain of parents.
TEST(Interruptions, ByUnknownLinesInTheChainKeepAnAnswerWhole) {
  TempFolder folder;
  const fs::path path = folder.path() / "s.jsonl";
  const auto line = [](std::string_view type, std::string_view id, std::string_view parent, std::string_view rest) {
    return fmt::format(
        R"({{"type":"{}","uuid":"{}","parentUuid":{},"timestamp":"2026-01-01T00:00:00.000Z","sessionId":"s"{}}})"
        "\n",
        type, id, parent, rest);
  };
  const auto block = [](std::string_view text) {
    return fmt::format(
        R"(,"message":{{"id":"m1","role":"assistant","content":[{{"type":"text","text":"{}"}}],"usage":{{"input_tokens":1,"output_tokens":2}}}})",
        text);
  };
  writeBytes(path, line("user", "u1", "null", R"(,"message":{"role":"user","content":"hi"})") +
                       line("assistant", "a1", "\"u1\"", block("one")) + line("hook", "h1", "\"a1\"", "") +
                       line("system", "h2", "\"h1\"", R"(,"subtype":"informational","content":"x")") +
                       line("assistant", "a2", "\"h2\"", block("two")) + line("hook", "h3", "null", "") +
                       line("assistant", "a3", "\"a2\"", block("three \xFF")) +
                       line("assistant", "a4", "\"a3\"", block("four")));
  const ReadFile file = readAll(path);
  EXPECT_EQ(messagesIn(file.entries), 2U);
  EXPECT_EQ(story(file.entries, file.report.headId),
            "user: hi\nassistant: one\nassistant: two\nassistant: three \uFFFD\nassistant: four\n");
  EXPECT_EQ(file.report.recovered, 1U);
  EXPECT_EQ(writeAll(file.entries, {.agent = "claude-code", .facts = file.report.facts, .headId = file.report.headId}),
            readBytes(path));
}

// Gemini CLI writes the whole list from time to time, even when nothing in it has changed.
TEST(Interruptions, ByListsOfTheSameMessagesChangeNothing) {
  TempFolder folder;
  const auto message = [](int i) {
    return fmt::format(R"({{"id":"m{}","timestamp":"2026-01-01T00:00:00.000Z","type":"{}","content":"words {}"}})", i,
                       i % 2 == 0 ? "user" : "gemini", i);
  };
  std::string plain = R"({"sessionId":"s","projectHash":"p","startTime":"2026-01-01T00:00:00.000Z"})"
                      "\n";
  std::string repeated = plain;
  std::string list;
  for (int i = 0; i < 9; ++i) {
    plain += message(i) + "\n";
    list += (i == 0 ? "" : ",") + message(i);
    repeated += message(i) + "\n" + fmt::format(R"({{"$set":{{"messages":[{}]}}}})", list) + "\n";
  }
  writeBytes(folder.path() / "plain.jsonl", plain);
  writeBytes(folder.path() / "repeated.jsonl", repeated);
  const ReadFile expected = readAll(folder.path() / "plain.jsonl");
  const ReadFile file = readAll(folder.path() / "repeated.jsonl");
  EXPECT_EQ(story(file.entries, file.report.headId), story(expected.entries, expected.report.headId));
  EXPECT_EQ(messagesIn(file.entries), 9U);
  const auto isSummary = [](const Entry& entry) { return entry.type == entry_type::kCompactionSummary; };
  EXPECT_EQ(std::ranges::count_if(file.entries, isSummary), 0);
}

TEST(Interruptions, ByAnotherImportOfTheSameFilesAddNothing) {
  const TempFolder folder;
  const std::filesystem::path files = folder.path();
  std::vector<std::string> paths;
  for (int i = 0; i < 60; ++i) {
    paths.push_back(files / fmt::format("{}.jsonl", i));
    writeBytes(
        paths.back(),
        fmt::format(
            R"({{"type":"session","version":3,"id":"s{}","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/x"}})"
            "\n"
            R"({{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{{"role":"user","content":"hello","timestamp":1}}}})"
            "\n",
            i));
  }
  const auto alone = memoryStore();
  const std::string store = files / "store";
  ASSERT_TRUE(SessionStore::open(store));
  std::atomic<std::uint64_t> told = 0;
  const auto importAll = [&] {
    const auto own = SessionStore::open(store);
    for (const std::string& path : paths) told += import(**own, path).appended;
  };
  {
    const std::jthread one(importAll);
    const std::jthread two(importAll);
  }
  const auto both = SessionStore::open(store);
  std::uint64_t stored = 0;
  for (const std::string& path : paths) {
    const ImportResult expected = import(*alone, path);
    stored += expected.appended;
    const auto entries = (*both)->loadSessionEntries(expected.sessionId);
    ASSERT_TRUE(entries);
    EXPECT_EQ(entries->size(), alone->loadSessionEntries(expected.sessionId)->size());
    EXPECT_EQ(import(**both, path).appended, 0U);
  }
  EXPECT_EQ(told, stored);  // each entry is reported by the import that stored it
}

// One of them may read the file when it has only part of an answer's lines.
TEST(Interruptions, ByOtherImportsOfAFileThatGrowsStoreEachLineOnce) {
  constexpr int kLines = 150;
  TempFolder folder;
  const std::string path = folder.path() / "01a1dc74-8eea-7b72-9f3d-075316710001.jsonl";
  const std::string store = folder.path() / "store";
  ASSERT_TRUE(SessionStore::open(store));
  const auto line = [](int number) {
    const std::string parent = number == 0 ? "null" : fmt::format("\"a{}\"", number - 1);
    return fmt::format(
        R"({{"type":"assistant","uuid":"a{}","parentUuid":{},"isSidechain":false,"timestamp":"2026-01-01T00:00:00.000Z","sessionId":"s","message":{{"id":"m{}","role":"assistant","content":[{{"type":"text","text":"part {}"}}]}}}})"
        "\n",
        number, parent, number / 30, number);
  };
  std::string bytes = line(0);
  writeBytes(path, bytes);
  std::atomic<bool> isWhole = false;
  std::atomic<int> begun = 0;
  std::atomic<std::uint64_t> told = 0;
  const auto importAgain = [&] {
    const auto own = SessionStore::open(store);
    for (bool isLast = false; !isLast;) {
      isLast = isWhole;
      ++begun;
      told += import(**own, path).appended;
    }
  };
  {
    const std::jthread one(importAgain);
    const std::jthread two(importAgain);
    const std::jthread three(importAgain);
    for (int number = 1; number < kLines; ++number) {
      const int before = begun;
      while (begun == before) std::this_thread::yield();
      std::ofstream(path, std::ios::binary | std::ios::app) << line(number);
      bytes += line(number);
    }
    isWhole = true;
  }
  const auto all = SessionStore::open(store);
  const ImportResult last = import(**all, path);
  EXPECT_EQ(last.appended, 0U);
  EXPECT_EQ(exported(**all, last.sessionId, "claude-code"), bytes);
  // Each entry is reported by the import that stored it, except headers and head entries.
  const auto entries = (*all)->loadSessionEntries(last.sessionId);
  ASSERT_TRUE(entries);
  const auto isImported = [](const Entry& entry) {
    return entry.type != entry_type::kHead && entry.type != entry_type::kSessionHeader;
  };
  EXPECT_EQ(told, static_cast<std::uint64_t>(std::ranges::count_if(*entries, isImported)));
}

// Calls `act` each time the header of a session is read, which an import does when it starts over.
class AtEachHeader final : public EntrySerializer {
 public:
  explicit AtEachHeader(std::function<void()> act) : act_(std::move(act)) {}
  [[nodiscard]] int schemaVersion() const override { return jsonEntrySerializer().schemaVersion(); }
  Result<void> encode(const Entry& entry, std::string& out) const override {
    return jsonEntrySerializer().encode(entry, out);
  }
  [[nodiscard]] Result<Entry> decode(std::string_view text) const override {
    auto entry = jsonEntrySerializer().decode(text);
    if (entry && entry->type == entry_type::kSessionHeader) act_();
    return entry;
  }

 private:
  std::function<void()> act_;
};

// Each time, the file grows and another import is faster.
TEST(Interruptions, ByAFasterImportLeaveWhatTheFileHeldInTheSession) {
  constexpr int kTimes = 100;
  TempFolder folder;
  const std::string path = folder.path() / "s.jsonl";
  const std::string store = folder.path() / "store";
  const auto faster = *SessionStore::open(store);
  std::string bytes;
  const auto grow = [&] {
    bytes += fmt::format(R"({{"type":"user","content":"line {}","ts":1.5}})"
                         "\n",
                         bytes.size());
    writeBytes(path, bytes);
  };
  grow();
  int times = 0;
  const AtEachHeader serializer([&] {
    if (++times > kTimes) return;
    grow();
    import(*faster, path);
  });
  const std::string sessionId = import(*faster, path).sessionId;
  const auto slower = *SessionStore::open({.backend = *makeFileBackend(store, {}, serializer), .options = {}});
  const ImportResult done = import(*slower, path);
  EXPECT_EQ(done.appended, 0U);
  EXPECT_EQ(done.report.facts.agent, "claw0");
  EXPECT_LT(times, kTimes);  // the import does not wait until the file stops growing
  EXPECT_EQ(exported(*faster, sessionId, "claw0"), bytes);
}

// Codex shows a prompt before it writes the prompt's item. When the item is missing, the shown text becomes an entry
// without a line, which may come after the incomplete line.
TEST(Interruptions, ByTheEndOfTheFileLeaveItsBytesAfterWordsThatWereOnlyShown) {
  TempFolder folder;
  const std::string id = "0199a213-81a0-7800-8aa0-bbab2a035a53";
  const std::string path = folder / ("rollout-2026-01-01T00-00-00-" + id + ".jsonl");
  const auto line = [](std::string_view type, std::string_view payload) {
    return fmt::format(R"({{"timestamp":"2026-01-01T00:00:00.000Z","type":"{}","payload":{}}})"
                       "\n",
                       type, payload);
  };
  const std::string bytes =
      line("session_meta", fmt::format(R"({{"id":"{}","cwd":"/p"}})", id)) +
      line("event_msg", R"({"type":"user_message","message":"hello"})") +
      line("response_item", R"({"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]})") +
      R"({"timestamp":"2026-01-01T00:00:01.000Z","type":"respon)";
  writeBytes(path, bytes);
  const auto store = memoryStore();
  import(*store, path);
  EXPECT_EQ(exported(*store, id, "codex"), bytes);
  std::string copy;
  const auto copied = copyTranscript(*store, id, "codex", [&](std::string_view piece) -> Result<void> {
    copy += piece;
    return {};
  });
  ASSERT_TRUE(copied && *copied);
  EXPECT_EQ(copy, bytes);
  EXPECT_EQ((*copied)->written.entries, (*copied)->written.verbatim);
}

// Counts the entries of the conversation, and usage recorded beside it.
std::size_t countTold(SessionStore& store, const std::string& sessionId) {
  const auto entries = store.loadSessionEntries(sessionId);
  return static_cast<std::size_t>(std::ranges::count_if(entries.value(), [](const Entry& entry) {
    return !isControlType(entry.type) || entry.payload.contains("\"usage\":{");
  }));
}

TEST(Interruptions, LinesThatAreElsewhereNowAreNotAddedAgain) {
  TempFolder folder;
  for (const auto& path : fixtures()) {
    SCOPED_TRACE(path.string());
    const std::string bytes = readBytes(path);
    if (bytes.starts_with("\xEF\xBB\xBF")) continue;
    const std::string copy = std::filesystem::path(folder.path()) / path.filename();
    const auto store = memoryStore();
    writeBytes(copy, "\n" + bytes);
    const auto before = importTranscript(*store, copy, {.agent = {}, .sessionId = "s"});
    if (!before) continue;  // a fork whose origin is missing
    const std::size_t told = countTold(*store, "s");
    writeBytes(copy, bytes);
    ASSERT_TRUE(importTranscript(*store, copy, {.agent = {}, .sessionId = "s"}));
    EXPECT_EQ(countTold(*store, "s"), told);
    EXPECT_EQ(importTranscript(*store, copy, {.agent = {}, .sessionId = "s"})->appended, 0U);
  }
}

TEST(Interruptions, WhatWasRedactedDoesNotComeBackWithItsLineElsewhere) {
  TempFolder folder;
  const std::string path = std::filesystem::path(folder.path()) / "s.jsonl";
  const std::string lines =
      "{\"type\":\"user\",\"content\":\"a secret\",\"ts\":1.5}\n"
      "{\"type\":\"assistant\",\"content\":\"an answer\",\"ts\":2.5}\n";
  const auto store = memoryStore();
  writeBytes(path, "\n" + lines);
  const ImportResult before = import(*store, path);
  const auto history = store->buildConversationHistory(before.sessionId);
  ASSERT_TRUE(history && history->size() == 2U);
  ASSERT_TRUE(store->redactEntry(before.sessionId, history->front().id, "me", "private"));
  writeBytes(path, lines);
  EXPECT_EQ(import(*store, path).appended, 0U);
  const auto entries = store->loadSessionEntries(before.sessionId);
  for (const Entry& entry : entries.value()) EXPECT_FALSE(entry.payload.contains("a secret"));
}

// pi adds ids to the lines of an old file when it opens it, and rewrites the file.
TEST(Interruptions, LinesThatGotIdsContinueTheirSession) {
  TempFolder folder;
  const std::string path = std::filesystem::path(folder.path()) / "s.jsonl";
  const auto line = [](std::string_view ids, std::string_view rest) {
    return fmt::format(R"({{"timestamp":"2026-01-01T00:00:00Z",{}{}}})"
                       "\n",
                       rest, ids);
  };
  const auto header = [](int version) {
    return fmt::format(R"({{"type":"session","version":{},"id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/tmp"}})"
                       "\n",
                       version);
  };
  const std::string question = R"("type":"message","message":{"role":"user","content":"one"})";
  const std::string answer =
      R"("type":"message","message":{"role":"assistant","content":[{"type":"text","text":"two"}],"usage":{"input":7,"output":1},"timestamp":5})";
  const std::string summary = R"("type":"compaction","summary":"three","tokensBefore":9,)";
  writeBytes(path, header(1) + line("", question) + line("", answer) + line(R"("firstKeptEntryIndex":2)", summary));
  const auto store = memoryStore();
  import(*store, path);
  const std::size_t told = countTold(*store, "s");
  const std::string migrated = header(3) + line(R"(,"id":"aaaa0001","parentId":null)", question) +
                               line(R"(,"id":"aaaa0002","parentId":"aaaa0001")", answer) +
                               line(R"("firstKeptEntryId":"aaaa0002","id":"aaaa0003","parentId":"aaaa0002")", summary);
  writeBytes(path, migrated);
  import(*store, path);
  EXPECT_EQ(countTold(*store, "s"), told);
  // New lines continue the stored lines and refer to them.
  writeBytes(path, migrated + line(R"(,"id":"aaaa0004","parentId":"aaaa0003")", question) +
                       line(R"("firstKeptEntryId":"aaaa0002","id":"aaaa0005","parentId":"aaaa0004")", summary));
  for (const std::size_t more : {2U, 0U}) {
    EXPECT_EQ(import(*store, path).appended, more);
    EXPECT_EQ(countTold(*store, "s"), told + 2);
  }
  EXPECT_EQ(store->loadTree("s")->branches().size(), 1U);
  const auto branch = store->loadSessionEntries("s", {.branch = "aaaa0005"});
  ASSERT_TRUE(branch);
  EXPECT_TRUE(branch->back().payload.contains("\"firstKeptEntryId\":\"" + (*branch)[1].id + "\""))
      << branch->back().payload;
}

}  // namespace
}  // namespace bough
