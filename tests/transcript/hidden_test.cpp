// Redacted and erased entries of imported sessions, in a file of the agent that wrote them.
#include <bough/maintenance.h>
#include <bough/store.h>
#include <bough/transcript.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "support/temp_folder.h"
#include "transcript/files.h"

namespace bough {
namespace {

// A session of another agent in a store.
struct Imported {
  std::unique_ptr<SessionStore> store = memoryStore();
  TempFolder folder{};
  std::string id{};

  Imported(const std::string& name, std::string_view bytes) {
    const std::string path = std::filesystem::path(folder.path()) / name;
    writeBytes(path, bytes);
    id = import(*store, path).sessionId;
  }

  void hide(const std::string& entryId, bool erases) const {
    if (!erases) {
      const auto done = store->redactEntry(id, entryId, "me", "private");
      ASSERT_TRUE(done) << done.error().message;
      return;
    }
    const auto done =
        store->maintenance().erase({.sessionId = id, .entryIds = {entryId}, .by = "me", .reason = "private"});
    ASSERT_TRUE(done) << done.error().message;
  }

  // Returns the file for the same agent. `sameBytes` receives whether it is reported to be the agent's own bytes.
  std::string written(const std::string& agent, bool* sameBytes = nullptr) const {
    const auto source = TranscriptSource::open(*store, id);
    EXPECT_TRUE(source);
    const auto facts = factsForExport(*store, id, agent, *source);
    EXPECT_TRUE(facts);
    std::string bytes;
    const auto done =
        writeTranscript(*source, {.agent = agent, .facts = *facts}, [&](std::string_view piece) -> Result<void> {
          bytes += piece;
          return {};
        });
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    if (done && sameBytes != nullptr) *sameBytes = done->sameBytes;
    return bytes;
  }

  // Returns that file, read again.
  ReadFile readAgain(const std::string& agent) const {
    const std::string path = std::filesystem::path(folder.path()) / "again.jsonl";
    writeBytes(path, written(agent));
    return readAll(path);
  }

  // Returns everything that the store keeps.
  std::string stored() const {
    std::string all;
    const auto entries = store->loadSessionEntries(id, {.showRedacted = true});
    EXPECT_TRUE(entries);
    for (const Entry& entry : entries.value()) all += entry.payload + '\n';
    return all;
  }
};

std::string uuid(int number) {
  return fmt::format("00000000-0000-4000-8000-{:012}", number);
}

std::string claudeLine(int number, int parent, std::string_view type, std::string_view message) {
  return fmt::format(R"({{"parentUuid":{},"isSidechain":false,"type":"{}","message":{},"uuid":"{}",)"
                     R"("timestamp":"2026-01-01T00:00:0{}.000Z","cwd":"/p","sessionId":"{}"}})"
                     "\n",
                     parent == 0 ? "null" : '"' + uuid(parent) + '"', type, message, uuid(number), number, uuid(99));
}

std::string claudeTalk() {
  const auto answer = [](std::string_view id, std::string_view text) {
    return fmt::format(R"({{"id":"{}","role":"assistant","content":[{{"type":"text","text":"{}"}}]}})", id, text);
  };
  return claudeLine(1, 0, "user", R"({"role":"user","content":"first words"})") +
         claudeLine(2, 1, "assistant", answer("m1", "first answer")) +
         claudeLine(3, 2, "user", R"({"role":"user","content":"a secret"})") +
         claudeLine(4, 3, "assistant", answer("m2", "second answer"));
}

std::string piTalk(std::string_view header, std::string_view answerId) {
  std::string out(header);
  out +=
      R"({"type":"message","id":"aaaa0001","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"first words","timestamp":1}})"
      "\n";
  out += fmt::format(
      R"({{"type":"message","id":"{0}","parentId":"aaaa0001","timestamp":"2026-01-01T00:00:02.000Z","message":{{"role":"user","content":"a secret","timestamp":2}}}})"
      "\n"
      R"({{"type":"message","id":"aaaa0003","parentId":"{0}","timestamp":"2026-01-01T00:00:03.000Z","message":{{"role":"user","content":"last words","timestamp":3}}}})"
      "\n",
      answerId);
  return out;
}

