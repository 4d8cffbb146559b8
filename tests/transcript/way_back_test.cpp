// A session converted to another agent's file and back: what that format cannot represent comes back, too.
#include <bough/message.h>
#include <bough/store.h>
#include <bough/transcript.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/json/json_scan.h"
#include "base/model/unreadable.h"
#include "support/temp_folder.h"
#include "transcript/files.h"

namespace bough {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAgents[] = {"claude-code", "claw0", "codex", "gemini-cli",
                                        "myagents",    "pi",    "plain", "openclaw"};

std::string fixture(std::string_view name) {
  return fmt::format("{}/transcript/fixtures/{}", BOUGH_TESTS_DIR, name);
}

TranscriptFacts factsFor(std::string_view agent) {
  TranscriptFacts facts;
  facts.agent = agent;
  facts.sessionId = "01a1dc74-8eea-7b72-9f3d-075316710001";
  facts.cwd = "/home/ada/bridge";
  facts.created = "2026-01-02T03:04:05.000Z";
  return facts;
}

// Writes the entries as another agent's file, and returns what is read from it.
ReadFile through(std::string_view agent, const ReadFile& file, const fs::path& path, bool bare = false) {
  WriteTranscriptOptions options{.agent = std::string(agent), .facts = factsFor(agent), .headId = file.report.headId};
  options.bare = bare;
  writeBytes(path, writeAll(file.entries, options));
  return readAll(path);
}

std::string asWrittenBy(const ReadFile& file, const ReadFile& origin) {
  return writeAll(file.entries, {.agent = origin.report.facts.agent, .facts = origin.report.facts});
}

TEST(WayBack, EveryFixtureComesBackByteForByteFromEveryAgent) {
  TempFolder folder;
  for (const auto& path : fixtures()) {
    const ReadFile file = readAll(path);
    const bool isForkPart = !file.report.facts.parentEntryId.empty();
    if (file.report.messages == 0 || isForkPart) continue;
    for (const std::string_view agent : kAgents) {
      if (agent == file.report.facts.agent) continue;
      SCOPED_TRACE(fmt::format("{} through {}", path.string(), agent));
      const fs::path there = fs::path(folder.path()) / fmt::format("{}.jsonl", factsFor(agent).sessionId);
      const ReadFile back = through(agent, file, there);
      EXPECT_EQ(asWrittenBy(back, file), readBytes(path));
      // The other agent's file also stays the same.
      EXPECT_EQ(writeAll(back.entries, {.agent = back.report.facts.agent, .facts = back.report.facts}),
                readBytes(there));
    }
    if (HasFailure()) return;
  }
}

struct Continuation {
  std::string_view agent;
  std::string lines;  // as the program itself would add them; %LAST% is the id of its last line
};

std::vector<Continuation> continuations() {
  return {
      {"claude-code",
       R"({"parentUuid":"%LAST%","isSidechain":false,"type":"user","message":{"role":"user","content":"And now?"},"uuid":"11111111-1111-4111-8111-111111111111","timestamp":"2026-02-01T00:00:00.000Z","sessionId":"01a1dc74-8eea-7b72-9f3d-075316710001","cwd":"/home/ada/bridge"})"
       "\n"},
      {"codex",
       R"({"timestamp":"2026-02-01T00:00:00.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"And now?"}]}})"
       "\n"},
      {"pi",
       R"({"type":"message","id":"deadbeef","parentId":"%LAST%","timestamp":"2026-02-01T00:00:00.000Z","message":{"role":"user","content":"And now?","timestamp":1}})"
       "\n"},
      {"gemini-cli",
       R"({"id":"new-1","timestamp":"2026-02-01T00:00:00.000Z","type":"user","content":[{"text":"And now?"}]})"
       "\n"},
  };
}

// Returns the id that a program continues from: that of the last line with an id.
std::string lastId(const std::string& bytes) {
  std::string id;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
    const std::string_view line = std::string_view(bytes).substr(at, end - at);
    for (const std::string_view name : {"uuid", "id"}) {
      if (const auto found = json::findString(line, name)) id = *found;
    }
    at = end + 1;
  }
  return id;
}

