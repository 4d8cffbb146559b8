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
    case 422: return "say it differently, or choose another model: /model, --model";
    case 401:
    case 403: return fmt::format("check {}", endpoint.keyVariable.empty() ? "the key" : endpoint.keyVariable);
    case 404: return fmt::format("is there a model {} at {}?", endpoint.model, withoutCredentials(endpoint.baseUrl));
    case 413: return "the context is too large; /compact shortens it";
    case 402: return "add credit with the provider; asking again does not help";
    case 429: return "too many requests; wait, then say it again";
    default: break;
  }
  if (response.status < 400) return "redirects are not followed; " + checkBaseUrl(endpoint);
  return isWorthRetrying(response) ? "wait, then say it again" : checkBaseUrl(endpoint);
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

}  // namespace

std::optional<Error> providerError(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return std::nullopt;
  if (text[begin] == '[') {  // Gemini wraps errors of streams in a list
    json::ArrayReader list(text);
    const auto first = list.next();
    return first ? providerError(*first) : std::nullopt;
  }
  const auto error = json::findMember(text, "error");
  if (!error || *error == "null") return std::nullopt;
  std::string kind;
  for (const char* name : {"type", "status", "code"}) {
    if (kind.empty() || kind == "error") kind = json::findString(*error, name).value_or("");
  }
  // A prompt that is too long has the type of every bad request; only the code identifies it.
  if (const auto code = json::findString(*error, "code"); code && isAboutPrompt(*code)) kind = *code;
  std::string message = json::findString(*error, "message").value_or(std::string(stringBody(*error)));
  if (message.empty()) message = excerpt(*error);
  Error out = fail(ErrorCode::Io, kind.empty() ? message : fmt::format("{} ({})", message, kind),
                   "say it again, or /model takes another one")
                  .error();
  const std::uint64_t status = statusIn(*error, kind);
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
  Error error;
  error.retryable = isWorthRetrying(response);
  if (response.status >= 200 && response.status < 300) {
    const auto reported = providerError(response.body);
    error.message = reported ? fmt::format("{}: {}", who, reported->message)
                             : fmt::format("{} answered with {} instead of a stream of events: {}", who,
                                           response.contentType.empty() ? "nothing known" : response.contentType,
                                           excerpt(response.body));
    error.hint = checkBaseUrl(endpoint);
    // Servers that route to other providers' models report their errors with status 200.
    error.retryable = reported && reported->retryable;
    if (reported) error.code = reported->code;
    return error;
  }
  const auto reported = providerError(response.body);
  const std::string why = reported ? reported->message : excerpt(response.body);
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
