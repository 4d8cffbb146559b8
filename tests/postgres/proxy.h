// A proxy between libpq and a server, on a unix socket: counts round trips, and cuts a connection after any message of
// the protocol.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "support/postgres_server.h"

namespace bough {

class PostgresProxy {
 public:
  explicit PostgresProxy(const PostgresServer& server);
  ~PostgresProxy();
  PostgresProxy(const PostgresProxy&) = delete;
  PostgresProxy& operator=(const PostgresProxy&) = delete;

  [[nodiscard]] std::string url(const std::string& schema) const;

  /// How often a client sent something after an answer, since the last call: what a network's latency is paid for.
  /// Notifications, which nobody waits for, do not count.
  std::uint64_t takeRoundTrips() { return roundTrips_.exchange(0); }
  /// Cuts the connection that passes this many messages from now on, in both directions together; -1: none.
  void cutAfter(int messages) {
    hasCut_ = false;
    messagesLeft_ = messages;
  }
  /// Whether a connection was cut since.
  [[nodiscard]] bool hasCut() const { return hasCut_; }
  /// While it is set, new connections are refused, and those that are open are cut.
  void partition(bool on) { partitioned_ = on; }

 private:
  class Link;
  void run();

  std::string serverSocket_;
  TempFolder folder_;
  int listener_ = -1;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> partitioned_ = false;
  std::atomic<std::uint64_t> roundTrips_ = 0;
  std::atomic<int> messagesLeft_ = -1;
  std::atomic<bool> hasCut_ = false;
  std::thread thread_;
};

}  // namespace bough