// The branch ends in an entry that has no line in most formats, and other branches follow its parent.
TEST(WayBack, AHeadWithoutALineOfItsOwnComesBack) {
  TempFolder folder;
  const auto line = [](std::string_view id, std::string_view parent, std::string_view rest) {
    return fmt::format(R"({{"type":{},"id":"{}","parentId":{},"timestamp":"2026-01-02T03:04:05.000Z",{}}})"
                       "\n",
                       rest.starts_with("\"message\"") ? "\"message\"" : "\"branch_summary\"", id,
                       parent.empty() ? "null" : fmt::format("\"{}\"", parent), rest);
  };
  const auto words = [](std::string_view text) {
    return fmt::format(R"("message":{{"role":"user","content":"{}","timestamp":1}})", text);
  };
  const std::string bytes =
      R"({"type":"session","version":3,"id":"s","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/p"})"
      "\n" +
      line("00000001", "", words("one")) + line("00000002", "00000001", words("two")) +
      line("00000003", "00000001", R"("fromId":"00000002","summary":"tried two")");
  const fs::path path = fs::path(folder.path()) / "s.jsonl";
  writeBytes(path, bytes);
  const ReadFile file = readAll(path);
  for (const std::string agent : {"claude-code", "claw0", "codex", "gemini-cli", "myagents", "plain"}) {
    const fs::path there = fs::path(folder.path()) / agent / "01a1dc74-8eea-7b72-9f3d-075316710001.jsonl";
    TranscriptFacts facts = file.report.facts;
    facts.sessionId = "01a1dc74-8eea-7b72-9f3d-075316710001";
    writeBytes(there, writeAll(file.entries, {.agent = agent, .facts = facts, .headId = file.report.headId}));
    const ReadFile read = readAll(there);
    EXPECT_EQ(writeAll(read.entries, {.agent = "pi", .facts = read.report.facts, .headId = read.report.headId}), bytes)
        << agent;
  }
}

// Also an entry that shares a line with others, or that has a line only in its own agent's format, with other entries
// after it.
TEST(WayBack, EveryEntryComesBackAsTheHead) {
  TempFolder folder;
  for (const auto& path : fixtures()) {
    const ReadFile file = readAll(path);
    if (file.report.messages == 0 || !file.report.facts.parentEntryId.empty()) continue;
    std::set<std::string> talk;  // entries after a message; before the first message there is nothing to continue
    for (const Entry& entry : file.entries) {
      if (entry.type != entry_type::kMessage && !talk.contains(entry.parentId.value_or(""))) continue;
      talk.insert(entry.id);
      for (const std::string_view agent : {"claude-code", "codex", "pi", "plain"}) {
        if (agent == file.report.facts.agent) continue;  // its lines determine which entries can be the head
        SCOPED_TRACE(fmt::format("{} of {} through {}", entry.id, path.string(), agent));
        const fs::path there = fs::path(folder.path()) / fmt::format("{}.jsonl", factsFor(agent).sessionId);
        ReadFile moved = file;
        moved.report.headId = entry.id;
        EXPECT_EQ(through(agent, moved, there).report.headId, entry.id);
      }
    }
    if (HasFailure()) return;
  }
}

