// Transcripts in a store: imported once, again, and after they grew; and written from the store.
#include <bough/store.h>
#include <bough/transcript.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/temp_folder.h"
#include "transcript/files.h"

namespace bough {
namespace {

TEST(Import, EveryFixtureComesOutOfAStoreAsItWentIn) {
  std::size_t copies = 0;
  for (const auto& path : fixtures()) {
    SCOPED_TRACE(path.string());
    const auto store = memoryStore();
    const ImportResult done = import(*store, path);
    EXPECT_TRUE(done.created);
    const std::string written = exported(*store, done.sessionId, done.report.facts.agent);
    EXPECT_EQ(written, readBytes(path));
    // The same without loading the session into memory, where that is possible.
    std::string copy;
    const auto copied = copyTranscript(*store, done.sessionId, done.report.facts.agent, [&](std::string_view piece) {
      copy += piece;
      return Result<void>();
    });
    ASSERT_TRUE(copied) << copied.error().message;
    if (*copied) {
      ++copies;
      EXPECT_EQ(copy, written);
      EXPECT_EQ((*copied)->facts.sessionId, done.report.facts.sessionId);
    } else {
      EXPECT_EQ(copy, "");
    }
    const auto state = store->sessionState(done.sessionId);
    ASSERT_TRUE(state);
    EXPECT_EQ(state->headId, done.report.headId);
  }
  EXPECT_GT(copies * 2, fixtures().size());
}

TEST(Import, ASessionThatWasChangedIsNotCopied) {
  const auto store = memoryStore();
  const ImportResult done = import(*store, BOUGH_TESTS_DIR "/transcript/fixtures/pi/01-linear.jsonl");
  const auto copies = [&](const std::string& agent) {
    const auto copied = copyTranscript(*store, done.sessionId, agent, [](std::string_view) { return Result<void>(); });
    return copied && copied->has_value();
  };
  EXPECT_TRUE(copies("pi"));
  EXPECT_FALSE(copies("claude-code"));
  Entry more;
  more.type = entry_type::kMessage;
  more.payload = R"({"dialect":"anthropic","message":{"role":"user","content":"more"}})";
  ASSERT_TRUE(store->appendSessionEntries(done.sessionId, {more}));
  EXPECT_FALSE(copies("pi"));
}

TEST(Import, ASecondImportAddsNothing) {
  for (const auto& path : fixtures()) {
    SCOPED_TRACE(path.string());
    const auto store = memoryStore();
    const ImportResult first = import(*store, path);
    const auto before = store->sessionState(first.sessionId);
    const ImportResult second = import(*store, path);
    EXPECT_EQ(second.sessionId, first.sessionId);
    EXPECT_FALSE(second.created);
    EXPECT_EQ(second.appended, 0U);
    // Damage is still reported.
    EXPECT_EQ(second.report.recovered, first.report.recovered);
    EXPECT_EQ(second.report.unreadable, first.report.unreadable);
    EXPECT_EQ(damageText(second.report), damageText(first.report));
    EXPECT_EQ(store->sessionState(first.sessionId)->entryCount, before->entryCount);
  }
}

// MyAgents was interrupted while it converted its older document to lines: the document is still the conversation.
TEST(Import, AnInterruptedMigrationContinuesFromTheEndOfTheDocument) {
  const TempFolder folder;
  const auto path = std::filesystem::path(folder.path()) / "sessions" / "session-1-ab.json";
  std::vector<std::string> lines;
  for (int i = 0; i < 6; ++i) {
    lines.push_back(
        fmt::format(R"({{"id":"{}","role":"{}","content":"word {}","timestamp":"2026-01-01T00:00:0{}.000Z"}})", i,
                    i % 2 == 0 ? "user" : "assistant", i, i));
  }
  std::string document = lines[0];
  for (std::size_t i = 1; i < lines.size(); ++i) document += "," + lines[i];
  writeBytes(path, R"({"messages":[)" + document + "]}");
  const std::filesystem::path begun = path.string() + "l";
  writeBytes(begun, lines[0] + "\n" + lines[1] + "\n" + lines[2] + "\n" + lines[3].substr(0, 30));
  const auto store = memoryStore();
  for (const auto& each : {path, begun, path, begun}) {
    const ImportResult done = import(*store, each);
    EXPECT_EQ(store->sessionState(done.sessionId)->headId, "5") << each;
  }
  const auto other = memoryStore();
  for (const auto& each : {begun, path, begun}) import(*other, each);
  EXPECT_EQ(other->sessionState("session-1-ab")->headId, "5");
  // The session continues with lines that follow the document.
  std::string whole;
  for (const std::string& line : lines) whole += line + "\n";
  writeBytes(begun, whole + R"({"id":"6","role":"user","content":"more","timestamp":"2026-01-01T00:00:06.000Z"})"
                            "\n");
  import(*store, begun);
  EXPECT_EQ(store->sessionState("session-1-ab")->headId, "6");
}

TEST(Import, AHeadThatAnImportCouldNotMoveAnyMoreIsMovedByTheNextOne) {
  std::size_t moved = 0;
  for (const auto& path : fixtures()) {
    SCOPED_TRACE(path.string());
    const auto store = memoryStore();
    const ImportResult whole = import(*store, path);
    const auto entries = store->loadSessionEntries(whole.sessionId);
    ASSERT_TRUE(entries);
    const bool isFork = !whole.report.facts.parentEntryId.empty();
    if (isFork || entries->back().type != entry_type::kHead) continue;
    ++moved;
    // Interrupted before its last append.
    const auto ended = memoryStore();
    ASSERT_TRUE(ended->createSession({.sessionId = whole.sessionId}));
    ASSERT_TRUE(ended->appendSessionEntries(whole.sessionId, {entries->begin() + 1, entries->end() - 1}));
    import(*ended, path);
    EXPECT_EQ(ended->sessionState(whole.sessionId)->headId, whole.report.headId);
    const std::uint64_t count = ended->sessionState(whole.sessionId)->entryCount;
    import(*ended, path);
    EXPECT_EQ(ended->sessionState(whole.sessionId)->entryCount, count);
  }
  EXPECT_GT(moved, 0U);
}

TEST(Import, TwoFilesOfOneSessionDoNotMoveTheHeadForEver) {
  TempFolder folder;
  const auto line = [](std::string_view id, std::string_view text) {
    return fmt::format(
        R"({{"id":"{}","parentId":null,"timestamp":"2026-01-01T00:00:00Z","type":"user","content":"{}"}})"
        "\n",
        id, text);
  };
  const auto one = std::filesystem::path(folder.path()) / "one" / "s.jsonl";
  const auto two = std::filesystem::path(folder.path()) / "two" / "s.jsonl";
  writeBytes(one, line("a", "one") + line("b", "longer than what the other file holds"));
  writeBytes(two, line("c", "other"));
  const auto store = memoryStore();
  std::vector<std::uint64_t> counts;
  for (int round = 0; round < 4; ++round) {
    import(*store, one);
    counts.push_back(store->sessionState(import(*store, two).sessionId)->entryCount);
  }
  EXPECT_EQ(counts[1], counts[2]);
  EXPECT_EQ(counts[2], counts[3]);
}

TEST(Import, AFileThatGrewContinuesItsSession) {
  TempFolder folder;
  for (const auto& path : fixtures()) {
    if (path.extension() == ".json") continue;
    SCOPED_TRACE(path.string());
    const std::string bytes = readBytes(path);
    const std::string agent = readAll(path).report.facts.agent;
    const auto grown = std::filesystem::path(folder.path()) / agent / path.filename();
    for (const std::size_t cut : {bytes.size() / 2, bytes.size() - 1}) {
      std::filesystem::create_directories(grown.parent_path());
      if (agent == "openclaw") writeBytes(grown.parent_path() / "sessions.json", R"({"k":{"sessionId":"x"}})");
      writeBytes(grown, bytes.substr(0, cut));
      const auto recognized = recognizeTranscript(grown);
      if (!recognized || *recognized != agent) continue;
      const auto store = memoryStore();
      const ImportResult first = import(*store, grown);
      writeBytes(grown, bytes);
      const ImportResult second = import(*store, grown);
      EXPECT_EQ(second.sessionId, first.sessionId);
      EXPECT_FALSE(second.rewritten);
      EXPECT_EQ(exported(*store, first.sessionId, agent), bytes) << "cut at " << cut;
      EXPECT_EQ(store->sessionState(first.sessionId)->headId, second.report.headId);
    }
  }
}

// The turns are in the file that it continues.
TEST(Import, AForkOfCodexThatOnlyTookTurnsBackComesOutAsItWentIn) {
  TempFolder folder;
  const std::string parent = "0199a213-81a0-7800-8aa0-bbab2a035a53";
  const std::string fork = "0199a213-81a0-7800-8aa0-bbab2a035a54";
  const auto line = [](std::string_view type, std::string_view payload) {
    return fmt::format(R"({{"timestamp":"2026-01-01T00:00:00.000Z","type":"{}","payload":{}}})"
                       "\n",
                       type, payload);
  };
  std::string begun = line("session_meta", fmt::format(R"({{"id":"{}","cwd":"/p"}})", parent));
  for (const std::string_view text : {"one", "two"}) {
    begun += line(
        "response_item",
        fmt::format(R"({{"type":"message","role":"user","content":[{{"type":"input_text","text":"{}"}}]}})", text));
  }
  writeBytes(folder / ("rollout-2026-01-01T00-00-00-" + parent + ".jsonl"), begun);
  const std::string own =
      line("session_meta",
           fmt::format(R"({{"id":"{}","cwd":"/p","history_base":{{"thread_id":"{}","end_ordinal_exclusive":3,)"
                       R"("end_byte_offset":{}}}}})",
                       fork, parent, begun.size())) +
      line("event_msg", R"({"type":"thread_rolled_back","num_turns":1})");
  const std::string path = folder / ("rollout-2026-01-01T00-00-00-" + fork + ".jsonl");
  writeBytes(path, own);
  const auto store = memoryStore();
  const std::string id = import(*store, path).sessionId;
  EXPECT_EQ(exported(*store, id, "codex"), own);
  const auto entries = store->loadSessionEntries(id);
  EXPECT_EQ(story(*entries, store->sessionState(id)->headId), "user: one\n");
}

// Up to version 0.73, pi writes everything again when the first answer arrives.
TEST(Import, WhatPiWroteTwiceIsThereOnce) {
  TempFolder folder;
  const std::string begun =
      R"({"type":"session","version":3,"id":"abc","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"})"
      "\n"
      R"({"type":"message","id":"aaaa0001","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"hi","timestamp":1}})"
      "\n";
  const std::string answer =
      R"({"type":"message","id":"aaaa0002","parentId":"aaaa0001","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"yo"}],"timestamp":2}})"
      "\n";
  const std::string path = folder / "abc.jsonl";
  const auto store = memoryStore();
  for (const std::string& bytes : {begun, begun + begun + answer}) {
    writeBytes(path, bytes);
    const std::string id = import(*store, path).sessionId;
    EXPECT_EQ(exported(*store, id, "pi"), bytes);
  }
  const ReadFile file = readAll(path);
  EXPECT_EQ(file.report.messages, 2U);
  EXPECT_EQ(file.report.recovered, 2U);
  EXPECT_EQ(story(file.entries, file.report.headId), "user: hi\nassistant: yo\n");
  const auto stored = store->loadSessionEntries("abc");
  EXPECT_EQ(story(*stored, store->sessionState("abc")->headId), "user: hi\nassistant: yo\n");
  EXPECT_EQ(writeAll(file.entries, {.agent = "pi", .facts = file.report.facts, .clean = true}), begun + answer);
}

