#include "context/session.h"

namespace bough {
namespace {

using BuildContext = ContextTest;

TEST_F(BuildContext, AnEmptySessionHasNoMessages) {
  const Context context = build();
  EXPECT_EQ(context.messages, "[]");
  EXPECT_EQ(context.headId, "");
}

TEST_F(BuildContext, MessagesOfTheTargetsDialectAreTheStoredBytes) {
  say(Dialect::Anthropic, R"({ "content":"a\u00e9", "role":"user"})", "u1");
  say(Dialect::Anthropic, R"({"role":"assistant","content":[{"type":"text","text":"b","x":1e3}]})", "a1");
  const Context context = build();
  EXPECT_EQ(context.messages, R"([{ "content":"a\u00e9", "role":"user"},)"
                              R"({"role":"assistant","content":[{"type":"text","text":"b","x":1e3}]}])");
  ASSERT_EQ(context.parts.size(), 2U);
  EXPECT_TRUE(context.parts[0].verbatim);
  EXPECT_EQ(context.parts[1].entryIds, std::vector<std::string>{"a1"});
  EXPECT_TRUE(context.report.findings.empty());
}

TEST_F(BuildContext, AWholeResponseIsSentBackWithoutWhatOnlyResponsesHave) {
  user("hi");
  say(Dialect::Anthropic, R"({"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text",)"
                          R"("text":"yo"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":1}})");
  user("again");
  EXPECT_EQ(build().messages, R"([{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"text",)"
                              R"("text":"yo"}]},{"role":"user","content":"again"}])");
}

TEST_F(BuildContext, ItemsOfAResponsesAnswerComeOneByOne) {
  user("hi");
  say(Dialect::OpenaiResponses,
      R"({"id":"resp_1","output":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"},)"
      R"({"type":"function_call","call_id":"c1","name":"f","arguments":"{}","id":"fc_1"}],"usage":{"input_tokens":1}})");
  say(Dialect::OpenaiResponses, R"({"type":"function_call_output","call_id":"c1","output":"ok"})");
  EXPECT_EQ(build(Dialect::OpenaiResponses).messages,
            R"([{"role":"user","content":"hi"},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"},)"
            R"({"type":"function_call","call_id":"c1","name":"f","arguments":"{}","id":"fc_1"},)"
            R"({"type":"function_call_output","call_id":"c1","output":"ok"}])");
}

TEST_F(BuildContext, ResultsAreRegroupedInCallOrderBeforeOtherContent) {
  user("go");
  say(Dialect::Anthropic, R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},)"
                          R"({"type":"tool_use","id":"b","name":"f","input":{}}]})");
  say(Dialect::Anthropic, R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"B"}]})");
  user("and then", "u2");
  say(Dialect::Anthropic, R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"A"}]})",
      "ra");
  const Context context = build();
  EXPECT_EQ(context.messages,
            R"([{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f",)"
            R"("input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]},{"role":"user","content":[)"
            R"({"type":"tool_result","tool_use_id":"a","content":"A"},{"type":"tool_result","tool_use_id":"b",)"
            R"("content":"B"},{"type":"text","text":"and then"}]}])");
  EXPECT_TRUE(reports(context, Change::Altered, "ra", "tool_result"));
}

TEST_F(BuildContext, ACallWithoutAResultGetsAMarkedErrorAndAResultWithoutACallIsLeftOut) {
  user("go");
  say(Dialect::Anthropic, R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]})",
      "c");
  say(Dialect::Anthropic,
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"zz","content":"?"},{"type":"text","text":"hm"}]})",
      "r");
  const Context context = build();
  EXPECT_NE(
      context.messages.find(R"("tool_use_id":"a","content":"No result: the call was interrupted.","is_error":true)"),
      std::string::npos);
  EXPECT_EQ(context.messages.find("zz"), std::string::npos);
  EXPECT_TRUE(reports(context, Change::Synthetic, "c", "tool_result"));
  EXPECT_TRUE(reports(context, Change::LeftOut, "r", "tool_result"));
}

