#include "store/sharing/trashed_copy.h"

#include <algorithm>

#include "store/sharing/fork_history.h"

namespace bough {
namespace {

bool isSame(const EntrySerializer& serializer, const Entry& one, const Entry& other) {
  std::string first;
  std::string second;
  return serializer.encode(one, first) && serializer.encode(other, second) && first == second;
}

bool isInLiveSession(SharingBackend& backend, const std::string& sessionId, const Entry& entry) {
  const auto session = backend.session(sessionId);
  if (!session) return false;
  const auto sequence = (*session)->ownSequenceOf(entry.id);
  if (!sequence || !*sequence) return false;
  const auto found = (*session)->ownRead(std::span(&**sequence, 1));
  return found && isSame(backend.serializer(), entry, found->front());
}

}  // namespace

Result<TrashedCopy> TrashedCopy::read(SharingBackend& backend, const TrashedSession& trashed) {
  TrashedCopy copy;
  copy.sessionId_ = trashed.sessionId;
  const auto state = backend.sharedTrash().stateOf(trashed.trashId);
  if (!state && state.error().code != ErrorCode::Damaged) return std::unexpected(state.error());
  if (!state) return copy;
  copy.isComplete_ = state->problemCount == 0 && state->trailingBytes == 0;
  copy.isFork_ = state->origin.has_value();
  auto read = backend.sharedTrash().exportLines(trashed.trashId, [&](std::string_view line) {
    const auto entry = backend.serializer().decode(line);
    if (entry) copy.add(backend, *entry);
    if (!entry) copy.isComplete_ = false;
    return true;
  });
  if (!read) return std::unexpected(read.error());
  return copy;
}

void TrashedCopy::add(SharingBackend& backend, const Entry& entry) {
  entries_.emplace(entry.id, TrashedEntry{.parentId = entry.parentId.value_or(""),
                                          .isAlsoLive = isInLiveSession(backend, sessionId_, entry)});
}

// Returns true when an entry of the branch that ends in `leafId` exists only in the trash.
bool TrashedCopy::hasTrashOnlyEntry(const std::string& leafId) const {
  auto at = entries_.find(leafId);
  for (std::size_t steps = 0; at != entries_.end() && steps < entries_.size(); ++steps) {
    if (!at->second.isAlsoLive) return true;
    at = entries_.find(at->second.parentId);
  }
  return false;
}

bool TrashedCopy::isNeededBy(SharingBackend& backend, const SeenOrigin& sharer) const {
  if (!isComplete_) return true;
  if (!sharer.origin || sharer.origin->sessionId != sessionId_ || sharer.origin->entryId.empty()) {
    // It is unknown which entries the session shares.
    return !std::ranges::all_of(entries_, [](const auto& each) { return each.second.isAlsoLive; });
  }
  if (!contains(sharer.origin->entryId) && !isFork_) return false;
  const auto live = ForkHistory::ofFork(backend, {}, sharer.origin);
  return !live || !live->missing().empty() || hasTrashOnlyEntry(sharer.origin->entryId);
}

}  // namespace bough
