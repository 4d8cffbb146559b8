// What an API rejects even in its own provider's messages: items that share an id, calls of server tools that were cut
// off.
#include "context/session.h"
#include "support/rule_checker.h"

namespace bough::test {
namespace {

class RequestRules : public ContextTest {};

TEST_F(RequestRules, AnItemThatReusesAnIdIsSentWithAnotherOne) {
  user("hello");
  say(Dialect::OpenaiResponses,
      R"({"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"first","annotations":[]}]})",
      "one");
  user("and?");
  say(Dialect::OpenaiResponses,
      R"({"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"second","annotations":[]},{"type":"output_text","text":"third","annotations":[]}],"phase":"commentary"})",
      "two");
  say(Dialect::OpenaiResponses, R"({"type":"function_call","id":"fc_1","call_id":"a","name":"f","arguments":"{}"})",
      "three");
  say(Dialect::OpenaiResponses, R"({"type":"function_call_output","call_id":"a","output":"1"})");
  say(Dialect::OpenaiResponses, R"({"type":"function_call","id":"fc_1","call_id":"b","name":"g","arguments":"{}"})",
      "four");
  say(Dialect::OpenaiResponses, R"({"type":"function_call_output","call_id":"b","output":"2"})");
  const Context context = build(Dialect::OpenaiResponses);
  EXPECT_TRUE(context.messages.contains("first")) << context.messages;
  EXPECT_TRUE(context.messages.contains(
      R"("content":[{"type":"output_text","text":"second","annotations":[]},{"type":"output_text","text":"third","annotations":[]}],"phase":"commentary"})"))
      << context.messages;
  EXPECT_TRUE(context.messages.contains(R"({"type":"function_call","call_id":"b","name":"g","arguments":"{}"})"))
      << context.messages;
  EXPECT_EQ(context.messages.find("\"msg_1\""), context.messages.rfind("\"msg_1\""));
  EXPECT_TRUE(reports(context, Change::Renamed, "two", "message.id"));
  EXPECT_TRUE(reports(context, Change::Renamed, "four", "message.id"));
}

TEST_F(RequestRules, ACallThatReusesAnIdKeepsAllElseThatItAndItsResultSay) {
  const std::string call =
      R"({"type":"tool_use","id":"toolu_1","name":"look","input":{"n": 1.0},"caller":{"type":"direct"}})";
  const std::string result =
      R"({"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"},"title":"t","context":"c"},{"type":"tool_reference","tool_name":"look"}],"cache_control":{"type":"ephemeral"}})";
  for (int i = 0; i < 2; ++i) {
    user("go");
    say(Dialect::Anthropic, R"({"role":"assistant","content":[)" + call + "]}");
    say(Dialect::Anthropic, R"({"role":"user","content":[)" + result + "]}", i == 0 ? "one" : "two");
  }
  const Context context = build(Dialect::Anthropic);
  const std::size_t begin = context.messages.rfind("tool_use_id") + std::string_view(R"(tool_use_id":")").size();
  const std::string id = context.messages.substr(begin, context.messages.find('"', begin) - begin);
  EXPECT_NE(id, "toolu_1") << context.messages;
  const auto renamed = [&](std::string text) { return text.replace(text.find("toolu_1"), 7, id); };
  EXPECT_TRUE(context.messages.contains(renamed(call))) << context.messages;
  EXPECT_TRUE(context.messages.contains(renamed(result))) << context.messages;
  const std::string functionCall =
      R"({"type":"function_call","id":"fc_1","call_id":"a","name":"f","arguments":"{}","namespace":"n"})";
  for (int i = 0; i < 2; ++i) {
    say(Dialect::OpenaiResponses, functionCall);
    say(Dialect::OpenaiResponses, R"({"type":"function_call_output","call_id":"a","output":")" + std::to_string(i) +
                                      R"(","status":"completed"})");
  }
  const Context items = build(Dialect::OpenaiResponses);
  EXPECT_TRUE(brokenRules(Dialect::OpenaiResponses, items.messages).empty()) << items.messages;
  EXPECT_NE(items.messages.find(R"("namespace":"n")"), items.messages.rfind(R"("namespace":"n")")) << items.messages;
}

TEST_F(RequestRules, AMessageOfACallThatGetsANewIdKeepsItsOtherMembers) {
  const std::string call =
      R"("tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"n\":1}"}}])";
  user("go");
  say(Dialect::OpenaiChat, R"({"role":"assistant","content":null,)" + call + "}");
  say(Dialect::OpenaiChat, R"({"role":"tool","tool_call_id":"c","content":"one"})");
  say(Dialect::OpenaiChat,
      R"({"role":"assistant","content":"again","name":"helper","annotations":[{"type":"url_citation"}],)" + call + "}");
  say(Dialect::OpenaiChat, R"({"role":"tool","tool_call_id":"c","name":"f","content":"two"})");
  const Context context = build(Dialect::OpenaiChat);
  EXPECT_TRUE(context.messages.contains(R"("name":"helper")")) << context.messages;
  EXPECT_TRUE(context.messages.contains(R"("annotations":[{"type":"url_citation"}])")) << context.messages;
  EXPECT_TRUE(context.messages.contains(R"("name":"f","content":"two")")) << context.messages;
  EXPECT_TRUE(context.report.lossyFields.empty()) << context.report.lossyFields.front();
}

