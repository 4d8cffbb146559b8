#include "store/memory/memory_backend.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/try.h"
#include "store/rules/append_rules.h"
#include "store/rules/header.h"

namespace bough {
namespace {

using ToRemove = std::unique_lock<std::shared_mutex>;
using ToKeep = std::shared_lock<std::shared_mutex>;

class SharedHold final : public Hold {
 public:
  SharedHold(ToKeep lock, std::shared_ptr<void> owner) : owner_(std::move(owner)), lock_(std::move(lock)) {}

 private:
  std::shared_ptr<void> owner_;
  ToKeep lock_;
};

}  // namespace

template <typename Lock>
struct MemoryBackend::LockedSession {
  std::shared_ptr<MemorySession> session;
  Lock lock;
};

// Finds a session and locks its removalLock(). Repeats the lookup if the session was removed while we waited.
template <typename Lock>
Result<MemoryBackend::LockedSession<Lock>> MemoryBackend::lockSession(const std::string& sessionId) {
  for (;;) {
    BOUGH_TRY(auto found, find(sessionId));
    LockedSession<Lock> held{.session = found, .lock = Lock(found->removalLock())};
    if (found->log()) return held;
  }
}

MemoryBackend::MemoryBackend(const EntrySerializer& serializer, Environment& environment)
    : MemoryBackend(std::make_shared<MemoryStore>(serializer, environment)) {}

MemoryBackend::MemoryBackend(std::shared_ptr<MemoryStore> store)
    : SharingBackend(store->ids), store_(std::move(store)), trash_(*this), attachments_(*this) {}

Result<std::shared_ptr<MemorySession>> MemoryBackend::find(const std::string& sessionId) {
  BOUGH_TRY(checkSessionId(sessionId));
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(sessionId);
  if (found != sessions_.end() && found->second->log()) return found->second;
  return fail(ErrorCode::NotFound, fmt::format("there is no session {} in memory", sessionId),
              "`bough ls` lists the sessions of a store");
}

Result<std::unique_ptr<ChangeWatcher>> MemoryBackend::watch(const std::vector<std::string>& sessionIds) {
  for (const std::string& id : sessionIds) BOUGH_TRY(find(id));
  return watchMemory(store_, sessionIds);
}

Result<ChangeSet> MemoryBackend::since(std::string_view token) {
  const std::lock_guard lock(store_->mutex);
  ChangeSet changes{.token = fmt::format("{}", store_->changes)};
  changes.all = changes.token != token;
  return changes;
}

Result<std::string> MemoryBackend::stamp(const std::string& sessionId) {
  BOUGH_TRY(find(sessionId));
  const std::lock_guard lock(store_->mutex);
  return fmt::format("{}", store_->versions[sessionId]);
}

Result<std::vector<std::string>> MemoryBackend::listSessions() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> ids;
  for (const auto& [id, session] : sessions_) {
    if (session->log()) ids.push_back(id);
  }
  return ids;
}

Result<std::string> MemoryBackend::settings() {
  const std::lock_guard lock(mutex_);
  return settings_;
}

Result<void> MemoryBackend::saveSettings(std::string_view text) {
  const std::lock_guard lock(mutex_);
  settings_ = text;
  return {};
}

Result<SeenOrigin> MemoryBackend::seenOrigin(const std::string& sessionId) {
  BOUGH_TRY(const auto found, find(sessionId));
  BOUGH_TRY(auto origin, found->origin());
  return SeenOrigin{.origin = std::move(origin)};
}

Result<void> MemoryBackend::storeNew(const std::string& sessionId, const std::vector<Entry>& entries) {
  BOUGH_TRY(checkSessionId(sessionId));
  BOUGH_TRY(const auto lines, prepareFirstBatch(entries, store_->serializer));
  auto log = std::make_shared<MemoryLog>();
  log->add(lines);
  if (const auto origin = readHeader(entries.front()).origin) log->headId = origin->entryId;
  store_->expectChange(sessionId);
  BOUGH_TRY(place(sessionId, std::move(log)));
  store_->noteChange(sessionId);
  return {};
}

