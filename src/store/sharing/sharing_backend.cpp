#include "store/sharing/sharing_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/model/head.h"
#include "base/model/unreadable.h"
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
  // Held until the fork names it, so that it cannot be deleted in between; and durable by then.
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
  BOUGH_TRY(census.lookAtSessions());
  return census.sharersOf(sessionId).forks;
}

Result<void> SharingBackend::checkTail(const Removal& removal) {
  if (!removal.expectedTail) return {};
  BOUGH_TRY(const auto found, session(removal.sessionId));
  BOUGH_TRY(const auto state, found->state());
  if (state.tailId == *removal.expectedTail) return {};
  return std::unexpected(tailConflict(removal.sessionId, *removal.expectedTail, state.tailId));
}

// A session that has no entry but its header, as whoever removes it knows, and shares none, has nothing that another
// one could share: no other session is looked at.
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
    BOUGH_TRY(census.lookAtSessions());
    BOUGH_TRY(census.lookAtTrash());
    return refuseSharers(removal.sessionId, census.sharersOf(removal.sessionId));
  });
}

Result<void> SharingBackend::detachForks(const std::string& sessionId) {
  ForkCensus census(*this);
  BOUGH_TRY(census.lookAtSessions());
  const std::vector<std::string> forks = census.sharersOf(sessionId).forks;
  // Before any fork is rewritten: one whose header is gone cannot be.
  std::vector<std::string> unsure = forks;
  std::erase_if(unsure, [&](const std::string& fork) { return census.find(fork)->sure; });
  BOUGH_TRY(refuseUnknown(sessionId, unsure));
  for (const std::string& fork : forks) {
    auto detached = detach(fork);
    if (detached) continue;
    // A fork that was removed meanwhile shares nothing any more.
    if (detached.error().code != ErrorCode::NotFound) return detached;
    BOUGH_TRY(const auto left, listSessions());
    if (std::ranges::find(left, fork) != left.end()) return detached;
  }
  return {};
}

namespace {

// A copy of part of a branch would be all that is left of it.
Result<void> refuseMissing(SharingSession& fork) {
  BOUGH_TRY(const auto history, fork.history());
  if (history->missing().empty()) return {};
  BOUGH_TRY(const auto origin, fork.origin());
  BOUGH_TRY(fork.historyOf(origin));  // says that a session is not there, if that is why
  const std::string oldest = history->sessions().front();
  return fail(ErrorCode::Damaged,
              fmt::format("session {} shares entry {}, which cannot be read in session {}", fork.sessionId(),
                          history->missing(), oldest),
              fmt::format("bring it back from a copy first; `bough verify {}` says what is wrong", oldest));
}

// A rewrite would put the placeholder of a damaged line in the place of its bytes.
Result<void> refuseUnreadable(SharingSession& fork, const std::vector<Entry>& entries) {
  const auto lost = std::ranges::find_if(entries, isUnreadable);
  if (lost == entries.end()) return {};
  BOUGH_TRY(const auto own, fork.ownSequenceOf(lost->id));
  BOUGH_TRY(const auto history, fork.history());
  const std::string where = own ? fork.sessionId() : history->sessions().front();
  return fail(ErrorCode::Damaged,
              fmt::format("session {} {} entry {}, which cannot be read in session {}", fork.sessionId(),
                          own ? "holds" : "shares", lost->id, where),
              fmt::format("bring it back from a copy first; `bough verify {}` says what is wrong", where));
}

Result<std::unordered_set<std::string>> idsOf(const std::vector<Entry>& entries, const std::string& forkId) {
  std::unordered_set<std::string> present;
  for (const Entry& entry : entries) {
    if (present.insert(entry.id).second) continue;
    return fail(
        ErrorCode::Damaged,
        fmt::format("session {} holds a second entry {}, which would be lost: it shares one already", forkId, entry.id),
        fmt::format("copy that line elsewhere and take it out of the file (`bough verify {}` says where it "
                    "stands), or leave the session as it is",
                    forkId));
  }
  return present;
}

// When the head was moved to where it is.
std::string headTime(const std::vector<Entry>& entries) {
  std::string storage;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if (headAfter(entryKind(entry->type), entry->id, entry->payload, storage)) return entry->timestamp;
  }
  return entries.back().timestamp;
}

}  // namespace

