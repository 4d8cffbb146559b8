// Settings of a request: translated when the target has the same setting, reported otherwise, and unchanged after the
// way back.
#include <bough/convert.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bough::test {
namespace {

constexpr Dialect kA = Dialect::Anthropic;
constexpr Dialect kC = Dialect::OpenaiChat;
constexpr Dialect kR = Dialect::OpenaiResponses;
constexpr Dialect kG = Dialect::Gemini;

Conversion convert(const std::string& document, Dialect from, Dialect to, const WayBack* wayBack = nullptr) {
  auto conversion = convertHistory(document, from, to, {}, wayBack);
  EXPECT_TRUE(conversion.has_value()) << (conversion ? "" : conversion.error().message);
  return conversion ? std::move(*conversion) : Conversion{};
}

// Returns the settings of a converted request: the text after its messages.
std::string settingsIn(const std::string& document, Dialect from, Dialect to) {
  const Conversion there = convert(document, from, to);
  EXPECT_EQ(convert(there.document, to, from, &there.wayBack).document, document);
  const std::size_t end = there.document.rfind("}],");
  std::string settings =
      end == std::string::npos ? "" : there.document.substr(end + 3, there.document.size() - end - 4);
  // Removes what every request to Anthropic gets.
  const std::size_t limit = settings.find(R"("max_tokens":4096)");
  if (limit != std::string::npos) settings.erase(limit == 0 ? 0 : limit - 1, limit == 0 ? 17 : 18);
  return settings;
}

std::vector<std::string> carried(const Conversion& conversion) {
  std::vector<std::string> paths;
  for (const Finding& finding : conversion.report.findings) {
    if (finding.field == "settings" && finding.change == Change::Carried) paths.push_back(finding.path);
  }
  return paths;
}

std::string request(Dialect dialect, const std::string& settings) {
  switch (dialect) {
    case Dialect::Anthropic:
      return R"({"tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"x"}],)" +
             settings + "}";
    case Dialect::OpenaiChat:
      return R"({"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],"messages":[{"role":"user","content":"x"}],)" +
             settings + "}";
    case Dialect::OpenaiResponses:
      return R"({"tools":[{"type":"function","name":"f","parameters":{"type":"object"},"strict":false}],"input":[{"role":"user","content":"x"}],)" +
             settings + "}";
    default:
      return R"({"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object"}}]}],"contents":[{"role":"user","parts":[{"text":"x"}]}],)" +
             settings + "}";
  }
}

TEST(Settings, ThoseThatEverybodyHasAreTranslated) {
  const std::string anthropic = request(kA, R"("max_tokens":1024,"temperature":1.0,"top_p":0.90,"stream":true)");
  EXPECT_EQ(settingsIn(anthropic, kA, kC),
            R"("max_completion_tokens":1024,"temperature":1.0,"top_p":0.90,"stream":true)");
  EXPECT_EQ(settingsIn(anthropic, kA, kR), R"("max_output_tokens":1024,"temperature":1.0,"top_p":0.90,"stream":true)");
  EXPECT_EQ(settingsIn(anthropic, kA, kG),
            R"("generationConfig":{"maxOutputTokens":1024,"temperature":1.0,"topP":0.90})");
  const std::string gemini = request(kG, R"("generation_config":{"max_output_tokens":5,"topK":40,"seed":7})");
  EXPECT_EQ(settingsIn(gemini, kG, kA), R"("max_tokens":5)");
  EXPECT_EQ(settingsIn(gemini, kG, kC), R"("max_completion_tokens":5,"seed":7)");
  EXPECT_EQ(settingsIn(request(kC, R"("max_tokens":9)"), kC, kR), R"("max_output_tokens":9)");
}

TEST(Settings, StopWordsAreAListWithinTheTargetsLimit) {
  EXPECT_EQ(settingsIn(request(kC, R"("stop":"END")"), kC, kA), R"("stop_sequences":["END"])");
  EXPECT_EQ(settingsIn(request(kA, R"("stop_sequences":["a","b"])"), kA, kG),
            R"("generationConfig":{"stopSequences":["a","b"]})");
  EXPECT_EQ(settingsIn(request(kA, R"("stop_sequences":["1","2","3","4"])"), kA, kC), R"("stop":["1","2","3","4"])");
  EXPECT_EQ(settingsIn(request(kA, R"("stop_sequences":["1","2","3","4","5"])"), kA, kG),
            R"("generationConfig":{"stopSequences":["1","2","3","4","5"]})");
  EXPECT_EQ(carried(convert(request(kA, R"("stop_sequences":["1","2","3","4","5","6"])"), kA, kG)),
            std::vector<std::string>{"stop_sequences"});
  const Conversion many = convert(request(kA, R"("stop_sequences":["1","2","3","4","5"])"), kA, kC);
  EXPECT_EQ(carried(many), std::vector<std::string>{"stop_sequences"});
  EXPECT_EQ(many.document.find("stop"), std::string::npos);
}

