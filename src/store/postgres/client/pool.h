// The connections of one store. An exchange takes a connection, and is repeated on another one when the server was
// lost, during a failover, or when two transactions conflicted. Every exchange in this folder may be repeated, because
// what it stores is recognized by its ids. A server that never answered is retried for a second only.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "store/postgres/client/connection.h"

namespace bough::postgres {

struct PoolOptions {
  std::size_t connections = 8;                ///< How many are kept. A thread that uses one may exceed this limit.
  std::chrono::milliseconds timeout{30'000};  ///< For one exchange with all its retries.
};

class Pool {
 public:
  explicit Pool(Location location, PoolOptions options = {});
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  [[nodiscard]] const Location& location() const { return location_; }

  /// Runs the statements in one transaction and one round trip, with retries. Thread-safe.
  Result<std::vector<Rows>> run(std::span<const Call> calls);
  Result<Rows> run(Call call);
  /// The same, but returns the Failure, which says more than the error.
  Exchange<std::vector<Rows>> exchange(std::span<const Call> calls);

  /// Lends a connection to `use`, which may make several exchanges on it. Calls `use` again when it could not be
  /// finished.
  Exchange<void> withConnection(const std::function<Exchange<void>(Connection&)>& use);

  /// Sets a function that explains a refusal when the schema is not the one that this program expects. Called only
  /// after such a refusal.
  void setRefusalExplainer(std::function<std::optional<Error>()> explainRefusal) {
    explainRefusal_ = std::move(explainRefusal);
  }
  /// Returns a failure of exchange() with that explanation. The other calls return explained errors already.
  Failure explained(Failure failure) const;

  /// Returns a connection for the caller alone, to listen on it or to keep a transaction open.
  Exchange<std::unique_ptr<Connection>> connect();
  [[nodiscard]] Deadline deadline() const { return std::chrono::steady_clock::now() + options_.timeout; }

  /// Returns true in the child of a fork(2) when the pool belongs to the parent.
  [[nodiscard]] bool belongsToParent() const;

  /// Returns true when statements are prepared: no longer after a pooler has lost some.
  [[nodiscard]] bool prepares() const { return prepare_; }

 private:
  Exchange<std::unique_ptr<Connection>> take(Deadline deadline);
  void giveBack(std::unique_ptr<Connection> connection);
  void dropParentConnections();
  Exchange<void> tryOnce(const std::function<Exchange<void>(Connection&)>& use, Deadline deadline);
  Exchange<void> repeat(const std::function<Exchange<void>(Connection&)>& use, Deadline end);

  const Location location_;
  const PoolOptions options_;
  std::function<std::optional<Error>()> explainRefusal_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Connection>> idle_;
  std::size_t open_ = 0;  // idle connections and those in use
  pid_t process_;
  std::atomic<bool> prepare_ = true;
  std::atomic<bool> reached_ = false;  // true after the first successful connection
};

}  // namespace bough::postgres
