#include "postgres/proxy.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <list>
#include <stdexcept>
#include <vector>

namespace bough {
namespace {

sockaddr_un addressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) throw std::runtime_error("the path of the socket is too long: " + path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

const sockaddr* plain(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

// Finds the ends of messages in a stream. A message has a type (except a client's first message), then a length.
class Messages {
 public:
  explicit Messages(bool client) : header_(client ? 4 : 5), first_(client) {}

  /// Returns the bytes up to the end of the first message that ends in `data`; 0 when none does.
  std::size_t take(std::string_view data) {
    for (std::size_t at = 0; at < data.size(); ++at) {
      if (body_ == 0 || bytes_.size() < header_) {
        bytes_ += data[at];
        if (bytes_.size() < header_) continue;
        std::uint32_t length = 0;
        for (std::size_t i = header_ - 4; i < header_; ++i)
          length = length << 8 | static_cast<unsigned char>(bytes_[i]);
        body_ = length - 4;
      } else {
        --body_;
      }
      if (body_ > 0) continue;
      bytes_.clear();
      if (first_) {
        first_ = false;
        header_ = 5;
      }
      return at + 1;
    }
    return 0;
  }

 private:
  std::size_t header_;
  bool first_;
  std::string bytes_;  // of the header
  std::uint32_t body_ = 0;
};

}  // namespace

class PostgresProxy::Link {
 public:
  Link(PostgresProxy& proxy, int client, int server) : proxy_(proxy), client_(client), server_(server) {}
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link() {
    ::close(client_);
    ::close(server_);
  }

  [[nodiscard]] int client() const { return client_; }
  [[nodiscard]] int server() const { return server_; }

  /// Returns false when the link has ended.
  bool forward(bool fromClient) {
    char buffer[65536];
    const ssize_t got = ::read(fromClient ? client_ : server_, buffer, sizeof(buffer));
    if (got <= 0) return false;
    std::string_view data(buffer, static_cast<std::size_t>(got));
    if (fromClient && answered_ && !data.contains("pg_notify")) ++proxy_.roundTrips_;
    answered_ = !fromClient;
    Messages& messages = fromClient ? clientMessages_ : serverMessages_;
    while (!data.empty()) {
      const std::size_t whole = messages.take(data);
      const std::size_t part = whole == 0 ? data.size() : whole;
      if (!send(fromClient ? server_ : client_, data.substr(0, part))) return false;
      data.remove_prefix(part);
      if (whole == 0) continue;
      if (proxy_.messagesLeft_ < 0 || --proxy_.messagesLeft_ > 0) continue;
      proxy_.messagesLeft_ = -1;
      proxy_.hasCut_ = true;
      return false;
    }
    return true;
  }

 private:
  static bool send(int to, std::string_view data) {
    while (!data.empty()) {
      const ssize_t sent = ::send(to, data.data(), data.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      data.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  PostgresProxy& proxy_;
  const int client_;
  const int server_;
  bool answered_ = true;
  Messages clientMessages_{true};
  Messages serverMessages_{false};
};

PostgresProxy::PostgresProxy(const PostgresServer& server) : serverSocket_(server.socket()) {
  const sockaddr_un address = addressOf(folder_ / (".s.PGSQL." + std::to_string(PostgresServer::kPort)));
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::bind(listener_, plain(address), sizeof(address)) != 0 || ::listen(listener_, 64) != 0) {
    throw std::runtime_error("the proxy cannot listen");
  }
  thread_ = std::thread([this] { run(); });
}

PostgresProxy::~PostgresProxy() {
  stopping_ = true;
  thread_.join();
  ::close(listener_);
}

std::string PostgresProxy::url(const std::string& schema) const {
  std::string host;
  for (const char c : folder_.path().string()) host += c == '/' ? "%2F" : std::string(1, c);
  return "postgresql://postgres@" + host + ":" + std::to_string(PostgresServer::kPort) + "/postgres?schema=" + schema;
}

void PostgresProxy::run() {
  std::list<Link> links;
  while (!stopping_) {
    if (partitioned_) links.clear();
    std::vector<pollfd> waiting{{.fd = listener_, .events = POLLIN, .revents = 0}};
    for (const Link& link : links) {
      waiting.push_back({.fd = link.client(), .events = POLLIN, .revents = 0});
      waiting.push_back({.fd = link.server(), .events = POLLIN, .revents = 0});
    }
    ::poll(waiting.data(), waiting.size(), 20);
    std::size_t at = 1;
    for (auto link = links.begin(); link != links.end(); at += 2) {
      const bool client = waiting[at].revents != 0;
      const bool server = waiting[at + 1].revents != 0;
      const bool lives = (!client || link->forward(true)) && (!server || link->forward(false));
      link = lives ? std::next(link) : links.erase(link);
    }
    if (waiting.front().revents == 0) continue;
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_un address = addressOf(serverSocket_);
    if (partitioned_ || ::connect(server, plain(address), sizeof(address)) != 0) {
      ::close(client);
      ::close(server);
      continue;
    }
    links.emplace_back(*this, client, server);
  }
}

}  // namespace bough
