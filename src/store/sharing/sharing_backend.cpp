#include "store/sharing/sharing_backend.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/try.h"
#include "store/rules/append_rules.h"
#include "store/rules/entry_rules.h"
#include "store/rules/header.h"
#include "store/sharing/fork_census.h"
#include "store/sharing/session_loader.h"

namespace bough {

Result<std::shared_ptr<StoredSession>> SharingBackend::open(const std::string& sessionId) {
  return session(sessionId);
}

Result<std::string> SharingBackend::attachment(const std::string& sha256) {
  AttachmentStore* store = attachments();
  if (store == nullptr) return fail(ErrorCode::Unsupported, describe() + " keeps no attachments");
  return store->get(sha256);
}

Result<void> SharingBackend::create(const SessionCreation& creation) {
  if (!creation.origin) return storeNew(creation.sessionId, creation.entries);
  const auto& [parentId, entryId] = *creation.origin;
  // Keep the parent until the fork names it, so that it cannot be removed in between, and make the entry durable.
  BOUGH_TRY(const auto pinned, pin(parentId, entryId));
  BOUGH_TRY(const auto parent, session(parentId));
  BOUGH_TRY(const auto found, parent->load({.ids = {entryId}, .asStored = true}));
  if (found.entries.empty()) {
    return fail(ErrorCode::NotFound, fmt::format("session {} has no entry {}", parentId, entryId),
                "`bough cat` prints all entries of a session");
  }
  const std::string& type = found.entries.front().type;
  if (isControlType(type) || type == entry_type::kSessionHeader) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("entry {} is a {}: a fork cannot continue from it", entryId, type),
                "name a message or another entry of the conversation");
  }
  return storeNew(creation.sessionId, creation.entries);
}

Result<std::vector<std::string>> SharingBackend::forksOf(const std::string& sessionId) {
  ForkCensus census(*this);
  BOUGH_TRY(census.readSessions());
  return census.sharersOf(sessionId).forks;
}

Result<void> SharingBackend::checkTail(const Removal& removal) {
  if (!removal.expectedTail) return {};
  BOUGH_TRY(const auto found, session(removal.sessionId));
  BOUGH_TRY(const auto state, found->state());
  if (state.tailId == *removal.expectedTail) return {};
  return std::unexpected(tailConflict(removal.sessionId, *removal.expectedTail, state.tailId));
}

// Returns true for a session that shares no history and has no entry except its header, so that no fork can share
// anything of it and no other session need be read.
bool SharingBackend::isHeaderAlone(const std::string& sessionId) {
  const auto found = session(sessionId);
  const auto state = found ? (*found)->state() : std::unexpected(found.error());
  return state && !state->origin && state->entryCount == 1 && state->trailingBytes == 0 && state->problemCount == 0;
}

Result<void> SharingBackend::remove(const Removal& removal) {
  if (removal.detachForks) {
    BOUGH_TRY(detachForks(removal.sessionId));
  }
  return removeIf(removal.sessionId, [&]() -> Result<void> {
    BOUGH_TRY(checkTail(removal));
    if (removal.expectedTail && isHeaderAlone(removal.sessionId)) return {};
    ForkCensus census(*this);
    BOUGH_TRY(census.readSessions());
    BOUGH_TRY(census.readTrash());
    return refuseSharers(removal.sessionId, census.sharersOf(removal.sessionId));
  });
}

Result<void> SharingBackend::detachForks(const std::string& sessionId) {
  ForkCensus census(*this);
  BOUGH_TRY(census.readSessions());
  const std::vector<std::string> forks = census.sharersOf(sessionId).forks;
  // Check this before any fork is rewritten: a fork whose header is unreadable cannot be detached.
  std::vector<std::string> uncertain = forks;
  std::erase_if(uncertain, [&](const std::string& fork) { return census.find(fork)->isCertain; });
  BOUGH_TRY(refuseUnknown(sessionId, uncertain));
  for (const std::string& fork : forks) {
    auto detached = detach(fork);
    if (detached) continue;
    // A fork that was removed meanwhile shares nothing.
    if (detached.error().code != ErrorCode::NotFound) return detached;
    BOUGH_TRY(const auto left, listSessions());
    if (std::ranges::find(left, fork) != left.end()) return detached;
  }
  return {};
}

}  // namespace bough