TEST(Settings, ToolChoiceIsSpelledAsTheTargetDoes) {
  EXPECT_EQ(settingsIn(request(kA, R"("tool_choice":{"type":"any","disable_parallel_tool_use":true})"), kA, kC),
            R"("tool_choice":"required","parallel_tool_calls":false)");
  EXPECT_EQ(settingsIn(request(kA, R"("tool_choice":{"type":"tool","name":"f"})"), kA, kC),
            R"("tool_choice":{"type":"function","function":{"name":"f"}})");
  EXPECT_EQ(settingsIn(request(kC, R"("tool_choice":{"type":"function","function":{"name":"f"}})"), kC, kR),
            R"("tool_choice":{"type":"function","name":"f"})");
  EXPECT_EQ(settingsIn(request(kR, R"("tool_choice":{"type":"function","name":"f"})"), kR, kG),
            R"("toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}})");
  EXPECT_EQ(settingsIn(request(kG, R"("toolConfig":{"functionCallingConfig":{"mode":"NONE"}})"), kG, kA),
            R"("tool_choice":{"type":"none"})");
  EXPECT_EQ(settingsIn(request(kR, R"("parallel_tool_calls":false)"), kR, kA),
            R"("tool_choice":{"type":"auto","disable_parallel_tool_use":true})");
}

TEST(Settings, ToolChoiceFollowsARenamedToolAndNeedsTools) {
  const std::string gemini =
      R"({"tools":[{"functionDeclarations":[{"name":"a.b:c"}]}],"contents":[{"role":"user","parts":[{"text":"x"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["a.b:c"]}}})";
  const Conversion chat = convert(gemini, kG, kC);
  const std::size_t name = chat.document.find("\"t_a_b_c_");
  ASSERT_NE(name, std::string::npos) << chat.document;
  const std::string alias = chat.document.substr(name, chat.document.find('"', name + 1) - name + 1);
  EXPECT_NE(chat.document.find(R"("tool_choice":{"type":"function","function":{"name":)" + alias), std::string::npos);
  EXPECT_EQ(convert(chat.document, kC, kG, &chat.wayBack).document, gemini);
  const std::string bare = R"({"messages":[{"role":"user","content":"x"}],"tool_choice":{"type":"auto"}})";
  EXPECT_EQ(convert(bare, kA, kC).document, R"({"messages":[{"role":"user","content":"x"}]})");
}

TEST(Settings, FormOfTheAnswerIsTranslated) {
  const std::string chat = request(
      kC,
      R"("response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"type":"object"}}})");
  EXPECT_EQ(settingsIn(chat, kC, kR),
            R"("text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"},"strict":true}})");
  EXPECT_EQ(settingsIn(chat, kC, kA),
            R"("output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}})");
  EXPECT_EQ(settingsIn(chat, kC, kG),
            R"("generationConfig":{"responseMimeType":"application/json","responseJsonSchema":{"type":"object"}})");
  EXPECT_EQ(carried(convert(chat, kC, kG)),
            (std::vector<std::string>{"response_format.json_schema.name", "response_format.json_schema.strict"}));
  EXPECT_EQ(settingsIn(request(kG, R"("generationConfig":{"responseMimeType":"application/json"})"), kG, kC),
            R"("response_format":{"type":"json_object"})");
}

