// Answers that end in an unusual way: refused, blocked, cut off, truncated by a limit, too long, without ids.
#include "agent/loop/answer_parts.h"
#include "agent/loop_fixture.h"
#include "agent/parts/prompts.h"

namespace bough::agent {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

TEST_F(LoopTest, RefusalsBlocksAndLimitsAreShown) {
  struct Case {
    Dialect dialect;
    std::string from;
    std::string to;
  };
  const Case cases[] = {
      {Dialect::Anthropic, "end_turn", "max_tokens"},
      {Dialect::Anthropic, "end_turn", "refusal"},
      {Dialect::Anthropic, "end_turn", "pause_turn"},
      {Dialect::OpenaiChat, "\"stop\"", "\"length\""},
      {Dialect::OpenaiChat, "\"stop\"", "\"content_filter\""},
      {Dialect::OpenaiResponses, R"("status":"completed","model")",
       R"("status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"model")"},
      {Dialect::Gemini, "\"STOP\"", "\"SAFETY\""},
      {Dialect::Gemini, "\"STOP\"", "\"MAX_TOKENS\""},
  };
  for (const Case& each : cases) {
    sessionId_ = store_->createSession()->sessionId;
    listener_.events.clear();
    LoopbackServer server([&](const HttpIn&, Reply& reply) {
      reply.stream(replaced(streamOf(each.dialect, {"", "A half", {}}, 1), each.from, each.to));
    });
    provider_ = makeHttpProvider(loopbackEndpoint(server, each.dialect), {}, {.attempts = 1});
    const auto report = runTurn(agent(), here(), "hello");
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_FALSE(report->problem.empty()) << toString(each.dialect) << each.to;
    EXPECT_EQ(report->text, "A half");
    ASSERT_FALSE(listener_.of(EventKind::Notice).empty()) << toString(each.dialect) << each.to;
    EXPECT_TRUE(listener_.of(EventKind::Notice).back().isError);
    EXPECT_EQ(report->problem.contains("say `go on`"),
              report->problem.contains("cut off") || report->problem.contains("paused"))
        << report->problem;
  }
}

// The ends of streams of answers with calls: complete, refused, and cut off.
struct CallEnding {
  Dialect dialect;
  std::string whole;
  std::string refused;
  std::string cutOff;
};
const CallEnding kCallEndings[] = {
    {Dialect::Anthropic, R"("stop_reason":"tool_use")", R"("stop_reason":"refusal")", R"("stop_reason":"max_tokens")"},
    {Dialect::OpenaiChat, R"("finish_reason":"tool_calls")", R"("finish_reason":"content_filter")",
     R"("finish_reason":"length")"},
    {Dialect::OpenaiResponses, R"("status":"completed","model")",
     R"("status":"incomplete","incomplete_details":{"reason":"content_filter"},"model")",
     R"("status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"model")"},
    {Dialect::Gemini, "\"STOP\"", "\"SAFETY\"", "\"MAX_TOKENS\""},
};
const ScriptedAnswer kTwoWrites{
    "", "I write.", {{"write", R"({"path":"a","content":"1"})"}, {"write", R"({"path":"b","content":"2"})"}}};

TEST_F(LoopTest, NoCallOfARefusedAnswerRuns) {
  for (const CallEnding& each : kCallEndings) {
    sessionId_ = store_->createSession()->sessionId;
    listener_.events.clear();
    std::atomic<int> count{0};
    LoopbackServer server([&](const HttpIn&, Reply& reply) {
      const bool first = ++count == 1;
      reply.stream(first ? replaced(streamOf(each.dialect, kTwoWrites, 1), each.whole, each.refused)
                         : streamOf(each.dialect, {"", "Fine.", {}}, 2));
    });
    provider_ = makeHttpProvider(loopbackEndpoint(server, each.dialect), {}, {.attempts = 1});
    const auto report = runTurn(agent(), here(), "hello");
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_TRUE(report->problem.contains("refused or blocked")) << toString(each.dialect) << report->problem;
    EXPECT_EQ(count, 1);
    EXPECT_EQ(get("a") + get("b"), "") << toString(each.dialect);
    EXPECT_FALSE(*isInterrupted(*store_, here())) << "a restart must not run them either";
    const auto next = runTurn(agent(), here(), "go on");
    ASSERT_TRUE(next.has_value()) << next.error().message;
    EXPECT_EQ(next->text, "Fine.");
    EXPECT_EQ(get("a") + get("b"), "") << toString(each.dialect);
  }
}

TEST_F(LoopTest, TheLastCallOfAnAnswerThatWasCutOffDoesNotRun) {
  for (const CallEnding& each : kCallEndings) {
    sessionId_ = store_->createSession()->sessionId;
    listener_.events.clear();
    std::filesystem::remove(work() + "/a");
    std::string second;
    std::atomic<int> count{0};
    LoopbackServer server([&](const HttpIn& request, Reply& reply) {
      const bool first = ++count == 1;
      if (!first) second = request.body;
      reply.stream(first ? replaced(streamOf(each.dialect, kTwoWrites, 1), each.whole, each.cutOff)
                         : streamOf(each.dialect, {"", "Fine.", {}}, 2));
    });
    provider_ = makeHttpProvider(loopbackEndpoint(server, each.dialect), {}, {.attempts = 1});
    const auto report = runTurn(agent(), here(), "hello");
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(report->text, "Fine.");
    EXPECT_EQ(get("a"), "1") << toString(each.dialect);
    EXPECT_EQ(get("b"), "") << toString(each.dialect);
    EXPECT_TRUE(second.contains("cut off")) << second;
    ASSERT_FALSE(listener_.of(EventKind::Notice).empty()) << toString(each.dialect);
    EXPECT_TRUE(listener_.of(EventKind::Notice).front().text.contains("cut off"));
    EXPECT_EQ(listener_.of(EventKind::ToolResult).size(), 2U);
  }
}

TEST_F(LoopTest, AnAnswerOfBlanksIsEmptyAndGeminisReasonIsTold) {
  const std::pair<ScriptedAnswer, std::string> cases[] = {
      {{"", " \n", {}}, "STOP"}, {{"", "", {}}, "STOP"}, {{"", "", {}}, "SAFETY"}};
  for (const auto& [answer, reason] : cases) {
    sessionId_ = store_->createSession()->sessionId;
    std::atomic<int> count{0};
    LoopbackServer server([&](const HttpIn&, Reply& reply) {
      const bool first = ++count == 1;
      std::string stream =
          replaced(streamOf(Dialect::Gemini, first ? answer : ScriptedAnswer{"", "Fine.", {}}, 1), "[answer 1] ", "");
      reply.stream(first ? replaced(stream, "STOP", reason) : stream);
    });
    provider_ = makeHttpProvider(loopbackEndpoint(server, Dialect::Gemini), {}, {.attempts = 1});
    const auto report = runTurn(agent(), here(), "hello");
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_TRUE(report->problem.contains(reason == "STOP" ? "the answer is empty" : "blocked (safety)"))
        << report->problem;
    const auto next = runTurn(agent(), here(), "go on");
    ASSERT_TRUE(next.has_value()) << next.error().message;
    EXPECT_TRUE(next->text.contains("Fine."));
  }
}

TEST_F(LoopTest, AWholeAnswerHasNoProblem) {
  const auto report = runTurn(agent(), here(), "hello");
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->problem, "");
}