void expectWholeBranch(const Imported& session, const std::string& agent, const std::string& hiddenId) {
  const auto before = session.store->loadSessionEntries(session.id);
  ASSERT_TRUE(before);
  const std::string head = session.store->sessionState(session.id)->headId;
  for (const bool erases : {false, true}) {
    SCOPED_TRACE(agent + (erases ? ", erased" : ", redacted"));
    session.hide(hiddenId, erases);
    bool sameBytes = true;
    const std::string bytes = session.written(agent, &sameBytes);
    EXPECT_FALSE(sameBytes);
    EXPECT_FALSE(bytes.contains("a secret")) << bytes;
    EXPECT_TRUE(bytes.contains(erases ? "[erased]" : "[redacted]")) << bytes;
    const ReadFile again = session.readAgain(agent);
    EXPECT_EQ(again.report.recovered + again.report.unreadable, 0U);
    std::map<std::string, std::string> parents;
    for (const Entry& entry : again.entries) parents[entry.id] = entry.parentId.value_or("");
    for (const Entry& entry : *before) {
      if (entry.type != entry_type::kMessage) continue;
      EXPECT_TRUE(parents.contains(entry.id)) << entry.id;
      EXPECT_EQ(parents[entry.id], entry.parentId.value_or("")) << entry.id;
    }
    EXPECT_EQ(again.report.headId, head);
  }
}

TEST(Hidden, ALineOfClaudeCodeThatIsRedactedKeepsItsPlace) {
  expectWholeBranch(Imported("s.jsonl", claudeTalk()), "claude-code", uuid(3));
}

TEST(Hidden, ALineOfPiThatIsRedactedKeepsItsPlace) {
  constexpr std::string_view kHeader =
      R"({"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"})"
      "\n";
  expectWholeBranch(Imported("s.jsonl", piTalk(kHeader, "aaaa0002")), "pi", "aaaa0002");
  expectWholeBranch(Imported("s.jsonl", piTalk(kHeader, "another-id")), "pi", "another-id");
}

TEST(Hidden, TheRootOfASessionKeepsItsPlace) {
  const Imported session("s.jsonl", claudeTalk());
  session.hide(uuid(1), false);
  const ReadFile again = session.readAgain("claude-code");
  EXPECT_EQ(story(again.entries, again.report.headId),
            "user: [redacted]\nassistant: first answer\nuser: a secret\nassistant: second answer\n");
}

// The results of parallel calls refer to the lines of their calls, of which one entry is left.
TEST(Hidden, LinesThatNameAPartOfARedactedAnswerContinueWhatStandsForIt) {
  const auto call = [](std::string_view id) {
    return fmt::format(
        R"({{"id":"m1","role":"assistant","content":[{{"type":"tool_use","id":"{}","name":"t","input":{{}}}}]}})", id);
  };
  const auto result = [](std::string_view id) {
    return fmt::format(R"({{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{}","content":"r"}}]}})",
                       id);
  };
  const Imported session("s.jsonl",
                         claudeLine(1, 0, "user", R"({"role":"user","content":"go"})") +
                             claudeLine(2, 1, "assistant", call("c1")) + claudeLine(3, 2, "assistant", call("c2")) +
                             claudeLine(4, 2, "user", result("c1")) + claudeLine(5, 3, "user", result("c2")));
  session.hide(uuid(3), false);
  const ReadFile again = session.readAgain("claude-code");
  EXPECT_EQ(again.report.recovered + again.report.unreadable, 0U);
  EXPECT_TRUE(story(again.entries, again.report.headId).starts_with("user: go\nassistant: [redacted]\n"))
      << story(again.entries, again.report.headId);
}

// Returns the calls of one answer and their results, each as an entry of its own.
Imported piCalls() {
  std::string out =
      R"({"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"})"
      "\n"
      R"({"type":"message","id":"aaaa0001","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"go","timestamp":1}})"
      "\n"
      R"({"type":"message","id":"aaaa0002","parentId":"aaaa0001","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"t","arguments":{}},{"type":"toolCall","id":"c2","name":"t","arguments":{}}],"timestamp":2}})"
      "\n";
  for (int i = 1; i <= 2; ++i) {
    out += fmt::format(
        R"({{"type":"message","id":"aaaa000{}","parentId":"aaaa000{}","timestamp":"2026-01-01T00:00:03.000Z","message":{{"role":"toolResult","toolCallId":"c{}","toolName":"t","content":[{{"type":"text","text":"result {}"}}],"isError":false,"timestamp":3}}}})"
        "\n",
        i + 2, i + 1, i, i);
  }
  out +=
      R"({"type":"message","id":"aaaa0005","parentId":"aaaa0004","timestamp":"2026-01-01T00:00:05.000Z","message":{"role":"user","content":"thanks","timestamp":5}})"
      "\n";
  return Imported("s.jsonl", out);
}

