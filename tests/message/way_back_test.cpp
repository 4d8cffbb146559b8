// Changes of a converted document that the way back must tolerate.
#include <bough/convert.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/rule_checker.h"

namespace bough::test {
namespace {

constexpr auto kA = Dialect::Anthropic;
constexpr auto kC = Dialect::OpenaiChat;
constexpr auto kR = Dialect::OpenaiResponses;
constexpr auto kG = Dialect::Gemini;

const std::string kThinking =
    R"({"system":"s","messages":[{"role":"user","content":"one"},
  {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"Sig1"},{"type":"text","text":"two"}]},
  {"role":"user","content":"three"},
  {"role":"assistant","content":[{"type":"thinking","thinking":"so","signature":"Sig2"},{"type":"text","text":"four"}]}]})";

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << " in " << text;
  return text.replace(at, from.size(), to);
}

std::size_t count(const CompatibilityReport& report, Change change) {
  return static_cast<std::size_t>(std::ranges::count(report.findings, change, &Finding::change));
}

TEST(WayBack, SignaturesStayValidWhenTurnsAreAddedBehindThem) {
  const auto there = convertHistory(kThinking, kA, kC);
  ASSERT_EQ(there->report.signatures.size(), 2U);
  EXPECT_EQ(there->report.signatures[0].state, SignatureState::Carried);
  EXPECT_EQ(there->report.signatures[0].path, "messages[1].content[0]");
  const std::string more = replaced(there->document, "\"four\"}", R"("four"},{"role":"user","content":"five"})");
  const auto back = convertHistory(more, kC, kA, {}, &there->wayBack);
  EXPECT_EQ(back->document, replaced(kThinking, R"("four"}]}])", R"("four"}]},
  {"role":"user","content":"five"}])"));
  EXPECT_EQ(count(back->report, Change::Added), 1U);
  ASSERT_EQ(back->report.signatures.size(), 2U);
  for (const SignatureStatus& status : back->report.signatures) EXPECT_EQ(status.state, SignatureState::Valid);
}

TEST(WayBack, AnEditedMessageIsConvertedAnewAndBreaksLaterSignaturesOnly) {
  const auto there = convertHistory(kThinking, kA, kG);
  const std::string edited = replaced(there->document, R"("three")", R"("THREE")");
  const auto back = convertHistory(edited, kG, kA, {}, &there->wayBack);
  EXPECT_EQ(count(back->report, Change::Edited), 1U);
  EXPECT_NE(back->document.find(R"({"type":"thinking","thinking":"so","signature":"Sig2"})"), std::string::npos);
  EXPECT_NE(back->document.find(R"({"role":"user","content":"THREE"})"), std::string::npos);
  ASSERT_EQ(back->report.signatures.size(), 2U);
  EXPECT_EQ(back->report.signatures[0].state, SignatureState::Valid);
  EXPECT_EQ(back->report.signatures[1].state, SignatureState::Invalid);
  EXPECT_EQ(back->report.signatures[1].reason, "a message before it changed");
}

TEST(WayBack, AChangedSystemPromptIsNamedAsWhatBreaksASignature) {
  const auto there = convertHistory(kThinking, kA, kR);
  const std::string edited = replaced(there->document, R"("instructions":"s")", R"("instructions":"t")");
  const auto back = convertHistory(edited, kR, kA, {}, &there->wayBack);
  EXPECT_NE(back->document.find(R"("system":"t")"), std::string::npos);
  EXPECT_EQ(back->report.signatures[0].reason, "the system prompt before it changed");
}

