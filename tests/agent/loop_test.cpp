// The loop: what is stored when, what a stop leaves, and two chats on one session.
#include "agent/loop_fixture.h"

namespace bough::agent {
namespace {

TEST_F(LoopTest, EverythingIsStoredBeforeItHasConsequences) {
  std::vector<std::string> seen;
  for (Tool& tool : tools_) {
    tool.prepare = [&, prepare = tool.prepare](const std::string& arguments, const ToolEnvironment& environment) {
      PreparedCall prepared = prepare(arguments, environment);
      prepared.run = [&, run = std::move(prepared.run)](const CancelToken& cancel) {
        seen.push_back(typesOf().back());
        return run(cancel);
      };
      return prepared;
    };
  }
  const auto report = runTurn(agent(), here(), "write a.txt: hello\nthen bash cat a.txt");
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(seen, (std::vector<std::string>{"tool_start", "tool_start"}));
  EXPECT_EQ(typesOf(), (std::vector<std::string>{"session_header", "message", "message", "custom", "tool_start",
                                                 "message", "message", "tool_start", "message", "message", "custom"}));
  EXPECT_EQ(json::findString(entries()[3].payload, "kind"), "file_copy");  // before the file is written
  EXPECT_EQ(report->totals.toolCount, 2U);
  const std::string took = entries().back().payload;
  EXPECT_EQ(json::findString(took, "kind"), "turn");
  EXPECT_EQ(json::findUnsigned(took, "toolCount"), 2U);
  EXPECT_EQ(json::findUnsigned(memberOr(took, "usage"), "outputTokens"), report->totals.usage.outputTokens);
  EXPECT_EQ(report->end.headId, entries().back().id);
  EXPECT_NE(report->text.find("hello"), std::string::npos);
  EXPECT_FALSE(*isInterrupted(*store_, here()));
}

TEST_F(LoopTest, StoppedTurnKeepsWhatCameMarkedAndIsNotResumed) {
  class Stopper final : public Listener {
   public:
    explicit Stopper(CancelToken& token) : token_(token) {}
    void onEvent(const AgentEvent& event) override {
      if (event.kind == EventKind::Text && ++count_ == 3) token_.request();
    }
    std::optional<bool> allow(const ToolCall&, const std::string&) override { return true; }
    RecoveryChoice recover(const UnfinishedToolCall&) override { return {}; }

   private:
    CancelToken& token_;
    int count_ = 0;
  } stopper(cancel_);
  const auto report = runTurn(agent(stopper), here(), "count to 100");
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->aborted);
  EXPECT_EQ(report->text, "1 2 3 ");
  const auto all = entries();
  EXPECT_EQ(all.back().type, "custom");
  EXPECT_EQ(json::findString(all.back().payload, "kind"), "turn_aborted");
  EXPECT_NE(all[all.size() - 2].meta.find("\"aborted\":true"), std::string::npos);
  EXPECT_FALSE(*isInterrupted(*store_, here()));
  cancel_.reset();
  ASSERT_TRUE(runTurn(agent(), here(), "hello").has_value());
}

TEST_F(LoopTest, StoppedToolsGetResultsThatSaySo) {
  class Stopper final : public Listener {
   public:
    explicit Stopper(CancelToken& token) : token_(token) {}
    void onEvent(const AgentEvent& event) override {
      if (event.kind == EventKind::AssistantMessage) token_.request();
      if (event.kind == EventKind::ToolResult) results.push_back(event.text);
    }
    std::optional<bool> allow(const ToolCall&, const std::string&) override { return true; }
    RecoveryChoice recover(const UnfinishedToolCall&) override { return {}; }
    std::vector<std::string> results;

   private:
    CancelToken& token_;
  } stopper(cancel_);
  const auto report = runTurn(agent(stopper), here(), "bash echo x >> n.txt\nls");
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->aborted);
  EXPECT_EQ(stopper.results.size(), 2U);
  EXPECT_EQ(get("n.txt"), "");
  EXPECT_FALSE(*isInterrupted(*store_, here()));
}

