// The effect of each provider's rules on a conversion, one by one.
#include <bough/convert.h>
#include <gtest/gtest.h>

#include <string>

#include "support/rule_checker.h"

namespace bough::test {
namespace {

std::string converted(std::string_view document, Dialect from, Dialect to) {
  const auto conversion = convertHistory(document, from, to);
  if (!conversion) return conversion.error().message;
  for (const std::string& rule : brokenRules(to, conversion->document)) ADD_FAILURE() << rule;
  const auto back = convertHistory(conversion->document, to, from, {}, &conversion->wayBack);
  EXPECT_TRUE(back && back->document == document) << (back ? back->document : back.error().message);
  return conversion->document;
}

constexpr auto kA = Dialect::Anthropic;
constexpr auto kC = Dialect::OpenaiChat;
constexpr auto kR = Dialect::OpenaiResponses;
constexpr auto kG = Dialect::Gemini;

TEST(ConvertRules, SystemPromptMovesToWhereTheTargetKeepsIt) {
  const std::string anthropic = R"({"system":"Be brief.","messages":[{"role":"user","content":"hi"}]})";
  EXPECT_EQ(converted(anthropic, kA, kC),
            R"({"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"hi"}]})");
  EXPECT_EQ(converted(anthropic, kA, kR), R"({"instructions":"Be brief.","input":[{"role":"user","content":"hi"}]})");
  EXPECT_EQ(
      converted(anthropic, kA, kG),
      R"({"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"hi"}]}]})");
}

TEST(ConvertRules, SeveralSystemMessagesOfABareListBecomeOnePromptOfARequest) {
  const std::string chat =
      R"([{"role":"system","content":"a"},{"role":"user","content":"hi"},{"role":"developer","content":"b"}])";
  EXPECT_EQ(
      converted(chat, kC, kA),
      R"({"system":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"messages":[{"role":"user","content":"hi"}],"max_tokens":4096})");
  EXPECT_EQ(converted(chat, kC, kR),
            R"([{"role":"system","content":"a"},{"role":"user","content":"hi"},{"role":"developer","content":"b"}])");
}

TEST(ConvertRules, ParallelCallsOfFlatItemsStandInOneMessageAndTheirResultsInTheNext) {
  const std::string items = R"([{"role":"user","content":"x"},
    {"type":"function_call","call_id":"a","name":"f","arguments":"{\"n\": 1.0}"},
    {"type":"function_call","call_id":"b","name":"f","arguments":"{}"},
    {"type":"function_call_output","call_id":"b","output":"B"},
    {"type":"function_call_output","call_id":"a","output":"A"}])";
  EXPECT_EQ(
      converted(items, kR, kA),
      R"([{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"n": 1.0}},{"type":"tool_use","id":"b","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"A"},{"type":"tool_result","tool_use_id":"b","content":"B"}]}])");
  EXPECT_EQ(
      converted(items, kR, kG),
      R"([{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{"n": 1.0}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"b","name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{"output":"A"}}},{"functionResponse":{"id":"b","name":"f","response":{"output":"B"}}}]}])");
}

TEST(ConvertRules, ErrorFlagBecomesAWordOrAKey) {
  const std::string anthropic =
      R"([{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"boom","is_error":true}]}])";
  EXPECT_NE(converted(anthropic, kA, kC).find(R"("content":"Error: boom")"), std::string::npos);
  EXPECT_NE(converted(anthropic, kA, kR).find(R"("output":"Error: boom")"), std::string::npos);
  EXPECT_NE(converted(anthropic, kA, kG).find(R"("response":{"error":"boom"})"), std::string::npos);
}