TEST_F(RequestRules, WhatAMessageThatIsWrittenAgainCannotKeepIsNamed) {
  user("go");
  say(Dialect::Anthropic, R"({"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]})");
  say(Dialect::OpenaiChat, R"({"role":"tool","tool_call_id":"c","name":"f","metadata":{"k":1},"content":"one"})");
  const Context context = build(Dialect::OpenaiChat);
  EXPECT_EQ(context.report.lossyFields, (std::vector<std::string>{"message.name", "message.metadata"}))
      << context.messages;
}

TEST_F(RequestRules, AReasoningItemThatReusesAnIdKeepsItsContent) {
  user("hello");
  say(Dialect::OpenaiResponses, R"({"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"AA"})");
  say(Dialect::OpenaiResponses, R"({"role":"assistant","content":"one"})");
  user("and?");
  say(Dialect::OpenaiResponses, R"({"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"BB"})");
  say(Dialect::OpenaiResponses, R"({"role":"assistant","content":"two"})");
  const Context context = build(Dialect::OpenaiResponses);
  EXPECT_TRUE(context.messages.contains("\"BB\"")) << context.messages;
  EXPECT_EQ(context.messages.find("\"rs_1\""), context.messages.rfind("\"rs_1\""));
}

TEST_F(RequestRules, TheSameItemStoredTwiceIsSentOnce) {
  user("hello");
  for (int i = 0; i < 2; ++i) {
    say(Dialect::OpenaiResponses,
        R"({"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"first","annotations":[]}]})");
  }
  const Context context = build(Dialect::OpenaiResponses);
  EXPECT_EQ(context.messages.find("first"), context.messages.rfind("first"));
}

TEST_F(RequestRules, AReferenceToAnItemThatIsThereIsNotSent) {
  user("hello");
  say(Dialect::OpenaiResponses, R"({"id":"msg_1"})", "before");
  say(Dialect::OpenaiResponses,
      R"({"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"first","annotations":[]}]})");
  say(Dialect::OpenaiResponses, R"({"type":"item_reference","id":"msg_1"})", "after");
  say(Dialect::OpenaiResponses, R"({"type":null,"id":"msg_0"})", "elsewhere");
  user("and?");
  const Context context = build(Dialect::OpenaiResponses);
  EXPECT_EQ(context.messages.find("\"msg_1\""), context.messages.rfind("\"msg_1\"")) << context.messages;
  EXPECT_TRUE(context.messages.contains(R"({"type":null,"id":"msg_0"})")) << context.messages;
  EXPECT_TRUE(reports(context, Change::LeftOut, "before", "item_reference"));
  EXPECT_TRUE(reports(context, Change::LeftOut, "after", "item_reference"));
  EXPECT_TRUE(reports(context, Change::Needs, "elsewhere", "item_reference"));
}

TEST_F(RequestRules, ASpokenAnswerIsSentBackByItsIdAndToOthersByItsWords) {
  user("hello");
  say(Dialect::OpenaiChat, R"({"role":"assistant","audio":{"id":"audio_1"}})", "short");
  user("more");
  say(Dialect::OpenaiChat,
      R"({"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":null,"audio":{"id":"audio_2","expires_at":9,"data":"QUJD","transcript":"It \"rains\"."}},"finish_reason":"stop"}]})",
      "whole");
  user("end");
  const Context chat = build(Dialect::OpenaiChat);
  EXPECT_EQ(
      chat.messages,
      R"([{"role":"user","content":"hello"},{"role":"assistant","audio":{"id":"audio_1"}},{"role":"user","content":"more"},{"role":"assistant","content":null,"audio":{"id":"audio_2"}},{"role":"user","content":"end"}])");
  EXPECT_TRUE(reports(chat, Change::Altered, "whole", "audio"));
  for (const Dialect dialect : {Dialect::Anthropic, Dialect::OpenaiResponses, Dialect::Gemini}) {
    const Context context = build(dialect);
    EXPECT_TRUE(context.messages.contains(R"(It \"rains\".)")) << context.messages;
    EXPECT_TRUE(reports(context, Change::Carried, "whole", "text.audio")) << toString(dialect);
    EXPECT_TRUE(reports(context, Change::Carried, "short", "audio")) << toString(dialect);
  }
}

TEST_F(RequestRules, ACallWithoutANameGetsOne) {
  user("go");
  say(Dialect::Anthropic,
      R"({"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"","input":{},"x_kept":1}]})", "answer");
  say(Dialect::Bough, R"({"role":"tool","content":[{"type":"tool_result","id":"t1","content":"no such tool"}]})");
  const Context anthropic = build(Dialect::Anthropic);
  EXPECT_TRUE(anthropic.messages.contains(R"("x_kept":1)")) << anthropic.messages;
  for (const Dialect dialect : {Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini}) {
    const Context context = build(dialect);
    EXPECT_FALSE(context.messages.contains(R"("name":"")")) << context.messages;
  }
}

