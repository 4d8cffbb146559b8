// Follows many sessions of a store at once, with one watcher for all of them.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/try.h"
#include "store/session_store_impl.h"

namespace bough {

struct StoreFollower::State {
  std::shared_ptr<SessionStore::Impl> store;
  std::unique_ptr<ChangeWatcher> watcher;
  bool all = false;                                        // new sessions are followed as well
  std::unordered_map<std::string, std::string> positions;  // of sessions that have not changed yet
  std::map<std::string, SessionCursor> cursors;
  std::set<std::string> changed;
  bool uncertain = false;                // changes were taken from the watcher and may be missing in `changed`
  std::vector<FollowedEntries> found{};  // read, but not returned yet
  std::atomic<bool> stopped = false;

  Result<void> takeChanged();
  Result<SessionCursor*> cursorOf(const std::string& sessionId);
  Result<void> readChanged();
};

StoreFollower::StoreFollower(std::unique_ptr<State> state) : state_(std::move(state)) {}
StoreFollower::StoreFollower(StoreFollower&&) noexcept = default;
StoreFollower& StoreFollower::operator=(StoreFollower&&) noexcept = default;
StoreFollower::~StoreFollower() = default;

Result<void> StoreFollower::State::takeChanged() {
  const bool missed = std::exchange(uncertain, true);
  ChangedSessions now = watcher->takeChanged();
  changed.insert(now.sessionIds.begin(), now.sessionIds.end());
  if (now.all || missed) {
    for (const auto& [id, position] : positions) changed.insert(id);
    for (const auto& [id, cursor] : cursors) changed.insert(id);
  }
  if (all && (now.all || missed)) {
    BOUGH_TRY(const auto sessions, store->backend->listSessions());
    changed.insert(sessions.begin(), sessions.end());
  }
  uncertain = false;
  return {};
}

Result<SessionCursor*> StoreFollower::State::cursorOf(const std::string& sessionId) {
  if (const auto known = cursors.find(sessionId); known != cursors.end()) return &known->second;
  const auto start = positions.find(sessionId);
  BOUGH_TRY(auto stored, store->backend->open(sessionId));
  const Session session = Session::State::handle(store, std::move(stored));
  BOUGH_TRY(auto cursor, session.cursor(start == positions.end() ? std::string() : start->second));
  SessionCursor* const made = &cursors.emplace(sessionId, std::move(cursor)).first->second;
  if (start != positions.end()) positions.erase(start);
  return made;
}

// Reads a part of each changed session. A session that has more entries stays in `changed`, and so does one that cannot
// be read, which must not hold up the others.
Result<void> StoreFollower::State::readChanged() {
  constexpr std::size_t kPart = 256;
  constexpr std::size_t kMost = 4096;
  Result<void> first;
  std::size_t count = 0;
  for (auto id = changed.begin(); id != changed.end() && count < kMost;) {
    FollowedEntries part{.sessionId = *id};
    // Reserve first, so that entries are not lost when memory runs out after they were read.
    if (found.size() == found.capacity()) found.reserve(std::max<std::size_t>(8, 2 * found.size()));
    auto cursor = cursorOf(*id);
    auto entries = cursor ? (*cursor)->next(kPart) : std::unexpected(cursor.error());
    if (!entries && entries.error().code != ErrorCode::NotFound) {
      if (first) first = std::unexpected(std::move(entries.error()));
      ++id;
      continue;
    }
    if (!entries || entries->empty()) {
      if (!entries) cursors.erase(*id);  // the session was removed
      id = changed.erase(id);
      continue;
    }
    count += entries->size();
    part.entries = std::move(*entries);
    found.push_back(std::move(part));
    ++id;
  }
  return first;
}

Result<std::vector<FollowedEntries>> StoreFollower::next(int timeoutMs) {
  using Steady = std::chrono::steady_clock;
  const auto deadline = Steady::now() + std::chrono::milliseconds(timeoutMs);
  const WaitingFollowers::Wait waiting(state_->store->followers, *state_->watcher);
  while (!state_->stopped) {
    BOUGH_TRY(state_->store->writeBuffered());
    BOUGH_TRY(state_->takeChanged());
    auto read = state_->readChanged();
    if (!state_->found.empty()) return std::exchange(state_->found, {});  // a failed read is reported by the next call
    if (!read) return std::unexpected(std::move(read.error()));
    int rest = -1;
    if (timeoutMs >= 0) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Steady::now()).count();
      if (left <= 0) break;
      rest = static_cast<int>(left);
    }
    BOUGH_TRY(state_->watcher->wait(rest));
  }
  return std::vector<FollowedEntries>();
}

std::string StoreFollower::position(const std::string& sessionId) const {
  if (const auto cursor = state_->cursors.find(sessionId); cursor != state_->cursors.end()) {
    return cursor->second.position();
  }
  const auto start = state_->positions.find(sessionId);
  return start == state_->positions.end() ? std::string() : start->second;
}

void StoreFollower::stop() {
  state_->stopped = true;
  state_->watcher->wake();
}

Result<StoreFollower> SessionStore::followSessions(const std::vector<FollowStart>& sessions) {
  BOUGH_TRY(impl_->checkOpen());
  if (sessions.empty())
    return fail(ErrorCode::InvalidArgument, "there is no session to follow", "name one, or use followAll()");
  auto state = std::make_unique<StoreFollower::State>();
  state->store = impl_;
  std::vector<std::string> ids;
  for (const FollowStart& start : sessions) {
    ids.push_back(start.sessionId);
    state->positions.insert_or_assign(start.sessionId, start.position);
  }
  // Start watching before the first read, so that no change is missed.
  BOUGH_TRY(state->watcher, impl_->backend->watch(ids));
  for (const std::string& id : ids) {
    BOUGH_TRY(state->cursorOf(id));
    state->changed.insert(id);
  }
  return StoreFollower(std::move(state));
}

Result<StoreFollower> SessionStore::followAll() {
  BOUGH_TRY(impl_->writeBuffered());
  auto state = std::make_unique<StoreFollower::State>();
  state->store = impl_;
  state->all = true;
  BOUGH_TRY(state->watcher, impl_->backend->watch({}));
  BOUGH_TRY(const auto sessions, impl_->backend->listSessions());
  for (const std::string& id : sessions) {
    auto stored = impl_->backend->open(id);
    auto tail = stored ? (*stored)->state() : std::unexpected(stored.error());
    // A session that cannot be read now is followed from its beginning once it can be read.
    if (tail) state->positions.emplace(id, std::move(tail->tailId));
  }
  return StoreFollower(std::move(state));
}

}  // namespace bough