TEST(WayBack, ADocumentThatWasPrintedAgainIsNotEdited) {
  const std::string original =
      R"([{"role":"user","content":"żółć / x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"n":1.0,"k":2,"k":3}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}])";
  const auto there = convertHistory(original, kA, kG);
  // Other blanks, other escapes, another order of keys, 1.0 as 1, only one of two equal keys.
  const std::string printed = R"([ {"parts": [{"text": "\u017c\u00f3\u0142\u0107 \/ x"}], "role": "user"},
    {"role": "model", "parts": [{"thoughtSignature": "skip_thought_signature_validator", "functionCall": {"id": "a", "name": "f", "args": {"k": 2, "n": 1}}}]},
    {"role": "user", "parts": [{"functionResponse": {"id": "a", "name": "f", "response": {"output": "1"}}}]} ])";
  const auto back = convertHistory(printed, kG, kA, {}, &there->wayBack);
  EXPECT_EQ(back->document, original);
  EXPECT_EQ(count(back->report, Change::Edited), 0U);
}

TEST(WayBack, ItemsOfAMessageThatWereNotEditedComeBackAsTheyWere) {
  const std::string said =
      R"({"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"say","annotations":[]}]})";
  const std::string items =
      R"([{"role":"user","content":"x"},{"type":"reasoning","id":"rs_1","summary":[]},)" + said +
      R"(,{"type":"function_call","id":"fc_1","call_id":"c","name":"f","arguments":"{ }"},{"type":"function_call_output","call_id":"c","output":"1"}])";
  const auto there = convertHistory(items, kR, kA);
  const std::string edited = replaced(there->document, R"("text":"say")", R"("text":"SAY")");
  const auto back = convertHistory(edited, kA, kR, {}, &there->wayBack);
  EXPECT_EQ(back->document, replaced(items, said, R"({"role":"assistant","content":"SAY"})"));
}

TEST(WayBack, ARemovedTurnStaysRemovedWithWhatBelongedToIt) {
  const std::string items =
      R"([{"role":"user","content":"x"},{"role":"assistant","content":"y"},{"role":"user","content":"z"},{"type":"reasoning","id":"rs_1","summary":[]},{"role":"assistant","content":"w"}])";
  const auto there = convertHistory(items, kR, kC);
  const std::string cut =
      replaced(there->document, R"(,{"role":"user","content":"z"},{"role":"assistant","content":"w"})", "");
  const auto back = convertHistory(cut, kC, kR, {}, &there->wayBack);
  EXPECT_EQ(back->document, R"([{"role":"user","content":"x"},{"role":"assistant","content":"y"}])");
  EXPECT_EQ(count(back->report, Change::Removed), 3U);
}

TEST(WayBack, AChangedRoleIsAnEditAlthoughTheTextIsTheSame) {
  const std::string chat = R"([{"role":"user","content":"x","name":"alice"},{"role":"assistant","content":"y"}])";
  const auto there = convertHistory(chat, kC, kR);
  const std::string edited =
      replaced(there->document, R"({"role":"user","content":"x"})", R"({"role":"developer","content":"x"})");
  const auto back = convertHistory(edited, kR, kC, {}, &there->wayBack);
  EXPECT_EQ(back->document, R"([{"role":"developer","content":"x"},{"role":"assistant","content":"y"}])");
}

TEST(WayBack, AnAddedToolLeavesTheOthersAsTheyWere) {
  const std::string anthropic =
      R"({"tools":[{"name":"f", "input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"x"}]})";
  const auto there = convertHistory(anthropic, kA, kC);
  const std::string more =
      replaced(there->document, R"("tools":[)",
               R"("tools":[{"type":"function","function":{"name":"g","parameters":{"type":"object"}}},)");
  const auto back = convertHistory(more, kC, kA, {}, &there->wayBack);
  EXPECT_EQ(
      back->document,
      R"({"tools":[{"name":"g","input_schema":{"type":"object"}},{"name":"f", "input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"x"}]})");
}

TEST(WayBack, AResultWrittenInTheTargetFindsACallWhoseIdWasMapped) {
  const std::string chat =
      R"([{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"call:1/a b","type":"function","function":{"name":"f","arguments":"{}"}}]}])";
  const auto there = convertHistory(chat, kC, kA, {.strict = false, .keepPendingCalls = true});
  const std::size_t at = there->document.find("call_");
  ASSERT_NE(at, std::string::npos);
  const std::string mapped = there->document.substr(at, 37);
  const std::string answered = replaced(
      there->document, "}]}]",
      R"(}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":")" + mapped + R"(","content":"done"}]}])");
  const auto back = convertHistory(answered, kA, kC, {}, &there->wayBack);
  EXPECT_EQ(back->document,
            replaced(chat, "}]}]", R"(}]},{"role":"tool","tool_call_id":"call:1/a b","content":"done"}])"));
}

