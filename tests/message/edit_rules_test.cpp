// After an edit, the API accepts the result, and every loss is reported.
#include <bough/convert.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "message/edited.h"

namespace bough::test {
namespace {

constexpr auto kA = Dialect::Anthropic;
constexpr auto kC = Dialect::OpenaiChat;
constexpr auto kR = Dialect::OpenaiResponses;
constexpr auto kG = Dialect::Gemini;

bool names(const Conversion& back, std::string_view field) {
  return std::ranges::find(back.report.lossyFields, field) != back.report.lossyFields.end();
}

TEST(EditRules, ACallOfAServerToolComesBackWithItsResultOrNotAtAll) {
  const std::string use =
      R"({"type":"server_tool_use","id":"srvtoolu_1","name":"web_fetch","input":{"url":"https://a.example"}})";
  const std::string result =
      R"({"type":"web_fetch_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"web_fetch_result","url":"https://b.example"}})";
  const std::string anthropic = R"([{"role":"user","content":"go"},{"role":"assistant","content":[)" + use + "," +
                                result + R"(,{"type":"text","text":"done"}]},{"role":"user","content":"on"}])";
  for (const Dialect to : {kC, kR, kG}) {
    for (const std::string word : {"https://a.example", "https://b.example"}) {
      const auto back = edited(anthropic, kA, to, word, "https://c.example");
      EXPECT_FALSE(back.document.contains(R"("type":"server_tool_use")")) << back.document;
      EXPECT_FALSE(back.document.contains(R"("type":"web_fetch_tool_result")")) << back.document;
      EXPECT_TRUE(back.document.contains("[server_tool_use]")) << back.document;
      EXPECT_TRUE(back.document.contains("[web_fetch_tool_result]")) << back.document;
      EXPECT_TRUE(names(back, "unknown"));
    }
    const auto back = edited(anthropic, kA, to, "done", "finished");
    EXPECT_TRUE(back.document.contains(use + "," + result)) << back.document;
  }
  const std::string responses =
      R"([{"role":"user","content":"go"},{"type":"shell_call","id":"sh_1","call_id":"c1","action":{"commands":["ls"]}},{"type":"shell_call_output","call_id":"c1","output":[{"stdout":"a b"}]},{"role":"user","content":"on"}])";
  for (const Dialect to : {kA, kC, kG}) {
    const auto back = edited(responses, kR, to, "a b", "a c");
    EXPECT_FALSE(back.document.contains(R"("type":"shell_call)")) << back.document;
    EXPECT_TRUE(back.document.contains("[shell_call]")) << back.document;
  }
}

TEST(EditRules, ReasoningGoesWithTheItemThatItLedTo) {
  const std::string responses =
      R"([{"role":"user","content":"go"},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"},{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"done","annotations":[]}]},{"role":"user","content":"on"}])";
  const auto gone = edited(responses, kR, kG, R"({"text":"done"})", "");
  EXPECT_FALSE(gone.document.contains("rs_1")) << gone.document;
  EXPECT_TRUE(names(gone, "redacted_thinking"));
  EXPECT_TRUE(edited(responses, kR, kG, "done", "finished").document.contains("rs_1"));
  const std::string chat =
      R"([{"role":"user","content":"go"},{"role":"assistant","reasoning_content":"hm","content":"done"},{"role":"user","content":"on"}])";
  const auto said = edited(chat, kC, kG, R"({"text":"done"})", "");
  EXPECT_EQ(said.document, R"([{"role":"user","content":"go"},{"role":"user","content":"on"}])");
  EXPECT_TRUE(names(said, "thinking"));
}

TEST(EditRules, AResultOfResponsesGoesWithItsCall) {
  const std::string responses =
      R"([{"role":"user","content":"go"},{"type":"function_call","call_id":"c1","name":"a","arguments":"{}"},{"type":"function_call","call_id":"c2","name":"b","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"one"},{"type":"function_call_output","call_id":"c2","output":"two"},{"role":"assistant","content":"ok"}])";
  const auto back = edited(responses, kR, kA, R"({"type":"tool_use","id":"c1","name":"a","input":{}},)", "");
  EXPECT_FALSE(back.document.contains("c1")) << back.document;
  EXPECT_TRUE(names(back, "tool_result"));
  const std::string late =
      R"([{"role":"user","content":"go"},{"type":"function_call","call_id":"c1","name":"a","arguments":"{}"},{"role":"assistant","content":"wait"},{"role":"user","content":"so?"},{"type":"function_call_output","call_id":"c1","output":"one"},{"role":"assistant","content":"ok"}])";
  const auto without = edited(late, kR, kC, R"({"role":"tool","tool_call_id":"c1","content":"one"},)", "");
  EXPECT_TRUE(without.document.contains("No result")) << without.document;
}

