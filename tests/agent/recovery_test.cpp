// What is resumed after an interruption, and what never is.
#include "agent/loop_fixture.h"

namespace bough::agent {
namespace {

TEST_F(LoopTest, CallsThatWereNotStartedRunOnceAndTheTurnGoesOn) {
  appendCalls(R"({"type":"tool_call","id":"c1","name":"bash","input":{"command":"echo x >> n.txt"}},)"
              R"({"type":"tool_call","id":"c2","name":"ls","input":{}})");
  ASSERT_TRUE(*isInterrupted(*store_, here()));
  const auto report = resumeTurn(agent(), here());
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(get("n.txt"), "x\n");
  EXPECT_TRUE(listener_.recovered.empty());
  EXPECT_FALSE(*isInterrupted(*store_, here()));
  const auto again = resumeTurn(agent(), here());
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(get("n.txt"), "x\n");
}

TEST_F(LoopTest, StartedCallsRunAgainOnlyWhenThatIsSafe) {
  appendCalls(R"({"type":"tool_call","id":"c1","name":"bash","input":{"command":"echo x >> n.txt"}},)"
              R"({"type":"tool_call","id":"c2","name":"write","input":{"path":"w.txt","content":"w"}})");
  append("tool_start", R"({"toolCallId":"c1","name":"bash"})");
  append("tool_start", R"({"toolCallId":"c2","name":"write"})");
  const auto report = resumeTurn(agent(), here());
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(get("n.txt"), "");
  EXPECT_EQ(get("w.txt"), "w");
  ASSERT_EQ(listener_.recovered.size(), 1U);
  EXPECT_EQ(listener_.recovered[0].toolCallId, "c1");
  EXPECT_NE(report->text.find("The outcome is unknown"), std::string::npos) << report->text;
}

// Some servers number the calls of each answer, or use the same id for all of them.
TEST_F(LoopTest, CallsThatShareAnIdGetTheirOwnResults) {
  const std::string slow = R"({"type":"tool_call","id":"c","name":"bash","input":{"command":"sleep 0.3; echo SLOW"}})";
  const std::string fast = R"({"type":"tool_call","id":"c","name":"read","input":{"path":"fast.txt"}})";
  std::ofstream(work() + "/fast.txt") << "FAST";
  const auto resultsOf = [&](const std::string& calls, bool started) {
    sessionId_ = store_->createSession()->sessionId;
    appendCalls(calls);
    if (started) append("tool_start", R"({"toolCallId":"c","name":"bash"})");
    EXPECT_TRUE(resumeTurn(agent(), here()).has_value());
    std::vector<std::string> results;
    for (const Entry& entry : entries()) {
      if (entry.payload.contains("tool_result")) results.push_back(entry.payload);
    }
    EXPECT_EQ(results.size(), 2U);
    results.resize(2);
    return results;
  };
  const auto ran = resultsOf(slow + "," + fast, false);
  EXPECT_TRUE(ran[0].contains("SLOW") && ran[1].contains("FAST")) << ran[0] << ran[1];
  const auto recovered = resultsOf(fast + "," + slow, true);
  EXPECT_TRUE(recovered[0].contains("FAST") && recovered[1].contains("outcome is unknown")) << recovered[0];
  listener_.allowBash = false;
  const auto refused = resultsOf(fast + "," + slow, false);
  EXPECT_TRUE(refused[0].contains("FAST") && refused[1].contains("did not allow it")) << refused[0] << refused[1];
}

TEST_F(LoopTest, ACallWhoseIdAnEarlierOneHadIsNotTakenForStarted) {
  const std::string call = R"({"type":"tool_call","id":"c","name":"bash","input":{"command":"echo x >> n.txt"}})";
  appendCalls(call);
  append("tool_start", R"({"toolCallId":"c","name":"bash"})");
  append("message", resultPayload("c", "bash", "[no output]", false));
  appendCalls(call);
  ASSERT_TRUE(resumeTurn(agent(), here()).has_value());
  EXPECT_TRUE(listener_.recovered.empty());
  EXPECT_EQ(get("n.txt"), "x\n");
}

TEST_F(LoopTest, UserDecidesAboutAStartedCall) {
  using Action = RecoveryChoice::Action;
  struct Case {
    RecoveryChoice choice;
    std::string says;
    std::string file;
  };
  std::size_t number = 0;
  for (const Case& each : {Case{{.action = Action::RunAgain}, "[no output]", "x\n"},
                           Case{{.action = Action::Skip}, "the user skipped it", ""},
                           Case{{.action = Action::GiveResult, .text = "it worked"}, "it worked", ""}}) {
    sessionId_ = store_->createSession()->sessionId;
    const std::string name = "n" + std::to_string(++number);
    appendCalls(R"({"type":"tool_call","id":"c1","name":"bash","input":{"command":"echo x >> )" + name + R"("}})");
    append("tool_start", R"({"toolCallId":"c1","name":"bash"})");
    listener_.choice = each.choice;
    const auto report = resumeTurn(agent(), here());
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_NE(report->text.find(each.says), std::string::npos) << report->text;
    EXPECT_EQ(get(name), each.file);
  }
}

TEST_F(LoopTest, MessageWithoutAnAnswerIsAnswered) {
  append("message", userPayload("are you there?"), kOwn);
  ASSERT_TRUE(*isInterrupted(*store_, here()));
  const auto report = resumeTurn(agent(), here());
  ASSERT_TRUE(report.has_value());
  EXPECT_NE(report->text.find("are you there?"), std::string::npos);
}

TEST_F(LoopTest, BareEntriesAreMessagesToo) {
  Entry said;
  said.type = "user";
  said.payload = R"({"content":"from elsewhere"})";
  ASSERT_TRUE(store_->appendSessionEntries(sessionId_, {said}).has_value());
  // Another program's message is answered only at the user's request.
  EXPECT_FALSE(isInterrupted(*store_, here()).value());
  ASSERT_TRUE(resumeTurn(agent(), here()).has_value());
  EXPECT_EQ(entries().back().type, "user");
  const auto report = resumeTurn(agent(), here(), ResumeWhat::AlsoMessages);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_NE(report->text.find("You said: from elsewhere"), std::string::npos) << report->text;
}

TEST_F(LoopTest, CallsOfAnotherProgramNeverRun) {
  append("message", userPayload("do it"), kOwn);
  append("message", messagePayload(Dialect::Bough, R"({"role":"assistant","content":[{"type":"tool_call","id":"c1",)"
                                                   R"("name":"bash","input":{"command":"echo x >> n.txt"}}]})"));
  EXPECT_FALSE(*isInterrupted(*store_, here()));
  ASSERT_TRUE(resumeTurn(agent(), here(), ResumeWhat::AlsoMessages).has_value());
  EXPECT_EQ(get("n.txt"), "");
}

TEST_F(LoopTest, OnlyTheCallsOfTheInterruptedAnswerRun) {
  // An old call without a result, after which the conversation continued.
  appendCalls(R"({"type":"tool_call","id":"old","name":"bash","input":{"command":"echo old >> n.txt"}})");
  appendCalls(R"({"type":"tool_call","id":"new","name":"bash","input":{"command":"echo new >> n.txt"}})");
  ASSERT_TRUE(resumeTurn(agent(), here()).has_value());
  EXPECT_EQ(get("n.txt"), "new\n");
  // It does not run either when the interrupted turn has no calls.
  append("message", userPayload("hello"), kOwn);
  ASSERT_TRUE(resumeTurn(agent(), here()).has_value());
  EXPECT_EQ(get("n.txt"), "new\n");
}

TEST_F(LoopTest, AnAnswerWithMoreCallsThanAreReadAtOnceIsFinished) {
  std::string calls;
  for (int i = 0; i < 300; ++i) {
    calls += fmt::format(R"({}{{"type":"tool_call","id":"c{}","name":"ls","input":{{}}}})", i == 0 ? "" : ",", i);
  }
  appendCalls(calls);
  for (int i = 0; i < 299; ++i) {
    append("tool_start", fmt::format(R"({{"toolCallId":"c{}","name":"ls"}})", i));
    append("message", resultPayload(fmt::format("c{}", i), "ls", "x", false));
  }
  ASSERT_TRUE(*isInterrupted(*store_, here()));
  ASSERT_TRUE(resumeTurn(agent(), here()).has_value());
  EXPECT_EQ(listener_.of(EventKind::ToolStart).size(), 1U);
}

TEST_F(LoopTest, NothingOfARedactedTurnRunsAgain) {
  std::ofstream(work() + "/secret.txt") << "secret words";
  for (const std::size_t hidden : {0U, 1U, 3U, 4U}) {
    sessionId_ = store_->createSession()->sessionId;
    std::vector<std::string> ids;
    ids.push_back(append("message", userPayload("do it"), kOwn));
    ids.push_back(
        append("message",
               messagePayload(Dialect::Bough, R"({"role":"assistant","content":[{"type":"tool_call","id":"c1",)"
                                              R"("name":"read","input":{"path":"secret.txt"}}]})"),
               kOwn));
    ids.push_back(append("tool_start", R"({"toolCallId":"c1","name":"read"})"));
    ids.push_back(append("message", resultPayload("c1", "read", "secret words", false)));
    if (hidden == 4) ids.push_back(append("message", userPayload("and now?"), kOwn));
    ASSERT_TRUE(*isInterrupted(*store_, here()));
    ASSERT_TRUE(store_->redactEntry(sessionId_, ids[hidden], "me", "secret").has_value());
    EXPECT_FALSE(*isInterrupted(*store_, here())) << hidden;
    const std::size_t before = entries().size();
    ASSERT_TRUE(resumeTurn(agent(), here(), ResumeWhat::AlsoMessages).has_value());
    EXPECT_EQ(entries().size(), before) << hidden;
  }
}

TEST_F(LoopTest, ABranchThatSomebodyChoseIsNotAnInterruptedTurn) {
  const auto report = runTurn(agent(), here(), "bash echo x >> n.txt");
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(get("n.txt"), "x\n");
  const auto all = entries();
  for (const Entry& entry : all) {
    if (entry.type == "session_header") continue;
    // A switch to any entry of the turn, including the answer with its calls.
    ASSERT_TRUE(store_->moveHead(sessionId_, entry.id).has_value());
    EXPECT_FALSE(*isInterrupted(*store_, here())) << entry.payload;
    ASSERT_TRUE(resumeTurn(agent(), here()).has_value());
    // A fork from there.
    const auto fork = store_->branchFromEntry(sessionId_, entry.id);
    ASSERT_TRUE(fork.has_value());
    EXPECT_FALSE(*isInterrupted(*store_, *startingPoint(*store_, fork->sessionId))) << entry.payload;
    // Nor when another model or thinking level is chosen there before the next prompt.
    for (const std::string& session : {sessionId_, fork->sessionId}) {
      Entry change;
      change.type = "model_change";
      change.payload = R"({"provider":"offline","model":"echo"})";
      ASSERT_TRUE(store_->appendSessionEntries(session, {change}).has_value());
      change.type = "thinking_level_change";
      change.payload = R"({"thinkingLevel":"low"})";
      ASSERT_TRUE(store_->appendSessionEntries(session, {change}).has_value());
      const StartingPoint start = *startingPoint(*store_, session);
      EXPECT_FALSE(*isInterrupted(*store_, start)) << entry.payload;
      ASSERT_TRUE(resumeTurn(agent(), start).has_value());
    }
  }
  EXPECT_EQ(get("n.txt"), "x\n");
  // A prompt from there that is interrupted is finished as usual.
  ASSERT_TRUE(store_->moveHead(sessionId_, all[2].id).has_value());
  append("message", userPayload("hello"), kOwn);
  EXPECT_TRUE(*isInterrupted(*store_, here()));
}

TEST_F(LoopTest, CallThatAnotherProcessHasStartedIsNotRunHere) {
  appendCalls(R"({"type":"tool_call","id":"c1","name":"bash","input":{"command":"echo x >> n.txt"}})");
  const StartingPoint seen = here();
  append("tool_start", R"({"toolCallId":"c1","name":"bash"})");
  const auto report = resumeTurn(agent(), seen);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::Conflict);
  EXPECT_EQ(get("n.txt"), "");
}

}  // namespace
}  // namespace bough::agent
