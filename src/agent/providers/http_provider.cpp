#include "agent/providers/http_provider.h"
#include "agent/tools/credentials.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "agent/parts/json_parts.h"
#include "agent/providers/http.h"
#include "agent/providers/provider_error.h"
#include "base/system/environment.h"

namespace bough::agent {
namespace {

struct Api {
  std::unique_ptr<StreamReader> (*makeReader)();
  PostData (*makeRequest)(const Endpoint&, const ModelRequest&);
};

Api apiOf(Dialect dialect) {
  switch (dialect) {
    case Dialect::OpenaiChat: return {makeOpenaiChatReader, openaiChatRequest};
    case Dialect::OpenaiResponses: return {makeOpenaiResponsesReader, openaiResponsesRequest};
    case Dialect::Gemini: return {makeGeminiReader, geminiRequest};
    default: return {makeAnthropicReader, anthropicRequest};
  }
}

// Some servers and proxies leave the connection open after the answer. Treats the answer as ended once it is complete
// and no content has arrived for a while. Pings do not count as content.
class IdleTimer {
 public:
  void noteContent() { lastContent_ = SteadyClock::now(); }
  [[nodiscard]] bool hasExpired() const { return SteadyClock::now() - lastContent_ > kWait; }

 private:
  using SteadyClock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kWait{3'000};  // some servers send token counts after the text
  SteadyClock::time_point lastContent_ = SteadyClock::now();
};

// The result of one try. Without an error, it holds a complete answer or one that the user stopped. With an error, it
// holds the part of the answer that came before the error, if any.
struct Attempt {
  std::optional<Answer> answer{};
  std::optional<Error> error{};
  std::optional<std::uint64_t> askedWaitMs{};
  std::optional<Usage> paid{};
};

// Passes on the pieces of an answer with keys removed. Holds back the end of a piece that may be the beginning of a key
// until the next piece arrives.
class KeylessDeltas {
 public:
  KeylessDeltas(const Secrets& secrets, const StreamEvents& events) : secrets_(secrets), events_(events) {}

  void add(const Delta& delta) {
    if (!events_.onDelta) return;
    if (delta.kind != kind_ || delta.kind == DeltaKind::ToolCall) flush();
    kind_ = delta.kind;
    if (delta.kind == DeltaKind::ToolCall) return events_.onDelta(delta);
    held_ = secrets_.redact(held_ + std::string(delta.text));
    const std::string open = held_.substr(held_.size() - secrets_.openBytes(held_));
    held_.resize(held_.size() - open.size());
    flush();
    held_ = open;
  }

  void flush() {
    if (!held_.empty()) events_.onDelta({.kind = kind_, .text = std::exchange(held_, {})});
  }

 private:
  const Secrets& secrets_;
  const StreamEvents& events_;
  DeltaKind kind_ = DeltaKind::Text;
  std::string held_;
};

class HttpProvider final : public Provider {
 public:
  HttpProvider(Endpoint endpoint, Secrets secrets, const HttpProviderOptions& options)
      : endpoint_(std::move(endpoint)), secrets_(std::move(secrets)), options_(options) {
    secrets_.add(endpoint_.key);
    secrets_.addFromUrl(endpoint_.baseUrl);
  }

  [[nodiscard]] std::string name() const override { return endpoint_.provider + "/" + endpoint_.model; }
  [[nodiscard]] Dialect dialect() const override { return endpoint_.dialect; }
  [[nodiscard]] ModelLimits limits() const override {
    return {.window = endpoint_.facts.windowTokens, .maxOutput = endpoint_.facts.outputTokens};
  }
  [[nodiscard]] bool takesThinking(std::string_view level) const override {
    const bool off = level == "off";
    switch (endpoint_.facts.thinking) {
      case ThinkingKind::None: return off;
      case ThinkingKind::Budget: return !off || endpoint_.dialect == Dialect::Anthropic;
      case ThinkingKind::Adaptive:
      case ThinkingKind::AdaptiveOn: return true;
      case ThinkingKind::AdaptiveAlways:
      case ThinkingKind::Effort:
      case ThinkingKind::Level: return !off;
    }
    return true;
  }
  [[nodiscard]] bool bindsThinking() const override {
    const ThinkingKind kind = endpoint_.facts.thinking;
    return endpoint_.dialect == Dialect::Anthropic &&
           (kind == ThinkingKind::Adaptive || kind == ThinkingKind::AdaptiveOn || kind == ThinkingKind::AdaptiveAlways);
  }

  Result<Answer> stream(const ModelRequest& request, const StreamEvents& events, const CancelToken& cancel) override {
    const Api api = apiOf(endpoint_.dialect);
    const PostData data = api.makeRequest(endpoint_, request);
    for (int attempt = 1;; ++attempt) {
      Attempt done = tryOnce(api, data, events, cancel);
      const bool isEmpty = !done.answer || done.answer->message.empty();
      if (!done.error) {
        if (isEmpty) reportLostUsage(done, events);
        return std::move(*done.answer);
      }
      Error& error = *done.error;
      error.message = secrets_.redact(error.message);
      error.hint = secrets_.redact(error.hint);
      const std::uint64_t waitMs = backOffMs(attempt, done.askedWaitMs, systemEnvironment().random.next());
      if (!error.retryable || attempt == options_.attempts || waitMs > options_.longestWaitMs) {
        if (error.retryable && waitMs > options_.longestWaitMs) {
          error.hint = fmt::format("the provider asks to wait {} s", waitMs / 1000);
        }
        if (isEmpty) reportLostUsage(done, events);
        return resultAfterFailure(std::move(done));
      }
      if (events.onRetry) events.onRetry({.attempt = attempt, .waitMs = waitMs, .reason = error.message});
      if (!cancel.sleepFor(std::chrono::milliseconds(waitMs))) {
        done.error.reset();
        if (isEmpty) reportLostUsage(done, events);
        return done.answer ? std::move(*done.answer) : Answer{.aborted = true};
      }
      reportLostUsage(done, events);
    }
  }