TEST_F(LoopTest, SecondChatIsRefusedOrBranchesAndNobodyLosesAWord) {
  const StartingPoint seen = here();
  ASSERT_TRUE(runTurn(agent(), seen, "first").has_value());
  const auto refused = runTurn(agent(), seen, "second");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::Conflict);
  EXPECT_FALSE(refused.error().hint.empty());
  options_.onConflict = OnConflict::Branch;
  const auto branched = runTurn(agent(), seen, "second");
  ASSERT_TRUE(branched.has_value()) << branched.error().message;
  const auto branch = store_->loadSessionEntries(sessionId_, {.branch = branched->end.headId});
  for (const Entry& entry : *branch) EXPECT_EQ(entry.payload.find("first"), std::string::npos);
  std::size_t found = 0;
  for (const Entry& entry : entries()) found += entry.payload.find("You said: first") != std::string::npos ? 1U : 0U;
  EXPECT_EQ(found, 1U);
}

TEST_F(LoopTest, LabelsOfOthersAreNoConflict) {
  ASSERT_TRUE(runTurn(agent(), here(), "first").has_value());
  const StartingPoint seen = here();
  append("label", R"({"entryId":")" + seen.headId + R"(","name":"here"})");
  EXPECT_TRUE(runTurn(agent(), seen, "second").has_value());
}

TEST_F(LoopTest, OthersWhoAppendInTheMiddleOfATurnStayBeside) {
  class Intruder final : public Listener {
   public:
    explicit Intruder(std::function<void()> act) : act_(std::move(act)) {}
    void onEvent(const AgentEvent& event) override {
      if (event.kind == EventKind::ToolStart) act_();
    }
    std::optional<bool> allow(const ToolCall&, const std::string&) override { return true; }
    RecoveryChoice recover(const UnfinishedToolCall&) override { return {}; }

   private:
    std::function<void()> act_;
  } intruder([&] { append("message", userPayload("intruder")); });
  const auto report = runTurn(agent(intruder), here(), "ls");
  ASSERT_TRUE(report.has_value()) << report.error().message;
  const auto branch = store_->loadSessionEntries(sessionId_, {.branch = report->end.headId});
  for (const Entry& entry : *branch) {
    EXPECT_EQ(entry.payload.find("intruder"), std::string::npos);
  }
}

// As on two machines, where no lock blocks the second chat.
TEST_F(LoopTest, TurnEndsAtItsNextAppendOnceAnotherChatHasBegunOne) {
  class Second final : public Listener {
   public:
    explicit Second(std::function<void()> act) : act_(std::move(act)) {}
    void onEvent(const AgentEvent& event) override {
      if (event.kind == EventKind::ToolStart) std::exchange(act_, [] {})();
    }
    std::optional<bool> allow(const ToolCall&, const std::string&) override { return true; }
    RecoveryChoice recover(const UnfinishedToolCall&) override { return {}; }

   private:
    std::function<void()> act_;
  };
  const auto turnBesideAnother = [&](OnConflict second) {
    Second chat([&, second] {
      options_.onConflict = second;
      const auto report = runTurn(agent(), here(), "second");
      ASSERT_TRUE(report.has_value()) << report.error().message;
    });
    options_.onConflict = OnConflict::Refuse;
    return runTurn(agent(chat), here(), "ls");
  };
  const auto ended = turnBesideAnother(OnConflict::Refuse);
  ASSERT_FALSE(ended.has_value());
  EXPECT_EQ(ended.error().code, ErrorCode::Conflict);
  EXPECT_GT(ended.error().latestTurn, 0U);
  EXPECT_EQ(json::findString(entries().back().payload, "kind"), "turn");  // ends the second turn
  EXPECT_TRUE(turnBesideAnother(OnConflict::Branch).has_value());         // it chose to continue on its own branch
}

TEST_F(LoopTest, TurnLockKeepsOtherProcessesOut) {
  const auto first = TurnLock::take(*store_, folder_ / "store", sessionId_);
  ASSERT_TRUE(first.has_value());
  EXPECT_FALSE(first->turn());  // the operating system's lock is sufficient
  const auto second = TurnLock::take(*store_, folder_ / "store", sessionId_);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::Busy);
  EXPECT_TRUE(TurnLock::take(*store_, folder_ / "store", "another").has_value());
}

