#include "agent/http.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "agent/secrets.h"
#include "base/environment.h"

namespace bough::agent {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kLookMs = 25;  // how long a request to stop can go unseen

struct Transfer {
  CURL* handle = nullptr;
  const std::function<bool(std::string_view)>* onBytes = nullptr;
  HttpResponse response;
  SteadyClock::time_point lastByte = SteadyClock::now();
  bool stopped = false;

  [[nodiscard]] bool isStream() const {
    return response.status >= 200 && response.status < 300 && !response.contentType.starts_with("text/html") &&
           !response.contentType.starts_with("application/json");
  }
};

std::string lowered(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::size_t onHeader(const char* bytes, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::string_view line(bytes, size * count);
  transfer.lastByte = SteadyClock::now();
  if (line.starts_with("HTTP/")) {  // a proxy's answer may come before the server's
    transfer.response = {};
    return line.size();
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return line.size();
  const std::string name = lowered(line.substr(0, colon));
  const std::string value = lowered(trimmed(line.substr(colon + 1)));
  if (name == "content-type") {
    transfer.response.contentType = value;
  } else if (name == "x-should-retry") {
    transfer.response.shouldRetry = value == "true";
  } else if (name == "retry-after-ms") {
    std::uint64_t time = 0;
    if (std::from_chars(value.data(), value.data() + value.size(), time).ec == std::errc()) {
      transfer.response.retryAfterMs = time;
    }
  } else if (name == "retry-after" && !transfer.response.retryAfterMs) {
    transfer.response.retryAfterMs =
        parseRetryAfterMs(trimmed(line.substr(colon + 1)), systemEnvironment().clock.nowMs());
  }
  return line.size();
}

std::size_t onBody(const char* bytes, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::string_view part(bytes, size * count);
  transfer.lastByte = SteadyClock::now();
  if (transfer.response.status == 0) {
    curl_easy_getinfo(transfer.handle, CURLINFO_RESPONSE_CODE, &transfer.response.status);
  }
  if (transfer.isStream()) {
    transfer.stopped = !(*transfer.onBytes)(part);
    return transfer.stopped ? CURL_WRITEFUNC_ERROR : part.size();
  }
  const std::size_t room = HttpClient::kMaxBodyBytes - transfer.response.body.size();
  transfer.response.body.append(part.substr(0, room));
  transfer.stopped = part.size() > room;
  return transfer.stopped ? CURL_WRITEFUNC_ERROR : part.size();
}

std::unexpected<Error> networkError(std::string_view url, std::string_view what) {
  const std::size_t end = url.find('?');
  auto error = fail(ErrorCode::Io, fmt::format("{}: {}", withoutCredentials(url.substr(0, end)), what),
                    "check the network, the proxy variables and the base URL");
  error.error().retryable = true;
  return error;
}

struct EasyHandle {
  CURL* handle = curl_easy_init();
  curl_slist* headers = nullptr;
  EasyHandle() = default;
  EasyHandle(const EasyHandle&) = delete;
  EasyHandle& operator=(const EasyHandle&) = delete;
  ~EasyHandle() {
    curl_easy_cleanup(handle);
    curl_slist_free_all(headers);
  }
};

void prepare(EasyHandle& easy, const HttpRequest& request, Transfer& transfer) {
  CURL* handle = easy.handle;
  for (const std::string& header : request.headers) easy.headers = curl_slist_append(easy.headers, header.c_str());
  easy.headers = curl_slist_append(easy.headers, "Expect:");
  curl_easy_setopt(handle, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_TCP_NODELAY, 1L);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connectTimeoutMs));
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, easy.headers);
  curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request.body.data());
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, onHeader);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, onBody);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(handle, CURLOPT_USERAGENT, "bough");
  transfer.handle = handle;
}

}  // namespace

std::optional<std::uint64_t> parseRetryAfterMs(std::string_view value, std::uint64_t nowMs) {
  double seconds = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (problem == std::errc() && end == value.data() + value.size()) {
    return seconds >= 0 && seconds < 1e9 ? std::optional(static_cast<std::uint64_t>(seconds * 1000)) : std::nullopt;
  }
  const time_t date = curl_getdate(std::string(value).c_str(), nullptr);
  if (date < 0) return std::nullopt;
  const std::uint64_t atMs = static_cast<std::uint64_t>(date) * 1000;
  return atMs > nowMs ? atMs - nowMs : 0;
}

struct HttpClient::State {
  CURLM* multi = nullptr;
};

HttpClient::HttpClient() : state_(std::make_unique<State>()) {
  static const CURLcode kReady = curl_global_init(CURL_GLOBAL_DEFAULT);
  (void)kReady;
  state_->multi = curl_multi_init();
}

HttpClient::~HttpClient() {
  curl_multi_cleanup(state_->multi);
}

Result<HttpResponse> HttpClient::post(const HttpRequest& request, const std::function<bool(std::string_view)>& onBytes,
                                      const CancelToken& cancel) {
  Transfer transfer;
  transfer.onBytes = &onBytes;
  EasyHandle easy;
  prepare(easy, request, transfer);
  curl_multi_add_handle(state_->multi, easy.handle);
  std::optional<CURLcode> result;
  bool silent = false;
  while (!result && !silent && !cancel.requested()) {
    int running = 0;
    curl_multi_perform(state_->multi, &running);
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(state_->multi, &left)) {
      if (message->msg == CURLMSG_DONE) result = message->data.result;
    }
    if (result) break;
    curl_multi_poll(state_->multi, nullptr, 0, kLookMs, nullptr);
    silent = SteadyClock::now() - transfer.lastByte > std::chrono::milliseconds(request.idleTimeoutMs);
  }
  curl_easy_getinfo(easy.handle, CURLINFO_RESPONSE_CODE, &transfer.response.status);
  curl_multi_remove_handle(state_->multi, easy.handle);
  if (!result && !silent) {
    transfer.response.cancelled = true;
    return std::move(transfer.response);
  }
  if (silent) return networkError(request.url, fmt::format("no byte for {} s", request.idleTimeoutMs / 1000));
  if (*result != CURLE_OK && !transfer.stopped) return networkError(request.url, curl_easy_strerror(*result));
  return std::move(transfer.response);
}

}  // namespace bough::agent
