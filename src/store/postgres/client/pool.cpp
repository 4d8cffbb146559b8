#include "store/postgres/client/pool.h"

#include <unistd.h>

#include <algorithm>
#include <random>
#include <thread>

#include "base/try.h"

namespace bough::postgres {
namespace {

// How long a server that never answered is retried: it may just have been started.
constexpr std::chrono::milliseconds kFirstTries{1000};

// Returns a pause that grows with each attempt. It is random, so that clients that failed together do not retry
// together.
std::chrono::milliseconds pause(int attempt) {
  thread_local std::minstd_rand chance{std::random_device{}()};
  const int longest = std::min(5 << std::min(attempt, 8), 1000);
  return std::chrono::milliseconds(std::uniform_int_distribution(longest / 2, longest)(chance));
}

// Counts the connections that this thread uses.
class Use {
 public:
  Use() { ++count_; }
  ~Use() { --count_; }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  static bool hasOne() { return count_ > 0; }

 private:
  static thread_local unsigned count_;
};
thread_local unsigned Use::count_ = 0;

}  // namespace

Pool::Pool(Location location, PoolOptions options)
    : location_(std::move(location)), options_(options), process_(::getpid()) {
  idle_.reserve(options_.connections);  // so that returning a connection never fails
}

Pool::~Pool() {
  dropParentConnections();
}

// In the child of a fork(2) the connections still belong to the parent.
void Pool::dropParentConnections() {
  if (::getpid() == process_) return;
  for (const auto& connection : idle_) connection->abandon();
  idle_.clear();
  open_ = 0;
  process_ = ::getpid();
}

Exchange<std::unique_ptr<Connection>> Pool::take(Deadline deadline) {
  {
    std::unique_lock lock(mutex_);
    dropParentConnections();
    // A thread that has a connection and needs another must not wait for threads that may do the same. It gets one
    // beyond the limit.
    const auto free = [&] { return !idle_.empty() || open_ < options_.connections || Use::hasOne(); };
    if (!returned_.wait_until(lock, deadline, free)) return std::unexpected(timeoutFailure(location_, false));
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
    ++open_;
  }
  try {
    auto made = Connection::open(location_, deadline);
    if (!made) giveBack(nullptr);
    if (made) reached_ = true;
    return made;
  } catch (...) {  // out of memory
    giveBack(nullptr);
    throw;
  }
}

bool Pool::belongsToParent() const {
  return ::getpid() != process_;
}

// Takes back a connection, or null for one that was lost.
void Pool::giveBack(std::unique_ptr<Connection> connection) {
  const std::lock_guard lock(mutex_);
  if (connection && open_ <= options_.connections) {
    idle_.push_back(std::move(connection));
  } else if (open_ > 0) {
    --open_;
  }
  returned_.notify_one();
}

Exchange<std::unique_ptr<Connection>> Pool::connect() {
  return Connection::open(location_, deadline());
}

Exchange<void> Pool::tryOnce(const std::function<Exchange<void>(Connection&)>& use, Deadline deadline) {
  auto connection = take(deadline);
  if (!connection) return std::unexpected(connection.error());
  Exchange<void> done;
  try {
    const Use counted;
    done = use(**connection);
  } catch (...) {  // out of memory: the rest of the answer is never read
    giveBack(nullptr);
    throw;
  }
  const bool whole = done || done.error().trouble == Trouble::Refused || done.error().trouble == Trouble::Repeat ||
                     done.error().trouble == Trouble::NotPrepared;
  const bool good = whole && !(*connection)->isInTransaction();
  if (good) (*connection)->dropNotifications();
  giveBack(good ? std::move(*connection) : nullptr);
  return done;
}

Exchange<void> Pool::repeat(const std::function<Exchange<void>(Connection&)>& use, Deadline end) {
  bool unknown = false;  // an earlier attempt may have been done
  const Deadline firstEnd = std::min(end, std::chrono::steady_clock::now() + kFirstTries);
  for (int attempt = 0;; ++attempt) {
    const auto begun = std::chrono::steady_clock::now();
    auto done = tryOnce(use, end);
    if (done) return done;
    const auto lasted = std::chrono::steady_clock::now() - begun;
    Failure& failure = done.error();
    if (failure.trouble == Trouble::NotPrepared) prepare_ = false;
    unknown |= failure.trouble == Trouble::LostOutcomeUnknown;
    const auto wait = failure.trouble == Trouble::NotPrepared ? std::chrono::milliseconds(0) : pause(attempt);
    const bool final = failure.trouble == Trouble::Refused || failure.trouble == Trouble::TimedOut;
    // A refusal by the server is certain. A retry whose answer comes too late would make the outcome unknown.
    const auto needed = failure.trouble == Trouble::Repeat ? wait + 2 * lasted : wait;
    const bool patient = reached_ || failure.trouble != Trouble::Unreachable;
    if (final || std::chrono::steady_clock::now() + needed >= (patient ? end : firstEnd)) {
      if (unknown && failure.trouble != Trouble::Refused) {
        failure.error.code = ErrorCode::OutcomeUnknown;
        failure.error.hint = lostFailure(location_, "", true).error.hint;
      }
      return done;
    }
    std::this_thread::sleep_for(wait);
  }
}

Failure Pool::explained(Failure failure) const {
  if (!explainRefusal_ || !isSchemaMismatch(failure)) return failure;
  if (auto error = explainRefusal_()) failure.error = std::move(*error);
  return failure;
}

Exchange<void> Pool::withConnection(const std::function<Exchange<void>(Connection&)>& use) {
  auto done = repeat(use, deadline());
  if (!done) return std::unexpected(explained(std::move(done.error())));
  return done;
}

Exchange<std::vector<Rows>> Pool::exchange(std::span<const Call> calls) {
  const Deadline end = deadline();
  std::vector<Rows> results;
  auto done = repeat(
      [&](Connection& connection) -> Exchange<void> {
        auto rows = connection.run(calls, prepare_, end);
        if (!rows) return std::unexpected(rows.error());
        results = std::move(*rows);
        return {};
      },
      end);
  if (!done) return std::unexpected(std::move(done.error()));
  return results;
}

Result<std::vector<Rows>> Pool::run(std::span<const Call> calls) {
  auto done = exchange(calls);
  if (!done) return std::unexpected(explained(std::move(done.error())).error);
  return std::move(*done);
}

Result<Rows> Pool::run(Call call) {
  BOUGH_TRY(auto rows, run(std::span<const Call>(&call, 1)));
  return std::move(rows.front());
}

}  // namespace bough::postgres
