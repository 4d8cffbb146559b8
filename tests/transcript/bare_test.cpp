// Files without carried original entries: only what another agent itself finds in them.
#include "support/temp_folder.h"
#include "transcript/files.h"

namespace bough {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAgents[] = {"claude-code", "claw0", "codex", "gemini-cli", "myagents", "pi", "plain"};

struct Written {
  ReadFile file;
  std::vector<std::string> lossy;
};

Written through(std::string_view agent, const ReadFile& file, const TempFolder& folder) {
  TranscriptFacts facts;
  facts.agent = agent;
  facts.sessionId = "01a1dc74-8eea-7b72-9f3d-075316710001";
  facts.cwd = "/home/ada/bridge";
  facts.created = "2026-01-02T03:04:05.000Z";
  std::string bytes;
  const auto done = writeTranscript(
      file.entries, {.agent = std::string(agent), .facts = facts, .headId = file.report.headId, .bare = true},
      [&](std::string_view piece) -> Result<void> {
        bytes += piece;
        return {};
      });
  EXPECT_TRUE(done) << (done ? "" : done.error().message);
  const fs::path path = fs::path(folder.path()) / (facts.sessionId + ".jsonl");
  writeBytes(path, bytes);
  return {.file = readAll(path), .lossy = done ? done->report.lossyFields : std::vector<std::string>()};
}

bool names(const std::vector<std::string>& lossy, std::string_view field) {
  return std::ranges::any_of(lossy, [&](const std::string& name) { return name.starts_with(field); });
}

TEST(Bare, EveryTextCallAndResultOfTheHeadsBranchArrivesInOrder) {
  TempFolder folder;
  for (const auto& path : fixtures()) {
    const ReadFile file = readAll(path);
    if (file.report.messages == 0 || !file.report.facts.parentEntryId.empty()) continue;
    for (const std::string_view agent : kAgents) {
      if (agent == file.report.facts.agent) continue;
      SCOPED_TRACE(fmt::format("{} to {}", path.string(), agent));
      const Written there = through(agent, file, folder);
      const bool hasOtherForm = names(there.lossy, "tool_") || names(there.lossy, "web_search_call") ||
                                names(there.lossy, "image_generation_call");
      if (hasOtherForm) continue;
      // These agents have the results of parallel calls in the order of the calls.
      if ((agent == "gemini-cli" || agent == "myagents") && path.filename() == "results_out_of_order.jsonl") continue;
      const std::string told = story(there.file.entries, there.file.report.headId);
      const std::string expected = story(file.entries, file.report.headId);
      // Gemini CLI's files have results for calls at the end.
      const bool isOpen = agent == "gemini-cli" && told.ends_with("No result: the call was interrupted.\n");
      EXPECT_EQ(isOpen ? told.substr(0, expected.size()) : told, expected);
    }
  }
}

// A summary may keep a result without its call.
TEST(Bare, AResultThatASummaryKeepsWithoutItsCallIsStillThereBeforeTheSummary) {
  TempFolder folder;
  const fs::path path = fs::path(folder.path()) / "kept.jsonl";
  writeBytes(
      path,
      R"({"type":"session","version":3,"id":"019b0000-0000-4000-8000-000000000001","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}
{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"list"}}
{"type":"message","id":"00000002","parentId":"00000001","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"ls","arguments":{}}],"provider":"anthropic","model":"m","stopReason":"toolUse"}}
{"type":"message","id":"00000003","parentId":"00000002","timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"ls","content":[{"type":"text","text":"a.txt"}],"isError":false}}
{"type":"message","id":"00000004","parentId":"00000003","timestamp":"2026-01-01T00:00:04.000Z","message":{"role":"assistant","content":[{"type":"text","text":"one file"}],"provider":"anthropic","model":"m","stopReason":"stop"}}
{"type":"compaction","id":"00000005","parentId":"00000004","timestamp":"2026-01-01T00:00:05.000Z","summary":"listed","firstKeptEntryId":"00000003","tokensBefore":9}
{"type":"message","id":"00000006","parentId":"00000005","timestamp":"2026-01-01T00:00:06.000Z","message":{"role":"user","content":"go on"}}
)");
  const ReadFile file = readAll(path);
  for (const std::string_view agent : kAgents) {
    if (agent == "pi") continue;
    SCOPED_TRACE(agent);
    const Written there = through(agent, file, folder);
    EXPECT_FALSE(names(there.lossy, "tool_"));
    EXPECT_TRUE(std::ranges::any_of(there.file.entries, [](const Entry& entry) {
      return entry.type == entry_type::kMessage && summarizeEntry(entry, 60).text.contains("a.txt");
    }));
  }
}

TEST(Bare, ABranchSummaryOfPiThatIsEmptyIsNotSaid) {
  TempFolder folder;
  const fs::path path = fs::path(folder.path()) / "summary.jsonl";
  writeBytes(
      path,
      R"({"type":"session","version":3,"id":"019b0000-0000-4000-8000-000000000001","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}
{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"left"}}
{"type":"branch_summary","id":"00000002","parentId":null,"timestamp":"2026-01-01T00:00:02.000Z","fromId":"00000001","summary":""}
{"type":"message","id":"00000003","parentId":"00000002","timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"user","content":"right"}}
)");
  const ReadFile file = readAll(path);
  EXPECT_EQ(writeAll(file.entries, {.agent = "pi"}), readBytes(path));
  for (const std::string_view agent : kAgents) {
    SCOPED_TRACE(agent);
    const Written there = through(agent, file, folder);
    EXPECT_EQ(story(there.file.entries, there.file.report.headId), "user: right\n");
    EXPECT_TRUE(std::ranges::none_of(there.file.entries,
                                     [](const Entry& entry) { return entry.type == entry_type::kBranchSummary; }));
  }
}

