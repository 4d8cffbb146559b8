// What survives a compaction, and that every request is counted.
#include <bough/catalog.h>

#include "agent/loop/stale_thinking.h"
#include "agent/loop_fixture.h"
#include "agent/parts/prompts.h"

namespace bough::agent {
namespace {

// Answers "ok" after `steps` calls, and keeps the requests for summaries.
class Scribe final : public Provider {
 public:
  [[nodiscard]] std::string name() const override { return "test/scribe"; }
  [[nodiscard]] Dialect dialect() const override { return Dialect::Bough; }
  [[nodiscard]] ModelLimits limits() const override { return {.maxOutput = 32'000}; }
  Result<Answer> stream(const ModelRequest& request, const StreamEvents&, const CancelToken&) override {
    Answer answer;
    if (request.context.find("Summarize the conversation") != std::string::npos) {
      summaries.push_back(request.context);
      const std::string end = summaries.size() <= cutOff ? "max_tokens" : summaryEnd;
      answer.message = said(fmt::format("SUMMARY {}", summaries.size()), end);
    } else if (steps > 0) {
      answer.message = fmt::format(
          R"({{"role":"assistant","content":[{{"type":"text","text":"step {0} {1}"}},{{"type":"tool_call","id":"c{0}","name":"ls","input":{{}}}}]}})",
          steps, std::string(400, 'y'));
      --steps;
    } else {
      last = request.context;
      answer.message = said("ok");
    }
    return answer;
  }
  static std::string said(const std::string& text, const std::string& end = "end_turn") {
    return fmt::format(
        R"({{"role":"assistant","content":[{{"type":"text","text":"{}"}}],"stopReason":"{}","usage":{{"inputTokens":100,"outputTokens":7}}}})",
        text, end);
  }

  std::size_t steps = 0;
  std::size_t cutOff = 0;  // how many summaries end at a token limit
  std::string summaryEnd = "end_turn";
  std::vector<std::string> summaries;
  std::string last;
};

TEST_F(LoopTest, TheGoalAndTheNewestFifthSurviveACompactionInTheMiddleOfATurn) {
  auto scribe = std::make_unique<Scribe>();
  Scribe& model = *scribe;
  provider_ = std::move(scribe);
  model.steps = 40;
  options_.windowTokens = 8'000;
  options_.compactShare = 0.5;
  const auto report = runTurn(agent(), here(), "THE GOAL is to list everything");
  ASSERT_TRUE(report.has_value()) << report.error().message;
  ASSERT_GT(model.summaries.size(), 1U);
  // Each summary request contained the goal, and each later one also the previous summary.
  for (const std::string& each : model.summaries) EXPECT_NE(each.find("THE GOAL"), std::string::npos) << each;
  EXPECT_NE(model.summaries.back().find("SUMMARY "), std::string::npos);
  EXPECT_NE(model.last.find("THE GOAL"), std::string::npos) << model.last;
  EXPECT_NE(model.last.find("SUMMARY "), std::string::npos);
  // More than one answer is kept verbatim.
  std::size_t kept = 0;
  for (std::size_t at = model.last.find("step "); at != std::string::npos; at = model.last.find("step ", at + 1))
    ++kept;
  EXPECT_GE(kept, 3U) << model.last;
}

TEST_F(LoopTest, WhatIsKeptBeginsWithAnAnswerOrAMessageNeverWithAResult) {
  for (int i = 0; i < 60; ++i) std::ofstream(work() + "/a file with a long name " + std::to_string(i)) << i;
  std::size_t compactions = 0;
  for (std::uint64_t window = 6'000; window <= 9'000; window += 500) {
    sessionId_ = store_->createSession()->sessionId;
    auto scribe = std::make_unique<Scribe>();
    scribe->steps = 12;
    provider_ = std::move(scribe);
    options_.windowTokens = window;
    options_.compactShare = 0.5;
    ASSERT_TRUE(runTurn(agent(), here(), "list everything").has_value());
    for (const Entry& entry : entries()) {
      if (entry.type != entry_type::kCompactionSummary) continue;
      ++compactions;
      const auto first =
          store_->loadEntry(sessionId_, json::findString(entry.payload, "firstKeptEntryId").value_or(""));
      ASSERT_TRUE(first.has_value()) << entry.payload;
      const auto message = normalizeEntry(*first);
      ASSERT_TRUE(message.has_value());
      EXPECT_TRUE(message->role == Role::Assistant || message->role == Role::User) << window << first->payload;
    }
  }
  EXPECT_GT(compactions, 5U);
}

// A turn whose results fill the context window again soon after a compaction.
TEST_F(LoopTest, ATurnIsCompactedAgainAsSoonAsItDoesNotFit) {
  for (int i = 0; i < 80; ++i)
    std::ofstream(work() + "/a file with a long name " + std::string(50, 'n') + std::to_string(i));
  auto scribe = std::make_unique<Scribe>();
  Scribe& model = *scribe;
  provider_ = std::move(scribe);
  model.steps = 16;
  options_.windowTokens = 9'000;
  const auto report = runTurn(agent(), here(), "THE GOAL is to list everything");
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->text, "ok");
  EXPECT_GT(model.summaries.size(), 2U);
  EXPECT_NE(model.last.find("THE GOAL"), std::string::npos) << model.last;
}

// The results of one answer are larger than the model's context.
TEST_F(LoopTest, ResultsThatFitIntoNoContextAreWithheld) {
  for (int i = 0; i < 200; ++i)
    std::ofstream(work() + "/a file with a long name " + std::string(50, 'n') + std::to_string(i));
  auto scribe = std::make_unique<Scribe>();
  Scribe& model = *scribe;
  provider_ = std::move(scribe);
  model.steps = 3;
  options_.windowTokens = 4'000;
  const auto report = runTurn(agent(), here(), "THE GOAL is to list everything");
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->text, "ok");
  EXPECT_NE(model.last.find("withheld"), std::string::npos) << model.last;
}

// The hint of `bough context` about its budget is useless here, because the model's window is the limit.
TEST_F(LoopTest, APromptThatIsTooLongByItselfSaysWhatToDo) {
  options_.windowTokens = 1'000;
  const auto report = runTurn(agent(), here(), std::string(20'000, 'x'));
  ASSERT_FALSE(report.has_value());
  EXPECT_TRUE(report.error().hint.contains("--window") && report.error().hint.contains("/model"))
      << report.error().hint;
  options_.windowTokens = 0;
  LoopbackServer server([&](const HttpIn&, Reply& reply) {
    reply.answer(400, "application/json",
                 R"({"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 > 8"}})");
  });
  provider_ = makeHttpProvider(loopbackEndpoint(server, Dialect::Anthropic), {}, {.attempts = 1});
  const auto refused = runTurn(agent(), here(), "hello");
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().hint.contains("--window")) << refused.error().hint;
}

TEST_F(LoopTest, ALongHistoryIsSummarizedInParts) {
  auto scribe = std::make_unique<Scribe>();
  Scribe& model = *scribe;
  provider_ = std::move(scribe);
  options_.compactShare = 0;
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(runTurn(agent(), here(), fmt::format("message {} {}", i, std::string(600, 'x'))).has_value());
  }
  options_.compactShare = 0.5;
  options_.windowTokens = 4'000;
  ASSERT_TRUE(runTurn(agent(), here(), "and now?").has_value());
  ASSERT_GT(model.summaries.size(), 2U);
  std::string all;
  for (const std::string& each : model.summaries) {
    EXPECT_LT(each.size(), 16'000U);
    all += each;
  }
  // Nothing was lost: every message that is not kept was in one of the parts.
  for (int i = 0; i < 24; ++i) EXPECT_NE(all.find(fmt::format("message {} ", i)), std::string::npos) << i;
}

TEST_F(LoopTest, ALongMessageIsSummarizedWhole) {
  auto scribe = std::make_unique<Scribe>();
  Scribe& model = *scribe;
  provider_ = std::move(scribe);
  options_.compactShare = 0;
  std::string pasted;
  for (int i = 0; i < 2'000; ++i) pasted += fmt::format("rule {} ", i);
  ASSERT_TRUE(runTurn(agent(), here(), "obey these: " + pasted).has_value());
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(runTurn(agent(), here(), std::string(600, 'x')).has_value());
  options_.compactShare = 0.5;
  options_.windowTokens = 4'000;
  ASSERT_TRUE(runTurn(agent(), here(), "and now?").has_value());
  std::string all;
  for (const std::string& each : model.summaries) {
    EXPECT_LT(each.size(), 16'000U);
    all += each;
  }
  ASSERT_GT(model.summaries.size(), 2U);
  // All except those at the border of two parts.
  std::size_t missing = 0;
  for (int i = 0; i < 2'000; ++i) missing += all.find(fmt::format("rule {} ", i)) == std::string::npos ? 1U : 0U;
  EXPECT_LT(missing, model.summaries.size());
}

TEST_F(LoopTest, ASummaryThatWasCutOffIsAskedForAgainAndNeverKept) {
  for (const std::size_t cutOff : {2U, 1U}) {
    SCOPED_TRACE(cutOff);
    auto scribe = std::make_unique<Scribe>();
    Scribe& model = *scribe;
    provider_ = std::move(scribe);
    options_.compactShare = 0;
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(runTurn(agent(), here(), std::string(600, 'x')).has_value());
    model.cutOff = cutOff;
    options_.compactShare = 0.1;
    options_.windowTokens = 8'000;
    ASSERT_TRUE(runTurn(agent(), here(), "and now?").has_value());
    EXPECT_EQ(model.summaries.size(), 2U);
    const bool kept = model.last.find("SUMMARY ") != std::string::npos;
    EXPECT_EQ(kept, cutOff == 1);
    EXPECT_EQ(model.last.find("SUMMARY 1"), std::string::npos);
    // Both requests are paid for, whether or not there is a summary.
    const std::vector<Entry> all = entries();
    const auto isAboutSummary = [](const Entry& entry) {
      return entry.type == entry_type::kCompactionSummary || json::findString(entry.payload, "purpose") == "summary";
    };
    const auto recorded = std::ranges::find_if(all.rbegin(), all.rend(), isAboutSummary);
    ASSERT_NE(recorded, all.rend());
    EXPECT_EQ(recorded->type == entry_type::kCompactionSummary, cutOff == 1);
    EXPECT_EQ(json::findUnsigned(memberOr(recorded->payload, "usage"), "inputTokens"), 200U);
  }
}

TEST_F(LoopTest, ASummaryThatAFilterEndedIsNeverKept) {
  for (const char* end : {"content_filter", "SAFETY", "recitation", "refusal"}) {
    SCOPED_TRACE(end);
    sessionId_ = store_->createSession()->sessionId;
    auto scribe = std::make_unique<Scribe>();
    Scribe& model = *scribe;
    provider_ = std::move(scribe);
    model.summaryEnd = end;
    options_.compactShare = 0;
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(runTurn(agent(), here(), std::string(600, 'x')).has_value());
    options_.compactShare = 0.1;
    options_.windowTokens = 8'000;
    ASSERT_TRUE(runTurn(agent(), here(), "and now?").has_value());
    EXPECT_EQ(model.summaries.size(), 1U);
    EXPECT_EQ(model.last.find("SUMMARY"), std::string::npos);
    const auto isSummary = [](const Entry& entry) { return entry.type == entry_type::kCompactionSummary; };
    EXPECT_TRUE(std::ranges::none_of(entries(), isSummary));
  }
}

// Two answers with thinking: one before the summary was made, one after it.
TEST_F(LoopTest, ThinkingWhosePrefixChangedIsLeftOutOfTheRequest) {
  const auto answer = [&](const std::string& name) {
    append("message", userPayload("ask " + name));
    return append("message", fmt::format(R"({{"dialect":"anthropic","message":{{"role":"assistant","content":[)"
                                         R"({{"type":"thinking","thinking":"hm","signature":"sig-{0}"}},)"
                                         R"({{"type":"text","text":"answer {0}"}}]}}}})",
                                         name));
  };
  answer("first");
  const std::string kept = append("message", userPayload("go on"));
  answer("second");
  append("compaction_summary", fmt::format(R"({{"summary":"so far","firstKeptEntryId":"{}"}})", kept));
  answer("third");
  const auto context = buildContext(*store_, sessionId_, {.dialect = Dialect::Anthropic});
  ASSERT_TRUE(context.has_value());
  const std::string request = requestWithoutStaleThinking(*context);
  EXPECT_NE(context->requestJson().find("sig-second"), std::string::npos) << "it is kept by the context";
  EXPECT_EQ(request.find("sig-second"), std::string::npos) << "and not sent: a summary stands before it";
  EXPECT_NE(request.find("answer second"), std::string::npos);
  EXPECT_NE(request.find("sig-third"), std::string::npos) << "nothing before it has changed";
  EXPECT_TRUE(json::check(request).has_value());
}

TEST_F(LoopTest, RequestsForTitlesAndSummariesAreCounted) {
  auto chat = std::move(
      *Chat::make(*store_, listener_, cancel_, {.model = "offline/echo", .folder = work(), .makeTitles = true}));
  ASSERT_TRUE(chat->open(sessionId_).has_value());
  for (const char* text : {"hello", "again", "and again"}) ASSERT_TRUE(chat->say(text).has_value());
  Usage expected;
  std::size_t requests = 0;
  const auto count = [&](std::string_view usage) {
    expected.inputTokens += json::findUnsigned(usage, "inputTokens").value_or(0);
    expected.outputTokens += json::findUnsigned(usage, "outputTokens").value_or(0);
    ++requests;
  };
  for (const Entry& entry : entries()) {
    if (entry.type == "message") {
      if (const auto usage = json::findMember(memberOr(entry.payload, "message"), "usage")) count(*usage);
    }
    if (json::findString(entry.payload, "kind") == "request") count(memberOr(entry.payload, "usage"));
  }
  EXPECT_EQ(requests, 4U);  // three answers and a title
  auto catalog = Catalog::open(*store_);
  ASSERT_TRUE(catalog.has_value());
  ASSERT_TRUE((*catalog)->catchUp().has_value());
  const auto row = (*catalog)->session(sessionId_);
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(row->tokens.inputTokens, expected.inputTokens);
  EXPECT_EQ(row->tokens.outputTokens, expected.outputTokens);
}

}  // namespace
}  // namespace bough::agent