TEST_F(LoopTest, WithoutAFolderTheTurnIsALeaseOfTheStore) {
  {
    const auto first = TurnLock::take(*store_, "", sessionId_);
    ASSERT_TRUE(first.has_value());
    const auto second = TurnLock::take(*store_, "", sessionId_);
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().code, ErrorCode::Busy);
    options_.turn = first->turn();
  }
  const auto third = TurnLock::take(*store_, "", sessionId_);  // the first lock was released
  ASSERT_TRUE(third.has_value());
  EXPECT_GT(third->turn(), options_.turn);
}

TEST_F(LoopTest, LongConversationIsCompactedAndNothingIsRemoved) {
  options_.windowTokens = 6'000;
  options_.compactShare = 0.5;
  StartingPoint at = here();
  const std::string padding(600, 'x');
  for (int i = 0; i < 20; ++i) {
    const auto report = runTurn(agent(), at, "message " + std::to_string(i) + " " + padding);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    at = report->end;
    EXPECT_LT(report->contextTokens, 6'000U);
  }
  std::size_t summaries = 0;
  std::size_t said = 0;
  std::string firstKept;
  for (const Entry& entry : entries()) {
    summaries += entry.type == "compaction_summary" ? 1U : 0U;
    if (entry.type == "compaction_summary")
      firstKept = json::findString(entry.payload, "firstKeptEntryId").value_or("");
    said += entry.payload.find("\"text\":\"message ") != std::string::npos ? 1U : 0U;
  }
  EXPECT_GT(summaries, 0U);
  EXPECT_EQ(said, 20U);
  EXPECT_TRUE(store_->loadEntry(sessionId_, firstKept).has_value());
  const auto context = buildContext(*store_, sessionId_, {.dialect = Dialect::Bough});
  ASSERT_TRUE(context.has_value());
  EXPECT_FALSE(context->summaryEntryId.empty());
  EXPECT_NE(context->messages.find("message 19"), std::string::npos);
  EXPECT_EQ(context->messages.find("message 1 "), std::string::npos);
}

TEST_F(LoopTest, ModelThatNeverStopsIsStopped) {
  options_.maxSteps = 3;
  std::string prompt = "ls";
  for (int i = 0; i < 10; ++i) prompt += "\nthen ls";
  const auto report = runTurn(agent(), here(), prompt);
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->aborted);
  EXPECT_EQ(listener_.of(EventKind::Aborted).at(0).text, "stopped after 3 answers; say `go on` for more");
}

TEST_F(LoopTest, ProviderThatFailsLeavesAValidSessionThatGoesOn) {
  Endpoint endpoint{
      .provider = "x", .model = "m", .dialect = Dialect::Anthropic, .baseUrl = "http://127.0.0.1:1", .key = "k"};
  provider_ = makeHttpProvider(endpoint, {}, {.attempts = 1});
  ASSERT_FALSE(runTurn(agent(), here(), "hello").has_value());
  EXPECT_TRUE(store_->verifySession(sessionId_)->problems.empty());
  provider_ = makeOfflineProvider();
  const auto report = resumeTurn(agent(), here());
  ASSERT_TRUE(report.has_value());
  EXPECT_NE(report->text.find("hello"), std::string::npos);
}

TEST_F(LoopTest, SystemPromptNamesTheFolderInWhichTheToolsWork) {
  const auto prompt = [&] { return buildContext(*store_, sessionId_, {.dialect = Dialect::Bough})->system; };
  const auto chatIn = [&](const std::string& folder) {
    auto chat = std::move(*Chat::make(*store_, listener_, cancel_, {.model = "offline/echo", .folder = folder}));
    EXPECT_TRUE(chat->open(sessionId_).has_value());
    return chat;
  };
  ASSERT_TRUE(chatIn(work())->say("hello").has_value());
  EXPECT_NE(prompt().find(std::string(std::filesystem::canonical(work()))), std::string::npos) << prompt();
  ASSERT_TRUE(chatIn(work())->say("again").has_value());
  EXPECT_EQ(std::ranges::count(typesOf(), "system_prompt_override"), 0);
  std::filesystem::create_directories(folder_ / "other");
  ASSERT_TRUE(chatIn(folder_ / "other")->say("here").has_value());
  EXPECT_NE(prompt().find(std::string(std::filesystem::canonical(folder_ / "other"))), std::string::npos) << prompt();
  EXPECT_EQ(prompt().find(std::string(std::filesystem::canonical(work()))), std::string::npos) << prompt();
  // Calls that were meant for one folder do not run in another.
  appendCalls(R"({"type":"tool_call","id":"c1","name":"bash","input":{"command":"echo x >> n.txt"}})");
  ASSERT_TRUE(chatIn(work())->resume().has_value());
  EXPECT_EQ(get("n.txt"), "");
  EXPECT_NE(listener_.of(EventKind::Notice).back().text.find("other"), std::string::npos);
}