TEST(Bare, ALevelOfThinkingArrivesInPiWhicheverMemberNamesIt) {
  TempFolder folder;
  ReadFile file = readAll(BOUGH_TESTS_DIR "/transcript/fixtures/plain/tree.jsonl");
  for (const std::string_view member : {"level", "thinkingLevel"}) {
    SCOPED_TRACE(member);
    Entry change;
    change.id = "change";
    change.parentId = file.report.headId;
    change.type = entry_type::kThinkingLevelChange;
    change.timestamp = "2026-01-02T03:04:06.000Z";
    change.payload = "{\"" + std::string(member) + "\":\"high\"}";
    ReadFile changed = file;
    changed.entries.push_back(change);
    changed.report.headId = change.id;
    const Written there = through("pi", changed, folder);
    const auto found = std::ranges::find(there.file.entries, entry_type::kThinkingLevelChange, &Entry::type);
    ASSERT_NE(found, there.file.entries.end());
    EXPECT_TRUE(found->payload.starts_with("{\"level\":\"high\"")) << found->payload;
  }
}

TEST(Bare, WhatNoLineHoldsIsNamedAndNothingElse) {
  TempFolder folder;
  const ReadFile summed = readAll(BOUGH_TESTS_DIR "/transcript/fixtures/pi/05-compaction.jsonl");
  for (const std::string agent : {"claw0", "myagents", "plain"}) {
    const Written there = through(agent, summed, folder);
    EXPECT_TRUE(names(there.lossy, "compaction_summary")) << agent;
    EXPECT_TRUE(names(there.lossy, "model_change")) << agent;
  }
  // Results in the line of an answer are not lost.
  const ReadFile tools = readAll(BOUGH_TESTS_DIR "/transcript/fixtures/pi/02-tools.jsonl");
  EXPECT_FALSE(names(through("myagents", tools, folder).lossy, "message"));
}

// Returns the cost of all answers; an answer with an id is counted once.
std::uint64_t outputTokens(const ReadFile& file) {
  std::map<std::string, std::uint64_t> answers;
  for (const Entry& entry : file.entries) {
    const auto message = holdsMessage(entry) ? normalizeEntry(entry) : Result<Message>();
    if (!holdsMessage(entry) || !message || !message->usage) continue;
    const std::string id = message->id.decode();
    answers[id.empty() ? entry.id : id] = message->usage->outputTokens;
  }
  std::uint64_t sum = 0;
  for (const auto& [id, tokens] : answers) sum += tokens;
  return sum;
}

