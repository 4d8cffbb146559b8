// A server on the loopback interface that plays model APIs. It passes every request to a function, which may answer
// byte by byte, slowly, or incompletely.
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
  std::string headers;  ///< As received.
  std::string body;
};

/// The connection of one request.
class Reply {
 public:
  explicit Reply(int socket) : socket_(socket) {}
  /// Sends status line and headers. The end of the connection ends the body.
  void begin(int status, std::string_view contentType, const std::vector<std::string>& headers = {});
  /// Returns false when the client has disconnected.
  bool send(std::string_view bytes);
  /// Sends a complete response.
  void answer(int status, std::string_view contentType, std::string_view body,
              const std::vector<std::string>& headers = {});
  /// Sends an event stream in pieces of `pieceBytes`.
  void stream(std::string_view body, std::size_t pieceBytes = 4096);
  /// Waits a few seconds at most until the client has closed its end.
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
  /// Returns all requests so far.
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

/// Returns the text of tests/agent/samples/NAME.
std::string sample(const std::string& name);

}  // namespace bough::agent