TEST_F(LoopTest, AnAnswerThatReasoningUsedUpIsAskedForAgainWithMore) {
  std::atomic<int> count{0};
  LoopbackServer server([&](const HttpIn&, Reply& reply) {
    const bool first = ++count == 1;
    const std::string stream = streamOf(Dialect::OpenaiChat, {"", first ? "" : "Here it is.", {}}, 1);
    reply.stream(first ? replaced(stream, "\"stop\"", "\"length\"") : stream);
  });
  Endpoint endpoint = loopbackEndpoint(server, Dialect::OpenaiChat);
  endpoint.facts.outputTokens = 100'000;
  provider_ = makeHttpProvider(endpoint, {}, {.attempts = 1});
  const auto report = runTurn(agent(), here(), "think hard");
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->text, "Here it is.");
  ASSERT_EQ(server.requests().size(), 2U);
  EXPECT_NE(server.requests()[1].body.find("100000"), std::string::npos);
  // Both requests were paid for, and both are stored.
  std::size_t requests = 0;
  for (const Entry& entry : entries()) requests += json::findString(entry.payload, "kind") == "request" ? 1U : 0U;
  EXPECT_EQ(requests, 1U);
}

// Whichever event lacks token counts: every attempt is paid for.
TEST_F(LoopTest, WhatABrokenTryTookIsStoredOnce) {
  const std::string failed =
      "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"id\":\"r\",\"error\":{\"code\":"
      "\"server_error\",\"message\":\"no\"},\"usage\":{\"input_tokens\":20,\"output_tokens\":9}}}\n\n";
  for (const Dialect dialect : {Dialect::Anthropic, Dialect::OpenaiResponses, Dialect::Gemini}) {
    for (const int broken : {1, 2}) {
      sessionId_ = store_->createSession()->sessionId;
      std::atomic<int> count{0};
      LoopbackServer server([&](const HttpIn&, Reply& reply) {
        const std::string whole = streamOf(dialect, {"", "Here it is.", {}}, 1);
        const std::string start = dialect == Dialect::OpenaiResponses ? failed : whole.substr(0, whole.size() / 2);
        reply.stream(++count > broken ? whole : start);
      });
      provider_ = makeHttpProvider(loopbackEndpoint(server, dialect), {}, {.attempts = 2});
      const auto report = runTurn(agent(), here(), "hello");
      EXPECT_EQ(report.has_value(), broken == 1) << toString(dialect);
      std::uint64_t input = 0;
      std::uint64_t answers = 0;
      for (const Entry& entry : entries()) {
        if (json::findString(entry.payload, "kind") == "request") {
          const auto usage = json::findMember(entry.payload, "usage");
          input += json::findUnsigned(usage.value_or("{}"), "inputTokens").value_or(0);
        } else if (const auto message = normalizeEntry(entry); message && message->role == Role::Assistant) {
          answers += message->usage.value_or(Usage{}).inputTokens;
        }
      }
      const std::uint64_t once = dialect == Dialect::Anthropic ? 25 : 20;
      EXPECT_EQ(input + answers, 2 * once) << toString(dialect) << " " << broken;
      EXPECT_EQ(report ? report->totals.usage.inputTokens : 2 * once, 2 * once) << toString(dialect);
    }
  }
}

