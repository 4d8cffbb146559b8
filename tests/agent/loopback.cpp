#include "agent/loopback.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace bough::agent {
namespace {

std::size_t contentLength(std::string headers) {
  std::ranges::transform(headers, headers.begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
  const std::size_t at = headers.find("content-length:");
  if (at == std::string::npos) return 0;
  const std::size_t digits = headers.find_first_of("0123456789", at);
  std::size_t length = 0;
  (void)std::from_chars(headers.data() + digits, headers.data() + headers.size(), length);
  return length;
}

}  // namespace

void Reply::begin(int status, std::string_view contentType, const std::vector<std::string>& headers) {
  std::string head = fmt::format("HTTP/1.1 {} X\r\nContent-Type: {}\r\nConnection: close\r\n", status, contentType);
  for (const std::string& header : headers) head += header + "\r\n";
  send(head + "\r\n");
}

bool Reply::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

void Reply::answer(int status, std::string_view contentType, std::string_view body,
                   const std::vector<std::string>& headers) {
  begin(status, contentType, headers);
  send(body);
}

void Reply::stream(std::string_view body, std::size_t pieceBytes) {
  begin(200, "text/event-stream");
  while (!body.empty() && send(body.substr(0, pieceBytes))) body.remove_prefix(std::min(pieceBytes, body.size()));
}

void Reply::waitForClose() const {
  pollfd gone{.fd = socket_, .events = POLLIN | POLLRDHUP, .revents = 0};
  (void)::poll(&gone, 1, 10'000);
}

LoopbackServer::LoopbackServer(Handler handler) : handler_(std::move(handler)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, generic, size) != 0 || ::listen(listener_, 64) != 0 ||
      ::getsockname(listener_, generic, &size) != 0) {
    throw std::runtime_error("no loopback server");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread([this] { accept(); });
}

LoopbackServer::~LoopbackServer() {
  stopping_ = true;
  (void)::shutdown(listener_, SHUT_RDWR);
  thread_.join();
  workers_.clear();
  ::close(listener_);
}

std::string LoopbackServer::url() const {
  return fmt::format("http://127.0.0.1:{}", port_);
}

std::vector<HttpIn> LoopbackServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void LoopbackServer::accept() {
  while (!stopping_) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) continue;
    const int on = 1;
    (void)::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const std::lock_guard lock(mutex_);
    workers_.emplace_back([this, socket] { serve(socket); });
  }
}

void LoopbackServer::serve(int socket) {
  std::string in;
  std::size_t headerEnd = std::string::npos;
  std::size_t length = 0;
  char part[65'536];
  while (headerEnd == std::string::npos || in.size() < headerEnd + length) {
    const ssize_t got = ::recv(socket, part, sizeof part, 0);
    if (got <= 0) break;
    in.append(part, static_cast<std::size_t>(got));
    if (headerEnd != std::string::npos) continue;
    const std::size_t end = in.find("\r\n\r\n");
    if (end == std::string::npos) continue;
    headerEnd = end + 4;
    length = contentLength(in.substr(0, headerEnd));
  }
  if (headerEnd != std::string::npos) {
    HttpIn request{
        .path = in.substr(in.find(' ') + 1), .headers = in.substr(0, headerEnd), .body = in.substr(headerEnd)};
    request.path.resize(request.path.find(' '));
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    Reply reply(socket);
    handler_(request, reply);
  }
  ::close(socket);
}

std::string sample(const std::string& name) {
  std::ifstream file(fmt::format("{}/agent/samples/{}", BOUGH_TESTS_DIR, name), std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace bough::agent