// Lines of an answer that were imported separately stay separate, so a result may come before the next call of its
// answer.
std::vector<std::string> sortedLines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::ranges::sort(lines);
  return lines;
}

// A session imported after every line equals a session imported from the whole file.
TEST(Import, AFileThatGrowsLineByLineSaysTheSameInTheEnd) {
  constexpr std::size_t kMostLines = 60;
  TempFolder folder;
  for (const auto& path : fixtures()) {
    const std::string bytes = readBytes(path);
    const ReadFile whole = readAll(path);
    const auto lines = static_cast<std::size_t>(std::ranges::count(bytes, '\n'));
    const bool isSound = whole.report.recovered + whole.report.unreadable == 0 && bytes.ends_with('\n');
    if (path.extension() != ".jsonl" || !isSound || lines > kMostLines) continue;
    if (!whole.report.facts.parentEntryId.empty()) continue;
    SCOPED_TRACE(path.string());
    const std::string& agent = whole.report.facts.agent;
    const auto grown = std::filesystem::path(folder.path()) / agent / path.filename();
    std::filesystem::create_directories(grown.parent_path());
    if (agent == "openclaw") writeBytes(grown.parent_path() / "sessions.json", R"({"k":{"sessionId":"x"}})");
    const auto store = memoryStore();
    std::string sessionId;
    for (std::size_t end = bytes.find('\n') + 1; end <= bytes.size(); end = bytes.find('\n', end) + 1) {
      writeBytes(grown, bytes.substr(0, end));
      const auto recognized = recognizeTranscript(grown);
      if (recognized && *recognized == agent) sessionId = import(*store, grown).sessionId;
      if (end == bytes.size()) break;
    }
    const auto entries = store->loadSessionEntries(sessionId);
    ASSERT_TRUE(entries);
    const ReadFile atOnce = readAll(grown);
    EXPECT_EQ(sortedLines(story(*entries, store->sessionState(sessionId)->headId)),
              sortedLines(story(atOnce.entries, atOnce.report.headId)));
    EXPECT_EQ(exported(*store, sessionId, agent), bytes);
  }
}

