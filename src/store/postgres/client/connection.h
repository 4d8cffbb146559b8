// One connection to PostgreSQL. Statements are sent in pipeline mode, so that any number of them takes one round trip.
// They form one transaction unless they say otherwise.
#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bough/error.h"
#include "store/postgres/client/failure.h"
#include "store/postgres/client/location.h"
#include "store/postgres/client/values.h"

namespace bough::postgres {

using Deadline = std::chrono::steady_clock::time_point;

/// A statement with its parameters. It is prepared under `name`; not prepared when that is empty. With a `sink`, the
/// rows go to the sink, and the result has none.
struct Call {
  std::string_view name;
  std::string_view sql;
  Parameters parameters;
  const RowSink* sink = nullptr;
};

class Connection {
 public:
  static Exchange<std::unique_ptr<Connection>> open(const Location& location, Deadline deadline);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Sends all statements, then waits for all results: one round trip. If one fails, none of them has changed anything.
  Exchange<std::vector<Rows>> run(std::span<const Call> calls, bool prepare, Deadline deadline);
  /// Waits for a notification, or for `wakeFd` to become readable. Returns the payloads.
  Exchange<std::vector<std::string>> waitForNotifications(int wakeFd, int timeoutMs);
  /// Returns true while a transaction is open. Statements that begin a transaction leave it open when one of them
  /// fails.
  [[nodiscard]] bool isInTransaction() const;
  /// Discards unexpected notifications: a pooler passes on those of other clients.
  void dropNotifications();

  /// Drops the connection without telling the server: for the child of a fork(2), which shares the socket.
  void abandon();

 private:
  explicit Connection(const Location& location) : location_(location) {}
  Exchange<void> send(const Call& call, bool prepared, bool preparing);
  Exchange<void> flush(Deadline& deadline);
  Exchange<void> waitFor(short events, Deadline deadline);
  Exchange<PGresult*> nextResult(Deadline& deadline, std::chrono::nanoseconds patience);
  Failure lost(std::string what);
  Failure timedOut();
  Failure refused(const PGresult* result) const;
  [[nodiscard]] bool reports(const char* setting, std::string_view value) const;

  const Location& location_;
  PGconn* connection_ = nullptr;
  std::set<std::string, std::less<>> prepared_;
  bool sent_ = false;  // part of the current exchange may have reached the server
};

}  // namespace bough::postgres