TEST(WayBack, WhatTheOtherAgentAddedFollowsTheOriginalBytes) {
  TempFolder folder;
  for (const std::string name :
       {"claude-code/blocks.jsonl", "claude-code/last_prompt.jsonl", "pi/02-tools.jsonl", "gemini-cli/tools.jsonl",
        "codex/calls/rollout-2026-01-02T03-04-05-01a1dc74-8eea-7b72-9f3d-075316710003.jsonl"}) {
    const ReadFile file = readAll(fixture(name));
    for (Continuation more : continuations()) {
      if (more.agent == file.report.facts.agent) continue;
      SCOPED_TRACE(fmt::format("{} through {}", name, more.agent));
      const fs::path there = fs::path(folder.path()) / fmt::format("{}.jsonl", factsFor(more.agent).sessionId);
      (void)through(more.agent, file, there);
      std::string bytes = readBytes(there);
      if (const std::size_t at = more.lines.find("%LAST%"); at != std::string::npos) {
        more.lines.replace(at, 6, lastId(bytes));
      }
      writeBytes(there, bytes + more.lines);
      const ReadFile back = readAll(there);
      EXPECT_EQ(back.report.recovered + back.report.unreadable, 0U);
      const auto head = std::ranges::find(back.entries, back.report.headId, &Entry::id);
      ASSERT_NE(head, back.entries.end());
      EXPECT_NE(head->payload.find("And now?"), std::string::npos) << head->payload;
      EXPECT_EQ(head->parentId, file.report.headId);
      const std::string again = asWrittenBy(back, file);
      EXPECT_TRUE(again.starts_with(readBytes(fixture(name))));
      EXPECT_NE(again.find("And now?", readBytes(fixture(name)).size()), std::string::npos);
      // The first agent's file now has its own lines and a line that carries what was added; it is intact, too.
      const fs::path home = fs::path(folder.path()) / fs::path(name).filename();
      writeBytes(home, again);
      const ReadFile whole = readAll(home);
      EXPECT_EQ(whole.report.recovered + whole.report.unreadable, 0U);
      EXPECT_EQ(whole.report.headId, back.report.headId);
      EXPECT_EQ(story(whole.entries, whole.report.headId), story(back.entries, back.report.headId));
    }
  }
}

// A session that continued from an older branch: the agent's own lines stay in place.
TEST(WayBack, WhatContinuesAnOlderBranchFollowsTheOriginalBytes) {
  for (const std::string name : {"claude-code/branches.jsonl", "pi/03-branches.jsonl"}) {
    SCOPED_TRACE(name);
    const ReadFile file = readAll(fixture(name));
    // Find the end of the first branch.
    std::vector<std::string> leaves;
    for (const Entry& entry : file.entries) {
      if (!isConversation(entryKind(entry.type))) continue;
      std::erase(leaves, entry.parentId.value_or(""));
      leaves.push_back(entry.id);
    }
    ASSERT_GT(leaves.size(), 1U);
    ASSERT_NE(leaves.front(), file.report.headId);
    std::vector<Entry> entries = file.entries;
    Entry more;
    more.id = "01a1dc74-8eea-7b72-9f3d-0753167100aa";
    more.parentId = leaves.front();
    more.type = entry_type::kMessage;
    more.timestamp = "2026-02-01T00:00:00.000Z";
    more.payload = R"({"dialect":"anthropic","message":{"role":"user","content":"And here?"}})";
    entries.push_back(more);
    const std::string bytes =
        writeAll(entries, {.agent = file.report.facts.agent, .facts = file.report.facts, .headId = more.id});
    EXPECT_TRUE(bytes.starts_with(readBytes(fixture(name))));
    TempFolder folder;
    const fs::path there = fs::path(folder.path()) / fs::path(fixture(name)).filename();
    writeBytes(there, bytes);
    const ReadFile back = readAll(there);
    const auto head = std::ranges::find(back.entries, back.report.headId, &Entry::id);
    ASSERT_NE(head, back.entries.end());
    EXPECT_NE(head->payload.find("And here?"), std::string::npos);
    EXPECT_EQ(head->parentId, leaves.front());
  }
}

// The incomplete record has no line end: in the agent's file, the next record is on the same line.
TEST(WayBack, ARecordThatBrokeOffSwallowsNoOtherLine) {
  TempFolder folder;
  const std::string bytes = readBytes(fixture("claude-code/truncated_splice.jsonl"));
  const ReadFile file = readAll(fixture("claude-code/truncated_splice.jsonl"));
  const std::string first = bytes.substr(0, bytes.find('\n') + 1);
  for (Continuation more : continuations()) {
    if (more.agent == file.report.facts.agent) continue;
    SCOPED_TRACE(more.agent);
    const fs::path there = fs::path(folder.path()) / fmt::format("{}.jsonl", factsFor(more.agent).sessionId);
    (void)through(more.agent, file, there);
    const std::string written = readBytes(there);
    if (const std::size_t at = more.lines.find("%LAST%"); at != std::string::npos) {
      more.lines.replace(at, 6, lastId(written));
    }
    writeBytes(there, written + more.lines);
    const std::string again = asWrittenBy(readAll(there), file);
    EXPECT_TRUE(again.starts_with(first) || again.contains("\n" + first)) << again;
  }
}