TEST(Settings, ThinkingIsTranslatedWhereItIsMeasuredInTheSameWay) {
  EXPECT_EQ(settingsIn(request(kC, R"("reasoning_effort":"low")"), kC, kR), R"("reasoning":{"effort":"low"})");
  EXPECT_EQ(settingsIn(request(kR, R"("reasoning":{"effort":"high"})"), kR, kG),
            R"("generationConfig":{"thinkingConfig":{"thinkingLevel":"HIGH"}})");
  EXPECT_EQ(settingsIn(request(kG, R"("generationConfig":{"thinkingConfig":{"thinkingLevel":"low"}})"), kG, kA),
            R"("output_config":{"effort":"low"})");
  const std::string budget = request(kA, R"("thinking":{"type":"enabled","budget_tokens":2048})");
  EXPECT_EQ(settingsIn(budget, kA, kG), R"("generationConfig":{"thinkingConfig":{"thinkingBudget":2048}})");
  EXPECT_EQ(carried(convert(budget, kA, kC)), std::vector<std::string>{"thinking"});
}

TEST(Settings, WhatHasNoEquivalentIsNamed) {
  const Conversion there =
      convert(request(kA, R"("model":"claude","temperature":0.5,"metadata":{"user_id":"u"},"top_k":3)"), kA, kR);
  EXPECT_EQ(carried(there), (std::vector<std::string>{"model", "metadata", "top_k"}));
  EXPECT_EQ(carried(convert(request(kC, R"("temperature":1.5)"), kC, kA)), std::vector<std::string>{"temperature"});
  EXPECT_EQ(carried(convert(request(kC, R"("temperature":"warm","seed":null)"), kC, kG)),
            (std::vector<std::string>{"temperature", "seed"}));
}

TEST(Settings, OnesADialectInTheMiddleCannotSayReachTheNextOne) {
  const Conversion responses = convert(request(kC, R"("stop":["END"],"temperature":0.5)"), kC, kR);
  EXPECT_EQ(responses.document.find("END"), std::string::npos);
  const Conversion gemini = convert(responses.document, kR, kG, &responses.wayBack);
  EXPECT_NE(gemini.document.find(R"("generationConfig":{"temperature":0.5,"stopSequences":["END"]})"),
            std::string::npos)
      << gemini.document;
}

TEST(Settings, OneThatWasChangedInTheTargetIsChangedOnTheWayBack) {
  const std::string chat = request(kC, R"("model":"m",  "temperature":0.50 ,"max_tokens":10,"stop":"END")");
  Conversion there = convert(chat, kC, kG);
  const std::size_t at = there.document.find("0.50");
  ASSERT_NE(at, std::string::npos);
  there.document.replace(at, 4, "0.75");
  there.document.replace(there.document.find(":10,"), 4, ":20,");
  const Conversion back = convert(there.document, kG, kC, &there.wayBack);
  EXPECT_EQ(back.document, request(kC, R"("model":"m",  "temperature":0.75 ,"max_tokens":20,"stop":"END")"));
  std::size_t edited = 0;
  for (const Finding& finding : back.report.findings) edited += finding.change == Change::Edited ? 1 : 0;
  EXPECT_EQ(edited, 2U);
}

TEST(Settings, OnesAddedOrTakenAwayInTheTargetAreNamed) {
  const std::string chat = request(kC, R"("temperature":0.5)");
  Conversion there = convert(chat, kC, kG);
  const std::string put = R"("topP":0.1)";
  there.document.replace(there.document.find(R"("temperature":0.5)"), 17, put);
  const Conversion back = convert(there.document, kG, kC, &there.wayBack);
  EXPECT_EQ(back.document, chat);
  std::string seen;
  for (const Finding& finding : back.report.findings) {
    seen += std::string(toString(finding.change)) + " " + finding.path + "\n";
  }
  EXPECT_EQ(seen, "added top_p\nremoved temperature\n");
}

