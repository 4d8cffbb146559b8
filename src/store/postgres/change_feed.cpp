#include "store/postgres/change_feed.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "base/bytes/sha256.h"
#include "base/system/file_io.h"
#include "base/system/threads.h"

namespace bough::postgres {
namespace {

constexpr std::chrono::milliseconds kGather{20};  // between two notifications, to collect the appends in between
constexpr std::chrono::milliseconds kFirst{10};   // before a notification that follows a pause
constexpr int kLookMs = 2000;
constexpr std::size_t kMostPayloadBytes = 7900;  // a notification is limited to less than 8,000 bytes
constexpr std::size_t kMostSessions = 10'000;    // sessions whose notifications are counted separately
constexpr std::size_t kMostChannelBytes = 63;

// Returns a channel name that the server does not cut off and that no other schema of the database has.
std::string channelOf(const std::string& schema) {
  std::string channel = "bough_" + schema;
  return channel.size() <= kMostChannelBytes ? channel : "bough-" + Sha256::of(schema).substr(0, 32);
}

}  // namespace

// The data that watchers share with the listener. Outlives the hub while a watcher exists.
struct ChangeHub::Watched {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::uint64_t> versions;  // by session, incremented by each notification
  std::uint64_t any = 0;                          // the same for all sessions together
  std::uint64_t all = 0;                          // incremented when any session may have changed

  // A follower of one session is notified of all sessions. When there are too many versions, they are dropped and all
  // followers look. `any` is at least the sum of the versions, so every sum still grows.
  void count(std::string_view sessionId) {
    if (versions.size() >= kMostSessions) {
      all += any + 1;
      versions.clear();
    }
    ++versions[std::string(sessionId)];
    ++any;
  }
};

class ChangeHub::Watcher final : public ChangeWatcher {
 public:
  Watcher(std::shared_ptr<Watched> watched, std::vector<std::string> sessionIds)
      : watched_(std::move(watched)), sessionIds_(std::move(sessionIds)) {
    const std::lock_guard lock(watched_->mutex);
    seen_ = now();
  }
  Result<bool> wait(int timeoutMs) override {
    std::unique_lock lock(watched_->mutex);
    const auto ready = [&] { return woken_ || now() != seen_; };
    if (timeoutMs < 0) {
      watched_->changed.wait(lock, ready);
    } else if (!watched_->changed.wait_for(lock, std::chrono::milliseconds(timeoutMs), ready)) {
      return false;
    }
    woken_ = false;
    seen_ = now();
    return true;
  }
  void wake() override {
    const std::lock_guard lock(watched_->mutex);
    woken_ = true;
    watched_->changed.notify_all();
  }

 private:
  [[nodiscard]] std::uint64_t now() const {
    if (sessionIds_.empty()) return watched_->all + watched_->any;
    std::uint64_t sum = watched_->all;
    for (const std::string& id : sessionIds_) {
      const auto found = watched_->versions.find(id);
      if (found != watched_->versions.end()) sum += found->second;
    }
    return sum;
  }
  std::shared_ptr<Watched> watched_;
  const std::vector<std::string> sessionIds_;  // empty: all
  std::uint64_t seen_ = 0;
  bool woken_ = false;
};

ChangeHub::ChangeHub(Database& database)
    : database_(database),
      channel_(channelOf(database.pool.location().schema)),
      process_(::getpid()),
      watched_(std::make_shared<Watched>()) {}

ChangeHub::~ChangeHub() {
  if (::getpid() != process_) {  // the threads belong to the parent
    if (announcer_.joinable()) announcer_.detach();
    if (listener_.joinable()) listener_.detach();
    return;
  }
  stop();
  if (wakeRead_ >= 0) ::close(wakeRead_);
  if (wakeWrite_ >= 0) ::close(wakeWrite_);
}

void ChangeHub::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    noted_.notify_all();
    if (wakeWrite_ >= 0) (void)!::write(wakeWrite_, "x", 1);
  }
  if (announcer_.joinable()) announcer_.join();
  if (listener_.joinable()) listener_.join();
}

void ChangeHub::note(const std::string& sessionId) {
  if (::getpid() != process_) return;  // followers also look by themselves
  // The append has succeeded, even if memory does not suffice to announce it.
  ThreadFailure().guard([&] { noteGuarded(sessionId); });
}