 private:
  static void reportLostUsage(const Attempt& done, const StreamEvents& events) {
    if (events.onLost && done.paid) events.onLost(*done.paid);
  }

  // Keeps the part of an answer that arrived before the final failure.
  static Result<Answer> resultAfterFailure(Attempt done) {
    if (!done.answer) return std::unexpected(std::move(*done.error));
    done.answer->error = std::move(done.error);
    return std::move(*done.answer);
  }

  Attempt tryOnce(const Api& api, const PostData& data, const StreamEvents& events, const CancelToken& cancel) {
    const std::unique_ptr<StreamReader> reader = api.makeReader();
    Attempt attempt = tryWith(*reader, data, events, cancel);
    const auto message = normalize(reader->usageOnlyMessage(), endpoint_.dialect);
    if (message) attempt.paid = message->usage;
    return attempt;
  }

  Attempt tryWith(StreamReader& reader, const PostData& data, const StreamEvents& events, const CancelToken& cancel) {
    SseParser parser;
    std::optional<Error> error;
    bool hasContent = false;
    bool hasEvents = false;
    IdleTimer idle;
    KeylessDeltas shown(secrets_, events);
    const auto onDelta = [&](const Delta& delta) {
      hasContent = true;
      idle.noteContent();
      shown.add(delta);
    };
    // Remove keys first: errors show only an excerpt, which could otherwise contain part of a key.
    const auto take = [&](const SseEvent& event) {
      const std::string keyless = secrets_.redactJson(event.data);
      return reader.take({.name = event.name, .data = keyless}, onDelta);
    };
    const auto onEvent = [&](const SseEvent& event) {
      if (!reader.isComplete()) idle.noteContent();
      auto taken = take(event);
      if (!taken)
        error = hasEvents && taken.error().code == ErrorCode::Damaged ? brokenOffError(hasEvents)
                                                                      : std::move(taken.error());
      hasEvents = true;
      return taken.has_value() && !cancel.requested();
    };
    // At the end of the stream, the rest is an event without its blank line, or a truncated event.
    const auto onLast = [&](const SseEvent& event) {
      if (auto taken = take(event); !taken && taken.error().code != ErrorCode::Damaged) {
        error = std::move(taken.error());
      }
      hasEvents = true;
      return true;
    };
    const auto onBytes = [&](std::string_view bytes) {
      auto fed = parser.feed(bytes, onEvent);
      if (!fed) error = std::move(fed.error());
      return !error && !cancel.requested();
    };
    const HttpRequest request{.url = data.url,
                              .headers = data.headers,
                              .body = data.body,
                              .connectTimeoutMs = options_.connectTimeoutMs,
                              .idleTimeoutMs = options_.idleTimeoutMs,
                              .isAnswerDone = [&] { return reader.isComplete() && idle.hasExpired(); }};
    auto response = client_.post(request, onBytes, cancel);
    if (response && !cancel.requested() && !error) {
      if (auto last = parser.end(onLast); !last) error = std::move(last.error());
    }
    shown.flush();
    if (cancel.requested() && !reader.isComplete()) return {.answer = finished(reader, true)};
    if (!error && !response) error = response.error();
    if (!error && (response->status < 200 || response->status >= 300 || !response->body.empty())) {
      return failedAttempt(*response);
    }
    if (reader.isComplete()) return {.answer = finished(reader, false)};
    if (!error) error = brokenOffError(hasEvents);
    if (error->hint.empty())
      error->hint = fmt::format("check that {} is the base URL of a model API", withoutCredentials(endpoint_.baseUrl));
    if (!hasContent) return {.error = std::move(error)};
    return {.answer = finished(reader, true), .error = std::move(error)};
  }

  // A server may repeat the key that it was given. Removes keys from the answer before it is stored.
  [[nodiscard]] Answer finished(StreamReader& reader, bool aborted) const {
    Answer answer = reader.answer(aborted);
    answer.message = secrets_.redactJson(answer.message);
    answer.partial = secrets_.redactJson(answer.partial);
    return answer;
  }

  [[nodiscard]] Attempt failedAttempt(const HttpResponse& response) const {
    // Remove keys first: the excerpt of a long answer could otherwise contain part of a key.
    HttpResponse shown = response;
    shown.body = secrets_.redactJson(response.body);
    Attempt attempt{.answer = {}, .error = refusalError(endpoint_, shown), .askedWaitMs = response.retryAfterMs};
    if (!attempt.askedWaitMs) attempt.askedWaitMs = retryDelayMs(response.body);
    return attempt;
  }

  [[nodiscard]] Error brokenOffError(bool hasEvents) const {
    Error error = fail(ErrorCode::Io,
                       hasEvents ? fmt::format("the answer of {} broke off", name())
                                 : fmt::format("{} answered without a single event", name()),
                       "send the message again to continue")
                      .error();
    error.retryable = true;
    return error;
  }

  Endpoint endpoint_;
  Secrets secrets_;
  HttpProviderOptions options_;
  HttpClient client_;
};

}  // namespace

std::unique_ptr<Provider> makeHttpProvider(Endpoint endpoint, Secrets secrets, const HttpProviderOptions& options) {
  return std::make_unique<HttpProvider>(std::move(endpoint), std::move(secrets), options);
}

}  // namespace bough::agent
