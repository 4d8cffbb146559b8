// An agent inside a program: the program provides the model, a tool and a listener, and every step is stored in a
// session before it has consequences.
#include <bough/agent/loop.h>
#include <bough/bough.h>

#include <cstdio>
#include <string>

namespace {

using namespace bough::agent;

// Prints what happens. A program with a window would show it there.
class Printer final : public Listener {
 public:
  void onEvent(const AgentEvent& event) override {
    if (event.kind == EventKind::ToolStart) std::printf("[%s %s]\n", event.name.c_str(), event.text.c_str());
    if (event.kind == EventKind::ToolResult) std::printf("[= %s]\n", event.text.c_str());
    if (event.kind == EventKind::AssistantMessage && !event.text.empty()) std::printf("%s\n", event.text.c_str());
  }
  // There is no one to ask, so tools that need permission do not run.
  std::optional<bool> allow(const ToolCall&, const std::string&) override { return std::nullopt; }
  RecoveryChoice recover(const bough::UnfinishedToolCall&) override { return {}; }
};

// A tool: its description for the model, and its function.
Tool stockTool() {
  return {.name = "stock",
          .description = "How many of an article are in stock.",
          .parameters = R"({"type":"object","properties":{"article":{"type":"string"}},"required":["article"]})",
          .safeToRepeat = true,
          .prepare = [](const std::string&, const ToolEnvironment&) {
            return PreparedCall{.question = {}, .run = [](const CancelToken&) { return ToolOutcome{.text = "42"}; }};
          }};
}

// A model; this one knows only two answers. makeProvider("anthropic/…") makes a real one.
class TwoAnswers final : public Provider {
 public:
  [[nodiscard]] std::string name() const override { return "example/two-answers"; }
  [[nodiscard]] bough::Dialect dialect() const override { return bough::Dialect::Bough; }
  bough::Result<Answer> stream(const ModelRequest& request, const StreamEvents&, const CancelToken&) override {
    Answer answer;
    answer.message = request.context.find("tool_result") == std::string::npos
                         ? R"({"role":"assistant","content":[{"type":"text","text":"Let me look."},)"
                           R"({"type":"tool_call","id":"call-1","name":"stock","input":{"article":"lamps"}}]})"
                         : R"({"role":"assistant","content":[{"type":"text","text":"We have 42 lamps."}]})";
    return answer;
  }
};

bough::Result<void> demonstrate(bough::SessionStore& store) {
  auto session = store.createSession({.title = "Lamps"});
  if (!session) return std::unexpected(session.error());
  auto folder = WorkingFolder::open(".");
  if (!folder) return std::unexpected(folder.error());
  TwoAnswers model;
  Printer printer;
  const CancelToken cancel;
  const std::vector<Tool> tools = {stockTool()};
  const ToolEnvironment environment{.folder = *folder};
  const Agent agent{.store = store,
                    .provider = model,
                    .tools = tools,
                    .environment = environment,
                    .listener = printer,
                    .cancel = cancel,
                    .options = {.systemPrompt = "You answer for a shop.", .thinkingLevel = {}}};
  auto start = startingPoint(store, session->sessionId);
  if (!start) return std::unexpected(start.error());
  auto report = runTurn(agent, *start, "How many lamps are there?");
  if (!report) return std::unexpected(report.error());

  // The session contains all steps, in this order.
  auto entries = store.loadSessionEntries(session->sessionId);
  if (!entries) return std::unexpected(entries.error());
  for (const bough::Entry& entry : *entries) std::printf("%s\n", entry.type.c_str());
  return {};
}

}  // namespace

int main() {
  auto store = bough::SessionStore::open("memory:");
  if (!store) return 1;
  if (auto done = demonstrate(**store); !done) {
    std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return 1;
  }
  return 0;
}
