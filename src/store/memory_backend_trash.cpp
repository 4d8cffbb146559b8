// MemoryBackend's trash, attachments and settings.

#include <fmt/format.h>

#include <algorithm>

#include "base/environment.h"
#include "store/memory_state.h"

namespace bough {

Result<TrashedSession> MemoryBackend::trash(const std::string& sessionId,
                                            const std::function<Result<void>()>& allowed) {
  auto held = findStaying<ToRemove>([&] { return session(sessionId); });
  if (!held) return std::unexpected(held.error());
  auto known = state(sessionId);
  if (!known) return std::unexpected(known.error());
  if (auto may = allowed(); !may) return std::unexpected(may.error());
  TrashedSession moved{.sessionId = sessionId, .removedMs = environment_.clock.nowMs(), .bytes = known->bytes};
  {
    const std::lock_guard lock(state_->mutex);
    do {
      moved.trashId = fmt::format("{}~{}", sessionId, moved.removedMs++);
    } while (state_->trash.contains(moved.trashId));
    --moved.removedMs;
    auto node = state_->sessions.extract(sessionId);
    if (!node.empty()) state_->trash[moved.trashId] = {moved, std::move(node.mapped())};
  }
  noteChange(sessionId);
  return moved;
}

Result<std::vector<TrashedSession>> MemoryBackend::listTrash() {
  const std::lock_guard lock(state_->mutex);
  std::vector<TrashedSession> found;
  for (const auto& [trashId, each] : state_->trash) found.push_back(each.about);
  std::ranges::stable_sort(found, std::greater<>(), &TrashedSession::removedMs);
  return found;
}

Result<std::shared_ptr<MemorySession>> MemoryBackend::trashed(const std::string& trashId) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->trash.find(trashId);
  if (found != state_->trash.end()) return found->second.session;
  return fail(ErrorCode::NotFound, fmt::format("there is no {} in the trash", trashId), "`bough trash` lists what is");
}

Result<SessionState> MemoryBackend::trashedState(const std::string& trashId) {
  return with(trashed(trashId), [&](MemorySession& known) { return stateOf(trashId, known); });
}

Result<SeenOrigin> MemoryBackend::trashedOrigin(const std::string& trashId) {
  auto known = trashedState(trashId);
  if (!known) return std::unexpected(known.error());
  return SeenOrigin{.origin = std::move(known->origin)};
}

Result<void> MemoryBackend::exportTrashedLines(const std::string& trashId,
                                               const std::function<bool(std::string_view)>& line) {
  return exportTo(trashed(trashId), line);
}

Result<void> MemoryBackend::restore(const std::string& trashId) {
  if (auto known = trashed(trashId); !known) return std::unexpected(known.error());
  std::string sessionId;
  {
    const std::lock_guard lock(state_->mutex);
    auto& each = state_->trash[trashId];
    sessionId = each.about.sessionId;
    if (!state_->sessions.emplace(sessionId, each.session).second) {
      return fail(ErrorCode::AlreadyExists, fmt::format("there is a session {} already", sessionId),
                  "move that one to the trash first; both are kept there");
    }
    state_->trash.erase(trashId);
  }
  noteChange(sessionId);
  return {};
}

Result<void> MemoryBackend::removeTrashed(const std::string& trashId) {
  if (auto known = trashed(trashId); !known) return std::unexpected(known.error());
  const std::lock_guard lock(state_->mutex);
  state_->trash.erase(trashId);
  return {};
}

Result<void> MemoryBackend::putAttachment(const std::string& sha256, std::string_view bytes) {
  const std::lock_guard lock(state_->mutex);
  state_->attachments.emplace(sha256, bytes);
  return {};
}

Result<std::string> MemoryBackend::getAttachment(const std::string& sha256) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->attachments.find(sha256);
  if (found == state_->attachments.end()) {
    return fail(ErrorCode::NotFound, fmt::format("attachment {} is missing", sha256));
  }
  return found->second;
}

Result<std::string> MemoryBackend::settings() {
  const std::lock_guard lock(state_->mutex);
  return state_->settings;
}

Result<void> MemoryBackend::saveSettings(std::string_view text) {
  const std::lock_guard lock(state_->mutex);
  state_->settings = text;
  return {};
}

Result<std::vector<std::string>> MemoryBackend::listAttachments() {
  const std::lock_guard lock(state_->mutex);
  std::vector<std::string> names;
  for (const auto& [sha256, bytes] : state_->attachments) names.push_back(sha256);
  return names;
}

Result<std::size_t> MemoryBackend::removeAttachments(
    const std::vector<std::string>& sha256s, const std::function<Result<bool>(const std::string&)>& stillUnused) {
  const ToRemove alone(state_->adding);
  std::size_t removed = 0;
  for (const std::string& sha256 : sha256s) {
    auto unused = stillUnused(sha256);
    if (!unused) return std::unexpected(unused.error());
    const std::lock_guard lock(state_->mutex);
    if (*unused) removed += state_->attachments.erase(sha256);
  }
  return removed;
}

}  // namespace bough
