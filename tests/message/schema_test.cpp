// Tool schemas: Gemini's own form becomes JSON Schema, and every target gets an object.
#include <bough/convert.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace bough::test {
namespace {

constexpr auto kA = Dialect::Anthropic;
constexpr auto kC = Dialect::OpenaiChat;
constexpr auto kG = Dialect::Gemini;

std::string geminiTool(const std::string& parameters) {
  return R"({"tools":[{"functionDeclarations":[{"name":"f","parameters":)" + parameters +
         R"(}]}],"contents":[{"role":"user","parts":[{"text":"x"}]}]})";
}

// Returns the schema that Anthropic gets; the document must come back unchanged.
std::string schemaOf(const std::string& document, Dialect from = kG) {
  const auto there = convertHistory(document, from, kA);
  EXPECT_TRUE(there);
  EXPECT_EQ(convertHistory(there->document, kA, from, {}, &there->wayBack)->document, document);
  const std::string key = "\"input_schema\":";
  const std::size_t begin = there->document.find(key) + key.size();
  return there->document.substr(begin, there->document.find("}],\"messages\"") - begin);
}

TEST(GeminiSchema, TypesAndCountsBecomeThoseOfJsonSchema) {
  EXPECT_EQ(
      schemaOf(geminiTool(
          R"({"type":"OBJECT","properties":{"a":{"type":"ARRAY","minItems":"1","maxItems":"3","items":{"type":"STRING","maxLength":"10"}}},"required":["a"],"propertyOrdering":["a"]})")),
      R"({"type":"object","properties":{"a":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"string","maxLength":10}}},"required":["a"]})");
}

TEST(GeminiSchema, NumbersInStringsBecomeNumbers) {
  EXPECT_EQ(
      schemaOf(geminiTool(
          R"({"type":"OBJECT","properties":{"a":{"type":"INTEGER","format":"enum","enum":["101","201"]},"b":{"type":"NUMBER","nullable":true,"enum":["1.5","x"],"minimum":"-1","maximum":"1e3"},"c":{"type":"STRING","enum":["1"]}}})")),
      R"({"type":"object","properties":{"a":{"type":"integer","format":"enum","enum":[101,201]},"b":{"type":["number","null"],"enum":[1.5,"x",null],"minimum":-1,"maximum":1e3},"c":{"type":"string","enum":["1"]}}})");
}

TEST(GeminiSchema, TheOrderOfPropertiesIsNamed) {
  const auto tool = convertHistory(
      geminiTool(R"({"type":"OBJECT","properties":{"a":{"type":"OBJECT","property_ordering":["x"]}}})"), kG, kA);
  EXPECT_EQ(tool->report.lossyFields, std::vector<std::string>{"tool.parameters.propertyOrdering"});
  const auto answer = convertHistory(
      R"({"contents":[{"role":"user","parts":[{"text":"x"}]}],"generationConfig":{"responseMimeType":"application/json","responseSchema":{"type":"OBJECT","propertyOrdering":["x"]}}})",
      kG, kC);
  EXPECT_TRUE(std::ranges::any_of(answer->report.findings, [](const Finding& finding) {
    return finding.field == "settings" && finding.path == "generationConfig.responseSchema.propertyOrdering";
  })) << answer->report.toJson();
}

// Gemini allows several tools in one element.
TEST(GeminiTools, ToolsBesideDeclarationsAreNamedAndComeBack) {
  const std::string document =
      R"({"tools":[{"functionDeclarations":[{"name":"f"}],"googleSearch":{"k":1}},{"codeExecution":{},"function_declarations":[]}],"contents":[{"role":"user","parts":[{"text":"x"}]}]})";
  for (const Dialect to : {kA, kC, Dialect::OpenaiResponses}) {
    const auto there = convertHistory(document, kG, to);
    EXPECT_EQ(there->report.lossyFields, std::vector<std::string>{"tool"});
    EXPECT_EQ(there->report.lossyCounts, std::vector<std::uint64_t>{2});
    EXPECT_EQ(convertHistory(there->document, to, kG, {}, &there->wayBack)->document, document);
    // Also when a tool was edited, so that the list is written again.
    std::string edited = there->document;
    edited.replace(edited.find("\"name\":\"f\""), 10, "\"name\":\"g\"");
    const auto back = convertHistory(edited, to, kG, {}, &there->wayBack);
    EXPECT_TRUE(back->document.contains(R"({"googleSearch":{"k":1}},{"codeExecution":{}})")) << back->document;
    EXPECT_TRUE(back->document.contains(R"("name":"g")")) << back->document;
  }
}

TEST(ChatTools, MembersBesideTheFunctionAreNamed) {
  const auto there = convertHistory(
      R"({"tools":[{"type":"function","function":{"name":"f"},"cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"x"}]})",
      kC, kA);
  EXPECT_EQ(there->report.lossyFields, std::vector<std::string>{"tool.cache_control"});
}

