// A proxy between libpq and a server, on a Unix socket: counts round trips, and cuts a connection after any message of
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

  /// Returns how often a client sent something after an answer, since the last call; each time costs the network's
  /// latency. Notifications, which nobody waits for, do not count.
  std::uint64_t takeRoundTrips() { return roundTrips_.exchange(0); }
  /// Cuts the connection after this many further messages, counting both directions; -1: never.
  void cutAfter(int messages) {
    hasCut_ = false;
    messagesLeft_ = messages;
  }
  /// Returns true when a connection was cut since then.
  [[nodiscard]] bool hasCut() const { return hasCut_; }
  /// While on, refuses new connections and cuts existing ones.
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