// Rewrites the fork: its header, all that it shared, its own entries.
Result<void> SharingBackend::detachOnce(const std::string& forkId, ForkHistory::Lost lost) {
  BOUGH_TRY(const auto fork, session(forkId));
  // The tail first: what is appended after it from here on makes the rewrite fail, and is not lost.
  auto state = fork->state();
  BOUGH_TRY(const Entry first, fork->header());
  BOUGH_TRY(checkFormat(first, forkId, describe(), 0, serializer().schemaVersion()));
  if (state && state->trailingBytes > 0 && maintenance() != nullptr) {
    BOUGH_TRY(maintenance()->repair(forkId));
    state = fork->state();
  }
  if (!state) return std::unexpected(state.error());
  if (lost == ForkHistory::Lost::Refuse) {
    BOUGH_TRY(refuseMissing(*fork));
  }
  SessionLoader loader(*fork);
  BOUGH_TRY(auto entries, loader.entriesFrom(0, SIZE_MAX));
  BOUGH_TRY(refuseUnreadable(*fork, entries));
  entries.front().payload = detachHeaderPayload(entries.front().payload);
  const std::string movedAt = headTime(entries);
  // What the parent hides stays hidden, though its redactions are not on the branch.
  BOUGH_TRY(auto redactions, loader.redactions());
  auto hidden = std::move(redactions).take();
  BOUGH_TRY(const auto present, idsOf(entries, forkId));
  const bool isRest = lost == ForkHistory::Lost::EndThere;
  for (Entry& entry : entries) {
    if (isRest && !present.contains(entry.parentId.value_or(""))) entry.parentId = "";
  }
  for (auto& [target, redaction] : hidden) {
    if (!present.contains(target) || present.contains(redaction.id)) continue;
    redaction.parentId = target;
    entries.push_back(std::move(redaction));
  }
  // So do its labels.
  BOUGH_TRY(const auto named, fork->labels());
  for (const SessionLabel& label : named) {
    if (label.sessionId == forkId) continue;
    Entry& copy = entries.emplace_back();
    copy.type = entry_type::kLabel;
    copy.payload = labelPayload(label.name, label.entryId);
    copy.id = ids_.next();
    copy.parentId = label.entryId;
    copy.timestamp = label.timestamp;
  }
  // The head is where it was, wherever the copied entries would have left it.
  if (isRest && !present.contains(state->headId)) state->headId.clear();
  Entry head;
  head.id = ids_.next();
  head.parentId = state->headId;
  head.type = entry_type::kHead;
  head.timestamp = movedAt;
  head.payload = headPayload(state->headId);
  entries.push_back(std::move(head));
  return rewrite(forkId, entries, state->tailId);
}

namespace {

// Again when the fork is appended to meanwhile: somebody who does so without a pause leaves few moments for it.
template <typename Once>
Result<void> retryOnConflict(Once once) {
  constexpr int kTries = 1000;
  Result<void> done = once();
  for (int tries = 1; tries < kTries && !done && done.error().code == ErrorCode::Conflict; ++tries) done = once();
  return done;
}

}  // namespace

Result<void> SharingBackend::detach(const std::string& forkId) {
  return retryOnConflict([&] { return detachOnce(forkId, ForkHistory::Lost::Refuse); });
}

Result<void> SharingBackend::detachRest(const std::string& forkId) {
  return retryOnConflict([&] { return detachOnce(forkId, ForkHistory::Lost::EndThere); });
}

}  // namespace bough