// An earlier version took a line for a repetition and ignored the results in it.
TEST(Import, EntriesThatAnEarlierVersionDidNotMakeAreAddedWhenTheFileGrows) {
  TempFolder folder;
  const auto path = std::filesystem::path(folder.path()) / "late_results.jsonl";
  const std::string bytes = readBytes(BOUGH_TESTS_DIR "/transcript/fixtures/gemini-cli/late_results.jsonl");
  writeBytes(path, bytes);
  const ReadFile whole = readAll(path);
  const auto store = memoryStore();
  ASSERT_TRUE(store->createSession({.sessionId = whole.report.facts.sessionId}));
  std::vector<Entry> before;
  for (const Entry& entry : whole.entries) {
    before.push_back(entry);
    if (entry.id != "a1:results") continue;
    Entry& kept = before.back();
    kept.id = "at:gemini-cli:kept";
    kept.parentId.reset();
    kept.type = entry_type::kSessionInfo;
    break;
  }
  ASSERT_TRUE(store->appendSessionEntries(whole.report.facts.sessionId, before));
  const std::string sessionId = import(*store, path).sessionId;
  const auto entries = store->loadSessionEntries(sessionId);
  ASSERT_TRUE(entries);
  EXPECT_EQ(story(*entries, store->sessionState(sessionId)->headId), story(whole.entries, whole.report.headId));
  EXPECT_EQ(import(*store, path).appended, 0U);
}

