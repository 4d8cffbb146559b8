// HTTP for model APIs: one POST whose answer is passed on as it arrives.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bough/agent/cancel.h"
#include "bough/error.h"

namespace bough::agent {

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;  ///< "Name: value"
  std::string body;
  int connectTimeoutMs = 20'000;
  int idleTimeoutMs = 300'000;     ///< The longest time without a single byte.
  std::function<bool()> isOver{};  ///< Whether nothing more is wanted, though the connection is still open.
};

struct HttpResponse {
  long status = 0;
  std::string contentType;
  std::optional<std::uint64_t> retryAfterMs;
  std::optional<bool> shouldRetry;  ///< `x-should-retry`
  std::string body;                 ///< Of an answer that is not a success or no event stream; cut after kMaxBodyBytes.
};

/// Keeps connections open between requests. Proxies come from the usual environment variables. One thread at a time.
class HttpClient {
 public:
  static constexpr std::size_t kMaxBodyBytes = std::size_t{256} << 10;

  HttpClient();
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Sends a request. The body of a success that is neither JSON nor HTML goes to `onBytes` piece by piece, until that
  /// returns false. Fails with Io, retryable, when the connection fails or falls silent; redirects are not followed.
  Result<HttpResponse> post(const HttpRequest& request, const std::function<bool(std::string_view)>& onBytes,
                            const CancelToken& cancel);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads `retry-after`: seconds, or a date as HTTP writes it.
std::optional<std::uint64_t> parseRetryAfterMs(std::string_view value, std::uint64_t nowMs);

}  // namespace bough::agent
