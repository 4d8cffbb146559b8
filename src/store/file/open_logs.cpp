#include "store/file/open_logs.h"

#include <sys/resource.h>

#include <algorithm>
#include <functional>

#include "base/try.h"
#include "store/rules/header.h"

namespace bough {
namespace {

constexpr std::size_t kMaxIdentities = 4096;

// Leaves most of the files that a process may open to others.
std::size_t mostOpen() {
  constexpr std::size_t kMost = 128;
  constexpr std::size_t kShare = 8;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kMost;
  return std::min<std::size_t>(limit.rlim_cur / kShare, kMost);
}

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
  // Create the session without the lock: building a first index may take a while, and other sessions should not wait.
  auto session = std::make_shared<FileSession>(sessions_, store_, *this, sessionId, identity);
  BOUGH_TRY(session->log());
  const std::lock_guard lock(state.mutex);
  KnownSession& known = state.known[sessionId];
  if (auto other = known.session.lock()) return other;
  known = {.session = session, .open = session};
  state.open.insert(session.get());
  return session;
}

void OpenLogs::drop(const std::string& sessionId) {
  State& state = *state_;
  std::shared_ptr<FileSession> session;
  {
    const std::lock_guard lock(state.mutex);
    state.identities.erase(sessionId);
    if (const auto known = state.known.find(sessionId); known != state.known.end()) {
      session = known->second.session.lock();
      // A closed log needs no room, so a search for a log to close need not look at it.
      state.open.erase(session.get());
      known->second.open = nullptr;
    }
  }
  if (session) session->dropLog();
}

void OpenLogs::makeRoomFor(FileSession& opening) {
  State& state = *state_;
  std::vector<Idle> idle;
  {
    const std::lock_guard lock(state.mutex);
    // A session that is not known yet is not added to the open ones: it may fail to open, or another object of the same
    // session may become known first.
    const auto self = state.known.find(opening.sessionId());
    auto known = self != state.known.end() ? self->second.session.lock() : nullptr;
    if (known.get() == &opening && state.open.insert(&opening).second) self->second.open = std::move(known);
    if (state.open.size() <= mostOpen()) return;
    idle = takeIdle(state, &opening, 1);
    dropExpired(state);
  }
  close(idle);
}

bool OpenLogs::closeIdle() {
  State& state = *state_;
  std::vector<Idle> idle;
  {
    const std::lock_guard lock(state.mutex);
    idle = takeIdle(state, nullptr, state.open.size());
  }
  close(idle);
  return !idle.empty();
}

// Requires the state's lock. Returns the least recently used logs first.
std::vector<OpenLogs::Idle> OpenLogs::takeIdle(State& state, const FileSession* except, std::size_t most) {
  std::vector<std::pair<std::uint64_t, FileSession*>> others;
  for (FileSession* each : state.open) {
    if (each != except) others.emplace_back(each->lastUsed(), each);
  }
  std::ranges::make_heap(others, std::greater{});
  std::vector<Idle> idle;
  while (!others.empty() && idle.size() < most) {
    std::ranges::pop_heap(others, std::greater{});
    FileSession* session = others.back().second;
    others.pop_back();
    if (auto log = session->takeIdleLog()) {
      state.open.erase(session);
      idle.push_back(
          {.session = std::exchange(state.known.at(session->sessionId()).open, nullptr), .log = std::move(log)});
    }
  }
  return idle;
}

// Reads a log's identity without our lock: a thread that holds a log's lock may be waiting for ours.
void OpenLogs::close(const std::vector<Idle>& idle) {
  State& state = *state_;
  for (const Idle& each : idle) {
    const auto identity = each.log->identity();
    each.session->keepIdentity(identity);
    if (!identity) continue;
    const std::lock_guard lock(state.mutex);
    if (state.identities.size() >= kMaxIdentities) state.identities.clear();
    state.identities.insert_or_assign(each.session->sessionId(), *identity);
  }
}

// Requires the state's lock. Drops the records of sessions that are no longer in use.
void OpenLogs::dropExpired(State& state) {
  if (state.known.size() < 2 * state.open.size() + kMaxIdentities) return;
  std::erase_if(state.known, [](const auto& each) { return each.second.session.expired(); });
}

}  // namespace bough
