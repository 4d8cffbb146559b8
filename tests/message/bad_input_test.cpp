// Messages that do not match their dialect: they are reported and kept, and the other messages are not affected.
#include <bough/convert.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/json/json_scan.h"

namespace bough::test {
namespace {

constexpr ConvertOptions kStrict{.strict = true, .keepPendingCalls = false};

struct Bad {
  Dialect dialect;
  std::string document;
  std::string path;
  std::string reason;
};

const std::vector<Bad>& badDocuments() {
  static const std::vector<Bad> kBad = {
      {Dialect::Anthropic, R"([{"role":"user","content":"a"},{"role":"robot","content":"b"}])", "messages[1]", "role"},
      {Dialect::Anthropic, R"([{"role":"user"},{"role":"user","content":"a"}])", "messages[0]", "content is missing"},
      {Dialect::Anthropic, R"([{"role":"user","content":7},{"role":"user","content":"a"}])", "messages[0]", "neither"},
      {Dialect::Anthropic, R"([7,{"role":"user","content":"a"}])", "messages[0]", "object"},
      {Dialect::Anthropic, R"([{"role":"user","content":[{"type":"text"},{"type":"text","text":"a"}]}])",
       "messages[0].content[0]", "without text"},
      {Dialect::Anthropic,
       R"([{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","name":"f"},{"type":"text","text":"a"}]}])",
       "messages[1].content[0]", "without id"},
      {Dialect::OpenaiChat, R"([{"role":"user","content":"a"},{"role":"tool","content":"b"}])", "messages[1]",
       "tool_call_id"},
      {Dialect::OpenaiChat, R"([{"role":"user","content":"a"},{"role":"assistant","tool_calls":{}}])", "messages[1]",
       "tool_calls"},
      {Dialect::OpenaiChat, R"([{"role":"user","content":"a"},null])", "messages[1]", "object"},
      {Dialect::OpenaiResponses,
       R"([{"role":"user","content":"a"},{"type":"function_call","call_id":"c","name":"f","arguments":{}}])",
       "input[1]", "not a string"},
      {Dialect::OpenaiResponses, R"([{"role":"user","content":"a"},{"foo":1}])", "input[1]", "without type"},
      {Dialect::Gemini, R"([{"role":"user","parts":[{"text":"a"}]},{"role":"assistant","parts":[]}])", "contents[1]",
       "role"},
      {Dialect::Gemini, R"([{"role":"user","parts":[{"text":"a"}]},{"role":"user","parts":"x"}])", "contents[1]",
       "not a list"},
      {Dialect::Gemini, R"([{"role":"user","parts":[{"text":"a"},{"functionCall":{"name":"f","args":[]}}]}])",
       "contents[0].parts[1]", "cannot be read"},
      {Dialect::Bough, R"([{"role":"user","content":"a"},{"role":"user","content":{}}])", "messages[1]", "neither"},
      {Dialect::Plain, R"([{"type":"user","content":"a"},{"type":"thing"}])", "messages[1]", "type"},
  };
  return kBad;
}

TEST(BadInput, IsNamedWithItsReasonAndTheRestIsConverted) {
  for (const Bad& bad : badDocuments()) {
    const Dialect to = bad.dialect == Dialect::OpenaiChat ? Dialect::Anthropic : Dialect::OpenaiChat;
    const auto conversion = convertHistory(bad.document, bad.dialect, to);
    ASSERT_TRUE(conversion) << bad.document;
    EXPECT_FALSE(conversion->report.compatible) << bad.document;
    ASSERT_EQ(conversion->report.warnings.size(), 1U) << bad.document << conversion->report.toJson();
    EXPECT_TRUE(conversion->report.warnings.front().starts_with(bad.path + ": "))
        << conversion->report.warnings.front();
    EXPECT_NE(conversion->report.warnings.front().find(bad.reason), std::string::npos)
        << conversion->report.warnings.front();
    EXPECT_NE(conversion->document.find("\"a\""), std::string::npos) << conversion->document;
    EXPECT_TRUE(json::check(conversion->document));
    if (bad.dialect == Dialect::Plain) continue;
    const auto back = convertHistory(conversion->document, to, bad.dialect, {}, &conversion->wayBack);
    EXPECT_EQ(back->document, bad.document);
  }
}

