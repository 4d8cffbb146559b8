// A fork gets its own copy of what it shares.

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/model/head.h"
#include "base/model/lineage.h"
#include "base/model/unreadable.h"
#include "base/try.h"
#include "store/rules/header.h"
#include "store/sharing/session_loader.h"
#include "store/sharing/sharing_backend.h"

namespace bough {
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

using EntryIds = std::unordered_set<std::string>;

Result<EntryIds> idsOf(const std::vector<Entry>& entries, const std::string& forkId) {
  EntryIds present;
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

// Its copies of what was paid are known by it, also when the sessions in between are gone.
std::string SharingBackend::rootOf(const std::string& sessionId) {
  return rootSession(sessionId, [&](const std::string& id) -> std::optional<std::string> {
    const auto found = session(id);
    auto header = found ? (*found)->header() : Result<Entry>(std::unexpected(found.error()));
    if (!header) return std::nullopt;
    return std::move(header->payload);
  });
}

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
  entries.front().payload = detachHeaderPayload(entries.front().payload, rootOf(forkId));
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