TEST_F(RequestRules, ReasoningIsNotTheLastWhereBlanksWereCutOff) {
  user("go");
  say(Dialect::Anthropic,
      R"({"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"  "}]})",
      "answer");
  const Context context = build(Dialect::Anthropic);
  EXPECT_TRUE(context.messages.ends_with(R"({"type":"text","text":"."}]}])")) << context.messages;
}

TEST_F(RequestRules, AnInterruptedServerToolIsWrittenAsText) {
  user("search");
  say(Dialect::Anthropic,
      R"({"role":"assistant","content":[{"type":"text","text":"looking"},{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"rain"}}],"stop_reason":"end_turn"})",
      "call");
  user("and?");
  const Context context = build(Dialect::Anthropic);
  EXPECT_FALSE(context.messages.contains("\"server_tool_use\"")) << context.messages;
  EXPECT_TRUE(context.messages.contains("rain"));
  EXPECT_TRUE(context.messages.contains("interrupted"));
  EXPECT_TRUE(reports(context, Change::Altered, "call", "server_tool_use"));
}

TEST_F(RequestRules, AFinishedOrPausedServerToolStaysAsItIs) {
  user("search");
  say(Dialect::Anthropic,
      R"({"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},{"type":"text","text":"x"}]})");
  user("again");
  say(Dialect::Anthropic,
      R"({"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_2","name":"web_search","input":{}}],"stop_reason":"pause_turn"})");
  const Context context = build(Dialect::Anthropic);
  EXPECT_TRUE(context.messages.contains("srvtoolu_1")) << context.messages;
  EXPECT_TRUE(context.messages.contains("srvtoolu_2")) << context.messages;
}

TEST_F(RequestRules, AServerToolThatReusesAnIdIsWrittenAsText) {
  const std::string answer =
      R"({"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_fetch","input":{"url":"https://a.example"}},{"type":"web_fetch_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"web_fetch_result","url":"https://a.example"}},{"type":"text","text":"done"}]})";
  for (int i = 0; i < 2; ++i) {
    user("look");
    say(Dialect::Anthropic, answer);
  }
  const Context context = build(Dialect::Anthropic);
  EXPECT_TRUE(context.messages.contains(answer)) << context.messages;
  EXPECT_TRUE(context.messages.contains("[server_tool_use]")) << context.messages;
  EXPECT_TRUE(brokenRules(Dialect::Anthropic, context.messages).empty()) << context.messages;
}

// Servers that use a provider's dialect write ids and names that the provider itself rejects.
TEST_F(RequestRules, WhatAnotherServerWroteInTheDialectIsMadeWhatTheApiTakes) {
  user("go");
  say(Dialect::Anthropic,
      R"({"role":"assistant","content":[{"type":"tool_use","id":"call:1","name":"mcp.files:read","input":{"a":1}}]})",
      "call");
  say(Dialect::Anthropic, R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"call:1","content":"r"}]})");
  const Context context = build(Dialect::Anthropic);
  EXPECT_TRUE(brokenRules(Dialect::Anthropic, context.messages).empty()) << context.messages;
  EXPECT_FALSE(context.messages.contains("call:1")) << context.messages;
  EXPECT_FALSE(context.messages.contains("No result")) << context.messages;
  EXPECT_TRUE(reports(context, Change::Renamed, "call", "tool_call.id"));
  EXPECT_TRUE(reports(context, Change::Renamed, "call", "tool_call.name"));
}

TEST_F(RequestRules, AnIdOfTheDialectThatMayBeTakenStays) {
  const std::string id = "call_" + std::string(50, 'x');
  const std::string call = R"({"role":"assistant","content":null,"tool_calls":[{"id":")" + id +
                           R"(","type":"function","function":{"name":"f","arguments":"{}"}}]})";
  user("go");
  say(Dialect::OpenaiChat, call);
  say(Dialect::OpenaiChat, R"({"role":"tool","tool_call_id":")" + id + R"(","content":"r"})");
  EXPECT_TRUE(build(Dialect::OpenaiChat).messages.contains(call));
}

TEST_F(RequestRules, AShellCallWithoutOutputIsWrittenAsText) {
  user("list");
  say(Dialect::OpenaiResponses,
      R"({"type":"shell_call","id":"sh_1","call_id":"c1","action":{"commands":["ls"]},"status":"completed"})", "call");
  user("and?");
  const Context context = build(Dialect::OpenaiResponses);
  EXPECT_FALSE(context.messages.contains("\"shell_call\"")) << context.messages;
  EXPECT_TRUE(context.messages.contains("ls"));
}

TEST_F(RequestRules, HalvesOfCharactersAreNotSent) {
  say(Dialect::Anthropic, R"({"role":"user","content":"a\ud800b"})", "half");
  const Context context = build(Dialect::Anthropic);
  EXPECT_FALSE(context.messages.contains("ud800")) << context.messages;
  EXPECT_TRUE(reports(context, Change::Altered, "half", "message.surrogates"));
}

}  // namespace
}  // namespace bough::test