TEST(EditRules, ASecondResultForACallIsNotBesideTheStoredOne) {
  const std::string responses =
      R"([{"role":"user","content":"go"},{"type":"function_call","call_id":"c1","name":"a","arguments":"{}"},{"type":"shell_call","id":"sh_1","call_id":"s1","action":{"commands":["ls"]}},{"type":"function_call","call_id":"c2","name":"b","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"one"},{"type":"shell_call_output","call_id":"s1","output":[{"stdout":"a"}]},{"type":"function_call_output","call_id":"c2","output":"two"},{"role":"assistant","content":"ok"}])";
  const std::string first = R"({"type":"tool_result","tool_use_id":"c1","content":"one"})";
  const std::string second = R"({"type":"tool_result","tool_use_id":"c2","content":"new"},)";
  const auto back = edited(responses, kR, kA, first, second + first);
  EXPECT_TRUE(back.document.contains(R"({"type":"function_call_output","call_id":"c1","output":"one"})"));
  EXPECT_TRUE(names(back, "tool_result"));
}

TEST(EditRules, BlanksAreCutOffTheEndThroughEveryTextOfBlanks) {
  const std::string anthropic = R"([{"role":"user","content":"go"},{"role":"assistant","content":"done"}])";
  const auto back = edited(anthropic, kA, kG, R"({"text":"done"})", R"({"text":"so \n"},{"text":"  "},{"text":" "})");
  EXPECT_TRUE(back.document.contains(R"("so")")) << back.document;
}

// An answer that was not the last one: the messages after it were deleted.
TEST(EditRules, AnAnswerThatBecameTheLastDoesNotEndInBlanks) {
  const std::string end = R"(},{"role":"user","content":"end"}])";
  const std::string begin = R"([{"role":"user","content":"go"},{"role":"assistant","content":)";
  for (const std::string content :
       {R"("done \n")", R"([{"type":"text","text":"done \n","cache_control":{"type":"ephemeral"}}])"}) {
    const std::string anthropic = begin + content + end;
    const auto gone = edited(anthropic, kA, kC, R"(,{"role":"user","content":"end"})", "");
    EXPECT_TRUE(gone.document.contains(R"("done")")) << gone.document;
    EXPECT_EQ(gone.document.contains("cache_control"), content.contains("cache_control")) << gone.document;
    // When it was the last message of the author's document, it stays unchanged.
    const std::string last = begin + content + "}]";
    const auto there = convertHistory(last, kA, kC);
    EXPECT_EQ(convertHistory(there->document, kC, kA, {}, &there->wayBack)->document, last);
  }
}

TEST(EditRules, ANameThatOnlyOldCallsMayHaveIsNotInANewOne) {
  for (const std::string& name : std::vector<std::string>{"get.weather", "", "a b", std::string(70, 'x')}) {
    const std::string chat =
        R"([{"role":"user","content":"go"},{"role":"assistant","content":"so","function_call":{"name":")" + name +
        R"(","arguments":"{}"}},{"role":"user","content":"on"}])";
    for (const Dialect to : {kA, kR, kG}) {
      const auto back = edited(chat, kC, to, "No result: the call was interrupted.", "none");
      EXPECT_TRUE(back.document.contains(R"("tool_calls")")) << back.document;
    }
  }
}

TEST(EditRules, AResultThatNamesItsToolIsNotAfterACallWithAnId) {
  const std::string chat =
      R"([{"role":"user","content":"go"},{"role":"assistant","content":"so","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"one"},{"role":"assistant","content":"ok"},{"role":"function","name":"read","content":"old"}])";
  const auto back = edited(chat, kC, kR, R"({"type":"function_call_output","call_id":"c1","output":"one"},)", "");
  EXPECT_FALSE(back.document.contains(R"("role":"function","name":"read","content":"old"},{"role":"assistant")"))
      << back.document;
}

