#include "store/sharing/fork_census.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text/counted.h"
#include "base/try.h"
#include "store/sharing/place_names.h"

namespace bough {
namespace {

// Returns true when a damaged header names an entry that exists. Otherwise the header's text is not trusted: the name
// may be the damaged part.
bool namesExistingEntry(SharingBackend& backend, const SeenOrigin& from) {
  if (!from.origin) return false;
  const auto session = backend.session(from.origin->sessionId);
  if (!session) return false;
  const auto entry = sequenceNamedFrom(**session, from.origin->entryId);
  return entry && *entry;
}

Result<void> refuseForks(const std::string& sessionId, const std::vector<std::string>& forks) {
  if (forks.empty()) return {};
  return fail(ErrorCode::HasForks,
              fmt::format("{} the history of session {}: {}", counted(forks.size(), "session shares", "sessions share"),
                          sessionId, fmt::join(forks, ", ")),
              "delete the forks first, or detach them: each then gets its own copy");
}

// Adds an origin, unless its session was removed meanwhile. Any other error might hide a fork.
Result<void> addUnlessRemoved(SeenOrigins& origins, const std::string& name, Result<SeenOrigin> seen) {
  if (!seen && seen.error().code == ErrorCode::NotFound) return {};
  if (!seen) return std::unexpected(std::move(seen).error());
  origins.emplace_back(name, std::move(*seen));
  return {};
}

}  // namespace

Result<SeenOrigins> SharingBackend::seenOrigins(const std::function<bool(const std::string&)>& isKnown) {
  BOUGH_TRY(const auto sessions, listSessions());
  SeenOrigins found;
  for (const std::string& session : sessions) {
    if (isKnown(session)) continue;
    BOUGH_TRY(addUnlessRemoved(found, session, seenOrigin(session)));
  }
  return found;
}

Result<SeenOrigins> SharingTrash::origins() {
  BOUGH_TRY(const auto trash, list());
  SeenOrigins found;
  for (const TrashedSession& each : trash) BOUGH_TRY(addUnlessRemoved(found, each.trashId, originOf(each.trashId)));
  return found;
}

void ForkCensus::note(const SeenOrigins& origins) {
  for (const auto& [name, seen] : origins) {
    if (seen.origin) byOrigin_[seen.origin->sessionId].push_back(name);
    if (!seen.isCertain) uncertain_.push_back(name);
    seen_.emplace(name, seen);
  }
}

Result<void> ForkCensus::readSessions() {
  const auto before = backend_.nameChanges();
  if (nameChanges_ && before == nameChanges_) return {};
  BOUGH_TRY(const auto fresh, backend_.seenOrigins([&](const std::string& name) { return seen_.contains(name); }));
  note(fresh);
  nameChanges_ = before;
  return {};
}

Result<void> ForkCensus::readTrash() {
  BOUGH_TRY(const auto origins, backend_.sharedTrash().origins());
  note(origins);
  return {};
}

void ForkCensus::exclude(const std::string& name) {
  const auto found = seen_.find(name);
  if (found == seen_.end()) return;
  if (found->second.origin) std::erase(byOrigin_[found->second.origin->sessionId], name);
  std::erase(uncertain_, name);
  seen_.erase(found);
}

void ForkCensus::noteOwnRemoval() {
  if (nameChanges_) ++*nameChanges_;
}

const SeenOrigin* ForkCensus::find(const std::string& name) const {
  const auto found = seen_.find(name);
  return found == seen_.end() ? nullptr : &found->second;
}

std::unordered_set<std::string> ForkCensus::historyOf(const std::string& sessionId) const {
  std::unordered_set<std::string> names;
  const SeenOrigin* at = find(sessionId);
  while (at != nullptr && at->isCertain && at->origin && names.insert(at->origin->sessionId).second) {
    at = find(at->origin->sessionId);
  }
  return names;
}

Sharers ForkCensus::sharersOf(const std::string& sessionId) const {
  Sharers sharers;
  if (const auto forks = byOrigin_.find(sessionId); forks != byOrigin_.end()) sharers.forks = forks->second;
  std::erase(sharers.forks, sessionId);
  std::ranges::sort(sharers.forks);
  for (const std::string& name : uncertain_) {
    const SeenOrigin& from = seen_.at(name);
    const bool isFork = from.origin && from.origin->sessionId == sessionId;
    if (name != sessionId && !isFork && !namesExistingEntry(backend_, from)) sharers.unknown.push_back(name);
  }
  std::ranges::sort(sharers.unknown);
  return sharers;
}

Result<void> refuseUnknown(const std::string& sessionId, const std::vector<std::string>& unknown) {
  if (unknown.empty()) return {};
  const bool one = unknown.size() == 1;
  return fail(ErrorCode::Damaged,
              fmt::format("{} may share the history of session {}, for {} header cannot be read: {}",
                          one ? "a session" : fmt::format("{} sessions", unknown.size()), sessionId,
                          one ? "its" : "their", fmt::join(unknown, ", ")),
              "put a good copy in its place, or remove it first, with its forks or with --detach; `bough verify` says "
              "what is wrong with it, and `bough migrate` may make its header again");
}

Result<void> refuseSharers(const std::string& sessionId, const Sharers& sharers) {
  BOUGH_TRY(refuseForks(sessionId, sharers.forks));
  return refuseUnknown(sessionId, sharers.unknown);
}

}  // namespace bough