TEST(WayBack, ALineThatTheOtherAgentChangedCounts) {
  TempFolder folder;
  const ReadFile file = readAll(fixture("claude-code/minimal.jsonl"));
  const fs::path there = fs::path(folder.path()) / "a.jsonl";
  (void)through("claw0", file, there);
  std::string bytes = readBytes(there);
  const auto first = std::ranges::find_if(file.entries, holdsMessage);
  const std::string text = normalizeEntry(*first)->blocks.front().text.decode();
  const std::size_t at = bytes.find("\"content\":");
  ASSERT_NE(bytes.find(text, at), std::string::npos);
  bytes.replace(bytes.find(text, at), text.size(), "Changed");
  writeBytes(there, bytes);
  const ReadFile back = readAll(there);
  const auto changed = std::ranges::find_if(back.entries, holdsMessage);
  ASSERT_NE(changed, back.entries.end());
  EXPECT_EQ(normalizeEntry(*changed)->blocks.front().text.decode(), "Changed");
  EXPECT_EQ(std::ranges::count_if(back.entries, holdsMessage), std::ranges::count_if(file.entries, holdsMessage));
}

TEST(WayBack, ABareFileCarriesNothing) {
  TempFolder folder;
  const ReadFile file = readAll(fixture("claude-code/branches.jsonl"));
  const fs::path there = fs::path(folder.path()) / "a.jsonl";
  (void)through("codex", file, there, /*bare=*/true);
  EXPECT_EQ(readBytes(there).find("\"bough\""), std::string::npos);
}

TEST(WayBack, NamesBranchesAndLabelsThatTheFormatHasNoPlaceFor) {
  const ReadFile file = readAll(fixture("pi/03-branches.jsonl"));
  const auto done = writeTranscript(file.entries, {.agent = "gemini-cli", .facts = factsFor("gemini-cli")},
                                    [](std::string_view) -> Result<void> { return {}; });
  ASSERT_TRUE(done);
  for (const std::string_view name : {"branch", "label"}) {
    EXPECT_NE(std::ranges::find(done->report.lossyFields, name), done->report.lossyFields.end()) << name;
  }
  EXPECT_GT(done->carried, 0U);
}

TEST(WayBack, ImportingTheOtherAgentsFileContinuesTheSession) {
  TempFolder folder;
  const auto opened = SessionStore::open("memory:");
  ASSERT_TRUE(opened);
  SessionStore& store = **opened;
  const std::string id = "01a1dc74-8eea-7b72-9f3d-075316710001";
  const fs::path original = fs::path(folder.path()) / (id + ".jsonl");
  writeBytes(original, readBytes(fixture("pi/02-tools.jsonl")));
  const auto first = importTranscript(store, original, {.agent = {}, .sessionId = id});
  ASSERT_TRUE(first);
  const auto entries = store.loadSessionEntries(id);
  ASSERT_TRUE(entries);
  const auto facts = factsForExport(store, id, "claude-code", *entries);
  ASSERT_TRUE(facts);
  const fs::path there = fs::path(folder.path()) / "there" / (id + ".jsonl");
  std::string bytes = writeAll(*entries, {.agent = "claude-code", .facts = *facts});
  Continuation more = continuations().front();
  more.lines.replace(more.lines.find("%LAST%"), 6, lastId(bytes));
  writeBytes(there, bytes + more.lines);
  const auto back = importTranscript(store, there);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->sessionId, id);
  EXPECT_FALSE(back->created);
  const auto again = importTranscript(store, there);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->appended, 0U);
  const auto messages = [](const std::vector<Entry>& all) { return std::ranges::count_if(all, holdsMessage); };
  EXPECT_EQ(messages(*store.loadSessionEntries(id)), messages(*entries) + 1);
  EXPECT_TRUE(*holdsTranscript(store, id, there));
  EXPECT_TRUE(*holdsTranscript(store, id, original));
}

