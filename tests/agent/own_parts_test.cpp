// Providers and tools of other programs: their errors are reported, and the conversation continues.
#include <stdexcept>

#include "agent/loop_fixture.h"

namespace bough::agent {
namespace {

constexpr const char* kDone = R"({"role":"assistant","content":[{"type":"text","text":"done"}]})";
constexpr const char* kCalls =
    R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"mine","input":{}},)"
    R"({"type":"tool_use","id":"b","name":"mine","input":{}}],"stop_reason":"tool_use"})";

class OwnProvider final : public Provider {
 public:
  explicit OwnProvider(std::vector<std::string> answers) : answers_(std::move(answers)) {}
  explicit OwnProvider(Error error) : error_(std::move(error)) {}
  [[nodiscard]] std::string name() const override { return "own/model"; }
  [[nodiscard]] Dialect dialect() const override { return Dialect::Anthropic; }
  Result<Answer> stream(const ModelRequest&, const StreamEvents&, const CancelToken&) override {
    if (error_) return std::unexpected(*error_);
    return Answer{.message = answers_.at(std::min(next_++, answers_.size() - 1)), .partial = {}, .error = {}};
  }

 private:
  std::vector<std::string> answers_;
  std::size_t next_ = 0;
  std::optional<Error> error_;
};

Tool ownTool(std::function<PreparedCall()> prepare) {
  return {.name = "mine",
          .description = "A tool.",
          .parameters = R"({"type":"object"})",
          .safeToRepeat = false,
          .prepare = [prepare = std::move(prepare)](const std::string&, const ToolEnvironment&) { return prepare(); }};
}

class OwnPartsTest : public LoopTest {
 protected:
  // Returns the texts of the tool's results.
  std::vector<std::string> resultsOf(const Tool& tool) {
    provider_ = std::make_unique<OwnProvider>(std::vector<std::string>{kCalls, kDone});
    tools_ = {tool};
    const auto report = runTurn(agent(), here(), "go");
    EXPECT_EQ(report ? report->text : report.error().message, "done");
    std::vector<std::string> texts;
    for (const AgentEvent& event : listener_.events) {
      if (event.kind == EventKind::ToolResult && event.isError) texts.push_back(event.text);
    }
    return texts;
  }
};

TEST_F(OwnPartsTest, AnAnswerThatIsNotAMessageIsTheProvidersFault) {
  const std::pair<std::string, std::string> cases[] = {
      {"not JSON", "this is not a message of anthropic: offset 0: a value is expected"},
      {"[]", "this is not a message of anthropic: a message is an object"},
      {R"({"role":"user","content":"I am you"})", "its role is user"},
      {"{\"role\":\"assistant\",\"content\":\"\xFF\"}", "it is not UTF-8"}};
  for (const auto& [answer, why] : cases) {
    provider_ = std::make_unique<OwnProvider>(std::vector<std::string>{answer});
    const auto report = runTurn(agent(), here(), "say something");
    ASSERT_FALSE(report.has_value()) << answer;
    EXPECT_EQ(report.error().message, "the provider's answer cannot be used: " + why);
    EXPECT_EQ(report.error().code, ErrorCode::Io);
    // The prompt was not refused, so it stays, and nothing is left to finish.
    EXPECT_FALSE(*isInterrupted(*store_, here())) << answer;
    provider_ = std::make_unique<OwnProvider>(std::vector<std::string>{kDone});
    EXPECT_EQ(runTurn(agent(), here(), "again")->text, "done");
  }
  std::size_t said = 0;
  const auto branch = store_->loadSessionEntries(sessionId_, {.branch = here().headId});
  for (const Entry& entry : *branch) {
    if (entry.payload.contains("say something")) ++said;
  }
  EXPECT_EQ(said, std::size(cases));
}

TEST_F(OwnPartsTest, AnErrorThatIsNotUtf8ClosesTheTurn) {
  Error error;
  error.code = ErrorCode::Io;
  error.message = "no \xFF today";
  provider_ = std::make_unique<OwnProvider>(error);
  const auto report = runTurn(agent(), here(), "say something");
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().message, "no \uFFFD today");
  EXPECT_FALSE(*isInterrupted(*store_, here()));
}

TEST_F(OwnPartsTest, AToolThatThrowsHasFailed) {
  EXPECT_EQ(resultsOf(ownTool([]() -> PreparedCall { throw std::runtime_error("no arguments"); })),
            std::vector<std::string>(2, "mine failed: no arguments"));
}

TEST_F(OwnPartsTest, AToolThatThrowsInTheMiddleHasFailed) {
  const auto run = [](const CancelToken&) -> ToolOutcome { throw std::runtime_error("the \xFF disk is gone"); };
  EXPECT_EQ(resultsOf(ownTool([&] { return PreparedCall{.question = {}, .run = run}; })),
            std::vector<std::string>(2, "mine failed: the \uFFFD disk is gone"));
}

TEST_F(OwnPartsTest, AToolWithoutAFunctionHasFailed) {
  EXPECT_EQ(resultsOf(ownTool([] { return PreparedCall{.question = {}, .run = {}}; })),
            std::vector<std::string>(2, "mine failed: bad_function_call"));
}

}  // namespace
}  // namespace bough::agent