TEST_F(LoopTest, APromptThatIsTooLongIsCompactedAndSentAgain) {
  bool strict = false;
  LoopbackServer server([&](const HttpIn& in, Reply& reply) {
    const bool summary = in.body.find("Summarize the conversation") != std::string::npos;
    if (strict && !summary && in.body.find("message 0") != std::string::npos &&
        in.body.find("THE SUMMARY") == std::string::npos) {
      reply.answer(
          400, "application/json",
          R"({"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 > 8"}})");
      return;
    }
    reply.stream(streamOf(Dialect::Anthropic, {"", summary ? "THE SUMMARY" : "Fine.", {}}, 1));
  });
  provider_ = makeHttpProvider(loopbackEndpoint(server, Dialect::Anthropic), {}, {.attempts = 1});
  options_.windowTokens = 3'000;
  options_.compactShare = 0.99;
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(runTurn(agent(), here(), fmt::format("message {} {}", i, std::string(800, 'x'))).has_value());
  }
  strict = true;
  const auto report = runTurn(agent(), here(), "the last one");
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->text, "Fine.");
  EXPECT_NE(server.requests().back().body.find("THE SUMMARY"), std::string::npos);
}

// A result that the provider rejects would make it reject every later prompt.
TEST_F(LoopTest, ResultsThatAProviderRefusesAreWithheld) {
  for (const Dialect dialect : {Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini}) {
    sessionId_ = store_->createSession()->sessionId;
    LoopbackServer server([&](const HttpIn& in, Reply& reply) {
      if (in.body.find("bad words") != std::string::npos) {
        reply.answer(400, "application/json", R"({"error":{"type":"invalid_request_error","message":"not this"}})");
        return;
      }
      const bool first = in.body.find("withheld") == std::string::npos;
      const ScriptedAnswer reads{"", "", {{"read", R"({"path":"bad.txt"})"}}};
      reply.stream(streamOf(dialect, first ? reads : ScriptedAnswer{"", "Without it.", {}}, 1));
    });
    std::ofstream(work() + "/bad.txt") << "bad words";
    provider_ = makeHttpProvider(loopbackEndpoint(server, dialect), {}, {.attempts = 1});
    const auto report = runTurn(agent(), here(), "read it");
    ASSERT_TRUE(report.has_value()) << toString(dialect) << report.error().message;
    EXPECT_EQ(report->text, "Without it.");
    const auto next = runTurn(agent(), here(), "and now?");
    ASSERT_TRUE(next.has_value()) << toString(dialect) << next.error().message;
    EXPECT_EQ(server.requests().size(), 4U);
  }
}

