#include "store/session_buffer.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/try.h"

namespace bough {
namespace {

// Combines errors into one. The result is retryable when any of them is, because then something is still buffered.
void add(std::optional<Error>& all, Error error) {
  if (!all) {
    all = std::move(error);
    return;
  }
  if (error.retryable && !all->retryable) std::swap(*all, error);
  if (!all->message.contains(error.message)) all->message += "; " + error.message;
}

Error withCount(Error error, std::size_t entries, const std::string& sessionId) {
  error.message += " (" + std::to_string(entries) + " buffered entries of session " + sessionId +
                   (error.retryable ? " still wait)" : " were not stored)");
  return error;
}

}  // namespace

SessionBuffer::SessionBuffer(std::size_t maxEntries, int maxMs)
    : maxEntries_(std::max<std::size_t>(maxEntries, 1)), maxAge_(std::max(maxMs, 1)) {}

SessionBuffer::~SessionBuffer() {
  stop();
}

void SessionBuffer::stop() {
  State& state = *state_;
  {
    const std::lock_guard lock(state.mutex);
    state.stopping = true;
    state.wake.notify_all();
  }
  if (state.thread.joinable()) state.thread.join();
}

std::shared_ptr<SessionBuffer::Waiting> SessionBuffer::find(const std::string& sessionId) {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  const auto found = state.sessions.find(sessionId);
  return found == state.sessions.end() ? nullptr : found->second;
}

std::shared_ptr<SessionBuffer::Waiting> SessionBuffer::make(const std::shared_ptr<StoredSession>& session) {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  if (!state.stopping && !state.thread.joinable()) {
    auto started = startThread("to write what waits", [this, &state] { run(state); });
    if (started) state.thread = std::move(*started);
    state.isWatched = started.has_value();
  }
  const auto found = state.sessions.find(session->sessionId());
  if (found != state.sessions.end()) return found->second;
  state.any = true;
  return state.sessions.emplace(session->sessionId(), std::make_shared<Waiting>(session)).first->second;
}

Result<void> SessionBuffer::append(Waiting& waiting, std::vector<Entry> entries) {
  AppendRequest request{.entries = std::move(entries)};
  BOUGH_TRY(waiting.session->append(request));
  return {};
}

// Requires waiting.mutex. Entries that cannot be written now (for example, because the disk is full) stay buffered;
// entries that can never be written are dropped. The error says which of the two happened. Returns false when the last
// batch was dropped.
bool SessionBuffer::write(Waiting& waiting) {
  waiting.delayed.reset();
  if (waiting.entries.empty()) return true;
  auto written = append(waiting, waiting.entries);
  if (!written && !written.error().retryable) return writeBatchByBatch(waiting);
  if (!written) {
    waiting.delayed = withCount(written.error(), waiting.entries.size(), waiting.session->sessionId());
    return true;
  }
  waiting.entries.clear();
  waiting.batches.clear();
  return true;
}

// Writes batch by batch, so that a batch that can never be written does not take others with it.
bool SessionBuffer::writeBatchByBatch(Waiting& waiting) {
  std::optional<Error> lost;
  std::size_t lostEntries = 0;
  Result<void> written;
  while (!waiting.batches.empty()) {
    const std::size_t count = waiting.batches.front();
    const auto end = waiting.entries.begin() + static_cast<std::ptrdiff_t>(count);
    written = append(waiting, {waiting.entries.begin(), end});
    if (!written && written.error().retryable) break;
    if (!written) {
      add(lost, written.error());
      lostEntries += count;
    }
    waiting.entries.erase(waiting.entries.begin(), end);
    waiting.batches.erase(waiting.batches.begin());
  }
  if (lost) {
    const Error error = withCount(*lost, lostEntries, waiting.session->sessionId());
    add(waiting.lost, error);
    add(waiting.lostSinceFlushAll, error);
  }
  if (waiting.batches.empty()) return written.has_value();
  waiting.delayed = withCount(written.error(), waiting.entries.size(), waiting.session->sessionId());
  return true;
}

// Requires waiting.mutex. Each error is returned to the session's callers once.
std::optional<Error> SessionBuffer::takeError(Waiting& waiting) {
  auto error = std::exchange(waiting.lost, std::nullopt);
  if (waiting.delayed) add(error, *std::exchange(waiting.delayed, std::nullopt));
  return error;
}

Result<AppendResult> SessionBuffer::accept(
    const std::shared_ptr<StoredSession>& session,
    const std::function<Result<AppendResult>(std::vector<Entry>& waiting)>& use) {
  const auto waiting = make(session);
  const std::lock_guard lock(waiting->mutex);
  if (auto error = takeError(*waiting)) return std::unexpected(std::move(*error));
  // Entries that could not be written before come first, so that the buffer does not exceed its limit.
  if (waiting->entries.size() >= maxEntries_) {
    write(*waiting);
    if (auto error = takeError(*waiting)) return std::unexpected(std::move(*error));
  }
  if (waiting->entries.empty()) waiting->since = Clock::now();
  const std::size_t before = waiting->entries.size();
  // A batch is buffered as a whole or not at all: memory may run out in between.
  waiting->batches.reserve(waiting->batches.size() + 1);
  Result<AppendResult> result;
  try {
    result = use(waiting->entries);
  } catch (...) {
    waiting->entries.resize(before);
    throw;
  }
  if (waiting->entries.size() > before) waiting->batches.push_back(waiting->entries.size() - before);
  // This batch was accepted if it is buffered with the others, or if it was stored while another batch was lost. The
  // next call reports that loss.
  const bool isFull = waiting->entries.size() >= maxEntries_ || !state_->isWatched;
  if (result && isFull && !write(*waiting)) {
    return std::unexpected(*takeError(*waiting));
  }
  state_->wake.notify_one();
  return result;
}

Result<void> SessionBuffer::flush(const std::string& sessionId) {
  const auto waiting = find(sessionId);
  if (!waiting) return {};
  const std::lock_guard lock(waiting->mutex);
  write(*waiting);
  if (auto error = takeError(*waiting)) return std::unexpected(std::move(*error));
  return {};
}

Result<void> SessionBuffer::writeAll(const std::function<std::optional<Error>(Waiting&)>& take) {
  std::vector<std::shared_ptr<Waiting>> all;
  {
    State& state = *state_;
    const std::lock_guard lock(state.mutex);
    for (const auto& [id, waiting] : state.sessions) all.push_back(waiting);
  }
  std::optional<Error> errors;
  for (const auto& waiting : all) {
    const std::lock_guard lock(waiting->mutex);
    write(*waiting);
    if (auto error = take(*waiting)) add(errors, std::move(*error));
  }
  if (errors) return std::unexpected(std::move(*errors));
  return {};
}

Result<void> SessionBuffer::writeAll() {
  return writeAll(&takeError);
}

Result<void> SessionBuffer::flushAll() {
  return writeAll([](Waiting& waiting) {
    auto error = std::exchange(waiting.lostSinceFlushAll, std::nullopt);
    waiting.lost.reset();
    if (waiting.delayed) add(error, *std::exchange(waiting.delayed, std::nullopt));
    return error;
  });
}

// Writes all entries that have been buffered for maxAge_. Returns when the next ones are due.
SessionBuffer::Clock::time_point SessionBuffer::writeDue(
    const std::map<std::string, std::shared_ptr<Waiting>>& sessions) {
  auto due = Clock::now() + maxAge_;
  for (const auto& [id, waiting] : sessions) {
    const std::lock_guard held(waiting->mutex);
    if (waiting->entries.empty()) continue;
    if (waiting->since + maxAge_ > Clock::now()) {
      due = std::min(due, waiting->since + maxAge_);
    } else {
      write(*waiting);
    }
  }
  return due;
}

void SessionBuffer::run(State& state) {
  std::unique_lock lock(state.mutex);
  while (!state.stopping) {
    auto due = Clock::now() + maxAge_;
    try {
      const auto sessions = state.sessions;
      lock.unlock();
      due = writeDue(sessions);
    } catch (const std::bad_alloc&) {
      // Entries that could not be written stay buffered and are tried again.
    }
    if (!lock.owns_lock()) lock.lock();
    if (!state.stopping) state.wake.wait_until(lock, due);
  }
}

}  // namespace bough
