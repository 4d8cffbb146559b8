// Providers over HTTP: behaviour when the server is slow, refuses, disconnects or sends nonsense.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <map>

#include "agent/providers/http.h"
#include "agent/providers/http_provider.h"
#include "agent/providers/models.h"
#include "agent/providers/provider_error.h"
#include "agent/scenario.h"
#include "agent/tools/credentials.h"

namespace bough::agent {
namespace {

constexpr const char* kRequest = R"({"messages":[{"role":"user","content":"Hi"}]})";
const ScriptedAnswer kHello{.thinking = "", .text = "Hello, żółć 🧑🏽‍💻!", .calls = {}};

struct Tried {
  Result<Answer> answer;
  std::string text;
  std::vector<RetryNotice> retries;
};

Tried tryOn(const LoopbackServer& server, Dialect dialect, HttpProviderOptions options = {},
            const std::function<void(const Delta&, CancelToken&)>& onDelta = {}) {
  options.idleTimeoutMs = std::min(options.idleTimeoutMs, 20'000);
  const auto provider = makeHttpProvider(loopbackEndpoint(server, dialect), {}, options);
  CancelToken cancel;
  Tried out;
  out.answer = provider->stream({.context = kRequest, .thinkingLevel = {}},
                                {.onDelta =
                                     [&](const Delta& delta) {
                                       if (delta.kind == DeltaKind::Text) out.text += delta.text;
                                       if (onDelta) onDelta(delta, cancel);
                                     },
                                 .onRetry = [&](const RetryNotice& retry) { out.retries.push_back(retry); }},
                                cancel);
  return out;
}

constexpr Dialect kDialects[] = {Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini};

TEST(Provider, AnswersByteByByte) {
  for (const Dialect dialect : kDialects) {
    LoopbackServer server([&](const HttpIn& request, Reply& reply) {
      reply.stream(streamOf(dialectOfPath(request.path), kHello, 1), 1);
    });
    const Tried tried = tryOn(server, dialect);
    ASSERT_TRUE(tried.answer.has_value()) << tried.answer.error().message;
    EXPECT_EQ(tried.text, kHello.text);
    EXPECT_FALSE(tried.answer->aborted);
    const HttpIn request = server.requests().at(0);
    EXPECT_NE(request.headers.find("secret-key-0123456789"), std::string::npos);
    EXPECT_EQ(request.body.find("secret-key"), std::string::npos);
    EXPECT_EQ(request.path.find("secret-key"), std::string::npos);
  }
}

// The server refuses the first requests and then works.
LoopbackServer::Handler refuseFirst(int times, int status, std::string body, std::vector<std::string> headers = {}) {
  auto left = std::make_shared<std::atomic<int>>(times);
  return [=](const HttpIn& request, Reply& reply) {
    if ((*left)-- > 0) {
      reply.answer(status, "application/json", body, headers);
    } else {
      reply.stream(streamOf(dialectOfPath(request.path), kHello, 1));
    }
  };
}

TEST(Provider, WaitsAsLongAsItIsToldAndTriesAgain) {
  LoopbackServer server(
      refuseFirst(2, 429, R"({"error":{"type":"rate_limit_error","message":"slow down"}})", {"retry-after: 0.15"}));
  const Tried tried = tryOn(server, Dialect::Anthropic);
  ASSERT_TRUE(tried.answer.has_value()) << tried.answer.error().message;
  ASSERT_EQ(tried.retries.size(), 2U);
  EXPECT_GE(tried.retries[0].waitMs, 150U);
  EXPECT_LT(tried.retries[0].waitMs, 300U);
  EXPECT_NE(tried.retries[0].reason.find("slow down"), std::string::npos);
  EXPECT_EQ(server.requests().size(), 3U);
}

TEST(Provider, ReadsHowLongToWaitFromTheBody) {
  LoopbackServer server(refuseFirst(
      1, 429,
      R"({"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"x.RetryInfo","retryDelay":"0.1s"}]}})"));
  const Tried tried = tryOn(server, Dialect::Gemini);
  ASSERT_TRUE(tried.answer.has_value());
  EXPECT_GE(tried.retries.at(0).waitMs, 100U);
}