Result<void> MemoryBackend::place(const std::string& sessionId, std::shared_ptr<MemoryLog> log) {
  const std::lock_guard lock(mutex_);
  auto found = sessions_.find(sessionId);
  if (found == sessions_.end()) {
    found = sessions_.emplace(sessionId, std::make_shared<MemorySession>(*this, store_, sessionId)).first;
  }
  const auto& session = found->second;
  if (session->log()) {
    return fail(ErrorCode::AlreadyExists, fmt::format("there is a session {} already", sessionId),
                "choose another id, or append to that one");
  }
  session->replaceLog(std::move(log));
  return {};
}

Result<VerifyReport> MemoryBackend::verify(const std::string& sessionId) {
  BOUGH_TRY(const auto found, find(sessionId));
  BOUGH_TRY(const auto state, found->state());
  return VerifyReport{.sessionId = sessionId, .entries = state.entryCount, .bytes = state.bytes};
}

Result<RepairReport> MemoryBackend::repair(const std::string& sessionId) {
  BOUGH_TRY(find(sessionId));
  return RepairReport{.sessionId = sessionId};
}

Result<MigrationResult> MemoryBackend::migrate(const std::string& sessionId) {
  BOUGH_TRY(const auto found, find(sessionId));
  auto result = found->migrate();
  store_->noteChange(sessionId);
  return result;
}

Result<ArchiveSizes> MemoryBackend::archive(const std::string& sessionId) {
  BOUGH_TRY(find(sessionId));
  return fail(ErrorCode::Unsupported, "a store in memory has no archive", "use a store in a folder");
}

Result<void> MemoryBackend::rewrite(const std::string& sessionId, const std::vector<Entry>& entries,
                                    const std::string& expectedTail) {
  BOUGH_TRY(const auto lines, prepareFirstBatch(entries, store_->serializer));
  BOUGH_TRY(const auto found, find(sessionId));
  auto done = found->rewrite(lines, expectedTail);
  store_->noteChange(sessionId);
  return done;
}

Result<void> MemoryBackend::removeIf(const std::string& sessionId, const Allowed& allowed) {
  BOUGH_TRY(const auto held, lockSession<ToRemove>(sessionId));
  BOUGH_TRY(allowed());
  held.session->replaceLog(nullptr);
  dropUnused(sessionId);
  store_->noteChange(sessionId);
  return {};
}

void MemoryBackend::dropUnused(const std::string& sessionId) {
  constexpr long kOurs = 2;  // the reference of the map and that of the caller that removes it
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(sessionId);
  if (found != sessions_.end() && !found->second->log() && found->second.use_count() <= kOurs) sessions_.erase(found);
}

Result<std::unique_ptr<Hold>> MemoryBackend::pin(const std::string& sessionId, const std::string& /*entryId*/) {
  BOUGH_TRY(auto held, lockSession<ToKeep>(sessionId));
  return std::make_unique<SharedHold>(std::move(held.lock), std::move(held.session));
}

Result<TrashedSession> MemoryBackend::Trash::moveIf(const std::string& sessionId, const Allowed& allowed) {
  BOUGH_TRY(const auto held, backend_.lockSession<ToRemove>(sessionId));
  BOUGH_TRY(const auto state, held.session->state());
  BOUGH_TRY(allowed());
  TrashedSession moved{
      .sessionId = sessionId, .removedMs = backend_.store_->environment.clock.nowMs(), .bytes = state.bytes};
  {
    const std::lock_guard lock(backend_.mutex_);
    do {
      moved.trashId = fmt::format("{}~{}", sessionId, moved.removedMs++);
    } while (trashed_.contains(moved.trashId));
    --moved.removedMs;
    const auto placed = trashed_.emplace(moved.trashId, Trashed{.about = moved, .log = nullptr}).first;
    placed->second.log = held.session->replaceLog(nullptr);
  }
  backend_.dropUnused(sessionId);
  backend_.store_->noteChange(sessionId);
  return moved;
}