TEST(Import, AFileThatWasWrittenAgainAddsOnlyWhatIsNew) {
  TempFolder folder;
  const auto path = std::filesystem::path(folder.path()) / "s.jsonl";
  const std::string first =
      R"({"id":"a","parentId":null,"timestamp":"2026-01-01T00:00:00Z","type":"user","content":"one"})"
      "\n"
      R"({"id":"b","parentId":"a","timestamp":"2026-01-01T00:00:01Z","type":"assistant","content":"two"})"
      "\n";
  writeBytes(path, first);
  const auto store = memoryStore();
  const ImportResult before = import(*store, path);
  writeBytes(path, "\n" + first +
                       R"({"id":"c","parentId":"b","timestamp":"2026-01-01T00:00:02Z","type":"user","content":"x"})"
                       "\n");
  const ImportResult after = import(*store, path);
  EXPECT_TRUE(after.rewritten);
  const auto history = store->buildConversationHistory(before.sessionId);
  ASSERT_TRUE(history);
  EXPECT_EQ(history->size(), 3U);
}

// When an agent goes back, it rewrites its file without the later lines.
TEST(Import, AFileThatWasWrittenAgainKeepsLinesThatTookThePlaceOfOthers) {
  TempFolder folder;
  const std::string path = std::filesystem::path(folder.path()) / "01a1dc74-8eea-7b72-9f3d-075316710001.jsonl";
  const std::string message =
      R"({"parentUuid":null,"isSidechain":false,"type":"user","uuid":"01a1dc74-8eea-7b72-9f3d-075316710002","timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":"Hi"}})"
      "\n";
  const auto store = memoryStore();
  writeBytes(path, "{\"type\":\"tag\",\"tag\":\"one\"}\n" + message);
  const std::string sessionId = import(*store, path).sessionId;
  writeBytes(path, "{\"type\":\"tag\",\"tag\":\"another\"}\n" + message);
  const ImportResult again = import(*store, path);
  EXPECT_TRUE(again.rewritten);
  const auto entries = store->loadSessionEntries(sessionId);
  ASSERT_TRUE(entries);
  std::string all;
  for (const Entry& entry : *entries) all += entry.payload;
  EXPECT_TRUE(all.contains("one") && all.contains("another")) << all;
  EXPECT_EQ(import(*store, path).appended, 0U);
}