void ChangeHub::noteGuarded(const std::string& sessionId) {
  const std::lock_guard lock(mutex_);
  const bool isFirst = waiting_.empty();  // the announcer collects the others and is not woken for each
  waiting_.insert(sessionId);
  if (!announcer_.joinable() && !stopping_) {
    // Without the thread nobody is notified. The next change tries again, and followers look by themselves.
    if (auto started = startThread("to tell of changes", [this] { announceLoop(); })) announcer_ = std::move(*started);
  }
  if (isFirst) noted_.notify_all();
}

void ChangeHub::announceLoop() {
  Deadline next = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  for (;;) {
    noted_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    noted_.wait_until(lock, std::max(next, std::chrono::steady_clock::now() + kFirst), [&] { return stopping_; });
    // A failure, of the server or of memory, is not reported: the followers look by themselves.
    ThreadFailure failure;
    failure.guard([&] { announce(lock); });
    if (!lock.owns_lock()) lock.lock();
    if (failure.failed()) waiting_.clear();
    next = std::chrono::steady_clock::now() + kGather;
  }
}

// Releases the lock before it calls the server.
void ChangeHub::announce(std::unique_lock<std::mutex>& lock) {
  std::string payload;
  while (!waiting_.empty() && payload.size() + waiting_.begin()->size() < kMostPayloadBytes) {
    payload += (payload.empty() ? "" : ",") + *waiting_.begin();
    waiting_.erase(waiting_.begin());
  }
  lock.unlock();
  Call call{.name = "pg_notify",
            .sql = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)",
            .parameters = {}};
  call.parameters.text(channel_).text(payload);
  (void)database_.pool.run(std::move(call));
}

Result<std::unique_ptr<ChangeWatcher>> ChangeHub::watch(const std::vector<std::string>& sessionIds) {
  auto watcher = std::make_unique<Watcher>(watched_, sessionIds);
  const std::lock_guard lock(mutex_);
  if (!listener_.joinable() && !stopping_) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
      return fail(ErrorCode::Io, "no pipe can be made", "close some files");
    wakeRead_ = ends[0];
    wakeWrite_ = ends[1];
    auto started = startThread("to wait for changes", [this] { listenLoop(); });
    if (!started) {
      ::close(std::exchange(wakeRead_, -1));
      ::close(std::exchange(wakeWrite_, -1));
      return std::unexpected(started.error());
    }
    listener_ = std::move(*started);
  }
  return watcher;
}

void ChangeHub::wakeAll() {
  const std::lock_guard lock(watched_->mutex);
  ++watched_->all;
  watched_->changed.notify_all();
}

void ChangeHub::listenLoop() {
  const auto stopped = [&] {
    const std::lock_guard lock(mutex_);
    return stopping_;
  };
  while (!stopped()) {
    // Whatever ends the listening, the server or missing memory: the followers look, and listening is tried again.
    ThreadFailure().guard([&] {
      if (auto connection = database_.pool.connect()) (void)listenOn(**connection);
    });
    wakeAll();
    std::unique_lock lock(mutex_);
    noted_.wait_for(lock, std::chrono::milliseconds(kLookMs), [&] { return stopping_; });
  }
}

// Listens until the connection is lost or the hub stops.
Exchange<void> ChangeHub::listenOn(Connection& connection) {
  const std::string text = "LISTEN \"" + channel_ + '"';
  const Call call{.sql = text};
  if (auto started = connection.run(std::span(&call, 1), false, database_.pool.deadline()); !started) {
    return std::unexpected(started.error());
  }
  wakeAll();  // for changes before we listened
  for (;;) {
    auto payloads = connection.waitForNotifications(wakeRead_, kLookMs);
    if (!payloads) return std::unexpected(payloads.error());
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return {};
    }
    if (payloads->empty()) wakeAll();
    const std::lock_guard lock(watched_->mutex);
    for (std::string_view payload : *payloads) {
      while (!payload.empty()) {
        const std::size_t end = std::min(payload.find(','), payload.size());
        watched_->count(payload.substr(0, end));
        payload.remove_prefix(std::min(end + 1, payload.size()));
      }
    }
    watched_->changed.notify_all();
  }
}

}  // namespace bough::postgres
