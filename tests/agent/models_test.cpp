// The table of models, and the requests made from it.
#include <bough/catalog.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "agent/parts/json_parts.h"
#include "agent/providers/model_table.h"
#include "agent/providers/models.h"
#include "support/temp_folder.h"

namespace bough::agent {
namespace {

Endpoint endpointOf(Dialect dialect, const std::string& model,
                    const std::string& baseUrl = "https://api.openai.com/v1") {
  return {.provider = "p",
          .model = model,
          .dialect = dialect,
          .baseUrl = baseUrl,
          .key = "k",
          .keyVariable = "K",
          .facts = ModelTable::builtIn().find(model)};
}

std::string member(const std::string& body, const char* name) {
  return std::string(memberOr(body, name));
}

TEST(ModelTable, TheLongestNameCounts) {
  const ModelTable& table = ModelTable::builtIn();
  EXPECT_EQ(table.find("claude-opus-5-5").thinking, ThinkingKind::AdaptiveAlways);
  EXPECT_EQ(table.find("claude-opus-5").thinking, ThinkingKind::AdaptiveOn);
  EXPECT_EQ(table.find("anthropic/claude-opus-4-5-20251101").thinking, ThinkingKind::Budget);
  EXPECT_EQ(table.find("gpt-5.6-sol").windowTokens, 1'050'000U);
  EXPECT_EQ(table.find("gpt-5").windowTokens, 400'000U);
  EXPECT_EQ(table.find("gpt-4.1-mini").thinking, ThinkingKind::None);
  EXPECT_EQ(table.find("nobody-knows").windowTokens, 128'000U);
  EXPECT_FALSE(table.find("claude-of-tomorrow").sampling);
}

TEST(ModelTable, IsReplacedByTheUsers) {
  const TempFolder folder;
  std::ofstream(folder / "models.txt") << "# mine\nclaude-* 1000000 64000 none max_tokens yes # all of them\n";
  const auto variables = [&](const std::string& name) {
    return name == "BOUGH_MODELS" ? std::string(folder / "models.txt") : std::string("k");
  };
  const auto endpoint = findEndpoint("anthropic/claude-opus-4-1", variables);
  ASSERT_TRUE(endpoint.has_value()) << endpoint.error().message;
  EXPECT_EQ(endpoint->facts.windowTokens, 1'000'000U);
  EXPECT_EQ(endpoint->facts.thinking, ThinkingKind::None);
  for (const char* line :
       {"x 1 2", "x 0 8000 none max_tokens yes", "x 8000 8000 much max_tokens yes", "x 8000 8000 none tokens yes",
        "x 8000 8000 none max_tokens perhaps", "x -5 8000 none max_tokens yes", "x 8k 8000 none max_tokens yes"}) {
    const auto table = ModelTable::parse(std::string("# one\n") + line + "\n");
    ASSERT_FALSE(table.has_value()) << line;
    EXPECT_NE(table.error().message.find("line 2"), std::string::npos) << table.error().message;
  }
  EXPECT_FALSE(ModelTable::read(folder / "missing.txt").has_value());
}

TEST(ModelTable, NoDefaultIsAboutToBeRetired) {
  // Shutdown dates that were announced when the table was made; see docs/models.md.
  const std::map<std::string, std::string> retired = {{"claude-sonnet-4-5", "2026-11-30"},
                                                      {"gpt-5", "2026-12-11"},
                                                      {"gpt-4.1", "2027-01-14"},
                                                      {"gemini-2.5-pro", "2026"}};
  for (const std::string& provider : providerNames()) {
    const std::string variable = provider == "anthropic" ? "ANTHROPIC_API_KEY"
                                 : provider == "gemini"  ? "GEMINI_API_KEY"
                                                         : "OPENAI_API_KEY";
    const std::string model = defaultModel([&](const std::string& name) { return name == variable ? "k" : ""; });
    EXPECT_FALSE(retired.contains(model.substr(model.find('/') + 1))) << model;
  }
}

TEST(ModelTable, TheModelsThatAreSuggestedHaveAPrice) {
  const std::set<std::string> without = {"offline", "openrouter", "ollama", "local"};  // free, or many models
  for (const UsableProvider& provider : usableProviders()) {
    if (without.contains(provider.name)) continue;
    ASSERT_FALSE(provider.models.empty()) << provider.name;
    EXPECT_NE(PriceTable::builtIn().find(provider.models.front()), nullptr) << provider.models.front();
  }
}

TEST(ModelRequest, AnthropicModelsAreAskedToThinkInTheirWay) {
  const auto body = [](const std::string& model, const std::string& level) {
    return anthropicRequest(endpointOf(Dialect::Anthropic, model),
                            {.context = R"({"messages":[],"temperature":0.5,"top_p":1})",
                             .thinkingLevel = level,
                             .maxOutputTokens = 8'000})
        .body;
  };
  const std::string budget = body("claude-sonnet-4-5", "high");
  EXPECT_EQ(member(budget, "thinking"), R"({"type":"enabled","budget_tokens":24000})");
  EXPECT_EQ(member(budget, "max_tokens"), "32000");
  EXPECT_EQ(member(budget, "temperature"), "0.5");
  for (const char* model : {"claude-opus-4-7", "claude-opus-5", "claude-sonnet-5-5", "claude-fable-5-1"}) {
    const std::string adaptive = body(model, "medium");
    EXPECT_EQ(member(adaptive, "thinking"), R"({"type":"adaptive"})") << model;
    EXPECT_EQ(member(adaptive, "output_config"), R"({"effort":"medium"})") << model;
    EXPECT_EQ(member(adaptive, "temperature"), "") << model;
    EXPECT_EQ(member(adaptive, "top_p"), "") << model;
    EXPECT_EQ(member(body(model, ""), "thinking"), "") << model;
  }
  EXPECT_EQ(member(body("claude-opus-5", "off"), "thinking"), R"({"type":"disabled"})");
  EXPECT_EQ(member(body("claude-opus-5-5", "off"), "thinking"), "");
  EXPECT_EQ(member(body("claude-3-5-haiku-latest", "high"), "thinking"), "");
}

// A context for Anthropic contains a limit for callers that send it unchanged.
TEST(ModelRequest, TheLimitIsThatOfTheModelWhateverTheContextHas) {
  const std::string context = R"({"max_tokens":4096,"messages":[{"role":"user","content":"x"}]})";
  const auto bodyOf = [&](const char* model, const char* level) {
    return anthropicRequest(endpointOf(Dialect::Anthropic, model),
                            {.context = context, .thinkingLevel = level, .maxOutputTokens = 32'000})
        .body;
  };
  EXPECT_EQ(member(bodyOf("claude-sonnet-5-5", "high"), "max_tokens"), "32000");
  EXPECT_EQ(member(bodyOf("claude-sonnet-4-5", "high"), "max_tokens"), "56000");
  EXPECT_EQ(member(bodyOf("claude-3-5-haiku-latest", "off"), "max_tokens"), "8192");
}

// The answer with the call may be from another model, whose turn continues with this model after a crash.
TEST(ModelRequest, OlderModelsDoNotThinkInATurnThatBeganWithoutReasoning) {
  const std::string call = R"({"type":"tool_use","id":"t1","name":"a","input":{}})";
  const std::string result = R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"r"}]})";
  const std::string thought = R"({"type":"thinking","thinking":"hm","signature":"c2ln"},)";
  const auto bodyOf = [&](const std::string& model, const std::string& reasoning, const std::string& end) {
    const std::string context = R"({"max_tokens":4096,"messages":[{"role":"user","content":"x"},)"
                                R"({"role":"assistant","content":[)" +
                                reasoning + call + "]}," + end + "]}";
    return anthropicRequest(endpointOf(Dialect::Anthropic, model),
                            {.context = context, .thinkingLevel = "high", .maxOutputTokens = 32'000})
        .body;
  };
  const std::string foreign = bodyOf("claude-sonnet-4-5", "", result);
  EXPECT_EQ(member(foreign, "thinking"), "");
  EXPECT_EQ(member(foreign, "max_tokens"), "32000");
  const std::string more = result + R"(,{"role":"assistant","content":[)" + call + "]}," + result;
  for (const std::string& end : {result, more}) {
    EXPECT_EQ(member(bodyOf("claude-sonnet-4-5", thought, end), "thinking"),
              R"({"type":"enabled","budget_tokens":24000})");
  }
  const std::string next = result + R"(,{"role":"assistant","content":"ok"},{"role":"user","content":"y"})";
  EXPECT_EQ(member(bodyOf("claude-sonnet-4-5", "", next), "thinking"), R"({"type":"enabled","budget_tokens":24000})");
  EXPECT_EQ(member(bodyOf("claude-sonnet-5-5", "", result), "thinking"), R"({"type":"adaptive"})");
}

TEST(ModelRequest, CallsOfAnOlderModelOfGeminiHaveASignatureForANewerOne) {
  const std::string unsignedCalls =
      R"({"role":"model","parts":[{"text":"so"},{"functionCall":{"name":"a","args":{}}},{"functionCall":{"name":"b","args":{}}}]})";
  const std::string signedCall =
      R"({"role":"model","parts":[{"functionCall":{"name":"a","args":{}},"thoughtSignature":"U0lH"}]})";
  const std::string asked = R"({"role":"user","parts":[{"text":"x"}]})";
  const auto contentsOf = [&](const char* model) {
    const std::string context =
        R"({"contents":[)" + asked + "," + unsignedCalls + "," + asked + "," + signedCall + "]}";
    return member(geminiRequest(endpointOf(Dialect::Gemini, model),
                                {.context = context, .thinkingLevel = "", .maxOutputTokens = 100})
                      .body,
                  "contents");
  };
  EXPECT_EQ(
      contentsOf("gemini-3.8-flash"),
      "[" + asked +
          R"(,{"role":"model","parts":[{"text":"so"},{"functionCall":{"name":"a","args":{}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"name":"b","args":{}}}]},)" +
          asked + "," + signedCall + "]");
  EXPECT_EQ(contentsOf("gemini-2.5-pro"), "[" + asked + "," + unsignedCalls + "," + asked + "," + signedCall + "]");
}

TEST(ModelRequest, GeminiGetsABudgetOrALevel) {
  const auto config = [](const std::string& model, const std::string& level) {
    return member(geminiRequest(endpointOf(Dialect::Gemini, model),
                                {.context = R"({"contents":[]})", .thinkingLevel = level, .maxOutputTokens = 77})
                      .body,
                  "generationConfig");
  };
  const auto budget = [](int tokens) {
    return R"({"maxOutputTokens":77,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":)" +
           std::to_string(tokens) + "}}";
  };
  EXPECT_EQ(config("gemini-2.5-pro", "low"), budget(2'048));
  EXPECT_EQ(config("gemini-2.5-pro", "medium"), budget(8'192));
  EXPECT_EQ(config("gemini-2.5-pro", "high"), budget(24'576));
  EXPECT_EQ(config("gemini-2.5-pro", "off"), R"({"maxOutputTokens":77})");
  EXPECT_EQ(config("gemini-2.5-pro", ""), R"({"maxOutputTokens":77})");
  EXPECT_EQ(config("gemini-3-pro", "low"),
            R"({"maxOutputTokens":77,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"low"}})");
}

TEST(ModelRequest, ChatNamesTheLimitAsTheModelTakesIt) {
  const auto body = [](const std::string& model, const std::string& url) {
    return openaiChatRequest(endpointOf(Dialect::OpenaiChat, model, url),
                             {.context = R"({"messages":[],"temperature":0})", .thinkingLevel = "low"})
        .body;
  };
  const std::string reasoning = body("gpt-5.6-sol", "https://api.openai.com/v1");
  EXPECT_EQ(member(reasoning, "max_completion_tokens"), "8192");
  EXPECT_EQ(member(reasoning, "max_tokens"), "");
  EXPECT_EQ(member(reasoning, "temperature"), "");
  EXPECT_EQ(member(reasoning, "reasoning_effort"), "\"low\"");
  EXPECT_EQ(member(body("o3", "http://proxy/v1"), "max_completion_tokens"), "8192");
  const std::string local = body("llama3.2", "http://127.0.0.1:11434/v1");
  EXPECT_EQ(member(local, "max_tokens"), "8192");
  EXPECT_EQ(member(local, "max_completion_tokens"), "");
  EXPECT_EQ(member(local, "temperature"), "0");
  EXPECT_EQ(member(body("gpt-4.1", "https://api.openai.com/v1"), "reasoning_effort"), "");
}

TEST(ModelRequest, ReasoningIsNotSentToModelsWithoutIt) {
  const std::string context =
      R"({"input":[{"role":"user","content":"hi"},{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"x"},)"
      R"({"id":"fc_1","type":"function_call","call_id":"c","name":"ls","arguments":"{}"}]})";
  const auto body = [&](const std::string& model) {
    return openaiResponsesRequest(endpointOf(Dialect::OpenaiResponses, model),
                                  {.context = context, .thinkingLevel = "low"})
        .body;
  };
  EXPECT_NE(body("gpt-5.6-sol").find("rs_1"), std::string::npos);
  EXPECT_NE(body("gpt-5.6-sol").find("reasoning.encrypted_content"), std::string::npos);
  const std::string without = body("gpt-4.1");
  EXPECT_EQ(without.find("rs_1"), std::string::npos) << without;
  EXPECT_EQ(without.find("fc_1"), std::string::npos) << without;
  EXPECT_NE(without.find("\"call_id\":\"c\""), std::string::npos) << without;
  EXPECT_EQ(without.find("reasoning"), std::string::npos) << without;
}

// The server stores nothing, so items that are identified only by an id cannot be sent.
TEST(ModelRequest, WhatOnlyAServerThatStoresCouldFindIsNotSent) {
  const auto body = [&](const std::string& items) {
    return openaiResponsesRequest(endpointOf(Dialect::OpenaiResponses, "gpt-5.6-sol"),
                                  {.context = R"({"input":[{"role":"user","content":"hi"},)" + items + "]}"})
        .body;
  };
  const std::string references = body(R"({"type":"item_reference","id":"msg_1"},{"id":"msg_2"})");
  EXPECT_NE(references.find(R"("input":[{"role":"user","content":"hi"}])"), std::string::npos) << references;
  const std::string call = R"({"id":"fc_1","type":"function_call","call_id":"c","name":"ls","arguments":"{}"})";
  const std::string lost = body(R"({"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":null},)" + call);
  EXPECT_EQ(lost.find("rs_1"), std::string::npos) << lost;
  EXPECT_EQ(lost.find("fc_1"), std::string::npos) << lost;
  const std::string open = body(
      R"({"id":"rs_1","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"so"}]},)" + call);
  EXPECT_NE(open.find("rs_1"), std::string::npos) << open;
  EXPECT_NE(open.find("fc_1"), std::string::npos) << open;
}

TEST(ModelRequest, AModelSaysWhetherItCanBeToldHowMuchToThink) {
  const auto takes = [](const std::string& name, std::string_view level) {
    const auto key = [](const std::string& variable) { return std::string(variable.ends_with("_KEY") ? "k" : ""); };
    const auto provider = makeProvider(name, {}, key);
    EXPECT_TRUE(provider) << name;
    return provider && (*provider)->takesThinking(level);
  };
  for (const char* name : {"anthropic/claude-opus-5", "anthropic/claude-sonnet-4-5", "anthropic/claude-opus-4-8"}) {
    EXPECT_TRUE(takes(name, "off")) << name;
    EXPECT_TRUE(takes(name, "high")) << name;
  }
  for (const char* name :
       {"anthropic/claude-opus-5-5", "openai/gpt-5", "gemini/gemini-2.5-pro", "gemini/gemini-3-pro"}) {
    EXPECT_FALSE(takes(name, "off")) << name;
    EXPECT_TRUE(takes(name, "low")) << name;
  }
  for (const char* name : {"openai/gpt-4.1", "offline/echo"}) {
    EXPECT_TRUE(takes(name, "off")) << name;
    EXPECT_FALSE(takes(name, "low")) << name;
  }
}

TEST(Models, TheNameOfAModelAndItsApiSayWhoseItIs) {
  EXPECT_EQ(providerOfModel("claude-opus-4-5", Dialect::Anthropic), "anthropic");
  EXPECT_EQ(providerOfModel("gpt-5", Dialect::OpenaiResponses), "openai");
  EXPECT_EQ(providerOfModel("gpt-5", Dialect::OpenaiChat), "openai-chat");
  EXPECT_EQ(providerOfModel("gemini-3", std::nullopt), "gemini");
  EXPECT_EQ(providerOfModel("gpt-5", Dialect::Bough), "openai");
  EXPECT_EQ(providerOfModel("claude-opus-4-5", Dialect::OpenaiChat), "") << "over a server that is compatible";
  EXPECT_EQ(providerOfModel("glm-4", Dialect::Anthropic), "");
  EXPECT_EQ(providerOfModel("", std::nullopt), "");
}

TEST(Models, ModelsWithOpenWeightsAreOfNoProviderByTheirName) {
  for (const std::optional<Dialect> dialect :
       {std::optional<Dialect>(), std::optional(Dialect::OpenaiResponses), std::optional(Dialect::OpenaiChat)}) {
    EXPECT_EQ(providerOfModel("gpt-oss:20b", dialect), "");
    EXPECT_EQ(providerOfModel("gpt-oss-120b", dialect), "");
  }
}

TEST(Models, AnApiIsOfTheProviderThatMadeIt) {
  EXPECT_EQ(providerOfDialect(Dialect::Anthropic), "anthropic");
  EXPECT_EQ(providerOfDialect(Dialect::OpenaiChat), "openai");
  EXPECT_EQ(providerOfDialect(Dialect::OpenaiResponses), "openai");
  EXPECT_EQ(providerOfDialect(Dialect::Gemini), "gemini");
  EXPECT_EQ(providerOfDialect(Dialect::Bough), "") << "everyone's";
  EXPECT_TRUE(isSameProvider("openai-chat", "openai"));
  EXPECT_FALSE(isSameProvider("openrouter", "openai"));
  EXPECT_TRUE(mayUseDialectOf("ollama", "openai"));
  EXPECT_FALSE(mayUseDialectOf("anthropic", "openai"));
  EXPECT_TRUE(mayUseDialectOf("a-server-of-mine", "openai"));
}

}  // namespace
}  // namespace bough::agent