TEST_F(BuildContext, PendingCallsMayStayOpen) {
  user("go");
  say(Dialect::Anthropic, R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]})");
  EXPECT_EQ(build({.keepPendingCalls = true}).parts.size(), 2U);
  EXPECT_EQ(build().parts.size(), 3U);
}

TEST_F(BuildContext, ASecondResultAndACallThatWasStoredTwiceAreRemoved) {
  const std::string call =
      R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"x":1}}]})";
  const std::string result = R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"A"}]})";
  user("go");
  say(Dialect::Anthropic, call, "c1");
  say(Dialect::Anthropic, call, "c2");
  say(Dialect::Anthropic, result, "r1");
  say(Dialect::Anthropic, result, "r2");
  const Context context = build();
  EXPECT_EQ(context.messages, R"([{"role":"user","content":"go"},)" + call + "," + result + "]");
  EXPECT_TRUE(reports(context, Change::LeftOut, "c1", "tool_call"));
  EXPECT_TRUE(reports(context, Change::LeftOut, "r2", "tool_result"));
}

TEST_F(BuildContext, ConsecutiveRolesAreMergedWhereTheApiWantsThemToAlternate) {
  user("one", "u1");
  user("two", "u2");
  assistant("a");
  assistant("b");
  EXPECT_EQ(build().messages,
            R"([{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]},)"
            R"({"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}])");
  EXPECT_TRUE(reports(build(), Change::Altered, "u2", "message"));
  EXPECT_EQ(build(Dialect::OpenaiChat).parts.size(), 3U);
}

TEST_F(BuildContext, ASessionThatSwitchedProvidersIsOneContext) {
  say(Dialect::Anthropic, R"({"role":"user","content":"hi"})");
  say(Dialect::Anthropic, R"({"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},)"
                          R"({"type":"text","text":"yo"}]})");
  say(Dialect::Gemini, R"({"role":"user","parts":[{"text":"next"}]})");
  say(Dialect::Gemini, R"({"role":"model","parts":[{"text":"ok","thoughtSignature":"g"}]})");
  EXPECT_EQ(
      build(Dialect::Gemini).messages,
      R"([{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"yo"}]},)"
      R"({"role":"user","parts":[{"text":"next"}]},{"role":"model","parts":[{"text":"ok","thoughtSignature":"g"}]}])");
  EXPECT_NE(build().messages.find(R"("signature":"s")"), std::string::npos);
  EXPECT_EQ(build().messages.find("thoughtSignature"), std::string::npos);
}

TEST_F(BuildContext, ASummaryStandsForWhatLiesBeforeTheFirstKeptEntry) {
  user("one");
  assistant("1");
  user("two", "u2");
  assistant("2");
  add(entry_type::kCompactionSummary, R"({"summary":"they counted","firstKeptEntryId":"u2"})", "sum");
  user("three");
  const Context context = build();
  EXPECT_EQ(
      context.messages,
      R"([{"role":"user","content":[{"type":"text","text":"Summary of the conversation so far:\n\nthey counted"},)"
      R"({"type":"text","text":"two"}]},{"role":"assistant","content":"2"},{"role":"user","content":"three"}])");
  EXPECT_EQ(context.summaryEntryId, "sum");
  EXPECT_EQ(context.firstEntryId, "u2");
  EXPECT_TRUE(reports(context, Change::LeftOut, "sum", "messages"));
}

TEST_F(BuildContext, ASummaryWhoseFirstKeptEntryIsElsewhereKeepsNothingBeforeIt) {
  user("one");
  add(entry_type::kCompactionSummary, R"({"summary":"s","firstKeptEntryId":"nowhere"})", "sum");
  user("two");
  const Context context = build();
  EXPECT_EQ(context.messages.find("one"), std::string::npos);
  EXPECT_TRUE(reports(context, Change::Invalid, "sum", "firstKeptEntryId"));
}

