// Errors that providers report: what they mean, whether to retry, and what to tell the user.
#include "agent/providers/provider_error.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agent/parts/json_parts.h"

namespace bough::agent {
namespace {

TEST(ProviderError, SaysWhetherAskingAgainHelps) {
  struct Case {
    std::string error;
    std::string message;
    bool retryable;
    ErrorCode code = ErrorCode::Io;
  };
  const Case cases[] = {
      {R"({"type":"overloaded_error","message":"m"})", "m (overloaded_error)", true},
      {R"({"type":"rate_limit_error","message":"m"})", "m (rate_limit_error)", true},
      {R"({"type":"api_error","message":"m"})", "m (api_error)", true},
      {R"({"type":"server_error","message":"m"})", "m (server_error)", true},
      {R"({"type":"timeout_error","message":"m"})", "m (timeout_error)", true},
      {R"({"status":"UNAVAILABLE","code":503,"message":"m"})", "m (UNAVAILABLE)", true},
      {R"({"status":"INTERNAL","message":"m"})", "m (INTERNAL)", true},
      {R"({"status":"DEADLINE_EXCEEDED","message":"m"})", "m (DEADLINE_EXCEEDED)", true},
      {R"({"status":"RESOURCE_EXHAUSTED","message":"m"})", "m (RESOURCE_EXHAUSTED)", true},
      {R"({"type":"error","code":"server_error","message":"m"})", "m (server_error)", true},
      {R"({"type":"authentication_error","message":"m"})", "m (authentication_error)", false},
      {R"({"type":"invalid_request_error","message":"m"})", "m (invalid_request_error)", false,
       ErrorCode::InvalidArgument},
      {R"({"status":"INVALID_ARGUMENT","message":"m"})", "m (INVALID_ARGUMENT)", false, ErrorCode::InvalidArgument},
      {R"({"type":"rate_limit_error","code":"insufficient_quota","message":"m"})", "m (rate_limit_error)", false},
      {R"({"message":"m"})", "m", false},
      {R"("only words")", "only words", false},
      {R"({"other":1})", R"({"other":1})", false},
  };
  for (const Case& each : cases) {
    for (const std::string& text : {R"({"error":)" + each.error + "}", R"( [{"error":)" + each.error + "}]"}) {
      const auto error = providerError(text);
      ASSERT_TRUE(error) << text;
      EXPECT_EQ(error->message, each.message);
      EXPECT_EQ(error->retryable, each.retryable) << text;
      EXPECT_EQ(error->code, each.code) << text;
    }
  }
  for (const char* none : {"", "  ", "{}", R"({"error":null})", "[]", R"({"message":"m"})"}) {
    EXPECT_FALSE(providerError(none)) << none;
  }
}

TEST(ProviderError, StatusAndHeaderDecideWhatIsTriedAgain) {
  const auto again = [](long status, std::optional<bool> header = {}, std::string body = {}) {
    HttpResponse response;
    response.status = status;
    response.shouldRetry = header;
    response.body = std::move(body);
    return isWorthRetrying(response);
  };
  for (const long status : {408, 409, 429, 500, 503, 529}) EXPECT_TRUE(again(status)) << status;
  for (const long status : {400, 401, 403, 404, 410, 413, 422, 499}) EXPECT_FALSE(again(status)) << status;
  for (const long status : {400, 401, 403, 404}) EXPECT_FALSE(again(status, true)) << status;
  EXPECT_TRUE(again(422, true));
  EXPECT_FALSE(again(500, false));
  EXPECT_FALSE(again(429, true, "credit balance is too low"));
}

TEST(ProviderError, TheDelayOfABodyIsReadInSeconds) {
  EXPECT_EQ(retryDelayMs(R"({"retryDelay":"1.5s"})"), 1500U);
  EXPECT_EQ(retryDelayMs(R"({"retryDelay": "0s"})"), 0U);
  for (const char* wrong : {"", R"("retryDelay")", R"("retryDelay":"x")", R"("retryDelay":"5")", R"("retryDelay":"5m")",
                            R"("retryDelay":"-1s")", R"("retryDelay":"1e9s")", R"("retryDelay":"5)"}) {
    EXPECT_FALSE(retryDelayMs(wrong)) << wrong;
  }
}

TEST(ProviderError, ManyWordsForTooLong) {
  for (const char* each :
       {"prompt is too long: 210000 tokens > 200000 maximum", "Prompt too long", "Request too large for model",
        "This model's maximum context length is 8192 tokens", "Input is too long for requested model.",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "Your input exceeds the context window of this model. (context_length_exceeded)",
        "the request exceeds the available context size, try increasing it",
        "This model's maximum prompt length is 131072 but the request contains 200000 tokens."}) {
    EXPECT_TRUE(isTooLong(each)) << each;
  }
  for (const char* each : {"temperature is too high", "max_tokens is too large", "invalid x-api-key"}) {
    EXPECT_FALSE(isTooLong(each)) << each;
  }
}

// Servers that route to other providers' models do this.
TEST(ProviderError, AnErrorWithTheStatusOfASuccessHasTheHintOfItsKind) {
  struct Case {
    std::string error;
    std::string hint;
  };
  const Case cases[] = {
      {R"({"type":"overloaded_error","message":"busy"})", "wait, then send the message again"},
      {R"({"code":503,"message":"busy"})", "wait, then send the message again"},
      {R"({"code":429,"message":"slow down"})", "too many requests"},
      {R"({"type":"invalid_request_error","message":"prompt is too long: 9 tokens"})", "/compact"},
      {R"({"type":"invalid_request_error","message":"bad word"})", "rephrase the message"},
      {R"({"type":"authentication_error","message":"no"})", "check the key"},
      {R"({"type":"not_found_error","message":"no"})", "is there a model m"},
      {R"({"code":"insufficient_quota","message":"no"})", "add credit"},
      {R"({"code":1210,"message":"no"})", "send the message again, or choose another model with /model"},
  };
  const Endpoint endpoint{
      .provider = "x", .model = "m", .dialect = Dialect::OpenaiChat, .baseUrl = "http://127.0.0.1:1/v1"};
  HttpResponse response;
  response.status = 200;
  response.contentType = "application/json";
  for (const Case& each : cases) {
    response.body = fmt::format(R"({{"error":{}}})", each.error);
    const Error error = refusalError(endpoint, response);
    EXPECT_TRUE(error.hint.contains(each.hint)) << each.error << ": " << error.hint;
  }
  response.body = R"({"half)";
  EXPECT_TRUE(refusalError(endpoint, response).hint.contains("base URL"));
}

}  // namespace
}  // namespace bough::agent
