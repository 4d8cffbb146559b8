// HTTP for model APIs: one POST whose answer is passed to the caller as it arrives.
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
  int idleTimeoutMs = 300'000;           ///< The longest wait without a single received byte.
  std::function<bool()> isAnswerDone{};  ///< Returns true once the caller needs no more bytes, although the connection
                                         ///< is still open.
};

struct HttpResponse {
  long status = 0;
  std::string contentType;
  std::optional<std::uint64_t> retryAfterMs;
  std::optional<bool> shouldRetry;  ///< `x-should-retry`
  std::string body;                 ///< The body of an answer that failed or is not an event stream; cut after
                                    ///< kMaxBodyBytes.
};

/// Sends requests and keeps connections open between them. Takes proxies from the usual environment variables. Not
/// thread-safe.
class HttpClient {
 public:
  static constexpr std::size_t kMaxBodyBytes = std::size_t{256} << 10;

  HttpClient();
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Sends a request. The body of a success that is neither JSON nor HTML is passed to `onBytes` piece by piece until
  /// `onBytes` returns false. Fails with a retryable Io error when the connection fails or stays silent too long. Does
  /// not follow redirects.
  Result<HttpResponse> post(const HttpRequest& request, const std::function<bool(std::string_view)>& onBytes,
                            const CancelToken& cancel);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Parses a `retry-after` header: seconds, or an HTTP date.
std::optional<std::uint64_t> parseRetryAfterMs(std::string_view value, std::uint64_t nowMs);

}  // namespace bough::agent
