// Requests and arguments as clients and models write them: which are accepted, and which are refused.

#include <gtest/gtest.h>

#include "serve/json_rpc.h"
#include "serve/session_text.h"
#include "serve/tool_arguments.h"

namespace bough::serve {
namespace {

TEST(JsonRpc, AnIdIsATextOrANumber) {
  for (const std::string id : {"0", "-1", "1.5", "\"\"", "\"a\"", "12345678901234567890"}) {
    std::string_view found;
    const auto request = parseRequest(R"({"jsonrpc":"2.0","method":"ping","id":)" + id + "}", found);
    ASSERT_TRUE(request) << id;
    EXPECT_FALSE(request->id.empty()) << id;
  }
  for (const std::string id : {"null", "true", "[]", "{}"}) {
    std::string_view found;
    const auto request = parseRequest(R"({"jsonrpc":"2.0","method":"ping","id":)" + id + "}", found);
    ASSERT_FALSE(request) << id;
    EXPECT_EQ(request.error().code, RpcCode::InvalidRequest) << id;
    EXPECT_TRUE(found.empty()) << id;
  }
}

TEST(JsonRpc, ARequestWithoutAnIdIsANotification) {
  std::string_view id;
  const auto request = parseRequest(R"({"jsonrpc":"2.0","method":"notifications/cancelled"})", id);
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->id.empty());
}

TEST(JsonRpc, ParametersAreAnObject) {
  std::string_view id;
  const auto request = parseRequest(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[]})", id);
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().code, RpcCode::InvalidParams);
  EXPECT_EQ(id, "1");
}

TEST(JsonRpc, ANotificationHasNoAnswerWhateverItHolds) {
  std::string_view id;
  const auto request = parseRequest(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":5})", id);
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->id.empty());
  EXPECT_TRUE(request->params.empty());
}

TEST(JsonRpc, AMessageRepeatsLittleOfALongName) {
  std::string name;
  while (name.size() < 1'000'000) name += "木";
  const std::string answer =
      rpcFailure("1", {.code = RpcCode::MethodNotFound, .message = "there is no method " + name});
  EXPECT_LT(answer.size(), 2'200U);
  EXPECT_TRUE(answer.contains("木…\"}}")) << answer;
}

TEST(ToolArguments, ATextWithHalfOfASurrogatePairIsRefused) {
  EXPECT_EQ(ToolArguments(R"({"text":"\ud83d\ude00 \\ud83d"})").text("text"), "😀 \\ud83d");
  for (const std::string half : {R"(\ud83d)", R"(a\ude00)", R"(\ud83d\ud83d\ude00)", R"(\ud83d\n)"}) {
    const std::string arguments = "{\"text\":\"" + half + "\"}";
    const auto text = ToolArguments(arguments).text("text");
    ASSERT_FALSE(text) << half;
    EXPECT_EQ(text.error().code, ErrorCode::InvalidArgument) << half;
  }
}

TEST(ToolArguments, NumbersAreWholeAndWithinTheirLimits) {
  const ToolArguments given(R"({"zero":0,"ten":10,"much":11,"less":-1,"part":1.5,"text":"3","none":null})");
  EXPECT_EQ(given.number("zero", 5, 10).value(), 0U);
  EXPECT_EQ(given.number("ten", 5, 10).value(), 10U);
  EXPECT_EQ(given.number("none", 5, 10).value(), 5U);
  EXPECT_EQ(given.number("missing", 5, 10).value(), 5U);
  EXPECT_FALSE(given.count("zero", 5, 10)) << "a page of nothing has no next one";
  for (const char* name : {"much", "less", "part", "text"}) EXPECT_FALSE(given.number(name, 5, 10)) << name;
}

TEST(SessionText, PartsBeginAndEndBetweenCharacters) {
  const std::string text = "a木b";
  EXPECT_EQ(textPart(text, 0, 2), "a");
  EXPECT_EQ(textPart(text, 0, 4), "a木");
  EXPECT_EQ(textPart(text, 2, 9), "b");
  EXPECT_EQ(textPart(text, 99, 9), "");
}

}  // namespace
}  // namespace bough::serve