Result<std::vector<TrashedSession>> MemoryBackend::Trash::list() {
  const std::lock_guard lock(backend_.mutex_);
  std::vector<TrashedSession> found;
  for (const auto& [trashId, each] : trashed_) found.push_back(each.about);
  std::ranges::stable_sort(found, std::greater<>(), &TrashedSession::removedMs);
  return found;
}

Result<MemoryBackend::Trash::Trashed> MemoryBackend::Trash::find(const std::string& trashId) {
  const std::lock_guard lock(backend_.mutex_);
  const auto found = trashed_.find(trashId);
  if (found != trashed_.end()) return found->second;
  return fail(ErrorCode::NotFound, fmt::format("there is no {} in the trash", trashId), "`bough trash` lists what is");
}

Result<SessionState> MemoryBackend::Trash::stateOf(const std::string& trashId) {
  BOUGH_TRY(const auto found, find(trashId));
  return found.log->state(trashId, backend_.store_->serializer);
}

Result<SeenOrigin> MemoryBackend::Trash::originOf(const std::string& trashId) {
  BOUGH_TRY(auto state, stateOf(trashId));
  return SeenOrigin{.origin = std::move(state.origin)};
}

Result<void> MemoryBackend::Trash::exportLines(const std::string& trashId,
                                               const std::function<bool(std::string_view)>& line) {
  BOUGH_TRY(const auto found, find(trashId));
  found.log->exportTo(line);
  return {};
}

Result<void> MemoryBackend::Trash::moveBack(const std::string& trashId) {
  BOUGH_TRY(const auto found, find(trashId));
  const std::string& sessionId = found.about.sessionId;
  if (auto placed = backend_.place(sessionId, found.log); !placed) {
    placed.error().hint = "move that one to the trash first; both are kept there";
    return placed;
  }
  {
    const std::lock_guard lock(backend_.mutex_);
    trashed_.erase(trashId);
  }
  backend_.store_->noteChange(sessionId);
  return {};
}

Result<void> MemoryBackend::Trash::removeOne(const std::string& trashId) {
  BOUGH_TRY(find(trashId));
  const std::lock_guard lock(backend_.mutex_);
  trashed_.erase(trashId);
  return {};
}

Result<std::unique_ptr<Hold>> MemoryBackend::Attachments::hold() {
  return std::make_unique<SharedHold>(ToKeep(adding_), nullptr);
}

Result<void> MemoryBackend::Attachments::put(const std::string& sha256, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  bytes_.emplace(sha256, bytes);
  return {};
}

Result<std::string> MemoryBackend::Attachments::get(const std::string& sha256) {
  const std::lock_guard lock(mutex_);
  const auto found = bytes_.find(sha256);
  if (found == bytes_.end()) return fail(ErrorCode::NotFound, fmt::format("attachment {} is missing", sha256));
  return found->second;
}

Result<std::vector<std::string>> MemoryBackend::Attachments::list() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [sha256, bytes] : bytes_) names.push_back(sha256);
  return names;
}

Result<std::size_t> MemoryBackend::Attachments::removeIf(
    const std::vector<std::string>& sha256s, const std::function<Result<bool>(const std::string&)>& isUnused) {
  const ToRemove alone(adding_);
  std::size_t removed = 0;
  for (const std::string& sha256 : sha256s) {
    BOUGH_TRY(const bool unused, isUnused(sha256));
    const std::lock_guard lock(mutex_);
    if (unused) removed += bytes_.erase(sha256);
  }
  return removed;
}

std::shared_ptr<StorageBackend> makeMemoryBackend(const EntrySerializer& serializer) {
  return std::make_shared<MemoryBackend>(serializer, systemEnvironment());
}

}  // namespace bough