TEST(Provider, DoesNotWaitForHours) {
  LoopbackServer server(refuseFirst(1, 429, "{}", {"Retry-After: 7200"}));
  const Tried tried = tryOn(server, Dialect::OpenaiChat);
  ASSERT_FALSE(tried.answer.has_value());
  EXPECT_NE(tried.answer.error().hint.find("7200"), std::string::npos) << tried.answer.error().hint;
}

TEST(Provider, NeverAsksAgainWhenThatCannotHelp) {
  struct Case {
    int status;
    std::string body;
    std::vector<std::string> headers;
    std::string says;
  };
  const Case cases[] = {
      {400,
       R"({"error":{"message":"bad request","type":"invalid_request_error"}})",
       {"x-should-retry: true"},
       "bad request"},
      {401, R"({"error":{"message":"invalid x-api-key secret-key-0123456789"}})", {}, "invalid x-api-key [key]"},
      {403, R"({"error":{"message":"forbidden"}})", {}, "forbidden"},
      {404, R"({"error":{"message":"no such model"}})", {}, "no such model"},
      {429,
       R"({"type":"error","error":{"type":"rate_limit_error","message":"limit","details":{"error_code":"enforced_spend_limit_reached"}}})",
       {},
       "limit"},
      {429,
       R"({"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}})",
       {"retry-after: 1"},
       "quota"},
      {500, R"({"error":{"message":"broken"}})", {"x-should-retry: false"}, "broken"},
  };
  for (const Case& each : cases) {
    LoopbackServer server(refuseFirst(1, each.status, each.body, each.headers));
    const Tried tried = tryOn(server, Dialect::Anthropic);
    ASSERT_FALSE(tried.answer.has_value()) << each.body;
    EXPECT_EQ(server.requests().size(), 1U) << each.body;
    EXPECT_NE(tried.answer.error().message.find(each.says), std::string::npos) << tried.answer.error().message;
    EXPECT_FALSE(tried.answer.error().hint.empty());
  }
}

TEST(Provider, HintsSayWhatCanBeDone) {
  struct Case {
    int status;
    std::string hint;
  };
  for (const Case& each : {Case{302, "redirects are not followed"}, Case{402, "credit"}, Case{405, "base URL"},
                           Case{415, "base URL"}, Case{503, "wait"}}) {
    LoopbackServer server(refuseFirst(1, each.status, "", {}));
    const Tried tried = tryOn(server, Dialect::Anthropic, {.attempts = 1});
    ASSERT_FALSE(tried.answer.has_value());
    EXPECT_TRUE(tried.answer.error().hint.contains(each.hint)) << tried.answer.error().hint;
    EXPECT_TRUE(tried.answer.error().message.ends_with(std::to_string(each.status))) << tried.answer.error().message;
  }
}

TEST(Provider, ErrorsUnderTheStatus200ObeyTheRulesOfRetries) {
  LoopbackServer server(
      refuseFirst(1, 200, R"({"error":{"code":502,"message":"upstream","details":[{"retryDelay":"0.001s"}]}})"));
  EXPECT_TRUE(tryOn(server, Dialect::OpenaiChat).answer.has_value());
  EXPECT_EQ(server.requests().size(), 2U);
  LoopbackServer strict(refuseFirst(1, 200, R"({"error":{"code":400,"message":"no"}})"));
  const Tried tried = tryOn(strict, Dialect::OpenaiChat);
  ASSERT_FALSE(tried.answer.has_value());
  EXPECT_EQ(tried.answer.error().code, ErrorCode::InvalidArgument);
  EXPECT_EQ(strict.requests().size(), 1U);
}

TEST(Provider, GivesUpAfterSomeAttempts) {
  LoopbackServer server(refuseFirst(100, 503, "busy", {"retry-after-ms: 1"}));
  const Tried tried = tryOn(server, Dialect::OpenaiResponses, {.attempts = 3});
  ASSERT_FALSE(tried.answer.has_value());
  EXPECT_EQ(server.requests().size(), 3U);
  EXPECT_TRUE(tried.answer.error().retryable);
}