TEST_F(BuildContext, BranchSummariesStandAtTheirPlace) {
  user("one");
  assistant("1");
  add(entry_type::kBranchSummary, R"({"summary":"went wrong","sourceSessionId":"s","sourceEntryId":"x"})");
  EXPECT_NE(build().messages.find("Summary of another branch of this conversation:\\n\\nwent wrong"),
            std::string::npos);
}

TEST_F(BuildContext, RedactedEntriesAreLeftOutAndNamed) {
  user("one");
  assistant("secret", "a1");
  user("two");
  must(store->redactEntry("s", "a1", "me", "secret"));
  const Context context = build();
  EXPECT_EQ(context.messages.find("secret"), std::string::npos);
  EXPECT_TRUE(reports(context, Change::LeftOut, "a1", "message"));
}

TEST_F(BuildContext, WhatEachToolLosesIsNamedWithItsEntry) {
  add(entry_type::kRuntimeInit,
      R"({"tools":[{"name":"f","input_schema":{"type":"object"},"defer_loading":true},)"
      R"({"name":"g","input_schema":{"type":"object"},"defer_loading":true}]})",
      "init");
  user("hi");
  const Context context = build(Dialect::OpenaiChat);
  EXPECT_EQ(std::ranges::count_if(context.report.findings,
                                  [](const Finding& finding) {
                                    return finding.entryId == "init" && finding.field == "tool.defer_loading";
                                  }),
            2);
}

TEST_F(BuildContext, TheLatestModelLevelAndPromptAreInForce) {
  add(entry_type::kRuntimeInit, R"({"systemPrompt":"first","model":"m1","provider":"p1","thinkingLevel":"low",)"
                                R"("tools":[{"name":"f","description":"d","input_schema":{"type":"object"}}]})");
  add(entry_type::kModelChange, R"({"model":"m2"})");
  add(entry_type::kThinkingLevelChange, R"({"level":"high"})");
  add(entry_type::kSystemPromptOverride, R"({"systemPrompt":"second"})");
  user("hi");
  const Context context = build();
  EXPECT_EQ(context.model, "m2");
  EXPECT_EQ(context.thinkingLevel, "high");
  EXPECT_EQ(context.system, R"("second")");
  EXPECT_EQ(context.tools, R"([{"name":"f","description":"d","input_schema":{"type":"object"}}])");
  const Context chat = build(Dialect::OpenaiChat);
  EXPECT_EQ(chat.messages, R"([{"role":"system","content":"second"},{"role":"user","content":"hi"}])");
  EXPECT_EQ(chat.requestJson(), R"({"model":"m2","tools":[{"type":"function","function":{"name":"f","description":"d",)"
                                R"("parameters":{"type":"object"}}}],"messages":)" +
                                    chat.messages + "}");
  const Context other = build({.systemPrompt = "third", .tools = "[]"});
  EXPECT_EQ(other.system, R"("third")");
  EXPECT_EQ(other.tools, "");
}

TEST_F(BuildContext, ToolsThatCannotBeReadAreRefused) {
  user("hi");
  for (const char* tools : {"", "x", "{}", "[1]", R"(["f"])", R"([{"name":"f"})", R"({"name":"f"})"}) {
    ContextOptions options;
    options.tools = tools;
    const auto built = buildContext(*store, "s", options);
    ASSERT_FALSE(built) << tools;
    EXPECT_EQ(built.error().code, ErrorCode::InvalidArgument);
  }
}

TEST_F(BuildContext, TheContextOfAnEarlierEntryIsThatOfItsBranch) {
  user("one", "u1");
  assistant("1");
  EXPECT_EQ(build({.at = "u1"}).messages, R"([{"role":"user","content":"one"}])");
  EXPECT_EQ(refused(buildContext(*store, "s", {.at = "nope"})).code, ErrorCode::NotFound);
  EXPECT_EQ(refused(buildContext(*store, "t")).code, ErrorCode::NotFound);
}