TEST(EditRules, AResultOfGeminiHasTheNameOfAnEditedCall) {
  const std::string name(70, 'x');
  const std::string gemini =
      R"([{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":")" + name +
      R"(","args":{"a":1}}}]},{"role":"user","parts":[{"functionResponse":{"name":")" + name +
      R"(","response":{"output":"s"}}}]},{"role":"model","parts":[{"text":"ok"}]}])";
  for (const Dialect to : {kA, kC, kR}) {
    const auto there = convertHistory(gemini, kG, to);
    const bool isText = !there->document.contains(R"({"a":1})");
    const auto back =
        edited(gemini, kG, to, isText ? R"({\"a\":1})" : R"({"a":1})", isText ? R"({\"a\":2})" : R"({"a":2})", "G05");
    EXPECT_TRUE(back.document.contains(R"("args":{"a":2})")) << back.document;
    EXPECT_FALSE(back.document.contains("\"t_x")) << back.document;
  }
}

TEST(EditRules, ReasoningIsNotBeforeWhatIsNoAnswer) {
  const std::string head =
      R"([{"role":"user","content":"go"},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"},{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"done","annotations":[]}]},)";
  for (const std::string item :
       {R"({"type":"compaction","encrypted_content":"e"})", R"({"type":"item_reference","id":"msg_9"})"}) {
    const std::string responses = head + item + R"(,{"role":"user","content":"on"}])";
    for (const Dialect to : {kA, kC}) {
      const auto back = edited(responses, kR, to, R"({"role":"assistant","content":"done"},)", "");
      EXPECT_FALSE(back.document.contains("rs_1")) << back.document;
    }
  }
}

TEST(EditRules, ANewPromptIsNotBetweenReasoningAndItsAnswer) {
  const std::string responses =
      R"([{"role":"user","content":"go"},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"},{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"one","annotations":[]},{"type":"output_text","text":"two","annotations":[]}]},{"role":"user","content":"on"}])";
  const auto there = convertHistory(responses, kR, kA);
  std::string changed = there->document;
  changed.replace(changed.find("two"), 3, "three");
  changed.insert(changed.find(R"({"role":"assistant")"), R"({"role":"user","content":"new"},)");
  const auto back = convertHistory(changed, kA, kR, {}, &there->wayBack);
  EXPECT_TRUE(brokenRules(kR, back->document).empty()) << back->document;
  EXPECT_LT(back->document.find("new"), back->document.find("rs_1")) << back->document;
}

TEST(EditRules, AnEditedCallKeepsTheIdThatItsResultHas) {
  const std::string id = "call_" + std::string(45, 'x');
  const std::string result = R"({"role":"tool","tool_call_id":")" + id + R"(","content":"r"})";
  const std::string chat =
      R"([{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":")" + id +
      R"(","type":"function","function":{"name":"a","arguments":"{\"k\":\"old\"}"}}]},)" + result + "]";
  for (const Dialect to : {kA, kR, kG}) {
    const auto back = edited(chat, kC, to, "old", "new", "C04");  // the author's own id is too long
    EXPECT_TRUE(back.document.contains(result)) << back.document;
    EXPECT_TRUE(back.document.contains(R"({"id":")" + id)) << back.document;
  }
}

TEST(EditRules, ANewCallInFrontOfOneWithItsIdGetsAnother) {
  const std::string anthropic =
      R"([{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"a","input":{"k":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"r"}]},{"role":"assistant","content":"ok"}])";
  const std::string call = R"({"type":"function_call","call_id":"t1","name":"a","arguments":"{\"k\":1}"})";
  const auto back = edited(anthropic, kA, kR, call, call + "," + call);
  EXPECT_TRUE(back.document.contains(R"({"type":"tool_use","id":"t1","name":"a","input":{"k":1}})")) << back.document;
  EXPECT_EQ(back.document.find(R"("id":"t1")"), back.document.rfind(R"("id":"t1")")) << back.document;
}

TEST(EditRules, ARefusalThatWasMovedToTheUserIsText) {
  const std::string chat = R"([{"role":"user","content":"go"},{"role":"assistant","content":"ok"}])";
  const auto back = edited(chat, kC, kR, R"("content":"go")", R"("content":[{"type":"refusal","refusal":"no"}])");
  EXPECT_TRUE(back.document.contains(R"("no")")) << back.document;
}