TEST(GeminiSchema, NullableAllowsNull) {
  EXPECT_EQ(
      schemaOf(geminiTool(
          R"({"type":"OBJECT","properties":{"a":{"type":"STRING","nullable":true},"b":{"type":"STRING","nullable":true,"enum":["x"]},"c":{"nullable":true,"anyOf":[{"type":"STRING"},{"type":"NUMBER"}]},"d":{"type":"STRING","nullable":false},"e":{"type":"STRING","nullable":true,"anyOf":[{"type":"STRING"}]},"f":{"type":"STRING","anyOf":[{"type":"STRING"}]}}})")),
      R"({"type":"object","properties":{"a":{"type":["string","null"]},"b":{"type":["string","null"],"enum":["x",null]},"c":{"anyOf":[{"type":"string"},{"type":"number"},{"type":"null"}]},"d":{"type":"string"},"e":{"type":["string","null"],"anyOf":[{"type":"string"},{"type":"null"}]},"f":{"type":"string","anyOf":[{"type":"string"}]}}})");
}

TEST(GeminiSchema, AnUnspecifiedTypeIsLeftOut) {
  EXPECT_EQ(
      schemaOf(geminiTool(R"({"type":"OBJECT","properties":{"a":{"type":"TYPE_UNSPECIFIED","description":"d"}}})")),
      R"({"type":"object","properties":{"a":{"description":"d"}}})");
}

TEST(GeminiSchema, NamesOfPropertiesAndValuesAreNotKeywords) {
  EXPECT_EQ(
      schemaOf(geminiTool(
          R"({"type":"OBJECT","properties":{"type":{"type":"STRING"},"nullable":{"type":"BOOLEAN"},"minItems":{"type":"INTEGER"}},"default":{"type":"STRING","minItems":"1"}})")),
      R"({"type":"object","properties":{"type":{"type":"string"},"nullable":{"type":"boolean"},"minItems":{"type":"integer"}},"default":{"type":"STRING","minItems":"1"}})");
}

TEST(GeminiSchema, TheOtherSpellingOfKeywordsIsRead) {
  EXPECT_EQ(
      schemaOf(geminiTool(
          R"({"type":"OBJECT","properties":{"a":{"type":"ARRAY","min_items":"1","items":{"any_of":[{"type":"STRING"}]}}}})")),
      R"({"type":"object","properties":{"a":{"type":"array","minItems":1,"items":{"anyOf":[{"type":"string"}]}}}})");
}

TEST(GeminiSchema, DeepOnesDoNotExhaustTheStack) {
  std::string deep = R"({"type":"STRING"})";
  for (int i = 0; i < 120; ++i) deep = R"({"type":"ARRAY","items":)" + deep + "}";
  EXPECT_TRUE(schemaOf(geminiTool(R"({"type":"OBJECT","properties":{"a":)" + deep + "}}")).contains("\"string\""));
}

TEST(GeminiSchema, OfAnAnswerIsConvertedToo) {
  const std::string document =
      R"({"contents":[{"role":"user","parts":[{"text":"x"}]}],"generationConfig":{"responseMimeType":"application/json","responseSchema":{"type":"OBJECT","properties":{"a":{"type":"STRING","nullable":true}}}}})";
  const auto there = convertHistory(document, kG, kC);
  EXPECT_TRUE(there->document.contains(R"("schema":{"type":"object","properties":{"a":{"type":["string","null"]}}})"))
      << there->document;
  EXPECT_EQ(convertHistory(there->document, kC, kG, {}, &there->wayBack)->document, document);
}

TEST(Schema, EmptyParametersBecomeAnObject) {
  const std::string document =
      R"({"tools":[{"type":"function","function":{"name":"f","parameters":{}}}],"messages":[{"role":"user","content":"x"}]})";
  EXPECT_EQ(schemaOf(document, kC), R"({"type":"object"})");
  EXPECT_EQ(schemaOf(geminiTool("{}")), R"({"type":"object"})");
  EXPECT_EQ(schemaOf(geminiTool(R"({"properties":{"a":{"type":"STRING"}}})")),
            R"({"type":"object","properties":{"a":{"type":"string"}}})");
}

TEST(Tools, AnEmptyListOfFunctionsComesBack) {
  for (const char* tools :
       {R"([{"functionDeclarations":[]}])", R"([{}])", R"([{"functionDeclarations":[]},{"googleSearch":{}}])"}) {
    const std::string document =
        R"({"tools":)" + std::string(tools) + R"(,"contents":[{"role":"user","parts":[{"text":"x"}]}]})";
    for (const Dialect to : {kA, kC, Dialect::OpenaiResponses}) {
      const auto there = convertHistory(document, kG, to);
      EXPECT_EQ(convertHistory(there->document, to, kG, {}, &there->wayBack)->document, document);
    }
  }
}

}  // namespace
}  // namespace bough::test
