#include "store/file/open_logs.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/try.h"
#include "store/rules/header.h"

namespace bough {
namespace {

constexpr std::size_t kMaxOpenLogs = 128;
constexpr std::size_t kMaxIdentities = 4096;

}  // namespace

Result<std::shared_ptr<FileSession>> OpenLogs::session(const std::string& sessionId) {
  State& state = *state_;
  BOUGH_TRY(checkSessionId(sessionId));
  std::optional<SessionLog::Identity> identity;
  {
    const std::lock_guard lock(state.mutex);
    if (const auto known = state.known.find(sessionId); known != state.known.end()) {
      if (auto session = known->second.session.lock()) return session;
    }
    if (const auto found = state.identities.find(sessionId); found != state.identities.end()) identity = found->second;
  }
  // Without the lock: a first index may take a while, and other sessions should not wait for it.
  auto session = std::make_shared<FileSession>(sessions_, store_, *this, sessionId, identity);
  BOUGH_TRY(session->log());
  const std::lock_guard lock(state.mutex);
  Known& known = state.known[sessionId];
  if (auto other = known.session.lock()) return other;
  known = {.session = session, .open = session};
  state.open.insert(session.get());
  return session;
}

void OpenLogs::forget(const std::string& sessionId) {
  State& state = *state_;
  std::shared_ptr<FileSession> session;
  {
    const std::lock_guard lock(state.mutex);
    state.identities.erase(sessionId);
    if (const auto known = state.known.find(sessionId); known != state.known.end()) {
      session = known->second.session.lock();
      // A log that is closed takes no room: whoever looks for one to close need not look at it.
      state.open.erase(session.get());
      known->second.open = nullptr;
    }
  }
  if (session) session->forgetLog();
}

// A log's identity is taken without our lock: whoever holds a log's lock may be waiting for ours.
void OpenLogs::makeRoomFor(FileSession& opening) {
  State& state = *state_;
  std::shared_ptr<FileSession> oldest;
  std::shared_ptr<SessionLog> log;
  {
    const std::lock_guard lock(state.mutex);
    const auto self = state.known.find(opening.sessionId());
    if (self != state.known.end() && state.open.insert(&opening).second)
      self->second.open = self->second.session.lock();
    if (state.open.size() <= kMaxOpenLogs) return;
    std::vector<FileSession*> others;
    std::ranges::copy_if(state.open, std::back_inserter(others), [&](FileSession* each) { return each != &opening; });
    while (!log && !others.empty()) {
      const auto least = std::ranges::min_element(others, {}, &FileSession::lastUsed);
      log = (*least)->takeIdleLog();
      if (log) oldest = std::exchange(state.known.at((*least)->sessionId()).open, nullptr);
      others.erase(least);
    }
    state.open.erase(oldest.get());
    dropExpired(state);
  }
  if (!log) return;
  const auto identity = log->identity();
  oldest->keepIdentity(identity);
  if (!identity) return;
  const std::lock_guard lock(state.mutex);
  if (state.identities.size() >= kMaxIdentities) state.identities.clear();
  state.identities.insert_or_assign(oldest->sessionId(), *identity);
}

// Needs the state's lock. Names of sessions that nobody has any more.
void OpenLogs::dropExpired(State& state) {
  if (state.known.size() < 2 * state.open.size() + kMaxIdentities) return;
  std::erase_if(state.known, [](const auto& each) { return each.second.session.expired(); });
}

}  // namespace bough