TEST(Settings, AChainThatNobodyEditedChangesNothing) {
  const std::vector<std::string> requests = {
      request(
          kC,
          R"("response_format":{"type":"json_schema","json_schema":{"name":"foo","strict":true,"schema":{"type":"object"}}})"),
      request(
          kC,
          R"("temperature":1.5,"stop":["a","b"],"max_tokens":77,"reasoning_effort":"minimal","parallel_tool_calls":false)"),
      request(kC, R"("tool_choice":{"type":"function","function":{"name":"f"}},"seed":3)"),
      request(
          kG,
          R"("generationConfig":{"stopSequences":["1","2","3","4","5"],"temperature":2,"thinkingConfig":{"thinkingBudget":100}})"),
      request(kG, R"("generation_config":{"max_output_tokens":5,"top_k":4,"response_mime_type":"application/json"})"),
      request(
          kA,
          R"("max_tokens":10,"output_config":{"effort":"max","format":{"type":"json_schema","schema":{"type":"object"}}},"tool_choice":{"type":"auto","disable_parallel_tool_use":true})"),
      request(
          kR,
          R"("text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"}},"verbosity":"low"},"reasoning":{"effort":"none"})")};
  const std::vector<Dialect> firsts = {kC, kC, kC, kG, kG, kA, kR};
  const Dialect all[] = {kA, kC, kR, kG};
  for (std::size_t i = 0; i < requests.size(); ++i) {
    for (const Dialect second : all) {
      for (const Dialect third : all) {
        if (second == firsts[i] || third == firsts[i] || second == third) continue;
        const Conversion there = convert(requests[i], firsts[i], second);
        const Conversion on = convert(there.document, second, third, &there.wayBack);
        const Conversion back = convert(on.document, third, firsts[i], &on.wayBack);
        EXPECT_EQ(back.document, requests[i]) << toString(second) << " " << toString(third);
        for (const Finding& finding : back.report.findings) {
          EXPECT_TRUE(finding.change != Change::Edited && finding.change != Change::Removed &&
                      finding.change != Change::Added)
              << toString(finding.change) << " " << finding.path << " over " << toString(second) << " "
              << toString(third);
        }
      }
    }
  }
}

TEST(Settings, AnEditInTheMiddleOfAChainReachesTheEnd) {
  Conversion there = convert(request(kC, R"("max_tokens":10)"), kC, kG);
  there.document.replace(there.document.find(":10"), 3, ":20");
  const Conversion on = convert(there.document, kG, kR, &there.wayBack);
  EXPECT_TRUE(on.document.contains(R"("max_output_tokens":20)")) << on.document;
  EXPECT_EQ(convert(on.document, kR, kC, &on.wayBack).document, request(kC, R"("max_tokens":20)"));
}

TEST(Settings, RequestsToAnthropicHaveALimit) {
  for (const Dialect from : {kC, kR, kG}) {
    const Conversion there = convert(request(from, R"("x":1)"), from, kA);
    EXPECT_TRUE(there.document.contains(R"("max_tokens":4096)")) << there.document;
    EXPECT_EQ(convert(there.document, kA, from, &there.wayBack).document, request(from, R"("x":1)"));
    const Dialect third = from == kC ? kR : kC;
    EXPECT_FALSE(convert(there.document, kA, third, &there.wayBack).document.contains("4096"));
  }
  EXPECT_TRUE(convert(request(kG, R"("generationConfig":{"maxOutputTokens":9})"), kG, kA)
                  .document.contains(R"("max_tokens":9)"));
}

TEST(Settings, AListThatBecomesARequestToAnthropicHasALimit) {
  const std::string chat = R"([{"role":"system","content":"s"},{"role":"user","content":"x"}])";
  const Conversion there = convert(chat, kC, kA);
  EXPECT_EQ(there.document, R"({"system":"s","messages":[{"role":"user","content":"x"}],"max_tokens":4096})");
  EXPECT_EQ(convert(there.document, kA, kC, &there.wayBack).document, chat);
}

TEST(Settings, TheNormalizedFormHasNone) {
  const std::string tools = R"("tools":[{"name":"a","input_schema":{"type":"object"}}])";
  const std::string anthropic =
      request(kA, tools + R"(,"max_tokens":5,"tool_choice":{"type":"auto","disable_parallel_tool_use":true})");
  const Conversion there = convert(anthropic, kA, Dialect::Bough);
  EXPECT_FALSE(there.document.contains("tool_choice")) << there.document;
  const Conversion on = convert(there.document, Dialect::Bough, kC, &there.wayBack);
  EXPECT_TRUE(on.document.contains(R"("parallel_tool_calls":false)")) << on.document;
  EXPECT_EQ(convert(on.document, kC, kA, &on.wayBack).document, anthropic);
}

TEST(Settings, SamplingThatTheNewestModelsRefuseIsLeftOutAndNamed) {
  const Conversion there = convert(request(kC, R"("temperature":0.2,"top_p":0.9)"), kC, kA);
  EXPECT_FALSE(there.document.contains("temperature")) << there.document;
  EXPECT_EQ(carried(there), (std::vector<std::string>{"temperature", "top_p"}));
}

}  // namespace
}  // namespace bough::test