TEST(Bare, AnAnswerThatDamageToreApartCostsOnce) {
  TempFolder folder;
  const auto line = [](int number, std::string_view block) {
    return fmt::format(
        R"({{"parentUuid":"u{}","isSidechain":false,"type":"assistant","uuid":"u{}","timestamp":"2026-01-02T03:04:05.000Z",)"
        R"("requestId":"r","message":{{"id":"m","type":"message","role":"assistant","model":"x","content":[{}],)"
        R"("usage":{{"input_tokens":11,"output_tokens":7}}}}}})"
        "\n",
        number - 1, number, block);
  };
  const fs::path path = fs::path(folder.path()) / "torn.jsonl";
  writeBytes(
      path,
      R"({"parentUuid":null,"isSidechain":false,"type":"user","uuid":"u1","timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":"Hi"}})"
      "\n" +
          line(2, R"({"type":"text","text":"one"})") + "{\"torn\": tr\n" + line(3, R"({"type":"text","text":"two"})"));
  const ReadFile file = readAll(path);
  ASSERT_EQ(file.report.unreadable, 1U);
  for (const std::string_view agent : {"gemini-cli", "myagents", "pi"}) {
    EXPECT_EQ(outputTokens(through(agent, file, folder).file), 7U) << agent;
  }
  for (const std::string format : {"atif", "otel"}) {
    std::string text;
    WriteTraceOptions options;
    options.format = format;
    options.headId = file.report.headId;
    ASSERT_TRUE(writeTrace(file.entries, options, [&](std::string_view piece) -> Result<void> {
      text += piece;
      return {};
    }));
    const std::string cost =
        format == "atif" ? R"("completion_tokens":7)" : R"("gen_ai.usage.output_tokens","value":{"intValue":"7"})";
    const std::size_t first = text.find(cost);
    ASSERT_NE(first, std::string::npos) << text;
    EXPECT_EQ(text.find(cost, first + 1), std::string::npos) << format;
  }
}

TEST(Bare, AnAnswerOfNothingSaysNothingInMyAgents) {
  TempFolder folder;
  const fs::path path = fs::path(folder.path()) / "empty.jsonl";
  writeBytes(
      path,
      R"({"parentUuid":null,"isSidechain":false,"type":"user","uuid":"u1","timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":"Hi"}})"
      "\n"
      R"({"parentUuid":"u1","isSidechain":false,"type":"assistant","uuid":"u2","timestamp":"2026-01-02T03:04:05.000Z","message":{"id":"m","role":"assistant","content":[]}})"
      "\n");
  const Written there = through("myagents", readAll(path), folder);
  EXPECT_FALSE(story(there.file.entries, there.file.report.headId).contains("[]"));
}

TEST(Bare, CallsAtTheEndGetResultsWhereTheProgramSendsThemWithout) {
  TempFolder folder;
  const fs::path path = fs::path(folder.path()) / "open.jsonl";
  writeBytes(path, R"({"id":"1","parentId":null,"type":"user","content":"Go"})"
                   "\n"
                   R"({"id":"2","parentId":"1","type":"tool_call","tool_call_id":"c","name":"f","arguments":{}})"
                   "\n");
  const Written there = through("gemini-cli", readAll(path), folder);
  EXPECT_EQ(story(there.file.entries, there.file.report.headId),
            "user: Go\ncall c f {}\nresult c Error: No result: the call was interrupted.\n");
}

TEST(Bare, WordsThatLookLikeBlocksArriveAsWords) {
  TempFolder folder;
  const fs::path path = fs::path(folder.path()) / "words.jsonl";
  writeBytes(path, R"({"id":"1","parentId":null,"type":"user","content":"[{\"type\":\"text\",\"text\":\"a\"}]"})"
                   "\n"
                   R"({"id":"2","parentId":"1","type":"assistant","content":"[{\"type\":\"text\",\"text\":\"b\"}]"})"
                   "\n");
  const ReadFile file = readAll(path);
  for (const std::string_view agent : kAgents) {
    const Written there = through(agent, file, folder);
    EXPECT_EQ(story(there.file.entries, there.file.report.headId), story(file.entries, file.report.headId)) << agent;
  }
}

TEST(Bare, ArgumentsThatAreATextOfAnObjectArriveAsTheObject) {
  TempFolder folder;
  const fs::path path = fs::path(folder.path()) / "rollout.jsonl";
  writeBytes(
      path,
      R"({"timestamp":"2026-01-02T03:04:05.000Z","type":"session_meta","payload":{"id":"T","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/p"}})"
      "\n"
      R"({"timestamp":"2026-01-02T03:04:05.000Z","type":"response_item","payload":{"type":"function_call","name":"f","arguments":"{\"a\":1}","call_id":"c"}})"
      "\n"
      R"({"timestamp":"2026-01-02T03:04:05.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"ok"}})"
      "\n");
  const ReadFile file = readAll(path);
  (void)through("plain", file, folder);
  const std::string plain = readBytes(fs::path(folder.path()) / "01a1dc74-8eea-7b72-9f3d-075316710001.jsonl");
  EXPECT_TRUE(plain.contains(R"("arguments":{"a":1})")) << plain;
}