TEST(WayBack, AnOriginalIsImportedWholeAfterOneBranchOfItCameThroughAnotherAgent) {
  TempFolder folder;
  const std::string id = "01a1dc74-8eea-7b72-9f3d-075316710001";
  std::size_t grew = 0;
  for (const auto& path : fixtures()) {
    const ReadFile file = readAll(path);
    const bool isForkPart = !file.report.facts.parentEntryId.empty();
    if (file.report.messages == 0 || isForkPart) continue;
    for (const std::string_view agent : kAgents) {
      if (agent == file.report.facts.agent) continue;
      SCOPED_TRACE(fmt::format("{} through {}", path.string(), agent));
      const fs::path there = fs::path(folder.path()) / (id + ".jsonl");
      WriteTranscriptOptions options{
          .agent = std::string(agent), .facts = file.report.facts, .headId = file.report.headId};
      options.facts.agent = agent;
      options.branchOnly = true;
      writeBytes(there, writeAll(file.entries, options));
      const auto store = std::move(*SessionStore::open("memory:"));
      ASSERT_TRUE(importTranscript(*store, there, {.agent = {}, .sessionId = id}));
      const auto before = store->loadSessionEntries(id);
      const auto whole = importTranscript(*store, path, {.agent = {}, .sessionId = id});
      ASSERT_TRUE(whole) << whole.error().message;
      const auto after = store->loadSessionEntries(id);
      ASSERT_TRUE(before && after);
      if (std::ranges::count_if(*after, holdsMessage) > std::ranges::count_if(*before, holdsMessage)) ++grew;
      for (const Entry& entry : file.entries) {
        EXPECT_TRUE(!holdsMessage(entry) || store->loadEntry(id, entry.id)) << entry.id;
      }
      EXPECT_EQ(story(*after, file.report.headId), story(file.entries, file.report.headId));
      // OpenClaw's files are in pi's format, so entries that came through one of the two keep their places there.
      const bool hasOwnPlaces = options.facts.agent == "openclaw" || options.facts.agent == "pi";
      EXPECT_TRUE(hasOwnPlaces || *holdsTranscript(*store, id, path));
      const auto again = importTranscript(*store, path, {.agent = {}, .sessionId = id});
      ASSERT_TRUE(again);
      EXPECT_EQ(again->appended, 0U);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(grew, 0U);
}

TEST(WayBack, WhatStandsForDamageTravelsAsWords) {
  TempFolder folder;
  ReadFile file = readAll(fixture("pi/02-tools.jsonl"));
  const auto lost = std::ranges::find_if(file.entries, holdsMessage);
  ASSERT_NE(lost, file.entries.end());
  *lost = unreadableEntry(lost->id, lost->parentId.value_or(""), 1234, 57, "damaged");
  const auto messages = std::ranges::count_if(file.entries, holdsMessage);
  ASSERT_GT(messages, 0);
  for (const std::string_view agent : kAgents) {
    if (agent == "pi" || agent == "openclaw") continue;  // there the lines are copied, so what is lost is missing
    SCOPED_TRACE(agent);
    const fs::path there = fs::path(folder.path()) / fmt::format("{}.jsonl", factsFor(agent).sessionId);
    (void)through(agent, file, there);
    const auto store = std::move(*SessionStore::open("memory:"));
    const auto done = importTranscript(*store, there, {.agent = {}, .sessionId = "s"});
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->report.unreadable + done->report.recovered, 0U) << damageText(done->report);
    const auto entries = store->loadSessionEntries("s");
    ASSERT_TRUE(entries);
    EXPECT_EQ(std::ranges::count_if(*entries, holdsMessage), messages);
    const auto kept = std::ranges::find(*entries, lost->id, &Entry::id);
    ASSERT_NE(kept, entries->end());
    EXPECT_EQ(kept->type, entry_type::kCustom);
    EXPECT_TRUE(kept->payload.contains("57 bytes at offset 1234")) << kept->payload;
  }
}

std::string piLine(std::string_view id, std::string_view parent, std::string_view rest) {
  return fmt::format(R"({{"type":{},"id":"{}","parentId":{},"timestamp":"2026-01-02T03:04:05.000Z"{}}})"
                     "\n",
                     rest.substr(0, rest.find(',')), id, parent.empty() ? "null" : fmt::format("\"{}\"", parent),
                     rest.substr(rest.find(',')));
}

// Other agents get what pi sends to its model.
TEST(WayBack, AnotherAgentGetsWhatAnEditOfPiLeaves) {
  TempFolder folder;
  const std::string header =
      R"({"type":"session","version":3,"id":"01a1dc74-8eea-7b72-9f3d-075316710001","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/home/ada"})"
      "\n";
  const std::string bytes =
      header + piLine("aaaa0001", "", R"("message","message":{"role":"user","content":"the key is 1234"})") +
      piLine(
          "aaaa0002", "aaaa0001",
          R"("message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"ls","arguments":{}}],"api":"x","provider":"y","model":"z","stopReason":"toolUse"})") +
      piLine(
          "aaaa0003", "aaaa0002",
          R"("message","message":{"role":"toolResult","toolCallId":"c1","toolName":"ls","content":[{"type":"text","text":"very long"}],"isError":false})") +
      piLine(
          "aaaa0004", "aaaa0003",
          R"("message","message":{"role":"assistant","content":[{"type":"text","text":"unwanted"}],"api":"x","provider":"y","model":"z","stopReason":"stop"})") +
      piLine("aaaa0005", "aaaa0004", R"("context_edit","targetId":"aaaa0001","replacement":{"content":"no"})") +
      piLine("aaaa0006", "aaaa0005",
             R"("context_edit","targetId":"aaaa0001","replacement":{"content":"the key is [cut]"})") +
      piLine("aaaa0007", "aaaa0006",
             R"("context_edit","targetId":"aaaa0003","replacement":{"content":[{"type":"text","text":"[pruned]"}]})") +
      piLine("aaaa0008", "aaaa0007", R"("context_edit","targetId":"aaaa0004","replacement":null)");
  const fs::path path = fs::path(folder.path()) / "a.jsonl";
  writeBytes(path, bytes);
  const ReadFile file = readAll(path);
  EXPECT_EQ(file.report.recovered + file.report.unreadable, 0U);
  for (const std::string_view agent : kAgents) {
    if (agent == "pi" || agent == "openclaw") continue;
    SCOPED_TRACE(agent);
    const fs::path there = fs::path(folder.path()) / agent / fmt::format("{}.jsonl", factsFor(agent).sessionId);
    through(agent, file, there, /*bare=*/true);
    const std::string other = readBytes(there);
    for (const std::string_view gone : {"1234", "very long", "unwanted"}) EXPECT_FALSE(other.contains(gone)) << other;
    for (const std::string_view wanted : {"the key is [cut]", "[pruned]"}) EXPECT_TRUE(other.contains(wanted)) << other;
    EXPECT_EQ(asWrittenBy(through(agent, file, there), file), bytes);
  }
}

// A branch that starts before the edit has the original message.
TEST(WayBack, AnEditOfPiOnAnotherBranchChangesNothing) {
  TempFolder folder;
  const std::string header =
      R"({"type":"session","version":3,"id":"01a1dc74-8eea-7b72-9f3d-075316710001","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/home/ada"})"
      "\n";
  const fs::path path = fs::path(folder.path()) / "a.jsonl";
  writeBytes(path, header + piLine("aaaa0001", "", R"("message","message":{"role":"user","content":"the question"})") +
                       piLine("aaaa0002", "aaaa0001",
                              R"("context_edit","targetId":"aaaa0001","replacement":{"content":"changed"})") +
                       piLine("aaaa0003", "aaaa0001", R"("message","message":{"role":"user","content":"and more"})"));
  const ReadFile file = readAll(path);
  const fs::path there = fs::path(folder.path()) / fmt::format("{}.jsonl", factsFor("claude-code").sessionId);
  through("claude-code", file, there, /*bare=*/true);
  EXPECT_TRUE(readBytes(there).contains("the question"));
  EXPECT_FALSE(readBytes(there).contains("changed"));
}

}  // namespace
}  // namespace bough