TEST(Provider, StreamThatBreaksIsTriedAgainBeforeAndAfterTheFirstWord) {
  std::atomic<int> count{0};
  const std::string whole = streamOf(Dialect::Anthropic, kHello, 1);
  const std::string error =
      "event: error\ndata: "
      "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
  const std::size_t start = whole.find("event: content_block_start");
  const std::size_t middle = whole.find("event: content_block_delta", whole.find("event: content_block_delta") + 5);
  LoopbackServer server([&](const HttpIn&, Reply& reply) {
    const int number = ++count;
    if (number == 1) return reply.stream(whole.substr(0, start) + error, 13);
    if (number == 2) return reply.stream(whole.substr(0, middle) + error, 13);
    reply.stream(whole);
  });
  const Tried tried = tryOn(server, Dialect::Anthropic);
  EXPECT_EQ(tried.retries.size(), 2U);
  ASSERT_TRUE(tried.answer.has_value());
  EXPECT_FALSE(tried.answer->aborted);
  // When every attempt breaks off, the text received is kept.
  count = 1;
  LoopbackServer broken([&](const HttpIn&, Reply& reply) { reply.stream(whole.substr(0, middle) + error, 13); });
  const Tried kept = tryOn(broken, Dialect::Anthropic, {.attempts = 2});
  EXPECT_EQ(kept.retries.size(), 1U);
  ASSERT_TRUE(kept.answer.has_value());
  EXPECT_TRUE(kept.answer->aborted);
  ASSERT_TRUE(kept.answer->error.has_value());
  EXPECT_NE(kept.answer->error->message.find("Overloaded"), std::string::npos);
  EXPECT_TRUE(normalize(kept.answer->message, Dialect::Anthropic).has_value());
}

TEST(Provider, ErrorEventsOfResponsesObeyTheRulesOfRetries) {
  struct Case {
    const char* code;
    bool retried;
  };
  for (const Case& each : {Case{"server_error", true}, Case{"rate_limit_exceeded", true}, Case{"invalid_prompt", false},
                           Case{"insufficient_quota", false}}) {
    std::atomic<int> count{0};
    LoopbackServer server([&](const HttpIn&, Reply& reply) {
      if (++count > 1) return reply.stream(streamOf(Dialect::OpenaiResponses, kHello, 1));
      reply.stream(fmt::format(
          "event: error\ndata: {{\"type\":\"error\",\"code\":\"{}\",\"message\":\"no\",\"param\":null}}\n\n",
          each.code));
    });
    const Tried tried = tryOn(server, Dialect::OpenaiResponses);
    EXPECT_EQ(tried.answer.has_value(), each.retried) << each.code;
    EXPECT_EQ(tried.retries.size(), each.retried ? 1U : 0U) << each.code;
  }
}

TEST(Provider, CutOffInTheMiddleKeepsWhatCame) {
  for (const Dialect dialect : kDialects) {
    LoopbackServer server([&](const HttpIn&, Reply& reply) {
      const std::string whole = streamOf(dialect, kHello, 1);
      reply.stream(whole.substr(0, whole.find("🧑🏽‍💻") + 4), 5);
    });
    const Tried tried = tryOn(server, dialect, {.attempts = 1});
    ASSERT_TRUE(tried.answer.has_value()) << toString(dialect) << tried.answer.error().message;
    EXPECT_TRUE(tried.answer->aborted);
    EXPECT_TRUE(tried.answer->error.has_value());
    EXPECT_NE(tried.answer->message.find("Hello"), std::string::npos);
  }
}

TEST(Provider, StreamThatEndsInsideAnEventIsTriedAgain) {
  for (const Dialect dialect : kDialects) {
    const std::string whole = streamOf(dialect, kHello, 1);
    const std::size_t inside = whole.find("🧑🏽‍💻") + 4;
    std::atomic<int> count{0};
    // A server that sends neither a length nor an end mark: the end of the connection ends the answer.
    LoopbackServer server(
        [&](const HttpIn&, Reply& reply) { reply.stream(++count > 1 ? whole : whole.substr(0, inside), 5); });
    const Tried tried = tryOn(server, dialect);
    EXPECT_EQ(tried.retries.size(), 1U) << toString(dialect);
    ASSERT_TRUE(tried.answer.has_value()) << toString(dialect);
    EXPECT_FALSE(tried.answer->aborted) << toString(dialect);
  }
}