TEST(ConvertRules, ImagesOfAResultFollowItWhereItCannotHoldThem) {
  const std::string anthropic =
      R"([{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"see"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]}])";
  EXPECT_NE(
      converted(anthropic, kA, kC)
          .find(
              R"({"role":"tool","tool_call_id":"a","content":"see"},{"role":"user","content":[{"type":"text","text":"Attached to the tool result:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]})"),
      std::string::npos);
  EXPECT_NE(converted(anthropic, kA, kR)
                .find(R"({"type":"input_image","detail":"auto","image_url":"data:image/png;base64,AAAA"})"),
            std::string::npos);
  EXPECT_NE(converted(anthropic, kA, kG).find(R"("parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}])"),
            std::string::npos);
}

TEST(ConvertRules, CallWithoutResultGetsOneThatSaysSo) {
  const std::string chat =
      R"([{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"user","content":"stop"}])";
  const auto conversion = convertHistory(chat, kC, kA);
  ASSERT_TRUE(conversion);
  EXPECT_TRUE(brokenRules(kA, conversion->document).empty());
  EXPECT_NE(conversion->document.find("No result: the call was interrupted."), std::string::npos);
  const auto back = convertHistory(conversion->document, kA, kC, {}, &conversion->wayBack);
  EXPECT_EQ(back->document, chat);
}

TEST(ConvertRules, CallsAtTheEndStayOpenForACallerWhoIsAboutToRunThem) {
  const std::string chat =
      R"([{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}])";
  EXPECT_EQ(
      convertHistory(chat, kC, kA, {.strict = false, .keepPendingCalls = true})->document,
      R"([{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}])");
  EXPECT_NE(convertHistory(chat, kC, kA)->document.find("No result"), std::string::npos);
}

TEST(ConvertRules, ResultsWithoutACallAreLeftOutAndSecondResultsToo) {
  const std::string chat =
      R"([{"role":"user","content":"x"},{"role":"tool","tool_call_id":"ghost","content":"?"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"a","content":"2"}])";
  const auto conversion = convertHistory(chat, kC, kR);
  EXPECT_EQ(
      conversion->document,
      R"([{"role":"user","content":"x"},{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"1"}])");
  EXPECT_FALSE(conversion->report.compatible);
  EXPECT_EQ(convertHistory(conversion->document, kR, kC, {}, &conversion->wayBack)->document, chat);
}