TEST(Hidden, AnErasedResultIsAResultThatSaysSoForEveryAgent) {
  const Imported session = piCalls();
  session.hide("aaaa0003", true);
  for (const std::string_view agent : transcriptAgents()) {
    SCOPED_TRACE(agent);
    const std::string bytes = session.written(std::string(agent));
    EXPECT_TRUE(bytes.contains("The result was erased.")) << bytes;
    EXPECT_TRUE(bytes.contains("result 2"));
    EXPECT_FALSE(bytes.contains("result 1"));
    EXPECT_FALSE(bytes.contains("interrupted"));
  }
  session.hide("aaaa0004", true);
  for (const std::string_view agent : transcriptAgents()) {
    SCOPED_TRACE(agent);
    const std::string bytes = session.written(std::string(agent));
    const std::size_t first = bytes.find("The result was erased.");
    EXPECT_NE(bytes.find("The result was erased.", first + 1), std::string::npos) << bytes;
  }
  const ReadFile again = session.readAgain("pi");
  EXPECT_EQ(story(again.entries, again.report.headId),
            "user: go\ncall c1 t {}\ncall c2 t {}\nresult c1 The result was erased.\n"
            "result c2 The result was erased.\nuser: thanks\n");
}

// Text with the secret is in no file and, after an erasure, in no store.
void expectGone(const Imported& session, const std::string& agent, const std::string& entryId,
                const std::string& secret) {
  for (const bool erases : {false, true}) {
    SCOPED_TRACE(agent + (erases ? ", erased" : ", redacted"));
    ASSERT_TRUE(session.stored().contains(secret));
    session.hide(entryId, erases);
    for (const std::string_view to : transcriptAgents()) {
      const std::string bytes = session.written(std::string(to));
      EXPECT_FALSE(bytes.contains(secret)) << to << '\n' << bytes;
    }
    const auto shown = session.store->loadSessionEntries(session.id);
    ASSERT_TRUE(shown);
    for (const Entry& entry : *shown) {
      EXPECT_TRUE(entry.type == entry_type::kMessage || !entry.payload.contains(secret)) << entry.payload;
    }
    EXPECT_EQ(session.stored().contains(secret), !erases) << session.stored();
  }
}

TEST(Hidden, WhatClaudeCodeRepeatsOfAPromptGoesWithIt) {
  const std::string queued =
      fmt::format(R"({{"type":"queue-operation","operation":"enqueue","content":"a secret","sessionId":"{}"}})"
                  "\n",
                  uuid(99));
  const std::string last =
      fmt::format(R"({{"type":"last-prompt","lastPrompt":"a secret","leafUuid":"{}","sessionId":"{}"}})"
                  "\n",
                  uuid(4), uuid(99));
  const std::string other =
      fmt::format(R"({{"type":"queue-operation","operation":"enqueue","content":"first words","sessionId":"{}"}})"
                  "\n",
                  uuid(99));
  const Imported session("s.jsonl", other + queued + claudeTalk() + last);
  expectGone(session, "claude-code", uuid(3), "a secret");
  EXPECT_TRUE(session.written("claude-code").contains(other));
}

TEST(Hidden, WhatCodexShowsBesideItsItemsGoesWithThem) {
  const auto line = [](std::string_view type, std::string_view payload) {
    return fmt::format(R"({{"timestamp":"2026-01-01T00:00:01.000Z","type":"{}","payload":{}}})"
                       "\n",
                       type, payload);
  };
  const auto item = [&](std::string_view role, std::string_view kind, std::string_view text) {
    return line(
        "response_item",
        fmt::format(R"({{"type":"message","role":"{}","content":[{{"type":"{}","text":"{}"}}]}})", role, kind, text));
  };
  const std::string head = line(
      "session_meta",
      R"({"id":"00000000-0000-4000-8000-000000000007","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p","originator":"codex_cli_rs","cli_version":"0.166.0","source":"cli"})");
  const std::string begin = head + item("user", "input_text", "a secret");
  const std::string bytes = begin + line("event_msg", R"({"type":"user_message","message":"a  secret","images":[]})") +
                            item("assistant", "output_text", "an answer") +
                            line("event_msg", R"({"type":"agent_message","message":"an answer"})");
  const Imported session("s.jsonl", bytes);
  const std::string question = fmt::format("00000000-0000-4000-8000-000000000007:{}", head.size());
  session.hide(question, false);
  EXPECT_FALSE(session.written("codex").contains("a  secret")) << session.written("codex");
  const Imported other("s.jsonl", bytes);
  expectGone(other, "codex", question, "secret");
  EXPECT_TRUE(other.written("codex").contains(R"({"type":"agent_message","message":"an answer"})"));
}