TEST_F(LoopTest, AKeyThatAServerRepeatsIsNotStored) {
  const std::string key = "sk-0123456789abcdefghij";
  Secrets secrets;
  secrets.add(key);
  for (const Dialect dialect : {Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini}) {
    sessionId_ = store_->createSession()->sessionId;
    std::atomic<int> count{0};
    LoopbackServer server([&](const HttpIn&, Reply& reply) {
      const ScriptedAnswer writes{"", "It is " + key, {{"write", R"({"path":"k.txt","content":")" + key + "\"}"}}};
      reply.stream(streamOf(dialect, ++count == 1 ? writes : ScriptedAnswer{"", "Done with " + key, {}}, 1));
    });
    provider_ = makeHttpProvider(loopbackEndpoint(server, dialect), secrets, {.attempts = 1});
    const auto report = runTurn(agent(), here(), "hello");
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(report->text, "Done with [key]");
    EXPECT_EQ(get("k.txt"), "[key]");
    for (const Entry& entry : entries()) EXPECT_FALSE(entry.payload.contains(key)) << entry.payload;
  }
}

// Results stay when something else is rejected.
TEST_F(LoopTest, ResultsStayWhenTheProviderRefusesSomethingElse) {
  bool refuses = false;
  LoopbackServer server([&](const HttpIn& in, Reply& reply) {
    const bool first = in.body.find("fine words") == std::string::npos && !refuses;
    if (first) {
      refuses = true;
      reply.stream(streamOf(Dialect::Anthropic, {"", "", {{"read", R"({"path":"a.txt"})"}}}, 1));
    } else {
      reply.answer(400, "application/json", R"({"error":{"type":"invalid_request_error","message":"not this"}})");
    }
  });
  std::ofstream(work() + "/a.txt") << "fine words";
  provider_ = makeHttpProvider(loopbackEndpoint(server, Dialect::Anthropic), {}, {.attempts = 1});
  EXPECT_FALSE(runTurn(agent(), here(), "read it").has_value());
  const auto context = buildContext(*store_, sessionId_, {.dialect = Dialect::Anthropic});
  ASSERT_TRUE(context.has_value());
  EXPECT_NE(context->messages.find("fine words"), std::string::npos) << context->messages;
  EXPECT_EQ(context->messages.find("withheld"), std::string::npos);
}

// The model table allows a far larger context than the server accepts.
TEST_F(LoopTest, APromptIsCompactedToWhatTheServerTakes) {
  constexpr std::size_t kMostBytes = 7'000;
  LoopbackServer server([&](const HttpIn& in, Reply& reply) {
    const bool summary = in.body.find("Summarize the conversation") != std::string::npos;
    if (in.body.size() > kMostBytes + (summary ? 6'000 : 0)) {
      reply.answer(
          400, "application/json",
          R"({"error":{"code":400,"message":"the request exceeds the available context size, try increasing it",)"
          R"("type":"exceed_context_size_error"}})");
      return;
    }
    reply.stream(streamOf(Dialect::OpenaiChat, {"", summary ? "THE SUMMARY" : "Fine.", {}}, 1));
  });
  provider_ = makeHttpProvider(loopbackEndpoint(server, Dialect::OpenaiChat), {}, {.attempts = 1});
  tools_.clear();
  for (int i = 0; i < 16; ++i) {
    const auto report = runTurn(agent(), here(), fmt::format("message {} {}", i, std::string(800, 'x')));
    ASSERT_TRUE(report.has_value()) << i << ": " << report.error().message;
    EXPECT_EQ(report->text, "Fine.");
  }
  EXPECT_NE(server.requests().back().body.find("THE SUMMARY"), std::string::npos);
}

TEST(AnswerParts, EveryEndIsWholeCutOffOrBlocked) {
  const auto problem = [](const std::string& end) {
    AnswerParts parts;
    parts.text = "x";
    parts.normalizedStopReason = end;
    return parts.problem();
  };
  for (const char* end : {"end_turn", "stop", "tool_use", "tool_calls", "completed", "stop_sequence", ""}) {
    EXPECT_EQ(problem(end), "") << end;
  }
  for (const char* end : {"max_tokens", "length", "max_output_tokens", "model_context_window_exceeded"}) {
    EXPECT_TRUE(problem(end).contains("cut off")) << end;
  }
  for (const char* end :
       {"refusal", "content_filter", "safety", "prohibited_content", "blocklist", "recitation", "spii", "image_safety",
        "language", "other", "malformed_function_call", "unexpected_tool_call", "missing_thought_signature", "error"}) {
    EXPECT_TRUE(problem(end).contains("refused or blocked")) << end;
  }
}

TEST(AnswerParts, NamesOfEndsAreReadInEverySpelling) {
  const auto endOf = [](Dialect dialect, const std::string& message) {
    Answer answer;
    answer.message = message;
    const auto parts = partsOf(answer, dialect);
    return parts ? parts->normalizedStopReason : "error";
  };
  EXPECT_EQ(endOf(Dialect::Gemini,
                  R"({"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"finishReason":"SAFETY_AZ"}]})"),
            "safety_az");
  EXPECT_EQ(
      endOf(
          Dialect::OpenaiResponses,
          R"({"id":"r","object":"response","status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]})"),
      "content_filter");
  EXPECT_EQ(endOf(Dialect::OpenaiResponses, R"({"id":"r","object":"response","status":"incomplete","output":[]})"),
            "incomplete");
}