TEST(EditRules, AResultOfGeminiHasTheNameOfItsCall) {
  const std::string gemini =
      R"([{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"id":"c1","name":"old","args":{}},"thoughtSignature":"U0lH"}]},{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"old","response":{"output":"r"}}}]}])";
  for (const Dialect to : {kA, kC, kR}) {
    const auto back = edited(gemini, kG, to, R"("name":"old")", R"("name":"new")");
    EXPECT_TRUE(back.document.contains(R"("functionResponse":{"id":"c1","name":"new")")) << back.document;
    EXPECT_TRUE(names(back, "thoughtSignature"));
  }
}

TEST(EditRules, TheCallThatIsTheFirstNowHasASignature) {
  const std::string gemini =
      R"([{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"id":"c1","name":"a","args":{}},"thoughtSignature":"U0lH"},{"functionCall":{"id":"c2","name":"b","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"a","response":{"output":"r"}}},{"functionResponse":{"id":"c2","name":"b","response":{"output":"s"}}}]}])";
  const auto back = edited(gemini, kG, kA, R"({"type":"tool_use","id":"c1","name":"a","input":{}},)", "");
  EXPECT_TRUE(back.document.contains(
      R"({"functionCall":{"id":"c2","name":"b","args":{}},"thoughtSignature":"skip_thought_signature_validator"})"))
      << back.document;
}

TEST(EditRules, AFunctionOfTheOldKindIsFollowedByItsResult) {
  const std::string chat =
      R"([{"role":"user","content":"go"},{"role":"assistant","content":null,"function_call":{"name":"a","arguments":"{}"}},{"role":"function","name":"a","content":"old"},{"role":"assistant","content":"ok"}])";
  for (const Dialect to : {kA, kR, kG}) {
    const auto back = edited(chat, kC, to, "old", "new");
    EXPECT_TRUE(back.document.contains(R"("tool_calls":)")) << back.document;
    EXPECT_TRUE(back.document.contains(R"("role":"tool")")) << back.document;
    EXPECT_FALSE(back.document.contains(R"("function_call")")) << back.document;
  }
}

TEST(EditRules, WhatANoteStoodForIsNamedWhenTheNoteIsEdited) {
  const std::string anthropic =
      R"([{"role":"user","content":[{"type":"document","source":{"type":"file","file_id":"file_1"},"title":"T"},{"type":"text","text":"x"}]}])";
  for (const Dialect to : {kC, kR, kG}) {
    const auto back = edited(anthropic, kA, to, "[document not included", "[no document");
    EXPECT_TRUE(names(back, "document")) << back.report.toJson();
    EXPECT_TRUE(names(back, "document.title"));
  }
  const std::string result =
      R"([{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"a","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"words"},"title":"T"},{"type":"tool_reference","tool_name":"b"}]}]}])";
  const auto inside = edited(result, kA, kC, "words", "other words");
  EXPECT_TRUE(names(inside, "document"));
  EXPECT_TRUE(names(inside, "document.title"));
  EXPECT_TRUE(names(inside, "tool_reference"));
  const std::string chat =
      R"([{"role":"user","content":"go"},{"role":"assistant","content":null,"refusal":"I will not"},{"role":"user","content":"on"}])";
  EXPECT_TRUE(names(edited(chat, kC, kA, "I will not", "I may"), "refusal"));
  const std::string spoken =
      R"([{"role":"user","content":"go"},{"role":"assistant","content":"done","audio":{"id":"audio_1","transcript":"done!"}},{"role":"user","content":"on"}])";
  EXPECT_TRUE(names(edited(spoken, kC, kG, R"({"text":"done"})", R"({"text":"no"})"), "audio"));
  const std::string gemini =
      R"([{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"text":"done","thoughtSignature":"U0lH"}]}])";
  EXPECT_TRUE(names(edited(gemini, kG, kC, "done", "finished"), "thoughtSignature"));
}

TEST(EditRules, TheResultsOfOneAnswerAreInOneMessageThoughOneWasEdited) {
  const std::string gemini =
      R"([{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"a","args":{}},"thoughtSignature":"CiQB"},{"functionCall":{"name":"b","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"a","response":{"output":"first"}}},{"functionResponse":{"name":"b","response":{"output":"second"}}}]},{"role":"model","parts":[{"text":"done"}]}])";
  const auto there = convertHistory(gemini, kG, kA);
  std::string changed = there->document;
  changed.replace(changed.find("first"), 5, "other");
  const auto back = convertHistory(changed, kA, kG, {}, &there->wayBack);
  const auto again = convertHistory(back->document, kG, kA, {}, &back->wayBack);
  EXPECT_EQ(again->document, changed);
}

}  // namespace
}  // namespace bough::test