TEST_F(LoopTest, ASessionThatAnotherProgramBeganGetsOurToolsAndPrompt) {
  append("runtime_init", R"({"model":"x","systemPrompt":"You are somebody else.","tools":[]})");
  auto chat = Chat::make(*store_, listener_, cancel_, {.model = "offline/echo", .folder = work()});
  ASSERT_TRUE((*chat)->open(sessionId_).has_value());
  ASSERT_TRUE((*chat)->say("hello").has_value());
  const auto context = buildContext(*store_, sessionId_, {.dialect = Dialect::Bough});
  EXPECT_NE(context->system.find("The folder: "), std::string::npos) << context->system;
  EXPECT_NE(context->tools.find("\"bash\""), std::string::npos);
}

TEST_F(LoopTest, ARefusedPromptIsClosedWithItsReasonAndDoesNotKeepBackTheNext) {
  // The server's response to a request with the bad word, and to every other request.
  struct Case {
    std::function<void(Reply&)> refuse;
    std::string reason;
    bool leftOut;  // whether the next request leaves out the prompt
  };
  const Case cases[] = {
      {[](Reply& reply) { reply.answer(400, "application/json", R"({"error":{"message":"bad word"}})"); }, "bad word",
       true},
      {[](Reply& reply) { reply.answer(413, "application/json", R"({"error":{"message":"too large"}})"); }, "too large",
       true},
      {[](Reply& reply) { reply.answer(401, "application/json", R"({"error":{"message":"bad key"}})"); }, "bad key",
       false},
      {[](Reply& reply) { reply.stream("data: {\"promptFeedback\":{\"blockReason\":\"PROHIBITED_CONTENT\"}}\n\n"); },
       "PROHIBITED_CONTENT", true},
  };
  for (const Case& each : cases) {
    sessionId_ = store_->createSession()->sessionId;
    bool refusing = true;
    LoopbackServer server([&](const HttpIn&, Reply& reply) {
      if (refusing) return each.refuse(reply);
      reply.stream(streamOf(Dialect::Gemini, {"", "Fine.", {}}, 1));
    });
    provider_ = makeHttpProvider(loopbackEndpoint(server, Dialect::Gemini), {}, {.attempts = 1});
    const auto refused = runTurn(agent(), here(), "the bad prompt");
    ASSERT_FALSE(refused.has_value());
    EXPECT_NE(refused.error().message.find(each.reason), std::string::npos) << refused.error().message;
    const std::string closing = entries().back().payload;
    EXPECT_EQ(json::findString(closing, "kind"), "turn_aborted") << closing;
    EXPECT_NE(closing.find(each.reason), std::string::npos) << closing;
    EXPECT_FALSE(*isInterrupted(*store_, here()));
    refusing = false;
    const auto next = runTurn(agent(), here(), "the next prompt");
    ASSERT_TRUE(next.has_value()) << next.error().message;
    EXPECT_EQ(next->text, "Fine.");
    const std::string body = server.requests().back().body;
    EXPECT_NE(body.find("the next prompt"), std::string::npos);
    EXPECT_EQ(body.find("the bad prompt") == std::string::npos, each.leftOut) << each.reason;
  }
}

