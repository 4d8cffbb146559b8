// A server on the loopback that plays model APIs: it gives every request to a function, which answers as it likes, byte
// by byte, slowly, or not to the end.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace bough::agent {

struct HttpIn {
  std::string path;
  std::string headers;  ///< As they came.
  std::string body;
};

/// One request's connection.
class Reply {
 public:
  explicit Reply(int socket) : socket_(socket) {}
  /// Status line and headers. The body that follows ends with the connection.
  void begin(int status, std::string_view contentType, const std::vector<std::string>& headers = {});
  /// False when the client has gone.
  bool send(std::string_view bytes);
  /// A whole answer.
  void answer(int status, std::string_view contentType, std::string_view body,
              const std::vector<std::string>& headers = {});
  /// An event stream in pieces of `pieceBytes`.
  void stream(std::string_view body, std::size_t pieceBytes = 4096);
  /// Waits until the client has closed its end, at most some seconds.
  void waitForClose() const;

 private:
  int socket_;
};

class LoopbackServer {
 public:
  using Handler = std::function<void(const HttpIn& request, Reply& reply)>;
  explicit LoopbackServer(Handler handler);
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  [[nodiscard]] std::string url() const;
  /// All requests so far.
  [[nodiscard]] std::vector<HttpIn> requests() const;

 private:
  void accept();
  void serve(int socket);

  Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;
  std::vector<HttpIn> requests_;
  std::vector<std::jthread> workers_;
  std::jthread thread_;
};

/// The text of tests/agent/samples/NAME.
std::string sample(const std::string& name);

}  // namespace bough::agent
