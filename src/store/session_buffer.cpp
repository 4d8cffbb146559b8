#include "store/session_buffer.h"

#include <algorithm>

namespace bough {

SessionBuffer::SessionBuffer(Write write, std::size_t maxEntries, int maxMs)
    : write_(std::move(write)), maxEntries_(std::max<std::size_t>(maxEntries, 1)), maxAge_(std::max(maxMs, 1)) {}

SessionBuffer::~SessionBuffer() {
  stop();
}

void SessionBuffer::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<SessionBuffer::Waiting> SessionBuffer::of(const std::string& sessionId, bool make) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(sessionId);
  if (found != sessions_.end()) return found->second;
  if (!make) return nullptr;
  any_ = true;
  if (!stopping_ && !thread_.joinable()) thread_ = std::thread([this] { run(); });
  return sessions_.emplace(sessionId, std::make_shared<Waiting>()).first->second;
}

// Needs waiting.mutex. What cannot be written now goes on waiting, as on a full disk; what never can be is dropped. The
// error says which of the two.
Result<void> SessionBuffer::write(const Write& write, const std::string& sessionId, Waiting& waiting) {
  if (waiting.entries.empty()) return {};
  auto written =
      write({.sessionId = sessionId, .entries = waiting.entries, .expectedTail = {}, .origin = {}, .shared = {}});
  Error error = written ? Error() : written.error();
  const std::size_t count = waiting.entries.size();
  if (written || !error.retryable) waiting.entries.clear();
  if (written) return {};
  error.message += " (" + std::to_string(count) + " buffered entries of session " + sessionId +
                   (error.retryable ? " still wait)" : " were not stored)");
  return std::unexpected(std::move(error));
}

Result<AppendResult> SessionBuffer::accept(
    const std::string& sessionId, const std::function<Result<AppendResult>(std::vector<Entry>& waiting)>& use) {
  const auto waiting = of(sessionId, true);
  const std::lock_guard lock(waiting->mutex);
  if (waiting->failed) return std::unexpected(*std::exchange(waiting->failed, std::nullopt));
  // What could not be written before comes first, so that no more waits than may.
  if (waiting->entries.size() >= maxEntries_) {
    if (auto written = write(write_, sessionId, *waiting); !written) return std::unexpected(written.error());
  }
  if (waiting->entries.empty()) waiting->since = Clock::now();
  auto result = use(waiting->entries);
  if (result && waiting->entries.size() >= maxEntries_) {
    auto written = write(write_, sessionId, *waiting);
    if (!written && !written.error().retryable) return std::unexpected(written.error());
    if (!written) waiting->failed = written.error();  // the batch is accepted: it waits with the others
  }
  wake_.notify_one();
  return result;
}

Result<void> SessionBuffer::flush(const std::string& sessionId) {
  const auto waiting = of(sessionId, false);
  if (!waiting) return {};
  const std::lock_guard lock(waiting->mutex);
  auto written = write(write_, sessionId, *waiting);
  const auto before = std::exchange(waiting->failed, std::nullopt);
  if (before && !before->retryable) return std::unexpected(*before);
  return written;
}

Result<void> SessionBuffer::flushAll() {
  std::vector<std::string> ids;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, waiting] : sessions_) ids.push_back(id);
  }
  Result<void> outcome;
  for (const std::string& id : ids) {
    auto flushed = flush(id);
    if (!flushed && outcome) outcome = std::move(flushed);
  }
  return outcome;
}

// Writes whatever has waited for maxAge_, and sleeps until the next is due.
void SessionBuffer::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    auto due = Clock::now() + maxAge_;
    const std::vector<std::pair<std::string, std::shared_ptr<Waiting>>> sessions(sessions_.begin(), sessions_.end());
    lock.unlock();
    for (const auto& [id, waiting] : sessions) {
      const std::lock_guard held(waiting->mutex);
      if (waiting->entries.empty()) continue;
      if (waiting->since + maxAge_ > Clock::now()) {
        due = std::min(due, waiting->since + maxAge_);
        continue;
      }
      if (auto written = write(write_, id, *waiting); !written) waiting->failed = written.error();
    }
    lock.lock();
    if (!stopping_) wake_.wait_until(lock, due);
  }
}

}  // namespace bough
