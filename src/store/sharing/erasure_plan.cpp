#include "store/sharing/erasure_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <unordered_set>

#include "base/text/timestamp.h"
#include "base/try.h"
#include "store/rules/header.h"
#include "store/rules/twin_lines.h"

namespace bough {
namespace {

// Returns the session that an entry belongs to. Checks its format, because a log of another format could not take the
// receipt.
Result<std::string> ownerOf(SharingBackend& backend, const std::string& sessionId, const std::string& entryId) {
  std::unordered_set<std::string> seen;
  for (std::string at = sessionId; seen.insert(at).second;) {
    BOUGH_TRY(const auto session, backend.session(at));
    BOUGH_TRY(const auto found, session->ownSequenceOf(entryId));
    if (found) {
      BOUGH_TRY(const Entry first, session->header());
      BOUGH_TRY(checkFormat(first, at, backend.describe(), 0, backend.serializer().schemaVersion()));
      return at;
    }
    BOUGH_TRY(const auto origin, session->origin());
    if (!origin) break;
    at = origin->sessionId;
  }
  return fail(ErrorCode::NotFound, fmt::format("no session has an entry {} of its own", entryId));
}

// A line of another agent is kept with the first of the entries that were made from it, and contains the text of the
// others: adds that first entry to the plan.
Result<void> addEntryWithLine(SharingBackend& backend, ErasurePlan& plan, const std::string& owner, const Entry& entry,
                              IdGenerator& ids, const std::function<void(const Entry&)>& use) {
  const auto line = agentLineOf(entry.payload);
  if (!line || line->payloadHasLine) return {};
  BOUGH_TRY(const auto session, backend.session(owner));
  BOUGH_TRY(const auto found, session->ownSequenceOf(entry.id));
  for (std::uint64_t at = found.value_or(0); at-- > 0;) {
    BOUGH_TRY(const auto before, session->ownRead(std::span(&at, 1)));
    const auto other = agentLineOf(before.front().payload);
    if (!other || !other->isSame(*line)) return {};
    if (!other->payloadHasLine) continue;
    use(before.front());
    return addTarget(plan, owner, before.front(), ids);
  }
  return {};
}

// Adds lines of other agents' files that repeat what is erased.
Result<void> addTwins(SharingBackend& backend, ErasurePlan& plan, StoredSession& session,
                      const std::vector<std::string>& entryIds, IdGenerator& ids,
                      const std::function<void(const Entry&)>& use) {
  BOUGH_TRY(const auto twins, twinsOf(session, entryIds, /*forGood=*/true));
  if (twins.empty()) return {};
  BOUGH_TRY(const auto loaded, session.load({.ids = twins, .asStored = true}));
  for (const Entry& entry : loaded.entries) {
    if (isErasedPayload(entry.payload)) continue;
    BOUGH_TRY(const auto owner, ownerOf(backend, plan.sessionId, entry.id));
    BOUGH_TRY(addTarget(plan, owner, entry, ids));
    use(entry);
  }
  return {};
}

}  // namespace

Result<ErasurePlan> planErasure(SharingBackend& backend, const Erasure& erasure, IdGenerator& ids, Clock& clock,
                                const std::function<void(const Entry&)>& use) {
  BOUGH_TRY(checkErasure(erasure));
  ErasurePlan plan{.sessionId = erasure.sessionId,
                   .by = erasure.by,
                   .reason = erasure.reason,
                   .timestamp = formatTimestamp(clock.nowMs()),
                   .targets = {},
                   .attachments = {},
                   .wayBackAttachments = {}};
  BOUGH_TRY(const auto session, backend.open(erasure.sessionId));
  BOUGH_TRY(const auto loaded, session->load({.ids = erasure.entryIds, .asStored = true}));
  std::unordered_set<std::string> found;
  for (const Entry& entry : loaded.entries) {
    BOUGH_TRY(const auto owner, ownerOf(backend, erasure.sessionId, entry.id));
    BOUGH_TRY(addTarget(plan, owner, entry, ids));
    BOUGH_TRY(addEntryWithLine(backend, plan, owner, entry, ids, use));
    use(entry);
    found.insert(entry.id);
  }
  const auto missing = std::ranges::find_if(erasure.entryIds, [&](const auto& id) { return !found.contains(id); });
  if (missing == erasure.entryIds.end()) {
    BOUGH_TRY(addTwins(backend, plan, *session, erasure.entryIds, ids, use));
    return plan;
  }
  return fail(ErrorCode::NotFound,
              fmt::format("session {} has no entry {}", erasure.sessionId, missing->substr(0, 130)),
              "`bough show --all` lists the entries with their ids");
}

}  // namespace bough