TEST(Import, AMessageWithTheIdOfAnotherOneIsKeptBesideIt) {
  TempFolder folder;
  const std::string path = std::filesystem::path(folder.path()) / "s.jsonl";
  const auto line = [](std::string_view id, std::string_view parent, std::string_view text) {
    return fmt::format(R"({{"id":"{}","parentId":{},"timestamp":"2026-01-01T00:00:00Z","type":"user","content":"{}"}})"
                       "\n",
                       id, parent, text);
  };
  const auto store = memoryStore();
  writeBytes(path, line("a", "null", "one"));
  const std::string sessionId = import(*store, path).sessionId;
  writeBytes(path, "\n" + line("a", "null", "one"));
  EXPECT_EQ(import(*store, path).report.recovered, 0U);
  writeBytes(path, line("a", "null", "other") + line("b", "\"a\"", "after the other"));
  const ImportResult again = import(*store, path);
  EXPECT_EQ(again.report.unreadable, 0U);
  EXPECT_EQ(again.report.recovered, 1U);
  ASSERT_EQ(again.report.damage.size(), 1U);
  EXPECT_TRUE(again.report.damage.front().reason.contains("another message of this id"));
  // The agent's current lines are the branch of the head; the earlier lines are a branch, too.
  const auto texts = [&](const std::string& branch) {
    std::string all;
    const auto entries = store->loadSessionEntries(sessionId, {.branch = branch});
    for (const Entry& entry : entries.value()) {
      all += isControlType(entry.type) ? "" : summarizeEntry(entry, 60).text + ";";
    }
    return all;
  };
  EXPECT_EQ(texts("b"), "other;after the other;");
  EXPECT_EQ(texts("a"), "one;");
  EXPECT_EQ(store->sessionState(sessionId)->headId, "b");
  EXPECT_EQ(import(*store, path).appended, 0U);
  EXPECT_EQ(import(*store, path).report.recovered, 0U);
  // The session continues at a last message that was changed.
  writeBytes(path, line("a", "null", "other") + line("b", "\"a\"", "changed"));
  EXPECT_EQ(import(*store, path).appended, 1U);
  EXPECT_EQ(texts(store->sessionState(sessionId)->headId), "other;changed;");
}

std::string allPayloads(SessionStore& store, const std::string& sessionId) {
  std::string all;
  const auto entries = store.loadSessionEntries(sessionId);
  for (const Entry& entry : entries.value()) all += entry.payload;
  return all;
}

// The entry of an answer has the id of its last line.
TEST(Import, AnAnswerThatGotALineInItsMiddleIsKeptBesideTheOneWithoutIt) {
  TempFolder folder;
  const std::string path = std::filesystem::path(folder.path()) / "01a1dc74-8eea-7b72-9f3d-075316710001.jsonl";
  const auto line = [](int number, std::string_view text) {
    return fmt::format(
        R"({{"parentUuid":{},"isSidechain":false,"type":"assistant","uuid":"01a1dc74-8eea-7b72-9f3d-07531671000{}","timestamp":"2026-01-02T03:04:05.000Z","message":{{"id":"m1","role":"assistant","content":[{{"type":"text","text":"{}"}}]}}}})"
        "\n",
        number == 1 ? "null" : fmt::format("\"01a1dc74-8eea-7b72-9f3d-07531671000{}\"", number - 1), number, text);
  };
  const auto store = memoryStore();
  writeBytes(path, line(1, "first") + line(3, "third"));
  const std::string sessionId = import(*store, path).sessionId;
  writeBytes(path, line(1, "first") + line(2, "second") + line(3, "third"));
  EXPECT_EQ(import(*store, path).report.recovered, 1U);
  EXPECT_TRUE(allPayloads(*store, sessionId).contains("second"));
  EXPECT_EQ(import(*store, path).appended, 0U);
  // Lines that were stored separately, because the file grew between them, are not another answer.
  const auto grown = memoryStore();
  for (const std::string& bytes : {line(1, "first"), line(1, "first") + line(2, "second"),
                                   "\n" + line(1, "first") + line(2, "second") + line(3, "third")}) {
    writeBytes(path, bytes);
    EXPECT_EQ(import(*grown, path).report.recovered, 0U);
  }
}

