// The connections of one store. An exchange takes one, and repeats itself on another when the server was lost, a
// failover was under way or two transactions got in each other's way: every exchange of this folder may be repeated,
// because what it stores is recognized by its ids. A server that never answered is told of at once.
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
  std::size_t connections = 8;                ///< That are kept. A thread that uses one may get another beyond them.
  std::chrono::milliseconds timeout{30'000};  ///< For one exchange with all its repetitions.
};

class Pool {
 public:
  explicit Pool(Location location, PoolOptions options = {});
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  [[nodiscard]] const Location& location() const { return location_; }

  /// Runs the statements in one transaction and one round trip, again if it has to. Any thread.
  Result<std::vector<Rows>> run(std::span<const Call> calls);
  Result<Rows> run(Call call);
  /// The same; the failure says more than the error.
  Exchange<std::vector<Rows>> exchange(std::span<const Call> calls);

  /// Lends one connection to `use`, which may exchange more than once on it; again when that could not be finished.
  Exchange<void> withConnection(const std::function<Exchange<void>(Connection&)>& use);

  /// What to tell in place of a refusal that comes of another schema than this program's; asked only after one.
  void explainWith(std::function<std::optional<Error>()> whyOther) { whyOther_ = std::move(whyOther); }
  /// A failure of exchange(), so explained. What the other calls return is.
  Failure explained(Failure failure) const;

  /// A connection of the caller's own, for one that listens or keeps a transaction open.
  Exchange<std::unique_ptr<Connection>> connect();
  [[nodiscard]] Deadline deadline() const { return std::chrono::steady_clock::now() + options_.timeout; }

  /// Whether this is the child of a fork(2), and the pool was the parent's.
  [[nodiscard]] bool isOfParent() const;

  /// Whether statements are prepared: not after a pooler has lost some.
  [[nodiscard]] bool prepares() const { return prepare_; }

 private:
  Exchange<std::unique_ptr<Connection>> take(Deadline deadline);
  void giveBack(std::unique_ptr<Connection> connection);
  void forgetParent();
  Exchange<void> tryOnce(const std::function<Exchange<void>(Connection&)>& use, Deadline deadline);
  Exchange<void> repeat(const std::function<Exchange<void>(Connection&)>& use, Deadline end);

  const Location location_;
  const PoolOptions options_;
  std::function<std::optional<Error>()> whyOther_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Connection>> idle_;
  std::size_t open_ = 0;  // idle ones and those in use
  pid_t process_;
  std::atomic<bool> prepare_ = true;
  std::atomic<bool> reached_ = false;  // whether there ever was a connection
};

}  // namespace bough::postgres