TEST(Hidden, ResultsThatGeminiWritesTwiceGoTwice) {
  const std::string result = R"({"functionResponse":{"id":"c1","name":"t","response":{"output":"a secret"}}})";
  const std::string bytes =
      R"({"sessionId":"00000000-0000-4000-8000-000000000007","projectHash":"p","startTime":"2026-01-01T00:00:00.000Z","lastUpdated":"2026-01-01T00:00:00.000Z","kind":"main"})"
      "\n"
      R"({"id":"u1","timestamp":"2026-01-01T00:00:01.000Z","type":"user","content":[{"text":"go"}]})"
      "\n" +
      fmt::format(
          R"({{"id":"a1","timestamp":"2026-01-01T00:00:02.000Z","type":"gemini","content":"looking","toolCalls":[{{"id":"c1","name":"t","args":{{}},"result":[{}],"status":"success"}}]}})"
          "\n"
          R"({{"id":"u2","timestamp":"2026-01-01T00:00:03.000Z","type":"user","content":[{}]}})"
          "\n"
          R"({{"id":"a2","timestamp":"2026-01-01T00:00:04.000Z","type":"gemini","content":"done"}})"
          "\n",
          result, result);
  const Imported session("s.jsonl", bytes);
  std::string results;
  const auto read = session.store->loadSessionEntries(session.id);
  ASSERT_TRUE(read);
  for (const Entry& entry : *read) {
    const auto message = normalizeEntry(entry);
    if (message && !message->blocks.empty() && message->blocks.front().kind == BlockKind::ToolResult)
      results = entry.id;
  }
  expectGone(session, "gemini-cli", results, "a secret");
}

// A prompt may be queued while an answer is being written: its line is among those of the answer, which is one entry.
TEST(Hidden, WhatIsAmongTheLinesOfAnAnswerGoesToo) {
  const auto part = [](std::string_view text) {
    return fmt::format(R"({{"id":"m1","role":"assistant","content":[{{"type":"text","text":"{}"}}]}})", text);
  };
  const std::string queued =
      fmt::format(R"({{"type":"queue-operation","operation":"enqueue","content":"a secret","sessionId":"{}"}})"
                  "\n",
                  uuid(99));
  const std::string bytes = claudeLine(1, 0, "user", R"({"role":"user","content":"go"})") +
                            claudeLine(2, 1, "assistant", part("one")) + queued +
                            claudeLine(3, 2, "assistant", part("two")) +
                            claudeLine(4, 3, "user", R"({"role":"user","content":"a secret"})");
  const Imported session("s.jsonl", bytes);
  expectGone(session, "claude-code", uuid(4), "a secret");
  const Imported other("s.jsonl", bytes);
  other.hide(uuid(4), false);
  const ReadFile again = other.readAgain("claude-code");
  EXPECT_TRUE(story(again.entries, again.report.headId).starts_with("user: go\nassistant: one\nassistant: two\n"))
      << story(again.entries, again.report.headId);
}

// When the user says the same twice, hiding the first message does not hide the second.
TEST(Hidden, AMessageThatSaysTheSameIsItsOwn) {
  for (const bool erases : {false, true}) {
    std::string bytes = claudeTalk() + claudeLine(5, 4, "user", R"({"role":"user","content":"first words"})");
    const Imported session("s.jsonl", bytes);
    session.hide(uuid(1), erases);
    const ReadFile again = session.readAgain("claude-code");
    EXPECT_TRUE(story(again.entries, again.report.headId).ends_with("user: first words\n"));
  }
}

}  // namespace
}  // namespace bough
