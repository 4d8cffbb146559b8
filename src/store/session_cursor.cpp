// Cursors and followers: read a session's entries in parts, and as they are appended.

#include <atomic>
#include <chrono>

#include "base/try.h"
#include "store/session_store_impl.h"

namespace bough {

struct SessionCursor::State {
  std::shared_ptr<Session::State> session;
  SessionPosition at;
};

SessionCursor::SessionCursor(std::unique_ptr<State> state) : state_(std::move(state)) {}
SessionCursor::SessionCursor(SessionCursor&&) noexcept = default;
SessionCursor& SessionCursor::operator=(SessionCursor&&) noexcept = default;
SessionCursor::~SessionCursor() = default;

Result<SessionCursor> Session::cursor(const std::string& position) const {
  BOUGH_TRY(state_->ready());
  auto state = std::make_unique<SessionCursor::State>(state_, SessionPosition{.entryId = position});
  BOUGH_TRY(auto located, state_->stored->load({.options = {.limit = 0}, .after = state->at, .asStored = true}));
  state->at = std::move(located.end);
  return SessionCursor(std::move(state));
}

Result<std::vector<Entry>> SessionCursor::next(std::size_t count) {
  constexpr std::size_t kPayloadBytes = std::size_t{64} << 20;
  BOUGH_TRY(state_->session->ready());
  BOUGH_TRY(auto found, state_->session->stored->load(
                            {.options = {.limit = count, .limitBytes = kPayloadBytes}, .after = state_->at}));
  state_->at = std::move(found.end);
  return std::move(found.entries);
}

Result<bool> SessionCursor::hasMore() const {
  BOUGH_TRY(state_->session->ready());
  BOUGH_TRY(const auto found,
            state_->session->stored->load({.options = {.limit = 1}, .after = state_->at, .asStored = true}));
  return !found.entries.empty();
}

void SessionCursor::reset() {
  state_->at = {};
}

const std::string& SessionCursor::position() const {
  return state_->at.entryId;
}

struct SessionFollower::State {
  State(std::shared_ptr<Session::State> of, SessionCursor from) : session(std::move(of)), cursor(std::move(from)) {}
  std::shared_ptr<Session::State> session;
  SessionCursor cursor;
  std::unique_ptr<ChangeWatcher> watcher;
  std::atomic<bool> stopped = false;
};

SessionFollower::SessionFollower(std::unique_ptr<State> state) : state_(std::move(state)) {}
SessionFollower::SessionFollower(SessionFollower&&) noexcept = default;
SessionFollower& SessionFollower::operator=(SessionFollower&&) noexcept = default;
SessionFollower::~SessionFollower() = default;

Result<SessionFollower> Session::follow(const std::string& position) const {
  BOUGH_TRY(auto from, cursor(position));
  auto state = std::make_unique<SessionFollower::State>(state_, std::move(from));
  // Start watching before the first read, so that no change is missed.
  BOUGH_TRY(state->watcher, state_->stored->watch());
  return SessionFollower(std::move(state));
}

Result<std::vector<Entry>> SessionFollower::next(int timeoutMs) {
  constexpr std::size_t kPart = 256;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeoutMs);
  const WaitingFollowers::Wait waiting(state_->session->store->followers, *state_->watcher);
  while (!state_->stopped) {
    auto entries = state_->cursor.next(kPart);
    if (!entries || !entries->empty()) return entries;
    int rest = -1;
    if (timeoutMs >= 0) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
      if (left <= 0) break;
      rest = static_cast<int>(left);
    }
    BOUGH_TRY(state_->watcher->wait(rest));
  }
  return std::vector<Entry>();
}

const std::string& SessionFollower::position() const {
  return state_->cursor.position();
}

void SessionFollower::stop() {
  state_->stopped = true;
  state_->watcher->wake();
}

}  // namespace bough