TEST(WayBack, AResultAddedInTheTargetStandsBesideTheStoredOnesInOneTurn) {
  const std::string gemini =
      R"([{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a":1},"id":"c1"},"thoughtSignature":"c2ln"},{"functionCall":{"name":"f","args":{"a":2.0},"id":"c2"}}]},{"role":"user","parts":[{"functionResponse": {"name":"f","id":"c2","response":{"output":"two"}}}]}])";
  for (const Dialect other : {Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses}) {
    auto there = convertHistory(gemini, Dialect::Gemini, other);
    ASSERT_TRUE(there.has_value());
    EXPECT_EQ(convertHistory(there->document, other, Dialect::Gemini, {}, &there->wayBack)->document, gemini);
    const std::string missing = "No result: the call was interrupted.";
    there->document.replace(there->document.find(missing), missing.size(), "one");
    const auto back = convertHistory(there->document, other, Dialect::Gemini, {}, &there->wayBack);
    ASSERT_TRUE(back.has_value());
    for (const std::string& rule : brokenRules(Dialect::Gemini, back->document)) ADD_FAILURE() << rule;
    const std::size_t one = back->document.find("\"c1\",\"name\":\"f\",\"response\"");
    const std::size_t two = back->document.find(R"({"functionResponse": {"name":"f","id":"c2")");
    EXPECT_TRUE(one != std::string::npos && two != std::string::npos && one < two) << back->document;
    const auto again = convertHistory(back->document, Dialect::Gemini, other, {}, &back->wayBack);
    ASSERT_TRUE(again.has_value());
    for (const std::string& rule : brokenRules(other, again->document)) ADD_FAILURE() << rule;
    EXPECT_EQ(again->report.restored, 2U);  // the two results
    EXPECT_EQ(convertHistory(again->document, other, Dialect::Gemini, {}, &again->wayBack)->document, back->document);
  }
}

TEST(WayBack, ACallOfAFreeformToolThatWasMadeElsewhereIsOneOfText) {
  const std::string responses =
      R"({"tools":[{"type":"custom","name":"patch"},{"type":"function","name":"f","parameters":{"type":"object"},"strict":false}],"input":[{"role":"user","content":"go"}]})";
  const std::string chat =
      R"({"tools":[{"type":"custom","custom":{"name":"patch"}}],"messages":[{"role":"user","content":"go"}]})";
  const std::string calls =
      R"(,{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"patch","input":{"input":"a\nb"}},{"type":"tool_use","id":"t2","name":"patch","input":{"input":"x","more":1}},{"type":"tool_use","id":"t3","name":"f","input":{"input":"x"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"1"},{"type":"tool_result","tool_use_id":"t2","content":"2"},{"type":"tool_result","tool_use_id":"t3","content":"3"}]})";
  const auto addedTo = [&](const std::string& document, Dialect from) {
    auto there = convertHistory(document, from, kA);
    there->document.insert(there->document.rfind("],\"max_tokens\""), calls);
    const auto back = convertHistory(there->document, kA, from, {}, &there->wayBack);
    EXPECT_EQ(convertHistory(back->document, from, kA, {}, &back->wayBack)->document, there->document);
    return back->document;
  };
  const std::string asItems = addedTo(responses, kR);
  EXPECT_NE(asItems.find(R"({"type":"custom_tool_call","call_id":"t1","name":"patch","input":"a\nb"})"),
            std::string::npos)
      << asItems;
  EXPECT_NE(asItems.find(R"({"type":"custom_tool_call_output","call_id":"t1")"), std::string::npos) << asItems;
  EXPECT_NE(asItems.find(R"({"type":"function_call","call_id":"t2","name":"patch")"), std::string::npos) << asItems;
  EXPECT_NE(asItems.find(R"({"type":"function_call","call_id":"t3","name":"f")"), std::string::npos) << asItems;
  const std::string asChat = addedTo(chat, kC);
  EXPECT_NE(asChat.find(R"({"id":"t1","type":"custom","custom":{"name":"patch","input":"a\nb"}})"), std::string::npos)
      << asChat;
}