TEST(Provider, AWholeAnswerIsTakenThoughTheConnectionStaysOpen) {
  for (const Dialect dialect : kDialects) {
    std::atomic<bool> clientLeft{false};
    {
      LoopbackServer server([&](const HttpIn&, Reply& reply) {
        reply.stream(streamOf(dialect, kHello, 1));
        for (int i = 0; i < 2'000 && !clientLeft; ++i) {
          clientLeft = !reply.send(": ping\n\n");
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
      });
      const Tried tried = tryOn(server, dialect);
      ASSERT_TRUE(tried.answer.has_value()) << toString(dialect);
      EXPECT_FALSE(tried.answer->aborted) << toString(dialect);
    }
    EXPECT_TRUE(clientLeft) << toString(dialect);
  }
}

TEST(Provider, CancellingStopsTheStreamAndKeepsWhatCame) {
  for (const Dialect dialect : kDialects) {
    LoopbackServer server([&](const HttpIn&, Reply& reply) {
      const std::string whole = streamOf(dialect, kHello, 1);
      reply.begin(200, "text/event-stream");
      reply.send(whole.substr(0, whole.find("🧑🏽‍💻")));
      reply.waitForClose();
    });
    const Tried tried = tryOn(server, dialect, {}, [](const Delta&, CancelToken& cancel) { cancel.request(); });
    ASSERT_TRUE(tried.answer.has_value()) << tried.answer.error().message;
    EXPECT_TRUE(tried.answer->aborted);
    EXPECT_FALSE(tried.answer->error.has_value());
    EXPECT_NE(tried.answer->message.find("Hello"), std::string::npos) << tried.answer->message;
  }
}

TEST(Provider, CancellingStopsTheWaitForAnotherTry) {
  LoopbackServer server(refuseFirst(100, 503, "busy", {"retry-after: 100"}));
  const auto provider = makeHttpProvider(loopbackEndpoint(server, Dialect::OpenaiChat), {});
  CancelToken cancel;
  const auto answer =
      provider->stream({.context = kRequest, .thinkingLevel = {}},
                       {.onDelta = {}, .onRetry = [&](const RetryNotice&) { cancel.request(); }}, cancel);
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(answer->aborted);
  EXPECT_TRUE(answer->message.empty());
}

TEST(Provider, SilentServerIsGivenUp) {
  LoopbackServer server([&](const HttpIn&, Reply& reply) {
    reply.begin(200, "text/event-stream");
    reply.waitForClose();
  });
  const Tried tried = tryOn(server, Dialect::Anthropic, {.attempts = 1, .idleTimeoutMs = 100});
  ASSERT_FALSE(tried.answer.has_value());
  EXPECT_TRUE(tried.answer.error().retryable);
}

TEST(Provider, NonsenseIsNamedAndNotRetriedForEver) {
  struct Case {
    std::string type;
    std::string body;
    std::string says;
  };
  const Case cases[] = {
      {"text/html", "<html><h1>It works!</h1></html>", "text/html"},
      {"application/json", R"({"choices":[{"message")", "application/json"},
      {"application/json", R"({"error":{"message":"stream is not supported"}})", "stream is not supported"},
      {"text/event-stream", "data: {\"type\":\"mess\n\n", ""},
      {"text/event-stream", "", "without a single event"},
      {"text/plain", "hello", "without a single event"},
  };
  for (const Case& each : cases) {
    for (const Dialect dialect : kDialects) {
      LoopbackServer server([&](const HttpIn&, Reply& reply) { reply.answer(200, each.type, each.body); });
      const Tried tried = tryOn(server, dialect, {.attempts = 1});
      ASSERT_FALSE(tried.answer.has_value()) << each.body;
      EXPECT_NE(tried.answer.error().message.find(each.says), std::string::npos) << tried.answer.error().message;
      EXPECT_FALSE(tried.answer.error().hint.empty()) << each.body;
    }
  }
}

TEST(Provider, EndlessLineEndsWithAnError) {
  LoopbackServer server([&](const HttpIn&, Reply& reply) {
    reply.begin(200, "text/event-stream");
    const std::string piece(1 << 20, 'x');
    for (int i = 0; i < 200 && reply.send(piece); ++i) {
    }
  });
  const Tried tried = tryOn(server, Dialect::Anthropic, {.attempts = 1});
  ASSERT_FALSE(tried.answer.has_value());
  EXPECT_NE(tried.answer.error().message.find("MB"), std::string::npos) << tried.answer.error().message;
}

TEST(Provider, NobodyThereSaysSo) {
  Endpoint endpoint{
      .provider = "ollama", .model = "m", .dialect = Dialect::OpenaiChat, .baseUrl = "http://127.0.0.1:1/v1"};
  const auto provider = makeHttpProvider(endpoint, {}, {.attempts = 1});
  CancelToken cancel;
  const auto answer = provider->stream({.context = kRequest, .thinkingLevel = {}}, {}, cancel);
  ASSERT_FALSE(answer.has_value());
  EXPECT_NE(answer.error().message.find("127.0.0.1:1"), std::string::npos);
  EXPECT_TRUE(answer.error().retryable);
}

TEST(Provider, AWrongAddressIsSaidAtOnce) {
  for (const char* url : {"ftp://127.0.0.1/v1", "not a url", "http://127.0.0.1:99999", "file:///etc/passwd"}) {
    Endpoint endpoint{.provider = "x", .model = "m", .dialect = Dialect::OpenaiChat, .baseUrl = url};
    const auto provider = makeHttpProvider(endpoint, {}, {.attempts = 1});
    CancelToken cancel;
    const auto answer = provider->stream({.context = kRequest, .thinkingLevel = {}}, {}, cancel);
    ASSERT_FALSE(answer.has_value()) << url;
    EXPECT_FALSE(answer.error().retryable) << url;
    EXPECT_TRUE(answer.error().hint.contains("base URL")) << answer.error().hint;
  }
}

TEST(Provider, ProxyOfTheEnvironmentIsUsed) {
  LoopbackServer proxy([&](const HttpIn&, Reply& reply) { reply.stream(streamOf(Dialect::OpenaiChat, kHello, 1)); });
  ::setenv("http_proxy", proxy.url().c_str(), 1);
  Endpoint endpoint{
      .provider = "x", .model = "m", .dialect = Dialect::OpenaiChat, .baseUrl = "http://models.invalid/v1"};
  const auto provider = makeHttpProvider(endpoint, {}, {.attempts = 1});
  CancelToken cancel;
  const auto answer = provider->stream({.context = kRequest, .thinkingLevel = {}}, {}, cancel);
  ::unsetenv("http_proxy");
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(proxy.requests().at(0).path, "http://models.invalid/v1/chat/completions");
}

TEST(Models, NamesLeadToEndpoints) {
  const std::map<std::string, std::string> values = {{"ANTHROPIC_API_KEY", "ka"},
                                                     {"OPENAI_API_KEY", "ko"},
                                                     {"OPENAI_BASE_URL", "http://vllm:8000/v1"},
                                                     {"GOOGLE_API_KEY", "kg"},
                                                     {"OLLAMA_HOST", "box"}};
  const Variables variables = [&](const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
  };
  EXPECT_EQ(findEndpoint("anthropic/claude-x", variables)->baseUrl, "https://api.anthropic.com");
  EXPECT_EQ(findEndpoint("anthropic/claude-x", variables)->key, "ka");
  EXPECT_EQ(findEndpoint("openai/gpt-5", variables)->dialect, Dialect::OpenaiResponses);
  EXPECT_EQ(findEndpoint("openai-chat/llama", variables)->baseUrl, "http://vllm:8000/v1");
  EXPECT_EQ(findEndpoint("gemini/gemini-3", variables)->key, "kg");
  EXPECT_EQ(findEndpoint("ollama/llama3", variables)->baseUrl, "http://box:11434/v1");
  EXPECT_EQ(
      findEndpoint("openrouter/a/b", [](const std::string& name) { return name.ends_with("_KEY") ? "k" : ""; })->model,
      "a/b");
  EXPECT_FALSE(findEndpoint("openrouter/a/b", variables).has_value());
  for (const char* bad : {"", "anthropic", "anthropic/", "nobody/x", "anthropic/x y", "anthropic/x\r\nh: v"}) {
    EXPECT_EQ(findEndpoint(bad, variables).error().code, ErrorCode::InvalidArgument) << bad;
  }
  EXPECT_EQ(defaultModel(variables).substr(0, 10), "anthropic/");
  EXPECT_EQ(defaultModel([](const std::string&) { return ""; }), "offline/echo");
  const auto broken = findEndpoint(
      "anthropic/x", [](const std::string& name) { return name == "ANTHROPIC_API_KEY" ? "secret\nkey" : ""; });
  ASSERT_FALSE(broken.has_value());
  EXPECT_EQ(broken.error().message.find("secret"), std::string::npos);
}

TEST(Secrets, WholeKeysDoNotGetThroughAndNothingElseIsTouched) {
  Secrets secrets;
  for (const char* key : {"sk-proj-0123456789abcdef", "test", "ollama", "sk-proj-", "", "exactly16letters"}) {
    secrets.add(key);
  }
  EXPECT_EQ(secrets.redact("key sk-proj-0123456789abcdef!"), "key [key]!");
  EXPECT_EQ(secrets.redact("exactly16lettersexactly16letters"), "[key][key]");
  for (const char* text : {"Incorrect key: sk-proj-01234***", "a test with ollama", "const prefix = 'sk-proj-';",
                           "sk-proj-0123456789abcde", "exactly16letter", ""}) {
    EXPECT_EQ(secrets.redact(text), text);
  }
}

TEST(Provider, AKeyThatAServerRepeatsIsNotShownHoweverItIsCut) {
  const std::string key = "secret-key-0123456789";
  for (std::size_t cut = 0; cut <= key.size(); ++cut) {
    const auto delta = [](const std::string& text) {
      return fmt::format("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n", text);
    };
    LoopbackServer server([&](const HttpIn&, Reply& reply) {
      reply.stream(delta("the " + key.substr(0, cut)) + delta(key.substr(cut) + " of secret") +
                   "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n");
    });
    const Tried tried = tryOn(server, Dialect::OpenaiChat);
    ASSERT_TRUE(tried.answer.has_value()) << tried.answer.error().message;
    EXPECT_EQ(tried.text, "the [key] of secret") << cut;
  }
}

TEST(Secrets, PasswordsInAddressesDoNotGetThrough) {
  Secrets secrets;
  secrets.addFromUrl("http://me:p4ssw0rd-of-mine-alone@proxy:8080/x@y");
  secrets.addFromUrl("http://host/without");
  secrets.addFromUrl("http://u:ab@host");
  EXPECT_EQ(secrets.redact("password p4ssw0rd-of-mine-alone"), "password [key]");
  EXPECT_EQ(secrets.redact("u:ab@host is abrupt"), "u:ab@host is abrupt");
  EXPECT_EQ(withoutCredentials("http://me:pw@proxy:8080/x@y"), "http://proxy:8080/x@y");
  EXPECT_EQ(withoutCredentials("http://proxy/a?b=c@d"), "http://proxy/a?b=c@d");
  EXPECT_EQ(withoutCredentials("me:pw@proxy"), "proxy");
}

TEST(Provider, PasswordOfTheBaseUrlIsInNoError) {
  Endpoint endpoint{.provider = "local",
                    .model = "m",
                    .dialect = Dialect::OpenaiChat,
                    .baseUrl = "http://me:p4ssw0rd-of-mine@127.0.0.1:1/v1"};
  const auto provider = makeHttpProvider(endpoint, {}, {.attempts = 1});
  CancelToken cancel;
  const auto answer = provider->stream({.context = kRequest, .thinkingLevel = {}}, {}, cancel);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ((answer.error().message + answer.error().hint).find("p4ssw0rd"), std::string::npos)
      << answer.error().message << answer.error().hint;
}

TEST(RetryAfter, IsSecondsOrADate) {
  EXPECT_EQ(parseRetryAfterMs("2", 0), 2'000U);
  EXPECT_EQ(parseRetryAfterMs("0.5", 0), 500U);
  EXPECT_EQ(parseRetryAfterMs("Thu, 01 Jan 1970 00:01:00 GMT", 10'000), 50'000U);
  EXPECT_EQ(parseRetryAfterMs("Thu, 01 Jan 1970 00:01:00 GMT", 100'000), 0U);
  EXPECT_FALSE(parseRetryAfterMs("-1", 0).has_value());
  EXPECT_FALSE(parseRetryAfterMs("soon", 0).has_value());
}

TEST(BackOff, GrowsWithChanceAndHasAnEnd) {
  for (int attempt = 1; attempt < 20; ++attempt) {
    const std::uint64_t low = backOffMs(attempt, {}, 0);
    EXPECT_GE(low, 250U);
    EXPECT_LE(backOffMs(attempt, {}, UINT64_MAX), 16'000U);
    EXPECT_GE(backOffMs(attempt + 1, {}, 0), low);
  }
}

}  // namespace
}  // namespace bough::agent