TEST_F(BuildContext, ABadEntryIsNamedTheRestIsConvertedAndStrictStops) {
  user("one");
  say(Dialect::Anthropic, R"({"role":"nobody","content":"x"})", "bad1");
  add(entry_type::kMessage, R"({"dialect":"klingon","message":{"role":"user","content":"x"}})", "bad2");
  user("two");
  const Context context = build();
  EXPECT_EQ(context.messages,
            R"([{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}])");
  EXPECT_TRUE(reports(context, Change::Invalid, "bad1", "message"));
  EXPECT_TRUE(reports(context, Change::Invalid, "bad2", "message"));
  EXPECT_FALSE(context.report.compatible);
  const Error error = refused(buildContext(*store, "s", {.strict = true}));
  EXPECT_EQ(error.message, "entry bad1: the role is none of user, assistant, system");
}

TEST_F(BuildContext, TheReportSaysWhichSignaturesHoldAndWhatBreaksThem) {
  const std::string thought = R"({"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},)"
                              R"({"type":"text","text":"1"}]})";
  add(entry_type::kRuntimeInit, R"({"systemPrompt":"first"})");
  user("one");
  say(Dialect::Anthropic, thought, "a1");
  user("two");
  ASSERT_EQ(build().report.signatures.size(), 1U);
  EXPECT_EQ(build().report.signatures[0].state, SignatureState::Valid);
  EXPECT_EQ(build(Dialect::Gemini).report.signatures[0].state, SignatureState::Carried);
  EXPECT_EQ(build({.systemPrompt = "other"}).report.signatures[0].reason, "the system prompt before it changed");
  add(entry_type::kSystemPromptOverride, R"({"systemPrompt":"second"})");
  say(Dialect::Anthropic, thought, "a2");
  const Context changed = build();
  EXPECT_EQ(changed.report.signatures[0].reason, "the system prompt before it changed");
  EXPECT_EQ(changed.report.signatures[1].state, SignatureState::Valid);
  add(entry_type::kCompactionSummary, R"({"summary":"sum","firstKeptEntryId":"a2"})");
  EXPECT_EQ(build().report.signatures[0].reason, "a summary replaces the messages before it");
}

TEST_F(BuildContext, OfALongBranchTheEndIsEnoughAndTheSummaryIsFoundHoweverFarBack) {
  std::vector<Entry> batch;
  const auto text = [](const std::string& role, int i) {
    return entryOf(
        entry_type::kMessage,
        R"({"dialect":"bough","message":{"role":")" + role + R"(","content":"m)" + std::to_string(i) + R"("}})",
        "e" + std::to_string(i));
  };
  batch.push_back(entryOf(entry_type::kRuntimeInit, R"({"systemPrompt":"far away"})"));
  for (int i = 0; i < 3000; ++i) {
    batch.push_back(text(i % 2 == 0 ? "user" : "assistant", i));
    if (i == 1001) {
      batch.push_back(entryOf(entry_type::kCompactionSummary, R"({"summary":"old","firstKeptEntryId":"e600"})", "sum"));
    }
  }
  must(store->appendSessionEntries("s", std::move(batch)));
  const Context whole = build();
  EXPECT_EQ(whole.parts.size(), 2400U);  // the summary is merged with the first kept message
  EXPECT_EQ(whole.firstEntryId, "e600");
  const Context end = build({.budgetTokens = 200});
  EXPECT_LE(end.tokens, 200U);
  EXPECT_GT(end.tokens, 150U);
  EXPECT_EQ(end.system, R"("far away")");
  EXPECT_EQ(end.summaryEntryId, "sum");
  EXPECT_TRUE(end.messages.ends_with(R"({"role":"assistant","content":"m2999"}])"));
  const Context most = build({.budgetTokens = whole.tokens - 1});
  EXPECT_GT(most.parts.size(), 2300U);
  EXPECT_GT(most.turnsLeftOut, 0U);
  EXPECT_EQ(build({.budgetTokens = whole.tokens}).messages, whole.messages);
}