TEST(ConvertRules, ArgumentsThatAreNoObjectAreWrappedAndComeBack) {
  const std::string chat =
      R"([{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"cmd\": \"l"}},{"id":"b","type":"custom","custom":{"name":"sql","input":"SELECT 1"}}]},{"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"b","content":"2"}])";
  const std::string anthropic = converted(chat, kC, kA);
  EXPECT_NE(anthropic.find(R"("input":{"arguments":"{\"cmd\": \"l"})"), std::string::npos) << anthropic;
  EXPECT_NE(anthropic.find(R"("input":{"input":"SELECT 1"})"), std::string::npos);
}

TEST(ConvertRules, EmptyTurnsAreLeftOutWhereTheyAreRefused) {
  const std::string anthropic =
      R"([{"role":"user","content":"a"},{"role":"assistant","content":[]},{"role":"user","content":"b"},{"role":"assistant","content":""},{"role":"user","content":[{"type":"text","text":"c"},{"type":"text","text":" "}]}])";
  EXPECT_EQ(converted(anthropic, kA, kG),
            R"([{"role":"user","parts":[{"text":"a"},{"text":"b"},{"text":"c"},{"text":" "}]}])");
}

TEST(ConvertRules, AnswersWithAnEmptyMessageBetweenThemStayTwo) {
  const auto chat = convertHistory(
      R"([{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"text":"1"}]},{"role":"user","parts":[]},{"role":"model","parts":[{"text":"2"}]}])",
      Dialect::Gemini, Dialect::OpenaiChat);
  ASSERT_TRUE(chat);
  EXPECT_EQ(
      chat->document,
      R"([{"role":"user","content":"go"},{"role":"assistant","content":"1"},{"role":"assistant","content":"2"}])");
}

TEST(ConvertRules, TextAtTheVeryEndLosesItsBlanksForAnthropic) {
  const std::string chat = R"([{"role":"user","content":"a"},{"role":"assistant","content":"so \n\t"}])";
  EXPECT_EQ(converted(chat, kC, kA), R"([{"role":"user","content":"a"},{"role":"assistant","content":"so"}])");
}

TEST(ConvertRules, HistoryThatStartsWithACallGetsAUserTurnBeforeIt) {
  const std::string chat =
      R"([{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"1"}])";
  EXPECT_TRUE(
      converted(chat, kC, kG).starts_with(R"x([{"role":"user","parts":[{"text":"(the conversation begins here)"}]})x"));
}

TEST(ConvertRules, LoneSurrogatesBecomeReplacementCharactersEvenInsideArguments) {
  const std::string anthropic =
      R"([{"role":"user","content":"x\ud800y"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"k\udc00":"\ud83d"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}])";
  const std::string gemini = converted(anthropic, kA, kG);
  EXPECT_NE(gemini.find("x\uFFFDy"), std::string::npos);
  EXPECT_NE(gemini.find("{\"k\uFFFD\":\"\uFFFD\"}"), std::string::npos);
}

TEST(ConvertRules, ToolDefinitionsAreConvertedBothWays) {
  const std::string anthropic =
      R"({"tools":[{"name":"f","description":"d","input_schema":{"type":"object","properties":{"a":{"type":"string"}}}}],"messages":[{"role":"user","content":"x"}]})";
  EXPECT_NE(
      converted(anthropic, kA, kC)
          .find(
              R"("tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{"a":{"type":"string"}}}}}])"),
      std::string::npos);
  EXPECT_NE(converted(anthropic, kA, kR).find(R"("strict":false)"), std::string::npos);
  EXPECT_NE(converted(anthropic, kA, kG)
                .find(R"("tools":[{"functionDeclarations":[{"name":"f","description":"d","parametersJsonSchema":)"),
            std::string::npos);
  const std::string gemini =
      R"({"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT","properties":{"type":{"type":"STRING"}}}}]}],"contents":[{"role":"user","parts":[{"text":"x"}]}]})";
  EXPECT_NE(
      converted(gemini, kG, kA).find(R"("input_schema":{"type":"object","properties":{"type":{"type":"string"}}})"),
      std::string::npos);
}

TEST(ConvertRules, ResponsesInputThatIsAStringIsAUserMessage) {
  EXPECT_EQ(converted(R"({"model":"gpt-5","input":"hi"})", kR, kA),
            R"({"messages":[{"role":"user","content":"hi"}],"max_tokens":4096})");
}

TEST(ConvertRules, FilesThatOnlyTheirProviderCanReadBecomeANote) {
  const std::string anthropic =
      R"([{"role":"user","content":[{"type":"image","source":{"type":"file","file_id":"file_1"}}]}])";
  EXPECT_EQ(converted(anthropic, kA, kC), R"([{"role":"user","content":"[image not included: file_1]"}])");
  EXPECT_FALSE(checkCompatibility(anthropic, kA, kC)->compatible);
  const std::string chat = R"([{"role":"user","content":[{"type":"file","file":{"file_id":"file-1"}}]}])";
  EXPECT_EQ(converted(chat, kC, kR), R"([{"role":"user","content":[{"type":"input_file","file_id":"file-1"}]}])");
}

TEST(ConvertRules, PlainEntriesAreRead) {
  const std::string plain =
      R"([{"type":"user","content":"x"},{"type":"assistant","content":"y"},{"type":"tool_use","id":"a","name":"f","input":{"n":1}},{"type":"tool_result","tool_use_id":"a","content":"1"}])";
  EXPECT_EQ(
      convertHistory(plain, Dialect::Plain, kA)->document,
      R"([{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"text","text":"y"},{"type":"tool_use","id":"a","name":"f","input":{"n":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}])");
  EXPECT_EQ(convertHistory(plain, kA, Dialect::Plain).error().code, ErrorCode::Unsupported);
}

}  // namespace
}  // namespace bough::test
