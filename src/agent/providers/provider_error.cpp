#include "agent/providers/provider_error.h"
#include "agent/tools/credentials.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "agent/parts/json_parts.h"
#include "agent/tools/builtin.h"
#include "base/text/utf8.h"
#include "bough/agent/tools.h"

namespace bough::agent {
namespace {

constexpr std::size_t kExcerptBytes = 300;

// Returns the first bytes of a text without splitting a character.
std::string excerpt(std::string_view text) {
  if (!isUtf8(text)) return asText(text, kExcerptBytes);
  if (text.size() <= kExcerptBytes) return std::string(text);
  std::size_t end = kExcerptBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

bool isSpendLimit(std::string_view body) {
  constexpr std::string_view kSigns[] = {"enforced_spend_limit_reached", "insufficient_quota",
                                         "billing_hard_limit_reached", "credit balance is too low"};
  return std::ranges::any_of(kSigns, [&](std::string_view sign) { return body.find(sign) != std::string_view::npos; });
}

std::string checkBaseUrl(const Endpoint& endpoint) {
  return fmt::format("check that {} is the base URL of a model API", withoutCredentials(endpoint.baseUrl));
}

std::string hintFor(const Endpoint& endpoint, const HttpResponse& response) {
  if (isSpendLimit(response.body)) return "raise the limit or add credit with the provider; asking again does not help";
  switch (response.status) {
    case 400:
    case 422: return "rephrase the message, or choose another model: /model, --model";
    case 401:
    case 403: return fmt::format("check {}", endpoint.keyVariable.empty() ? "the key" : endpoint.keyVariable);
    case 404: return fmt::format("is there a model {} at {}?", endpoint.model, withoutCredentials(endpoint.baseUrl));
    case 413: return "the context is too large; /compact shortens it";
    case 402: return "add credit with the provider; asking again does not help";
    case 429: return "too many requests; wait, then send the message again";
    default: break;
  }
  if (response.status < 400) return "redirects are not followed; " + checkBaseUrl(endpoint);
  return isWorthRetrying(response) ? "wait, then send the message again" : checkBaseUrl(endpoint);
}

// Servers that route to other providers' models name the kind of an error only by its status.
std::uint64_t statusIn(std::string_view error, const std::string& kind) {
  if (const auto code = json::findUnsigned(error, "code")) return *code;
  std::uint64_t code = 0;
  const auto [end, problem] = std::from_chars(kind.data(), kind.data() + kind.size(), code);
  return problem == std::errc() && end == kind.data() + kind.size() ? code : 0;
}

// The error kinds that OpenAI's Responses API gives to a prompt it refuses.
bool isAboutPrompt(std::string_view kind) {
  return kind == "invalid_prompt" || kind == "context_length_exceeded" || kind.contains("image");
}

bool isTransient(std::uint64_t status) {
  return status == 408 || status == 409 || status == 429 || (status >= 500 && status < 600);
}

// An error as a provider reports it: {"error":{"message":…,"type" or "code" or "status":…}}.
struct ReportedError {
  std::string message;
  std::string kind;
  std::uint64_t status = 0;  // 0: the error names no status
};

std::optional<ReportedError> reportedErrorIn(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return std::nullopt;
  if (text[begin] == '[') {  // Gemini wraps errors of streams in a list
    json::ArrayReader list(text);
    const auto first = list.next();
    return first ? reportedErrorIn(*first) : std::nullopt;
  }
  const auto error = json::findMember(text, "error");
  if (!error || *error == "null") return std::nullopt;
  ReportedError reported;
  for (const char* name : {"type", "status", "code"}) {
    if (reported.kind.empty() || reported.kind == "error") reported.kind = json::findString(*error, name).value_or("");
  }
  // A prompt that is too long has the type of every bad request; only the code identifies it.
  if (const auto code = json::findString(*error, "code"); code && isAboutPrompt(*code)) reported.kind = *code;
  reported.message = json::findString(*error, "message").value_or(std::string(stringBody(*error)));
  if (reported.message.empty()) reported.message = excerpt(*error);
  reported.status = statusIn(*error, reported.kind);
  return reported;
}

Error errorFrom(const ReportedError& reported, std::string_view text) {
  const auto& [message, kind, status] = reported;
  Error out = fail(ErrorCode::Io, kind.empty() ? message : fmt::format("{} ({})", message, kind),
                   "send the message again, or choose another model with /model")
                  .error();
  if (isAboutPrompt(kind) || status == 400 || status == 413 || status == 422 || kind == "invalid_request_error" ||
      kind == "INVALID_ARGUMENT")
    out.code = ErrorCode::InvalidArgument;
  out.retryable = kind.find("overloaded") != std::string::npos || kind.find("rate_limit") != std::string::npos ||
                  kind == "api_error" || kind.find("server_error") != std::string::npos ||
                  kind.find("timeout") != std::string::npos || kind == "UNAVAILABLE" || kind == "INTERNAL" ||
                  kind == "DEADLINE_EXCEEDED" || kind == "RESOURCE_EXHAUSTED" || isTransient(status);
  if (isSpendLimit(text)) out.retryable = false;
  return out;
}

// Returns the status that refusals of this kind usually have; 0 when the kind is unknown.
std::uint64_t usualStatusOf(std::string_view kind) {
  struct KnownKind {
    std::string_view kind;
    std::uint64_t status;
  };
  constexpr KnownKind kUsualStatuses[] = {
      {"invalid_request_error", 400}, {"invalid_prompt", 400},   {"INVALID_ARGUMENT", 400},
      {"authentication_error", 401},  {"invalid_api_key", 401},  {"UNAUTHENTICATED", 401},
      {"billing_error", 402},         {"permission_error", 403}, {"PERMISSION_DENIED", 403},
      {"not_found_error", 404},       {"model_not_found", 404},  {"NOT_FOUND", 404},
      {"request_too_large", 413},     {"rate_limit_error", 429}, {"rate_limit_exceeded", 429},
      {"RESOURCE_EXHAUSTED", 429},
  };
  const auto* const found = std::ranges::find(kUsualStatuses, kind, &KnownKind::kind);
  return found == std::end(kUsualStatuses) ? 0 : found->status;
}

// Returns the hint for an error that a server reports with the status of a success. `error` was made from `reported`.
std::string hintForReported(const Endpoint& endpoint, const HttpResponse& response, const ReportedError& reported,
                            const Error& error) {
  // Some servers report numbers of their own.
  const bool isStatus = reported.status >= 400 && reported.status < 600;
  std::uint64_t status = isStatus ? reported.status : usualStatusOf(reported.kind);
  if (!error.retryable && isTooLong(error.message)) status = 413;
  if (status == 0 && error.retryable) status = 503;
  if (status == 0 && !isSpendLimit(response.body)) return error.hint;
  HttpResponse usual;
  usual.status = static_cast<long>(status);
  usual.body = response.body;
  return hintFor(endpoint, usual);
}

}  // namespace

std::optional<Error> providerError(std::string_view text) {
  const auto reported = reportedErrorIn(text);
  return reported ? std::optional(errorFrom(*reported, text)) : std::nullopt;
}

std::string joinUrl(std::string_view base, std::string_view path) {
  while (base.ends_with('/')) base.remove_suffix(1);
  return fmt::format("{}{}", base, path);
}

void removeSamplingSettings(JsonObjectEditor& body, const ModelFacts& facts) {
  if (facts.sampling) return;
  for (const char* name : {"temperature", "top_p", "top_k"}) body.remove(name);
}

// Each provider, and each compatible server, words this error differently.
bool isTooLong(std::string_view message) {
  constexpr std::string_view kSigns[] = {
      "prompt is too long",       "prompt too long",   "input is too long", "too many tokens",
      "request_too_large",        "request too large", "context_length",    "context length",
      "context window",           "context size",      "context_size",      "maximum prompt length",
      "maximum number of tokens", "input token count", "reduce the length", "exceeds the budget"};
  std::string lowered(message);
  std::ranges::transform(lowered, lowered.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return std::ranges::any_of(kSigns, [&](std::string_view sign) { return lowered.contains(sign); });
}

bool isWorthRetrying(const HttpResponse& response) {
  if (isSpendLimit(response.body)) return false;
  if (response.status == 400 || response.status == 401 || response.status == 403 || response.status == 404)
    return false;
  if (response.shouldRetry) return *response.shouldRetry;
  return response.status >= 0 && isTransient(static_cast<std::uint64_t>(response.status));
}

Error refusalError(const Endpoint& endpoint, const HttpResponse& response) {
  const std::string who = fmt::format("{}/{}", endpoint.provider, endpoint.model);
  const auto reported = reportedErrorIn(response.body);
  // Servers that route to other providers' models report their errors with status 200.
  const bool isSuccess = response.status >= 200 && response.status < 300;
  if (isSuccess && reported) {
    Error error = errorFrom(*reported, response.body);
    error.hint = hintForReported(endpoint, response, *reported, error);
    error.message = fmt::format("{}: {}", who, error.message);
    return error;
  }
  Error error;
  if (isSuccess) {
    error.message =
        fmt::format("{} answered with {} instead of a stream of events: {}", who,
                    response.contentType.empty() ? "nothing known" : response.contentType, excerpt(response.body));
    error.hint = checkBaseUrl(endpoint);
    return error;
  }
  error.retryable = isWorthRetrying(response);
  const std::string why = reported ? errorFrom(*reported, response.body).message : excerpt(response.body);
  error.message = fmt::format("{} refused with status {}{}{}", who, response.status, why.empty() ? "" : ": ", why);
  error.hint = hintFor(endpoint, response);
  const bool aboutPrompt = response.status == 400 || response.status == 413 || response.status == 422;
  if (aboutPrompt && !isSpendLimit(response.body)) error.code = ErrorCode::InvalidArgument;
  return error;
}

std::optional<std::uint64_t> retryDelayMs(std::string_view body) {
  constexpr std::string_view kName = "\"retryDelay\"";
  std::size_t at = body.find(kName);
  if (at == std::string_view::npos) return std::nullopt;
  at = body.find('"', at + kName.size());
  if (at == std::string_view::npos) return std::nullopt;
  double seconds = 0;
  const char* begin = body.data() + at + 1;
  const auto [end, problem] = std::from_chars(begin, body.data() + body.size(), seconds);
  if (problem != std::errc() || end == body.data() + body.size() || *end != 's') return std::nullopt;
  return seconds >= 0 && seconds < 1e9 ? std::optional(static_cast<std::uint64_t>(seconds * 1000)) : std::nullopt;
}

std::uint64_t backOffMs(int attempt, std::optional<std::uint64_t> askedMs, std::uint64_t chance) {
  if (askedMs) return *askedMs + chance % 100;
  constexpr std::uint64_t kFirstMs = 500;
  constexpr std::uint64_t kLongestMs = 16'000;
  const std::uint64_t full = std::min(kLongestMs, kFirstMs << std::clamp(attempt - 1, 0, 10));
  return full / 2 + chance % (full / 2 + 1);
}

}  // namespace bough::agent