TEST(Bare, AResultOfMyAgentsThatIsNotTextArrives) {
  TempFolder folder;
  const fs::path path = fs::path(folder.path()) / "results.jsonl";
  writeBytes(
      path,
      R"({"id":"1","role":"assistant","content":"[{\"type\":\"tool_use\",\"tool\":{\"id\":\"t\",\"name\":\"f\",\"input\":{},\"result\":{\"a\":[1]}}}]","timestamp":"2026-01-01T00:00:01.000Z"})"
      "\n");
  const ReadFile file = readAll(path);
  EXPECT_TRUE(story(file.entries, file.report.headId).contains(R"(result t {"a":[1]})"))
      << story(file.entries, file.report.headId);
}

TEST(Bare, ArgumentsOfMyAgentsThatAreNotAnObjectArriveInOne) {
  TempFolder folder;
  const fs::path path = fs::path(folder.path()) / "arguments.jsonl";
  writeBytes(
      path,
      R"({"id":"1","role":"assistant","content":"[{\"type\":\"tool_use\",\"tool\":{\"id\":\"t\",\"name\":\"f\",\"input\":\"ls -l\"}}]","timestamp":"2026-01-01T00:00:01.000Z"})"
      "\n");
  const ReadFile file = readAll(path);
  EXPECT_TRUE(file.entries.front().payload.contains(R"("input":{"arguments":"ls -l"})"))
      << file.entries.front().payload;
}

TEST(Bare, ArgumentsThatAreNotAnObjectArriveInOne) {
  TempFolder folder;
  const fs::path path = fs::path(folder.path()) / "calls.jsonl";
  writeBytes(path,
             R"({"id":"1","parentId":null,"type":"user","content":"Go"})"
             "\n"
             R"({"id":"2","parentId":"1","type":"tool_call","tool_call_id":"c","name":"f","arguments":"not json"})"
             "\n"
             R"({"id":"3","parentId":"2","type":"tool_result","tool_call_id":"c","content":"ok"})"
             "\n");
  const ReadFile file = readAll(path);
  for (const std::string_view agent : {"claude-code", "gemini-cli", "pi"}) {
    const Written there = through(agent, file, folder);
    EXPECT_TRUE(names(there.lossy, "tool_call.arguments")) << agent;
    EXPECT_TRUE(story(there.file.entries, there.file.report.headId).contains(R"({"arguments":"not json"})")) << agent;
  }
}

// Texts that programs send to their models, here typed or pasted by the user.
TEST(Bare, WordsThatLookLikeThoseOfAProgramAreStillThePersons) {
  TempFolder folder;
  for (const std::string_view words :
       {"<environment_context>\n<cwd>/x</cwd>\n</environment_context>", "<user_instructions>do</user_instructions>",
        "# AGENTS.md instructions for /x", "<turn_aborted>x</turn_aborted>", "<session_context>\nx\n</session_context>",
        "  <hook_context>x</hook_context>", "<command-name>/clear</command-name>", "/compact", "?", "!ls", "null",
        "[Request interrupted by user]", "<local-command-stdout>x</local-command-stdout>"}) {
    const fs::path path = fs::path(folder.path()) / "words.jsonl";
    const auto line = [&](std::string_view type, int number, std::string_view text) {
      return fmt::format(R"({{"type":"{}","id":"e{}","parentId":{},"timestamp":"2026-01-02T03:04:0{}.000Z","content":)"
                         R"("{}"}})"
                         "\n",
                         type, number, number == 1 ? "null" : fmt::format("\"e{}\"", number - 1), number, text);
    };
    std::string escaped(words);
    for (std::size_t at = 0; (at = escaped.find('\n', at)) != std::string::npos;) escaped.replace(at, 1, "\\n");
    writeBytes(path, line("user", 1, escaped) + line("assistant", 2, "well") + line("user", 3, escaped));
    const ReadFile file = readAll(path);
    for (const std::string_view agent : kAgents) {
      SCOPED_TRACE(fmt::format("{} to {}", words, agent));
      const Written there = through(agent, file, folder);
      std::string told = story(there.file.entries, there.file.report.headId);
      // Gemini CLI would leave out text that begins like this, so it is marked and reported.
      constexpr std::string_view kNoWidth = "\u2060";
      const bool isMarked = told.contains(kNoWidth);
      EXPECT_EQ(isMarked, names(there.lossy, "text.command"));
      for (std::size_t at = 0; (at = told.find(kNoWidth)) != std::string::npos;) told.erase(at, kNoWidth.size());
      EXPECT_EQ(told, story(file.entries, file.report.headId));
    }
  }
}

}  // namespace
}  // namespace bough
