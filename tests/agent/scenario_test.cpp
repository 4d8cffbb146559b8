// The same thirty answers with every provider, each in its own dialect, and with a change of provider in the middle.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "agent/parts/json_parts.h"
#include "agent/providers/http_provider.h"
#include "agent/scenario.h"
#include "support/rule_checker.h"
#include "support/temp_folder.h"

namespace bough::agent {
namespace {

std::string contentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns the conversation without what differs between providers: ids, reasoning, the order of parallel results.
std::string conversationOf(SessionStore& store, const std::string& sessionId, const std::string& folder) {
  std::string out;
  std::vector<std::string> results;
  const auto flush = [&] {
    std::ranges::sort(results);
    for (const std::string& result : results) out += result;
    results.clear();
  };
  const auto entries = store.loadSessionEntries(sessionId);
  EXPECT_TRUE(entries.has_value());
  for (const Entry& entry : *entries) {
    if (entry.type != entry_type::kMessage) continue;
    const auto dialect = parseDialect(*json::findString(entry.payload, "dialect"));
    const auto message = normalize(memberOr(entry.payload, "message"), *dialect);
    EXPECT_TRUE(message.has_value());
    if (message->role != Role::Tool) flush();
    for (const Block& block : message->blocks) {
      if (block.kind == BlockKind::Text) out += fmt::format("{}: {}\n", toString(message->role), block.text.decode());
      if (block.kind == BlockKind::ToolCall) out += fmt::format("call {} {}\n", block.name.decode(), block.id.decode());
      if (block.kind == BlockKind::ToolResult) {
        std::string text = block.content.empty() ? "" : block.content.front().text.decode();
        for (std::size_t at = 0; (at = text.find(folder)) != std::string::npos;)
          text.replace(at, folder.size(), "FOLDER");
        results.push_back(
            fmt::format("result of {} {}{}\n", block.id.decode(), block.isError ? "(failed) " : "", text));
      }
    }
  }
  flush();
  return out;
}

struct Played {
  std::string conversation;
  std::vector<HttpIn> requests;
};

Played play(const std::vector<Dialect>& dialects) {
  TempFolder folder;
  const std::string work = folder / "work";
  std::filesystem::create_directories(work);
  LoopbackServer server(playScenario(scenarioAnswers()));
  auto store = SessionStore::open(folder / "store");
  EXPECT_TRUE(store.has_value());
  const auto session = (*store)->createSession();
  const ToolEnvironment environment{
      .folder = *WorkingFolder::open(work), .limits = {}, .secrets = {}, .allowedCommands = {}};
  RecordingListener listener;
  CancelToken cancel;
  auto at = startingPoint(**store, session->sessionId);
  std::size_t turn = 0;
  for (const std::string& prompt : scenarioPrompts()) {
    const auto provider = makeHttpProvider(loopbackEndpoint(server, dialects[turn++ % dialects.size()]), {});
    const Agent agent{.store = **store,
                      .provider = *provider,
                      .tools = builtInTools(),
                      .environment = environment,
                      .listener = listener,
                      .cancel = cancel,
                      .options = {.systemPrompt = "Be brief."}};
    auto report = runTurn(agent, *at, prompt);
    EXPECT_TRUE(report.has_value()) << prompt << ": " << (report ? "" : report.error().message);
    if (!report) break;
    at = report->end;
  }
  EXPECT_EQ(listener.of(EventKind::AssistantMessage).size(), scenarioAnswers().size());
  EXPECT_EQ(contentOf(work + "/a.txt"), "one\nzwei\nthree\n");
  EXPECT_EQ(contentOf(work + "/中文.txt"), "你好，🧑🏽‍💻\n");
  EXPECT_EQ(contentOf(work + "/counter.txt"), "x\nx\nx\nx\nx\nx\nx\nx\nx\n");
  EXPECT_EQ(contentOf(work + "/deep/er/file.txt"), "x");
  const auto interrupted = isInterrupted(**store, *at);
  EXPECT_TRUE(interrupted.has_value() && !*interrupted);
  Played run{.conversation = conversationOf(**store, session->sessionId, work), .requests = server.requests()};
  dumpRequests(run.requests);
  for (const HttpIn& request : run.requests) {
    const auto broken = test::brokenRules(dialectOfPath(request.path), request.body);
    EXPECT_TRUE(broken.empty()) << request.path << ": " << broken.front() << "\n" << request.body;
  }
  return run;
}

TEST(Scenario, ThirtyStepsPassOnEveryProviderAndWhenItChangesInTheMiddle) {
  const Played first = play({Dialect::Anthropic});
  EXPECT_EQ(first.requests.size(), scenarioAnswers().size());
  EXPECT_NE(first.conversation.find("nobody to ask"), std::string::npos);
  EXPECT_NE(first.conversation.find("there is no tool teleport"), std::string::npos);
  EXPECT_NE(first.conversation.find("[binary data"), std::string::npos);
  EXPECT_NE(first.conversation.find("bytes left out"), std::string::npos);
  const std::vector<std::vector<Dialect>> others = {
      {Dialect::OpenaiChat},
      {Dialect::OpenaiResponses},
      {Dialect::Gemini},
      {Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini},
      {Dialect::Gemini, Dialect::Anthropic},
  };
  for (const auto& dialects : others) {
    EXPECT_TRUE(play(dialects).conversation == first.conversation) << toString(dialects.front());
  }
}

// A provider's own messages are sent back unchanged, including reasoning and signatures.
TEST(Scenario, OwnMessagesGoBackUnchanged) {
  const Played run = play({Dialect::Anthropic});
  const std::string& last = run.requests.back().body;
  EXPECT_NE(last.find(R"({"type":"thinking","thinking":"Let me see.","signature":"sig2"})"), std::string::npos) << last;
  EXPECT_NE(last.find(R"({"path": "a.txt", "limit": 2})"), std::string::npos);
  const Played gemini = play({Dialect::Gemini});
  EXPECT_NE(gemini.requests.back().body.find(R"("thoughtSignature":"c2ln1002")"), std::string::npos);
  const Played responses = play({Dialect::OpenaiResponses});
  EXPECT_NE(responses.requests.back().body.find(R"("encrypted_content":"enc2")"), std::string::npos);
}

}  // namespace
}  // namespace bough::agent