TEST(AnswerParts, EndsThatNoListHasAreProblemsWhereOneEndIsTheRightOne) {
  const auto problemOf = [](Dialect dialect, const std::string& message) {
    Answer answer;
    answer.message = message;
    const auto parts = partsOf(answer, dialect);
    return parts ? parts->problem() : "error";
  };
  const auto gemini = [&](const std::string& end) {
    return problemOf(
        Dialect::Gemini,
        R"({"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"finishReason":")" + end + "\"}]}");
  };
  EXPECT_EQ(gemini("STOP"), "");
  EXPECT_EQ(gemini("NEW_REASON"), "the answer was refused or blocked (new_reason)");
  EXPECT_TRUE(gemini("MAX_TOKENS").contains("cut off"));
  const auto responses = [&](const std::string& members) {
    return problemOf(Dialect::OpenaiResponses, R"({"id":"r","object":"response",)" + members +
                                                   R"(,"output":[{"type":"message","role":"assistant","content":)"
                                                   R"([{"type":"output_text","text":"a"}]}]})");
  };
  EXPECT_EQ(responses(R"("status":"completed")"), "");
  EXPECT_EQ(responses(R"("status":"incomplete")"), "the answer was refused or blocked (incomplete)");
  EXPECT_EQ(responses(R"("status":"incomplete","incomplete_details":{"reason":"new"})"),
            "the answer was refused or blocked (new)");
}

TEST(StreamReader, CallsWithoutAnIdOfTheirOwnGetOne) {
  struct Case {
    Dialect dialect;
    std::unique_ptr<StreamReader> (*make)();
  };
  for (const Case& each :
       {Case{Dialect::Anthropic, makeAnthropicReader}, Case{Dialect::OpenaiChat, makeOpenaiChatReader},
        Case{Dialect::OpenaiResponses, makeOpenaiResponsesReader}, Case{Dialect::Gemini, makeGeminiReader}}) {
    for (const std::string same : {"\"\"", "\"same\""}) {
      const ScriptedAnswer answer{"", "Two", {{"ls", "{}"}, {"ls", "{}"}}};
      const std::string stream =
          replaced(replaced(streamOf(each.dialect, answer, 1), "\"call_1_1\"", same), "\"call_1_2\"", same);
      const auto reader = each.make();
      SseParser parser;
      ASSERT_TRUE(parser.feed(
          stream, [&](const SseEvent& event) { return reader->take(event, [](const Delta&) {}).has_value(); }));
      const Answer done = reader->answer(false);
      const auto message = normalize(done.message, each.dialect);
      ASSERT_TRUE(message.has_value());
      std::vector<std::string> ids;
      for (const Block& block : message->blocks) {
        if (block.kind == BlockKind::ToolCall) ids.push_back(block.id.decode());
      }
      ASSERT_EQ(ids.size(), 2U) << toString(each.dialect) << done.message;
      EXPECT_FALSE(ids[0].empty()) << toString(each.dialect);
      EXPECT_NE(ids[0], ids[1]) << toString(each.dialect);
    }
  }
}

}  // namespace
}  // namespace bough::agent