TEST(BadInput, ACallInAUserMessageIsNamedInEveryTarget) {
  const std::string text =
      R"([{"role":"user","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},{"role":"assistant","content":"x"}])";
  for (const Dialect to : {Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini, Dialect::Bough}) {
    const auto there = convertHistory(text, Dialect::Anthropic, to);
    ASSERT_TRUE(there.has_value());
    EXPECT_FALSE(there->report.compatible) << toString(to);
    EXPECT_EQ(convertHistory(there->document, to, Dialect::Anthropic, {}, &there->wayBack)->document, text);
  }
}

TEST(BadInput, StopsAStrictConversion) {
  for (const Bad& bad : badDocuments()) {
    const Dialect to = bad.dialect == Dialect::OpenaiChat ? Dialect::Anthropic : Dialect::OpenaiChat;
    const auto conversion = convertHistory(bad.document, bad.dialect, to, kStrict);
    ASSERT_FALSE(conversion) << bad.document;
    EXPECT_EQ(conversion.error().code, ErrorCode::InvalidArgument);
    EXPECT_NE(conversion.error().message.find(bad.reason), std::string::npos) << conversion.error().message;
  }
}

TEST(BadInput, ATruncatedDocumentIsConvertedUpToTheBreakAndComesBackWhole) {
  const std::string whole =
      R"({"system":"s","messages":[{"role":"user","content":"a"}, {"role":"assistant","content":"b"}, {"role":"user","content":[{"type":"text","text":"c"}]}]})";
  for (std::size_t size = whole.find('[') + 1; size < whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);
    for (const Dialect to : {Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini}) {
      const auto there = convertHistory(cut, Dialect::Anthropic, to);
      ASSERT_TRUE(there) << cut;
      EXPECT_TRUE(json::check(there->document)) << there->document;
      EXPECT_EQ(there->report.warnings.size(), 1U);
      EXPECT_FALSE(there->report.compatible);
      const auto back = convertHistory(there->document, to, Dialect::Anthropic, {}, &there->wayBack);
      ASSERT_TRUE(back);
      EXPECT_EQ(back->document, cut);
    }
    EXPECT_FALSE(convertHistory(cut, Dialect::Anthropic, Dialect::Gemini, kStrict));
  }
}

TEST(BadInput, BytesThatAreNotUtf8AreKeptAndTheirMessageIsNamed) {
  const std::string document =
      "[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"user\",\"content\":\"\xFF\xFE\"}]\xC3";
  const auto plain = convertHistory(document.substr(0, document.size() - 1), Dialect::OpenaiChat, Dialect::Gemini);
  ASSERT_TRUE(plain);
  EXPECT_TRUE(json::check(plain->document));
  EXPECT_TRUE(json::check(plain->wayBack.json));
  EXPECT_EQ(plain->report.warnings.front(), "messages[1]: the text is not UTF-8");
  EXPECT_EQ(convertHistory(plain->document, Dialect::Gemini, Dialect::OpenaiChat, {}, &plain->wayBack)->document,
            document.substr(0, document.size() - 1));
  const auto broken = convertHistory(document, Dialect::OpenaiChat, Dialect::Gemini);
  ASSERT_TRUE(broken);
  EXPECT_TRUE(json::check(broken->wayBack.json));
  EXPECT_EQ(convertHistory(broken->document, Dialect::Gemini, Dialect::OpenaiChat, {}, &broken->wayBack)->document,
            document);
}

TEST(BadInput, ASystemPromptOrToolThatIsNotUtf8ComesBackAlsoBesideAnEdit) {
  const std::pair<Dialect, std::string> documents[] = {
      {Dialect::Anthropic,
       R"({"system":"%","tools":[{"name":"f","description":"%","input_schema":{"type":"object"}},)"
       R"({"type":"computer_20251124","name":"%"}],"messages":[{"role":"user","content":"hello"}]})"},
      {Dialect::OpenaiChat, R"({"tools":[{"type":"function","function":{"name":"f","description":"%"}}],"messages":[)"
                            R"({"role":"system","content":"%"},{"role":"user","content":"hello"}]})"},
      {Dialect::OpenaiResponses, R"({"instructions":"%","tools":[{"type":"function","name":"f","description":"%"}],)"
                                 R"("input":[{"role":"user","content":"hello"}]})"},
      {Dialect::Gemini,
       R"({"systemInstruction":{"parts":[{"text":"%"}]},"tools":[{"functionDeclarations":)"
       R"([{"name":"f","description":"%"}]}],"contents":[{"role":"user","parts":[{"text":"hello"}]}]})"}};
  for (auto [from, document] : documents) {
    std::ranges::replace(document, '%', '\xFF');
    for (const auto& [to, other] : documents) {
      if (to == from) continue;
      const auto there = convertHistory(document, from, to);
      ASSERT_TRUE(there) << document;
      EXPECT_TRUE(json::check(there->document)) << there->document;
      EXPECT_EQ(convertHistory(there->document, to, from, {}, &there->wayBack)->document, document);
      std::string edited = there->document;
      edited.replace(edited.find("hello"), 5, "hullo");
      const auto back = convertHistory(edited, to, from, {}, &there->wayBack);
      ASSERT_TRUE(back) << edited;
      EXPECT_TRUE(back->document.contains("hullo") && back->document.contains('\xFF')) << back->document;
    }
  }
}