// Only the first entry of a line has an id of the line.
TEST(Import, ResultsInALineThatTookThePlaceOfAnotherAreKept) {
  TempFolder folder;
  const std::string path = std::filesystem::path(folder.path()) / "session-1769900000000-ab12cd.jsonl";
  const auto line = [](std::string_view id, std::string_view result) {
    return fmt::format(
        R"({{"id":"{}","role":"assistant","content":"[{{\"type\":\"tool_use\",\"tool\":{{\"id\":\"c{}\",\"name\":\"Bash\",\"input\":{{}},\"result\":\"{}\"}}}}]","timestamp":"2026-01-02T03:04:05.000Z"}})"
        "\n",
        id, id, result);
  };
  const std::string question = R"({"id":"u1","role":"user","content":"Go","timestamp":"2026-01-02T03:04:01.000Z"})"
                               "\n";
  const auto store = memoryStore();
  writeBytes(path, question + line("a1", "one"));
  const std::string sessionId = import(*store, path).sessionId;
  writeBytes(path, question + line("b1", "another"));
  import(*store, path);
  const std::string all = allPayloads(*store, sessionId);
  EXPECT_TRUE(all.contains(R"("one")") && all.contains(R"("another")")) << all;
  EXPECT_EQ(import(*store, path).appended, 0U);
}

TEST(Import, AFileThatBecameShorterMovesTheHeadOnceAndLosesNothing) {
  TempFolder folder;
  const auto path = std::filesystem::path(folder.path()) / "old.json";
  const auto write = [&](int messages) {
    std::string list;
    for (int i = 1; i <= messages; ++i) {
      list += fmt::format(R"({}{{"id":"{}","role":"user","content":"{}","timestamp":"2026-01-01T00:00:00.000Z"}})",
                          i == 1 ? "" : ",", i, i);
    }
    writeBytes(path, R"({"messages":[)" + list + "]}");
  };
  const auto store = memoryStore();
  const auto headAfter = [&](int messages) {
    write(messages);
    const ImportResult done = import(*store, path);
    return store->sessionState(done.sessionId)->headId;
  };
  EXPECT_EQ(headAfter(4), "4");
  EXPECT_EQ(headAfter(2), "2");
  EXPECT_EQ(store->loadSessionEntries("old", {.branch = "4"})->size(), 4U);
  // The import does not change where a user continues the session.
  ASSERT_TRUE(store->moveHead("old", "1"));
  EXPECT_EQ(headAfter(2), "1");
  EXPECT_EQ(headAfter(3), "3");
}

TEST(Import, ASessionThatIsNotFromTheFileIsNotTouched) {
  const auto store = memoryStore();
  ASSERT_TRUE(store->createSession({.sessionId = "tree"}));
  Entry entry;
  entry.type = "message";
  entry.payload = R"({"dialect":"bough","message":{"role":"user","content":"mine"}})";
  ASSERT_TRUE(store->appendSessionEntries("tree", {entry}));
  const auto done = importTranscript(*store, BOUGH_TESTS_DIR "/transcript/fixtures/plain/tree.jsonl");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::AlreadyExists);
}

TEST(Import, AFileOfNobodyIsRefusedAndSaysWhy) {
  TempFolder folder;
  const auto path = std::filesystem::path(folder.path()) / "x.jsonl";
  writeBytes(path, "{\"hello\":1}\n");
  const auto store = memoryStore();
  const auto done = importTranscript(*store, path);
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("claw0: "), std::string::npos) << done.error().message;
  EXPECT_NE(done.error().message.find("plain: "), std::string::npos) << done.error().message;
  EXPECT_TRUE(store->listSessions()->empty());
}

}  // namespace
}  // namespace bough