TEST(WayBack, ASystemMessageAddedInTheTargetLeavesTheStoredPromptAsItWas) {
  const std::string gemini =
      R"({"systemInstruction":{"parts":[{"text": "first"}]},"contents":[{"role":"user","parts":[{"text":"go"}]}]})";
  auto there = convertHistory(gemini, kG, kC);
  ASSERT_TRUE(there.has_value());
  there->document.insert(there->document.rfind("]}"), R"(,{"role":"system","content":"second"})");
  const auto back = convertHistory(there->document, kC, kG, {}, &there->wayBack);
  ASSERT_TRUE(back.has_value());
  EXPECT_NE(back->document.find("first"), std::string::npos) << back->document;
  EXPECT_NE(back->document.find("second"), std::string::npos) << back->document;
  const auto again = convertHistory(back->document, kG, kC, {}, &back->wayBack);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->document, there->document);
}

TEST(WayBack, ADamagedOriginIsNamedAndTheDocumentConvertedWithoutIt) {
  const auto there = convertHistory(kThinking, kA, kC);
  const WayBack cut{there->wayBack.json.substr(0, there->wayBack.json.size() / 2)};
  const auto back = convertHistory(there->document, kC, kA, {}, &cut);
  ASSERT_TRUE(back);
  ASSERT_FALSE(back->report.warnings.empty());
  EXPECT_EQ(convertHistory(there->document, kC, kA, {.strict = true, .keepPendingCalls = false}, &cut).error().code,
            ErrorCode::Damaged);
  // One stored original was changed by hand: only that message is converted from the document instead.
  const WayBack touched{replaced(there->wayBack.json, R"("content":"one")", R"("content":"ONE")")};
  const auto partly = convertHistory(there->document, kC, kA, {}, &touched);
  EXPECT_NE(partly->document.find(R"({"role":"user","content":"one"})"), std::string::npos);
  EXPECT_NE(partly->document.find("Sig1"), std::string::npos);
  ASSERT_FALSE(partly->report.warnings.empty());
  EXPECT_NE(partly->report.warnings.front().find("anthropic:messages[0]"), std::string::npos);
}

TEST(WayBack, AnOriginOfAnotherDialectIsNotUsed) {
  const auto there = convertHistory(kThinking, kA, kC);
  const auto back = convertHistory(R"([{"role":"user","parts":[{"text":"x"}]}])", kG, kA, {}, &there->wayBack);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->report.warnings.size(), 1U);
  EXPECT_EQ(back->document, R"([{"role":"user","content":"x"}])");
}

// Gemini cannot represent the last three messages: text added there comes after them.
TEST(WayBack, ATurnAddedAfterMessagesThatBecameNothingFollowsThem) {
  const std::string document =
      R"([{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"developer","content":"c"},)"
      R"({"role":"user","content":""},{"role":"assistant","content":""}])";
  const auto there = convertHistory(document, Dialect::OpenaiChat, Dialect::Gemini);
  ASSERT_TRUE(there);
  std::string longer = there->document;
  const std::string said = R"({"role":"model","parts":[{"text":"b"}]})";
  ASSERT_TRUE(longer.contains(said)) << longer;
  longer.insert(longer.find(said) + said.size(), R"(,{"role":"user","parts":[{"text":"new"}]})");
  const auto back = convertHistory(longer, Dialect::Gemini, Dialect::OpenaiChat, {}, &there->wayBack);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->document, document.substr(0, document.size() - 1) + R"(,{"role":"user","content":"new"}])");
}

}  // namespace
}  // namespace bough::test