TEST_F(BuildContext, WhetherALongNewestTurnFitsIsSaidAsIfAllOfTheBranchWereRead) {
  // The newest turn is longer than the first read; the answer before it has its input usage.
  user("first");
  const auto answer = [](std::uint64_t given) {
    return R"({"role":"assistant","content":[{"type":"text","text":"so"}],"usage":{"input_tokens":)" +
           std::to_string(given) + R"(,"output_tokens":1}})";
  };
  say(Dialect::Anthropic, answer(100'000));
  user("second");
  const std::uint64_t before = build().tokens;
  for (int i = 0; i < 2'000; ++i) assistant("word word word word word word word word");
  const std::uint64_t estimated = build().tokens - before;
  const auto tooLong = [&](std::uint64_t budget) {
    const auto built = buildContext(*store, "s", {.budgetTokens = budget});
    return built ? std::string() : built.error().message;
  };
  EXPECT_TRUE(tooLong(estimated / 2 + 1'000).starts_with("the newest turn has about "));
  EXPECT_TRUE(tooLong(100).starts_with("the newest turn has more than "));
  say(Dialect::Anthropic, answer(100'000 + estimated / 2));
  EXPECT_EQ(tooLong(estimated / 2 + 1'000), "");
  EXPECT_TRUE(tooLong(estimated / 2 - 1'000).starts_with("the newest turn has about "));
  EXPECT_TRUE(tooLong(100).starts_with("the newest turn has more than "));
}

TEST_F(BuildContext, PlainEntriesAreRead) {
  add("user", R"({"content":"hi"})");
  add("assistant", R"({"content":"looking"})");
  add("tool_use", R"({"id":"t1","name":"ls","input":{"p":"."}})");
  add("tool_result", R"({"tool_use_id":"t1","content":"a b"})");
  add(entry_type::kMessage, R"({"role":"user","content":"thanks"})");
  EXPECT_EQ(build().messages,
            R"([{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"text","text":"looking"},)"
            R"({"type":"tool_use","id":"t1","name":"ls","input":{"p":"."}}]},{"role":"user","content":[)"
            R"({"type":"tool_result","tool_use_id":"t1","content":"a b"},{"type":"text","text":"thanks"}]}])");
}

TEST_F(BuildContext, WhatAnAnswerTookCountsUnlessItIsImplausible) {
  int made = 0;
  const auto tokensWith = [&](const std::string& usage, const std::string& text) {
    const std::string id = "t" + std::to_string(++made);
    must(store->createSession({.sessionId = id}));
    std::vector<Entry> batch = {
        entryOf("message", R"({"dialect":"bough","message":{"role":"user","content":"hello there"}})"),
        entryOf("message",
                R"({"dialect":"anthropic","message":{"role":"assistant","content":[{"type":"text","text":")" + text +
                    R"("}])" + usage + "}}")};
    if (text.empty()) batch.pop_back();
    must(store->appendSessionEntries(id, std::move(batch)));
    return must(buildContext(*store, id, {.dialect = Dialect::Anthropic})).tokens;
  };
  const auto took = [](std::uint64_t tokens) {
    return R"(,"usage":{"input_tokens":1,"output_tokens":)" + std::to_string(tokens) + "}";
  };
  const std::uint64_t before = tokensWith("", "");
  std::string text = "word";
  while ((tokensWith("", text) - before) % 4 != 0) text += " word";
  const std::uint64_t guess = tokensWith("", text);
  const std::uint64_t answer = guess - before;
  ASSERT_GE(answer, 4U);
  EXPECT_EQ(tokensWith(took(answer / 4), text), before + answer / 4);
  EXPECT_EQ(tokensWith(took(answer / 4 - 1), text), guess);
  EXPECT_EQ(tokensWith(took(answer * 4), text), before + answer * 4);
  EXPECT_EQ(tokensWith(took(answer * 4 + 1), text), guess);
}

constexpr std::string_view kSecret = R"([{"type":"text","text":"[cut]"}])";

std::string editOf(std::string_view entryId, std::string_view content) {
  return R"({"customType":"pi.context_edit","kind":"edit","entryId":")" + std::string(entryId) + R"(","content":)" +
         std::string(content) + "}";
}

TEST_F(BuildContext, AnEditedMessageSaysWhatItsLastEditSays) {
  user("long question", "u1");
  assistant("answer", "a1");
  user("and?", "u2");
  add(entry_type::kCustom, editOf("u1", R"([{"type":"text","text":"first try"}])"), "e1");
  add(entry_type::kCustom, editOf("u1", kSecret), "e2");
  add(entry_type::kCustom, editOf("a1", R"([{"type":"text","text":"short"}])"), "e3");
  const Context context = build(Dialect::OpenaiChat);
  EXPECT_EQ(context.messages, R"([{"role":"user","content":"[cut]"},{"role":"assistant","content":"short"},)"
                              R"({"role":"user","content":"and?"}])");
  EXPECT_TRUE(reports(context, Change::Altered, "u1", "message"));
  EXPECT_TRUE(reports(context, Change::Altered, "a1", "message"));
}

TEST_F(BuildContext, AnEditedResultStillAnswersItsCall) {
  user("go");
  say(Dialect::Anthropic, R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]})");
  say(Dialect::Anthropic,
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"much",)"
      R"("is_error":true}]})",
      "r1");
  add(entry_type::kCustom, editOf("r1", kSecret));
  EXPECT_EQ(build().messages,
            R"([{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f",)"
            R"("input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"[cut]",)"
            R"("is_error":true}]}])");
}

TEST_F(BuildContext, AMessageThatAnEditLeavesOutIsNotSent) {
  user("secret", "u1");
  assistant("yes", "a1");
  user("and?");
  add(entry_type::kCustom, editOf("u1", "null"));
  add(entry_type::kCustom, editOf("a1", "null"));
  const Context context = build(Dialect::OpenaiChat);
  EXPECT_EQ(context.messages, R"([{"role":"user","content":"and?"}])");
  EXPECT_TRUE(reports(context, Change::LeftOut, "u1", "message"));
}

TEST_F(BuildContext, AnEditHoldsForItsBranchAlone) {
  user("question", "u1");
  add(entry_type::kCustom, editOf("u1", kSecret), "e1");
  EXPECT_EQ(build(Dialect::OpenaiChat).messages, R"([{"role":"user","content":"[cut]"}])");
  ContextOptions before{.at = "u1"};
  before.dialect = Dialect::OpenaiChat;
  EXPECT_EQ(build(before).messages, R"([{"role":"user","content":"question"}])");
}

// The usage of the answers refers to the message before the edit.
TEST_F(BuildContext, RecordedUsageDoesNotCountForAnEditedBranch) {
  user("question", "u1");
  say(Dialect::Anthropic, R"({"role":"assistant","content":"yes","usage":{"input_tokens":12,"output_tokens":1}})");
  EXPECT_GT(build().countedTokens, 0U);
  add(entry_type::kCustom, editOf("u1", kSecret));
  EXPECT_EQ(build().countedTokens, 0U);
}

TEST_F(BuildContext, AnEditThatIsNoneChangesNothing) {
  user("question", "u1");
  for (const std::string_view content : {"\"text\"", "{}", "1"}) add(entry_type::kCustom, editOf("u1", content));
  add(entry_type::kCustom, editOf("nobody", kSecret));
  add(entry_type::kCustom, R"({"kind":"edit","entryId":"u1"})");
  EXPECT_EQ(build(Dialect::OpenaiChat).messages, R"([{"role":"user","content":"question"}])");
}

}  // namespace
}  // namespace bough
