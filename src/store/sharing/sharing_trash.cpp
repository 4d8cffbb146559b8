// Rules for moving sessions to the trash, restoring them, and removing them forever.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "base/model/ids.h"
#include "base/try.h"
#include "store/sharing/fork_census.h"
#include "store/sharing/fork_history.h"
#include "store/sharing/sharing_backend.h"
#include "store/sharing/trashed_copy.h"

namespace bough {
namespace {

// Returns the sessions that share the history of a session in the trash. If the live session with the same id has the
// same entries, they lose nothing and are not returned.
Result<Sharers> sharersOfTrashed(SharingBackend& backend, const TrashedSession& trashed, const ForkCensus& all) {
  Sharers sharers = all.sharersOf(trashed.sessionId);
  const bool shared = !sharers.forks.empty() || !sharers.unknown.empty();
  const auto live = shared ? backend.session(trashed.sessionId) : nullptr;
  if (!shared || !live || !(*live)->header()) return sharers;
  BOUGH_TRY(const auto copy, TrashedCopy::read(backend, trashed));
  for (auto* names : {&sharers.forks, &sharers.unknown}) {
    std::erase_if(*names, [&](const std::string& name) { return !copy.isNeededBy(backend, *all.find(name)); });
  }
  return sharers;
}

Result<void> refuseToEmpty(const TrashedSession& trashed, const Sharers& sharers) {
  auto refusal = refuseSharers(trashed.sessionId, sharers);
  if (!refusal && refusal.error().code == ErrorCode::HasForks) {
    refusal.error().hint = fmt::format(
        "remove them for good as well, or bring what they share back: `bough trash --restore {}`", trashed.trashId);
  }
  return refusal;
}

// Says how to restore the session that a fork continues, when another session has its id.
Result<std::string> wayBackTo(SharingBackend& backend, const ForkOrigin& origin) {
  BOUGH_TRY(const auto trash, backend.sharedTrash().list());
  for (const TrashedSession& each : trash) {
    if (each.sessionId != origin.sessionId) continue;
    BOUGH_TRY(const auto copy, TrashedCopy::read(backend, each));
    if (!copy.contains(origin.entryId)) continue;
    return fmt::format("bring the right one back first: `bough rm {}`, then `bough trash --restore {}`",
                       origin.sessionId, each.trashId);
  }
  return "another session has that id; put a copy of the right one in its place first";
}

// Checks that a restored session continues the same session as before, and not another one that has its id by now.
Result<void> checkContinues(SharingBackend& backend, const std::string& trashId, const ForkOrigin& origin) {
  BOUGH_TRY(const auto history, ForkHistory::ofFork(backend, trashId, origin));
  if (history.size() > 0 || history.missing().empty()) return {};
  for (const ForkHistory::Part& part : history.parts()) {
    BOUGH_TRY(const auto state, part.session->state());
    if (state.problemCount > 0 || state.trailingBytes > 0) return {};  // the entry may be among the unreadable ones
  }
  BOUGH_TRY(auto way, wayBackTo(backend, origin));
  return fail(ErrorCode::NotFound,
              fmt::format("{} continues entry {} of session {}, which has no such entry", trashId, origin.entryId,
                          origin.sessionId),
              std::move(way));
}

// Returns the order of removal: a fork before the session that it continues, so that a parent never goes without its
// forks.
std::vector<std::size_t> forksFirst(const std::vector<Removal>& removals, const ForkCensus& census) {
  std::unordered_map<std::string, std::size_t> depths;
  for (const Removal& removal : removals) depths.emplace(removal.sessionId, 0);
  for (auto& [id, depth] : depths) {
    const SeenOrigin* at = census.find(id);
    while (at != nullptr && at->origin && depth < removals.size()) {
      ++depth;
      at = census.find(at->origin->sessionId);
    }
  }
  std::vector<std::size_t> order(removals.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return depths.at(removals[i].sessionId); });
  return order;
}

}  // namespace

std::vector<Result<TrashedSession>> SharingTrash::trash(const std::vector<Removal>& removals) {
  std::vector<Result<TrashedSession>> results(removals.size(), std::unexpected(Error{}));
  ForkCensus census(backend_);
  Result<void> ready;
  for (const Removal& removal : removals) {
    if (ready && removal.detachForks) ready = backend_.detachForks(removal.sessionId);
  }
  if (ready) ready = census.readSessions();
  if (!ready) {
    std::ranges::fill(results, std::unexpected(ready.error()));
    return results;
  }
  for (const std::size_t i : forksFirst(removals, census)) {
    const Removal& removal = removals[i];
    results[i] = moveIf(removal.sessionId, [&]() -> Result<void> {
      BOUGH_TRY(backend_.checkTail(removal));
      BOUGH_TRY(census.readSessions());
      Sharers sharers = census.sharersOf(removal.sessionId);
      // If several sessions are unreadable, each would keep the others from being removed. Nothing is lost in the
      // trash.
      const SeenOrigin* self = census.find(removal.sessionId);
      if (self != nullptr && !self->isCertain) sharers.unknown.clear();
      // The sessions that this one continues existed before it, so they are not forks of it.
      const auto before = census.historyOf(removal.sessionId);
      std::erase_if(sharers.unknown, [&](const std::string& name) { return before.contains(name); });
      return refuseSharers(removal.sessionId, sharers);
    });
    if (!results[i]) continue;
    census.exclude(removal.sessionId);
    census.noteOwnRemoval();
  }
  return results;
}

Result<void> SharingTrash::restore(const std::string& trashId) {
  BOUGH_TRY(const SeenOrigin seen, originOf(trashId));
  const auto origin = seen.isCertain ? seen.origin : std::nullopt;
  std::unique_ptr<Hold> hold;
  if (origin) {
    auto held = backend_.pin(origin->sessionId, origin->entryId);
    if (!held && (held.error().code == ErrorCode::NotFound || !isSessionId(origin->sessionId))) {
      const auto trash = list();
      const bool isThere =
          trash && std::ranges::find(*trash, origin->sessionId, &TrashedSession::sessionId) != trash->end();
      return fail(ErrorCode::NotFound,
                  fmt::format("{} continues session {}, which is not in the store", trashId, origin->sessionId),
                  isThere ? fmt::format("bring that one back first: `bough trash --restore {}`", origin->sessionId)
                          : "bring that one back first, from a copy of its file");
    }
    if (!held) return std::unexpected(held.error());
    hold = std::move(*held);
    BOUGH_TRY(checkContinues(backend_, trashId, *origin));
  }
  return moveBack(trashId);
}

Result<std::uint64_t> SharingTrash::empty(const std::vector<std::string>& trashIds) {
  BOUGH_TRY(const auto trash, list());
  const std::unordered_set<std::string> toRemove(trashIds.begin(), trashIds.end());
  ForkCensus remaining(backend_);
  BOUGH_TRY(remaining.readTrash());
  for (const std::string& trashId : trashIds) remaining.exclude(trashId);
  BOUGH_TRY(remaining.readSessions());
  for (const TrashedSession& each : trash) {
    if (!toRemove.contains(each.trashId)) continue;
    BOUGH_TRY(const Sharers sharers, sharersOfTrashed(backend_, each, remaining));
    BOUGH_TRY(refuseToEmpty(each, sharers));
  }
  std::uint64_t bytes = 0;
  for (const TrashedSession& each : trash) {
    if (!toRemove.contains(each.trashId)) continue;
    BOUGH_TRY(removeOne(each.trashId));
    bytes += each.bytes;
  }
  return bytes;
}

}  // namespace bough