TEST_F(LoopTest, APromptLargerThanTheWindowIsClosedToo) {
  options_.windowTokens = 1'000;
  const auto refused = runTurn(agent(), here(), std::string(40'000, 'x'));
  ASSERT_FALSE(refused.has_value());
  EXPECT_FALSE(*isInterrupted(*store_, here()));
  const auto next = runTurn(agent(), here(), "hello");
  ASSERT_TRUE(next.has_value()) << next.error().message;
}

TEST_F(LoopTest, ATurnThatCannotBeFinishedIsClosed) {
  provider_ = makeHttpProvider(
      {.provider = "x", .model = "m", .dialect = Dialect::Anthropic, .baseUrl = "http://127.0.0.1:1", .key = "k"}, {},
      {.attempts = 1});
  ASSERT_FALSE(runTurn(agent(), here(), "hello").has_value());
  ASSERT_TRUE(*isInterrupted(*store_, here()));  // the network may work the next time
  ASSERT_FALSE(resumeTurn(agent(), here()).has_value());
  EXPECT_FALSE(*isInterrupted(*store_, here()));
}

TEST_F(LoopTest, ChatRecordsItsSetupAndSwitchesModelsInTheMiddle) {
  auto chat = Chat::make(*store_, listener_, cancel_, {.model = "offline/echo", .folder = work()});
  ASSERT_TRUE(chat.has_value());
  ASSERT_TRUE((*chat)->open(sessionId_).has_value());
  ASSERT_TRUE((*chat)->say("hello").has_value());
  ::setenv("ANTHROPIC_API_KEY", "k", 1);
  const auto line = (*chat)->setModel("anthropic/claude-sonnet-4-5");
  ASSERT_TRUE(line.has_value()) << line.error().message;
  EXPECT_NE(line->find("anthropic/claude-sonnet-4-5: "), std::string::npos);
  ASSERT_TRUE((*chat)->setThinkingLevel("high").has_value());
  EXPECT_FALSE((*chat)->setThinkingLevel("huge").has_value());
  auto again = Chat::make(*store_, listener_, cancel_, {.folder = work()});
  ASSERT_TRUE((*again)->open(sessionId_).has_value());
  EXPECT_EQ((*again)->model(), "anthropic/claude-sonnet-4-5");
  EXPECT_EQ((*again)->thinkingLevel(), "high");
  ::unsetenv("ANTHROPIC_API_KEY");
  // Without the key, no other provider gets the conversation without a question, and the chat stays at its session.
  const std::size_t before = entries().size();
  const auto refused = (*again)->open(sessionId_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("anthropic/claude-sonnet-4-5"), std::string::npos) << refused.error().message;
  EXPECT_NE(refused.error().hint.find("ANTHROPIC_API_KEY"), std::string::npos) << refused.error().hint;
  EXPECT_NE(refused.error().hint.find("--model"), std::string::npos) << refused.error().hint;
  EXPECT_EQ(entries().size(), before);
  EXPECT_EQ((*again)->model(), "anthropic/claude-sonnet-4-5");
  auto other = Chat::make(*store_, listener_, cancel_, {.model = "offline/echo", .folder = work()});
  ASSERT_TRUE((*other)->open(sessionId_).has_value());
  const auto types = typesOf();
  EXPECT_EQ(types[1], "runtime_init");
  EXPECT_EQ(std::ranges::count(types, "model_change"), 2);
  EXPECT_EQ(std::ranges::count(types, "thinking_level_change"), 1);
  const auto back = (*other)->findBack(1);
  ASSERT_TRUE(back.has_value());
  ASSERT_TRUE((*other)->moveHead(*back).has_value());
  EXPECT_FALSE((*other)->findBack(1).has_value());
}

TEST_F(LoopTest, ABranchBesideAnothersTurnKeepsWhatWasSaidBefore) {
  ChatOptions options{.model = "offline/echo", .folder = work()};
  options.storeFolder = folder_ / "store";
  options.onConflict = OnConflict::Branch;
  auto chat = Chat::make(*store_, listener_, cancel_, options);
  ASSERT_TRUE(chat.has_value() && (*chat)->open(sessionId_).has_value());
  ASSERT_TRUE((*chat)->say("first").has_value());
  const std::string place = (*chat)->place().headId;
  const auto others = TurnLock::take(*store_, options.storeFolder, sessionId_);
  ASSERT_TRUE(others.has_value());  // and it has appended nothing that this chat knows
  ASSERT_TRUE((*chat)->say("second").has_value());
  const auto branch = store_->loadSessionEntries(sessionId_, {.branch = (*chat)->place().headId});
  ASSERT_TRUE(branch.has_value());
  EXPECT_TRUE(std::ranges::find(*branch, place, &Entry::id) != branch->end());
}

}  // namespace
}  // namespace bough::agent