TEST(BadInput, ADocumentWithoutMessagesIsRefused) {
  for (const std::string document :
       {"", "null", "{}", "\"text\"", R"({"messages":{}})", R"({"contents":[]})", "[", "{"}) {
    const auto conversion = convertHistory(document, Dialect::Anthropic, Dialect::Gemini);
    if (document == "[") {
      EXPECT_TRUE(conversion);
      continue;
    }
    ASSERT_FALSE(conversion) << document;
    EXPECT_EQ(conversion.error().code, ErrorCode::InvalidArgument);
  }
}

TEST(BadInput, NestingBeyondTheLimitIsRefusedNotFollowed) {
  std::string deep = R"([{"role":"user","content":"a"},{"role":"user","content":)" + std::string(100'000, '[');
  const auto conversion = convertHistory(deep, Dialect::Anthropic, Dialect::Gemini);
  ASSERT_TRUE(conversion);
  EXPECT_EQ(conversion->document, R"([{"role":"user","parts":[{"text":"a"}]}])");
  EXPECT_NE(conversion->report.warnings.front().find("nested deeper than 512 levels"), std::string::npos);
}

TEST(BadInput, AnUnknownProviderIsNamed) {
  const auto dialect = parseDialect("bedrock");
  ASSERT_FALSE(dialect);
  EXPECT_EQ(dialect.error().message, "unknown dialect \"bedrock\"");
  EXPECT_NE(dialect.error().hint.find("anthropic"), std::string::npos);
}

TEST(BadInput, AByteOrderMarkComesBack) {
  const std::string document = "\xEF\xBB\xBF[{\"role\":\"user\",\"content\":\"a\"}]";
  const auto there = convertHistory(document, Dialect::Anthropic, Dialect::Gemini);
  EXPECT_EQ(there->document, R"([{"role":"user","parts":[{"text":"a"}]}])");
  EXPECT_EQ(convertHistory(there->document, Dialect::Gemini, Dialect::Anthropic, {}, &there->wayBack)->document,
            document);
}

// Each block and each value takes many times as much memory as its text.
TEST(BadInput, AMessageOfMillionsOfTinyValuesIsNotRead) {
  const auto list = [](std::string_view value, std::size_t count) {
    std::string out = "[";
    for (std::size_t i = 0; i < count; ++i) out.append(i == 0 ? "" : ",").append(value);
    return out + "]";
  };
  const auto said = [](const std::string& content) { return R"({"role":"user","content":)" + content + "}"; };
  const auto called = [&](const std::string& input) {
    return said(R"([{"type":"tool_use","id":"t","name":"n","input":{"a":)" + input + "}}]");
  };
  EXPECT_TRUE(normalize(said(list(R"({"type":"text","text":"x"})", 10'000)), Dialect::Anthropic));
  EXPECT_TRUE(normalize(called(list("1", 1'000'000)), Dialect::Anthropic));
  for (const std::string& message : {said(list("1", 200'000)), called(list("1", 3'000'000))}) {
    const auto read = normalize(message, Dialect::Anthropic);
    ASSERT_FALSE(read);
    EXPECT_TRUE(read.error().message.contains("it holds")) << read.error().message;
  }
  EXPECT_FALSE(normalize(said(list(R"({"type":"text","text":"x"})", 200'000)), Dialect::Bough));
  EXPECT_FALSE(normalize(R"({"role":"user","parts":)" + list(R"({"text":"x"})", 200'000) + "}", Dialect::Gemini));
}

}  // namespace
}  // namespace bough::test
