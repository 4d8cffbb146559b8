// What SessionStore removes, and what it first makes sure of.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_set>

#include "base/head.h"
#include "base/sha256.h"
#include "store/attachments.h"
#include "store/header.h"
#include "store/session_store_impl.h"
#include "store/trashed_copy.h"

namespace bough {
namespace {

// A session, or one in the trash, and whose history it seems to share.
struct Seen {
  std::string name;
  SeenOrigin from;
};

// Notes what was seen of one; not when it is gone meanwhile. Any other failure hides what might be a fork.
Result<void> note(std::vector<Seen>& all, const std::string& name, Result<SeenOrigin> seen) {
  if (seen) all.push_back({.name = name, .from = std::move(*seen)});
  if (seen || seen.error().code == ErrorCode::NotFound) return {};
  return std::unexpected(seen.error());
}

Result<void> seeSessions(StorageBackend& backend, std::vector<Seen>& all) {
  auto sessions = backend.listSessions();
  if (!sessions) return std::unexpected(sessions.error());
  for (const std::string& session : *sessions) {
    if (auto noted = note(all, session, backend.seenOrigin(session)); !noted) return noted;
  }
  return {};
}

Result<void> seeTrash(StorageBackend& backend, std::vector<Seen>& all) {
  auto trash = backend.listTrash();
  if (!trash) return std::unexpected(trash.error());
  for (const TrashedSession& each : *trash) {
    if (auto noted = note(all, each.trashId, backend.trashedOrigin(each.trashId)); !noted) return noted;
  }
  return {};
}

// Those that share the history of a session, and those of which that cannot be known.
struct Sharers {
  std::vector<std::string> forks;
  std::vector<std::string> unknown;
};

// What a damaged header says is believed when it names an entry that is there: the name may be what was damaged.
bool leadsElsewhere(StorageBackend& backend, const SeenOrigin& from) {
  if (!from.origin) return false;
  const auto entry = backend.sequenceOf(from.origin->sessionId, from.origin->entryId);
  return entry && *entry;
}

Sharers sharersOf(StorageBackend& backend, const std::string& sessionId, const std::vector<Seen>& all) {
  Sharers sharers;
  for (const auto& [name, from] : all) {
    if (name == sessionId) continue;
    if (from.origin && from.origin->sessionId == sessionId) {
      sharers.forks.push_back(name);
    } else if (!from.sure && !leadsElsewhere(backend, from)) {
      sharers.unknown.push_back(name);
    }
  }
  return sharers;
}

// Calls `use` for every run of exactly 64 hex digits in a line.
template <typename Use>
void forEachHash(std::string_view line, Use use) {
  const auto isHex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  for (std::size_t at = 0; at < line.size();) {
    if (!isHex(line[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < line.size() && isHex(line[at])) ++at;
    if (at - begin == 64) use(line.substr(begin, 64));
  }
}

// Of what cannot be read, and what to do about it.
struct Remedies {
  std::string forDamage;
  std::string forTail;
};

Result<void> refuseDamaged(const std::string& name, const Result<SessionState>& state, const Remedies& remedies) {
  if (!state) return std::unexpected(state.error());
  if (state->problemCount > 0) {
    return fail(ErrorCode::Damaged, fmt::format("{} is damaged, so it is unknown which attachments it names", name),
                fmt::format("{}; no attachment was removed", remedies.forDamage));
  }
  if (state->trailingBytes == 0) return {};
  return fail(ErrorCode::Damaged,
              fmt::format("the last {} bytes of {} are no complete entry, so it is unknown which attachments they name",
                          state->trailingBytes, name),
              fmt::format("{}; no attachment was removed", remedies.forTail));
}

// What stands in a second copy of a session is not read, and may be what is wanted of the two.
Result<void> refuseOtherCopies(StorageBackend& backend, const std::string& sessionId) {
  const auto copies = backend.otherCopies(sessionId);
  if (!copies) return std::unexpected(copies.error());
  if (copies->empty()) return {};
  return fail(ErrorCode::Damaged, copies->front(), "no attachment was removed: the other copy may name it");
}

// Of the candidates, those that no line of any session names, nor what was set aside of one. A session that cannot be
// read stops it: what it names is unknown.
Result<std::unordered_set<std::string>> unusedOf(StorageBackend& backend, const std::vector<std::string>& candidates) {
  std::unordered_set<std::string> unused(candidates.begin(), candidates.end());
  const auto take = [&](std::string_view line) {
    forEachHash(line, [&](std::string_view hash) { unused.erase(std::string(hash)); });
    return true;
  };
  auto sessions = backend.listSessions();
  if (!sessions) return std::unexpected(sessions.error());
  for (const std::string& session : *sessions) {
    auto read = backend.exportLines(session, take);
    if (read) {
      read = refuseDamaged(
          "session " + session, backend.state(session),
          {.forDamage = "put a good copy in its place, or remove it for good: `bough rm`, then `bough trash --empty`",
           .forTail = fmt::format("put a good copy in its place, or run `bough repair {0}`: what {0}.torn names stays",
                                  session)});
    }
    if (read) read = refuseOtherCopies(backend, session);
    if (!read) return std::unexpected(read.error());
  }
  // What lies in the trash may come back.
  auto trash = backend.listTrash();
  if (!trash) return std::unexpected(trash.error());
  for (const TrashedSession& each : *trash) {
    auto read = backend.exportTrashedLines(each.trashId, take);
    if (read) {
      read = refuseDamaged(
          each.trashId + " in the trash", backend.trashedState(each.trashId),
          {.forDamage =
               "remove it for good with `bough trash --empty`, or bring it back and put a good copy in its place",
           .forTail = fmt::format("remove it for good with `bough trash --empty`, or bring it back and run `bough "
                                  "repair {}`",
                                  each.sessionId)});
    }
    if (!read) return std::unexpected(read.error());
  }
  if (auto read = backend.exportSetAside(take); !read) return std::unexpected(read.error());
  return unused;
}

Result<void> refuseForks(const std::string& sessionId, const std::vector<std::string>& forks) {
  if (forks.empty()) return {};
  return fail(ErrorCode::HasForks,
              fmt::format("{} {} the history of session {}: {}", forks.size(),
                          forks.size() == 1 ? "session shares" : "sessions share", sessionId, fmt::join(forks, ", ")),
              "delete the forks first, or detach them: each then gets its own copy");
}

Result<void> refuseUnknown(const std::string& sessionId, const std::vector<std::string>& unknown) {
  if (unknown.empty()) return {};
  const bool one = unknown.size() == 1;
  return fail(ErrorCode::Damaged,
              fmt::format("{} may share the history of session {}, for {} header cannot be read: {}",
                          one ? "a session" : fmt::format("{} sessions", unknown.size()), sessionId,
                          one ? "its" : "their", fmt::join(unknown, ", ")),
              "put a good copy in its place, or remove it first; `bough verify` says what is wrong with it");
}

Result<void> refuseSharers(const std::string& sessionId, const Sharers& sharers) {
  if (auto refusal = refuseForks(sessionId, sharers.forks); !refusal) return refusal;
  return refuseUnknown(sessionId, sharers.unknown);
}

// Those that share what a session in the trash holds. One that has its id now may hold the same: then they miss
// nothing.
Result<Sharers> sharersOfTrashed(StorageBackend& backend, const TrashedSession& trashed, std::vector<Seen> all) {
  Sharers sharers = sharersOf(backend, trashed.sessionId, all);
  const bool shared = !sharers.forks.empty() || !sharers.unknown.empty();
  if (!shared || !backend.header(trashed.sessionId)) return sharers;
  const auto copy = TrashedCopy::read(backend, trashed);
  if (!copy) return std::unexpected(copy.error());
  std::erase_if(all, [&](const Seen& each) { return !copy->isNeededBy(backend, each.from); });
  return sharersOf(backend, trashed.sessionId, all);
}

Result<void> refuseToEmpty(const TrashedSession& trashed, const Sharers& sharers) {
  auto refusal = refuseSharers(trashed.sessionId, sharers);
  if (!refusal && refusal.error().code == ErrorCode::HasForks) {
    refusal.error().hint = fmt::format(
        "remove them for good as well, or bring what they share back: `bough trash --restore {}`", trashed.trashId);
  }
  return refusal;
}

// How to get the session back that a fork continues from, when another one has its id.
Result<std::string> wayBackTo(StorageBackend& backend, const ForkOrigin& origin) {
  auto trash = backend.listTrash();
  if (!trash) return std::unexpected(trash.error());
  for (const TrashedSession& each : *trash) {
    if (each.sessionId != origin.sessionId) continue;
    const auto copy = TrashedCopy::read(backend, each);
    if (!copy) return std::unexpected(copy.error());
    if (!copy->holds(origin.entryId)) continue;
    return fmt::format("bring the right one back first: `bough rm {}`, then `bough trash --restore {}`",
                       origin.sessionId, each.trashId);
  }
  return "another session has that id; put a copy of the right one in its place first";
}

// What comes back must continue the session that it did, not another one that has its id by now.
Result<void> checkContinues(StorageBackend& backend, const std::string& trashId, const ForkOrigin& origin) {
  const auto history = ForkHistory::ofFork(backend, trashId, origin);
  if (!history) return std::unexpected(history.error());
  if (history->size() > 0 || history->missing().empty()) return {};
  for (const std::string& session : history->sessions()) {
    const auto state = backend.state(session);
    if (!state) return std::unexpected(state.error());
    if (state->problemCount > 0 || state->trailingBytes > 0) return {};  // it may be among what cannot be read
  }
  auto way = wayBackTo(backend, origin);
  if (!way) return std::unexpected(way.error());
  return fail(ErrorCode::NotFound,
              fmt::format("{} continues entry {} of session {}, which has no such entry", trashId, origin.entryId,
                          origin.sessionId),
              std::move(*way));
}

}  // namespace

Result<std::vector<std::string>> SessionStore::forksOf(const std::string& sessionId) {
  if (auto ready = impl_->readyToRead(sessionId); !ready) return std::unexpected(ready.error());
  std::vector<Seen> all;
  if (auto seen = seeSessions(*impl_->backend, all); !seen) return std::unexpected(seen.error());
  return sharersOf(*impl_->backend, sessionId, all).forks;
}

// A copy of part of a branch would be all that is left of it.
Result<void> SessionStore::Impl::refuseMissing(const std::string& forkId) {
  auto history = historyOf(forkId);
  if (!history) return std::unexpected(history.error());
  const std::string& missing = (*history)->missing();
  if (missing.empty()) return {};
  const std::string oldest = (*history)->sessions().front();
  return fail(ErrorCode::Damaged,
              fmt::format("session {} shares entry {}, which cannot be read in session {}", forkId, missing, oldest),
              fmt::format("bring it back from a copy first; `bough verify {}` says what is wrong", oldest));
}

// Writes the fork anew: its header, all that it shared, its own entries.
Result<void> SessionStore::Impl::detachOnce(const std::string& forkId) {
  // The tail first: what is appended behind it from here on makes the rewrite fail, and is not lost.
  auto state = backend->state(forkId);
  auto first = backend->header(forkId);
  if (!first) return std::unexpected(first.error());
  if (auto may = checkFormat(*first, forkId, backend->describe(), 0, backend->serializer().schemaVersion()); !may)
    return may;
  if (state && state->trailingBytes > 0) {
    if (auto repaired = backend->repair(forkId); !repaired) return std::unexpected(repaired.error());
    state = backend->state(forkId);
  }
  if (!state) return std::unexpected(state.error());
  if (auto whole = refuseMissing(forkId); !whole) return whole;
  auto entries = entriesFrom(forkId, 0, SIZE_MAX);
  if (!entries) return std::unexpected(entries.error());
  Entry& header = entries->front();
  header.payload = detachHeaderPayload(header.payload);
  // What the parent hides stays hidden, though its redactions are not on the branch.
  auto hidden = redactions(forkId);
  if (!hidden) return std::unexpected(hidden.error());
  std::unordered_set<std::string> present;
  for (const Entry& entry : *entries) {
    if (present.insert(entry.id).second) continue;
    return fail(
        ErrorCode::Damaged,
        fmt::format("session {} holds a second entry {}, which would be lost: it shares one already", forkId, entry.id),
        fmt::format("copy that line elsewhere and take it out of the file (`bough verify {}` says where it "
                    "stands), or leave the session as it is",
                    forkId));
  }
  for (auto& [target, redaction] : *hidden) {
    if (present.contains(target) && !present.contains(redaction.id)) {
      redaction.parentId = target;
      entries->push_back(std::move(redaction));
    }
  }
  // So do its labels.
  auto named = labels(forkId);
  if (!named) return std::unexpected(named.error());
  for (const SessionLabel& label : *named) {
    if (label.sessionId == forkId) continue;
    Entry& copy = entries->emplace_back(labelEntry(label.name, label.entryId));
    copy.id = ids.next();
    copy.parentId = label.entryId;
    copy.timestamp = label.timestamp;
  }
  // The head is where it was, wherever the copied entries would have left it.
  Entry head;
  head.id = ids.next();
  head.parentId = state->headId;
  head.type = entry_type::kHead;
  head.timestamp = entries->back().timestamp;
  head.payload = headPayload(state->headId);
  entries->push_back(std::move(head));
  return backend->rewrite(forkId, *entries, state->tailId);
}

Result<void> SessionStore::Impl::detach(const std::string& forkId) {
  constexpr int kTries = 16;
  Result<void> detached;
  for (int tries = 0; tries < kTries; ++tries) {
    detached = detachOnce(forkId);
    if (detached || detached.error().code != ErrorCode::Conflict) break;
  }
  return detached;
}

Result<void> SessionStore::Impl::detachForks(const std::string& sessionId) {
  std::vector<Seen> all;
  if (auto seen = seeSessions(*backend, all); !seen) return seen;
  // Before any fork is written anew: one whose header is gone cannot be.
  const Sharers sharers = sharersOf(*backend, sessionId, all);
  std::erase_if(all, [](const Seen& each) { return each.from.sure; });
  if (auto refusal = refuseUnknown(sessionId, sharersOf(*backend, sessionId, all).forks); !refusal) return refusal;
  for (const std::string& fork : sharers.forks) {
    if (auto flushed = readyToRead(fork); !flushed) return flushed;
    auto detached = detach(fork);
    for (int tries = 1; tries < 8 && !detached && detached.error().code == ErrorCode::Conflict; ++tries) {
      detached = detach(fork);
    }
    if (!detached) return detached;
  }
  return {};
}

Result<void> SessionStore::deleteSession(const std::string& sessionId, const DeleteOptions& options) {
  if (auto ready = impl_->readyToRead(sessionId); !ready) return ready;
  if (options.detachForks) {
    if (auto detached = impl_->detachForks(sessionId); !detached) return detached;
  }
  return impl_->backend->remove(sessionId, [&]() -> Result<void> {
    std::vector<Seen> all;
    if (auto seen = seeSessions(*impl_->backend, all); !seen) return seen;
    if (auto seen = seeTrash(*impl_->backend, all); !seen) return seen;
    return refuseSharers(sessionId, sharersOf(*impl_->backend, sessionId, all));
  });
}

Result<TrashedSession> SessionStore::trashSession(const std::string& sessionId, const DeleteOptions& options) {
  if (auto ready = impl_->readyToRead(sessionId); !ready) return std::unexpected(ready.error());
  if (options.detachForks) {
    if (auto detached = impl_->detachForks(sessionId); !detached) return std::unexpected(detached.error());
  }
  return impl_->backend->trash(sessionId, [&]() -> Result<void> {
    std::vector<Seen> all;
    if (auto seen = seeSessions(*impl_->backend, all); !seen) return seen;
    Sharers sharers = sharersOf(*impl_->backend, sessionId, all);
    // Of several that cannot be read, each would keep the others here. The trash loses nothing.
    const auto self = std::ranges::find(all, sessionId, &Seen::name);
    if (self != all.end() && !self->from.sure) sharers.unknown.clear();
    return refuseSharers(sessionId, sharers);
  });
}

Result<std::vector<TrashedSession>> SessionStore::listTrash() {
  if (auto open = impl_->checkOpen(); !open) return std::unexpected(open.error());
  return impl_->backend->listTrash();
}

Result<void> SessionStore::exportTrashed(const std::string& trashId,
                                         const std::function<bool(std::string_view)>& line) {
  if (auto open = impl_->checkOpen(); !open) return open;
  return impl_->backend->exportTrashedLines(trashId, line);
}

Result<void> SessionStore::restoreSession(const std::string& trashId) {
  if (auto open = impl_->checkOpen(); !open) return open;
  auto seen = impl_->backend->trashedOrigin(trashId);
  if (!seen) return std::unexpected(seen.error());
  const auto origin = seen->sure ? seen->origin : std::nullopt;
  std::unique_ptr<Hold> hold;
  if (origin) {
    auto held = impl_->backend->pin(origin->sessionId, origin->entryId);
    if (!held && held.error().code == ErrorCode::NotFound) {
      return fail(ErrorCode::NotFound,
                  fmt::format("{} continues session {}, which is not in the store", trashId, origin->sessionId),
                  fmt::format("bring that one back first: `bough trash --restore {}`", origin->sessionId));
    }
    if (!held) return std::unexpected(held.error());
    hold = std::move(*held);
    if (auto fits = checkContinues(*impl_->backend, trashId, *origin); !fits) return fits;
  }
  return impl_->backend->restore(trashId);
}

Result<std::uint64_t> SessionStore::emptyTrash(const std::vector<std::string>& trashIds) {
  if (auto open = impl_->checkOpen(); !open) return std::unexpected(open.error());
  auto trash = impl_->backend->listTrash();
  if (!trash) return std::unexpected(trash.error());
  const std::unordered_set<std::string> going(trashIds.begin(), trashIds.end());
  std::vector<Seen> staying;
  if (auto seen = seeTrash(*impl_->backend, staying); !seen) return std::unexpected(seen.error());
  std::erase_if(staying, [&](const Seen& each) { return going.contains(each.name); });
  if (auto seen = seeSessions(*impl_->backend, staying); !seen) return std::unexpected(seen.error());
  std::uint64_t bytes = 0;
  for (const TrashedSession& each : *trash) {
    if (!going.contains(each.trashId)) continue;
    auto sharers = sharersOfTrashed(*impl_->backend, each, staying);
    if (!sharers) return std::unexpected(sharers.error());
    if (auto refusal = refuseToEmpty(each, *sharers); !refusal) return std::unexpected(refusal.error());
  }
  for (const TrashedSession& each : *trash) {
    if (!going.contains(each.trashId)) continue;
    if (auto removed = impl_->backend->removeTrashed(each.trashId); !removed) return std::unexpected(removed.error());
    bytes += each.bytes;
  }
  return bytes;
}

Result<std::string> SessionStore::putAttachment(std::string_view bytes) {
  if (auto open = impl_->checkOpen(); !open) return std::unexpected(open.error());
  std::string sha256 = Sha256::of(bytes);
  auto hold = impl_->backend->holdAttachments();
  if (!hold) return std::unexpected(hold.error());
  if (auto put = impl_->backend->putAttachment(sha256, bytes); !put) return std::unexpected(put.error());
  return sha256;
}

Result<std::string> SessionStore::readAttachment(const std::string& sha256) {
  if (auto open = impl_->checkOpen(); !open) return std::unexpected(open.error());
  return impl_->backend->getAttachment(sha256);
}

Result<std::vector<std::string>> SessionStore::findUnusedAttachments() {
  if (auto flushed = flush(); !flushed) return std::unexpected(flushed.error());
  auto all = impl_->backend->listAttachments();
  if (!all) return all;
  auto unused = unusedOf(*impl_->backend, *all);
  if (!unused) return std::unexpected(unused.error());
  std::erase_if(*all, [&](const std::string& sha256) { return !unused->contains(sha256); });
  return all;
}

Result<std::size_t> SessionStore::removeUnusedAttachments(const std::vector<std::string>& sha256s) {
  if (auto flushed = flush(); !flushed) return std::unexpected(flushed.error());
  std::optional<std::unordered_set<std::string>> unused;
  return impl_->backend->removeAttachments(sha256s, [&](const std::string& sha256) -> Result<bool> {
    if (!unused) {
      auto found = unusedOf(*impl_->backend, sha256s);
      if (!found) return std::unexpected(found.error());
      unused = std::move(*found);
    }
    return unused->contains(sha256);
  });
}

}  // namespace bough
