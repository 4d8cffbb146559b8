#include "agent/providers/http.h"
#include "agent/providers/curl_library.h"
#include "agent/tools/credentials.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>

#include "base/system/environment.h"
#include "base/text/text.h"
#include "base/try.h"
#include "bough/agent/tools.h"

namespace bough::agent {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kCancelPollMs = 25;  // the longest delay before a cancellation is noticed

struct Transfer {
  const CurlLibrary& curl;
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

std::size_t onHeader(const char* bytes, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::string_view line(bytes, size * count);
  transfer.lastByte = SteadyClock::now();
  if (line.starts_with("HTTP/")) {  // the status line of a proxy may precede the server's
    transfer.response = {};
    return line.size();
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return line.size();
  const std::string name = lowered(line.substr(0, colon));
  const std::string value = lowered(text::trimmed(line.substr(colon + 1)));
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
        parseRetryAfterMs(text::trimmed(line.substr(colon + 1)), systemEnvironment().clock.nowMs());
  }
  return line.size();
}

std::size_t onBody(const char* bytes, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::string_view part(bytes, size * count);
  transfer.lastByte = SteadyClock::now();
  if (transfer.response.status == 0) {
    transfer.curl.easyGetinfo(transfer.handle, CURLINFO_RESPONSE_CODE, &transfer.response.status);
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

// Describes a failed transfer for a person; falls back to libcurl's own words.
std::string whatFailed(const CurlLibrary& curl, CURLcode code) {
  if (code == CURLE_PARTIAL_FILE || code == CURLE_RECV_ERROR) return "the connection broke off before the answer ended";
  if (code == CURLE_GOT_NOTHING) return "the server closed the connection without an answer";
  if (code == CURLE_URL_MALFORMAT) return "this is not a valid address";
  if (code == CURLE_UNSUPPORTED_PROTOCOL) return "this is not HTTP";  // either the address or the answer is not HTTP
  if (code == CURLE_PEER_FAILED_VERIFICATION) return "the certificate of the server is not trusted";
  if (code == CURLE_SSL_CACERT_BADFILE) return "the trusted certificates cannot be read";
  // Older versions of libcurl report a header line of more than 100 KB this way.
  if (code == CURLE_OUT_OF_MEMORY) return "the answer's header is too long, or memory has run out";
  return curl.easyStrerror(code);
}

// A wrong address or certificate stays wrong, so these errors are not retryable.
std::unexpected<Error> transferError(const CurlLibrary& curl, std::string_view url, CURLcode code) {
  auto error = networkError(url, whatFailed(curl, code));
  const bool address = code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL;
  const bool certificate = code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE;
  if (address) error.error().hint = "correct the base URL, such as https://HOST/v1";
  if (certificate) error.error().hint = "SSL_CERT_FILE or SSL_CERT_DIR name certificates to trust";
  if (address || certificate) error.error().retryable = false;
  return error;
}

struct EasyHandle {
  const CurlLibrary& curl;
  CURL* handle;
  curl_slist* headers = nullptr;
  explicit EasyHandle(const CurlLibrary& library) : curl(library), handle(library.easyInit()) {}
  EasyHandle(const EasyHandle&) = delete;
  EasyHandle& operator=(const EasyHandle&) = delete;
  ~EasyHandle() {
    curl.easyCleanup(handle);
    curl.slistFreeAll(headers);
  }

  void addHeader(const std::string& header) { headers = curl.slistAppend(headers, header.c_str()); }
  // `Value` must be the type that libcurl expects for the option: long, curl_off_t, or a pointer.
  template <typename Value>
  void set(CURLoption option, Value value) {
    (void)curl.easySetopt(handle, option, value);
  }
};

// libcurl does not read these variables by itself; its command line tool and OpenSSL do.
void setCertificates(EasyHandle& easy) {
  if (const char* file = std::getenv("SSL_CERT_FILE"); file != nullptr && *file != '\0') {
    easy.set(CURLOPT_CAINFO, file);
  }
  if (const char* folder = std::getenv("SSL_CERT_DIR"); folder != nullptr && *folder != '\0') {
    easy.set(CURLOPT_CAPATH, folder);
  }
}

void prepare(EasyHandle& easy, const HttpRequest& request, Transfer& transfer) {
  for (const std::string& header : request.headers) easy.addHeader(header);
  easy.addHeader("Expect:");
  easy.set(CURLOPT_URL, request.url.c_str());
  easy.set(CURLOPT_PROTOCOLS_STR, "http,https");
  easy.set(CURLOPT_NOSIGNAL, 1L);
  easy.set(CURLOPT_TCP_NODELAY, 1L);
  easy.set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connectTimeoutMs));
  easy.set(CURLOPT_HTTPHEADER, easy.headers);
  easy.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  easy.set(CURLOPT_POSTFIELDS, request.body.data());
  easy.set(CURLOPT_HEADERFUNCTION, onHeader);
  easy.set(CURLOPT_HEADERDATA, &transfer);
  easy.set(CURLOPT_WRITEFUNCTION, onBody);
  easy.set(CURLOPT_WRITEDATA, &transfer);
  easy.set(CURLOPT_USERAGENT, "bough");
  // Asks for uncompressed bytes, because a compressed stream arrives with delay. Without this option libcurl would not
  // decompress an answer that a server or proxy compresses anyway.
  easy.set(CURLOPT_ACCEPT_ENCODING, "identity");
  setCertificates(easy);
  transfer.handle = easy.handle;
}

}  // namespace

std::optional<std::uint64_t> parseRetryAfterMs(std::string_view value, std::uint64_t nowMs) {
  double seconds = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (problem == std::errc() && end == value.data() + value.size()) {
    return seconds >= 0 && seconds < 1e9 ? std::optional(static_cast<std::uint64_t>(seconds * 1000)) : std::nullopt;
  }
  const auto curl = curlLibrary();
  if (!curl) return std::nullopt;
  const time_t date = (*curl)->getdate(std::string(value).c_str(), nullptr);
  if (date < 0) return std::nullopt;
  const std::uint64_t atMs = static_cast<std::uint64_t>(date) * 1000;
  return atMs > nowMs ? atMs - nowMs : 0;
}

struct HttpClient::State {
  const CurlLibrary* curl = nullptr;
  CURLM* multi = nullptr;
};

HttpClient::HttpClient() : state_(std::make_unique<State>()) {}

HttpClient::~HttpClient() {
  if (state_->multi != nullptr) state_->curl->multiCleanup(state_->multi);
}

Result<HttpResponse> HttpClient::post(const HttpRequest& request, const std::function<bool(std::string_view)>& onBytes,
                                      const CancelToken& cancel) {
  if (state_->multi == nullptr) {
    BOUGH_TRY(state_->curl, curlLibrary());
    state_->multi = state_->curl->multiInit();
  }
  const CurlLibrary& curl = *state_->curl;
  Transfer transfer{.curl = curl, .onBytes = &onBytes};
  EasyHandle easy(curl);
  prepare(easy, request, transfer);
  curl.multiAddHandle(state_->multi, easy.handle);
  std::optional<CURLcode> result;
  bool silent = false;
  bool over = false;
  while (!result && !silent && !over && !cancel.requested()) {
    int running = 0;
    curl.multiPerform(state_->multi, &running);
    int left = 0;
    while (const CURLMsg* message = curl.multiInfoRead(state_->multi, &left)) {
      if (message->msg == CURLMSG_DONE) result = message->data.result;
    }
    if (result) break;
    curl.multiPoll(state_->multi, nullptr, 0, kCancelPollMs, nullptr);
    silent = SteadyClock::now() - transfer.lastByte > std::chrono::milliseconds(request.idleTimeoutMs);
    over = request.isAnswerDone && request.isAnswerDone();
  }
  curl.easyGetinfo(easy.handle, CURLINFO_RESPONSE_CODE, &transfer.response.status);
  curl.multiRemoveHandle(state_->multi, easy.handle);
  if (!result && (over || !silent)) return std::move(transfer.response);
  if (silent) return networkError(request.url, fmt::format("no byte for {} s", request.idleTimeoutMs / 1000));
  if (*result != CURLE_OK && !transfer.stopped) return transferError(curl, request.url, *result);
  return std::move(transfer.response);
}

}  // namespace bough::agent
