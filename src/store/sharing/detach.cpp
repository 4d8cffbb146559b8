// Gives a fork its own copy of the history it shares.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/model/head.h"
#include "base/model/ids.h"
#include "base/model/lineage.h"
#include "base/model/unreadable.h"
#include "base/try.h"
#include "store/rules/entry_rules.h"
#include "store/rules/header.h"
#include "store/sharing/place_names.h"
#include "store/sharing/session_loader.h"
#include "store/sharing/sharing_backend.h"

namespace bough {
namespace {

// Refuses a branch that is not complete: after the detach, the incomplete copy would be all that is left of it.
Result<void> refuseMissing(SharingSession& fork) {
  BOUGH_TRY(const auto history, fork.history());
  if (history->missing().empty()) return {};
  BOUGH_TRY(const auto origin, fork.origin());
  BOUGH_TRY(fork.historyOf(origin));  // reports the missing session, if that is the cause
  const std::string oldest = history->sessions().front();
  return fail(ErrorCode::Damaged,
              fmt::format("session {} shares entry {}, which cannot be read in session {}", fork.sessionId(),
                          history->missing(), oldest),
              fmt::format("bring it back from a copy first; `bough verify {}` says what is wrong", oldest));
}

// Refuses unreadable entries: a rewrite would replace the bytes of a damaged line by a placeholder.
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
                    "is), or leave the session as it is",
                    forkId));
  }
  return present;
}

// Returns the parent of an entry or, when that parent is gone, the nearest ancestor that exists. In a log that was
// written by hand, entries may be each other's parents.
std::string parentIn(const EntryIds& present, const std::unordered_map<std::string, std::string>& dropped,
                     std::string parent) {
  auto next = dropped.find(parent);
  for (std::size_t steps = dropped.size(); steps > 0 && next != dropped.end(); --steps) {
    parent = next->second;
    next = dropped.find(parent);
  }
  return present.contains(parent) ? parent : "";
}

// Removes every reference to lost entries from the rest of a session, because no new log may contain one, and a copy of
// this log is a new log. Heads and labels then name no entry; redactions are removed. If a redaction was removed, the
// header gets a new id and so the log a new identity; otherwise a catalog that counted the old log would miss the
// removed entry.
void dropReferencesToLost(std::vector<Entry>& entries, EntryIds& present, IdGenerator& ids) {
  std::unordered_map<std::string, std::string> dropped;
  for (Entry& entry : entries) {
    const EntryKind kind = entryKind(entry.type);
    const auto target = targetOf(entry, kind);
    if (!target || present.contains(target->entryId)) continue;
    if (kind == EntryKind::Head) entry.payload = headPayload("");
    if (kind == EntryKind::Label) {
      entry.payload = labelPayload(json::findString(entry.payload, "name").value_or(""), std::nullopt);
    }
    if (kind == EntryKind::Redaction) dropped.emplace(entry.id, entry.parentId.value_or(""));
  }
  std::erase_if(entries, [&](const Entry& entry) { return dropped.contains(entry.id); });
  for (const auto& [id, parent] : dropped) present.erase(id);
  if (!dropped.empty()) {
    present.erase(entries.front().id);
    entries.front().id = ids.next();
    present.insert(entries.front().id);
  }
  for (Entry& entry : entries) entry.parentId = parentIn(present, dropped, entry.parentId.value_or(""));
}

// When a redacted entry is lost, the entries that were converted from it stay hidden.
std::vector<Entry> redactionsOfConverted(const std::vector<Entry>& entries, const Redactions& redactions,
                                         const EntryIds& present, IdGenerator& ids) {
  std::vector<Entry> made;
  for (const Entry& entry : entries) {
    const Entry* const known = redactions.redactionOf(entry);
    if (known == nullptr || present.contains(json::findString(known->payload, "entryId").value_or(""))) continue;
    Entry& redaction = made.emplace_back();
    redaction.id = ids.next();
    redaction.parentId = entry.id;
    redaction.type = entry_type::kRedaction;
    redaction.timestamp = known->timestamp;
    json::Writer writer(redaction.payload);
    writer.beginObject().member("entryId", entry.id);
    for (const std::string_view name : {"by", "reason"}) {
      writer.member(name, json::findString(known->payload, name).value_or("unknown"));
    }
    writer.endObject();
  }
  return made;
}

// Returns when the head was moved to its present place.
std::string headTime(const std::vector<Entry>& entries) {
  std::string storage;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if (headAfter(entryKind(entry->type), entry->id, entry->payload, storage)) return entry->timestamp;
  }
  return entries.back().timestamp;
}

}  // namespace

// Returns the session where the history of a session began. Copies of paid answers are recognized by it, also after the
// sessions in between were removed. A session that cannot be read at the moment does not count as removed: then this
// fails.
Result<std::string> SharingBackend::rootOf(const std::string& sessionId) {
  std::optional<Error> failed;
  std::string root = rootSession(sessionId, [&](const std::string& id) -> std::optional<std::string> {
    if (!isSessionId(id)) return std::nullopt;  // a header may name anything
    const auto found = session(id);
    auto header = found ? (*found)->header() : Result<Entry>(std::unexpected(found.error()));
    if (header) return std::move(header->payload);
    if (!isLostSession(header.error())) failed = std::move(header.error());
    return std::nullopt;
  });
  if (failed) return std::unexpected(*std::move(failed));
  return root;
}

// Rewrites the fork: its header, all entries that it shared, its own entries.
Result<void> SharingBackend::detachOnce(const std::string& forkId, ForkHistory::Lost lost) {
  BOUGH_TRY(const auto fork, session(forkId));
  // Read the tail first: an entry that is appended after it makes the rewrite fail and is not lost.
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
  // Names of places change in the new log.
  BOUGH_TRY(state->headId, resolvedId(*fork, std::move(state->headId)));
  SessionLoader loader(*fork);
  BOUGH_TRY(auto entries, loader.entriesFrom(0, SIZE_MAX));
  BOUGH_TRY(refuseUnreadable(*fork, entries));
  BOUGH_TRY(const std::string root, rootOf(forkId));
  entries.front().payload = detachHeaderPayload(entries.front().payload, root);
  const std::string movedAt = headTime(entries);
  // What the parent hides stays hidden, although the parent's redactions are not on the branch.
  BOUGH_TRY(auto redactions, loader.redactions());
  BOUGH_TRY(auto present, idsOf(entries, forkId));
  std::vector<Entry> converted = redactionsOfConverted(entries, redactions, present, ids_);
  auto hidden = std::move(redactions).take();
  const bool isRest = lost == ForkHistory::Lost::EndThere;
  if (isRest) dropReferencesToLost(entries, present, ids_);
  std::ranges::move(converted, std::back_inserter(entries));
  for (auto& [target, redaction] : hidden) {
    if (!present.contains(target) || present.contains(redaction.id)) continue;
    redaction.parentId = target;
    entries.push_back(std::move(redaction));
  }
  // The parent's labels are kept as well.
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
  // The head stays where it was: the copied entries would move it.
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

// Retries when the fork is appended to meanwhile. A process that appends without a pause leaves few moments for a
// rewrite.
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
