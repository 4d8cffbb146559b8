#include "store/copy/session_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <unordered_map>

#include "base/json/json_scan.h"
#include "base/model/unreadable.h"
#include "base/try.h"
#include "store/rules/attachment_reference.h"
#include "store/rules/erasure.h"
#include "store/rules/header.h"
#include "store/rules/lost_payloads.h"

namespace bough {

// The trash of a store as it was last read. Reading a long list again for each of many missing sessions would take too
// long, so a list is reused: for a fifth as many lookups as it has items. Each session needs two lookups. A short list
// is read every time.
struct KnownTrash {
  std::unordered_multimap<std::string, std::string> trashIds = {};  // by session
  std::size_t usesLeft = 0;                                         // how many more lookups it may be used for
};

}  // namespace bough

namespace bough::copying {
namespace {

constexpr std::size_t kPartEntries = 500;
constexpr std::size_t kBatchBytes = std::size_t{8} << 20;
constexpr std::size_t kMostForks = 10'000;

// Returns true when a fork names the entry that it continues by a place, because that entry was unreadable. A place
// means nothing in another store; loading the session replaces places by ids.
bool namesPlace(const Entry& header) {
  const auto origin = readHeader(header).origin;
  return origin && offsetOfUnreadableId(origin->entryId);
}

}  // namespace

Result<std::optional<Entry>> findHeader(StoreSide& side, const std::string& sessionId) {
  auto session = side.backend->open(sessionId);
  auto header = session ? (*session)->header() : Result<Entry>(std::unexpected(session.error()));
  if (header && namesPlace(*header)) {
    BOUGH_TRY(auto first, (*session)->loadOwn(0, 1));
    if (!first.empty()) return std::move(first.front());
  }
  if (header) return std::move(*header);
  if (header.error().code == ErrorCode::NotFound) return std::nullopt;
  return std::unexpected(header.error());
}

Result<std::vector<std::string>> lineageOf(const std::vector<StoreSide*>& sides, const std::string& sessionId) {
  std::vector<std::string> lineage;
  std::string next = sessionId;
  while (!next.empty() && lineage.size() < kMostForks) {
    std::optional<Entry> header;
    for (StoreSide* side : sides) {
      if (header) break;
      BOUGH_TRY(header, findHeader(*side, next));
    }
    if (!header) {
      return fail(ErrorCode::NotFound,
                  fmt::format("there is no session {} in {}", next, sides.front()->backend->describe()),
                  "`bough ls` lists the sessions of a store");
    }
    lineage.push_back(next);
    const auto origin = readHeader(*header).origin;
    next = origin ? origin->sessionId : "";
  }
  std::ranges::reverse(lineage);
  return lineage;
}

namespace {

// Restores an attachment that a side has lost. Returns false when that is impossible.
Result<bool> restoreAttachment(StoreSide& side, StoredSession& session, std::uint64_t sequence,
                               const std::string& sha256, StoreSide& other) {
  AttachmentStore* const attachments = side.backend->attachments();
  const auto bytes = other.store->readAttachment(sha256);
  // An attachment that cannot be read at the moment is not lost.
  if (!bytes && !LostPayloads::isLoss(bytes.error())) return std::unexpected(bytes.error());
  if (attachments == nullptr || !bytes) return false;
  BOUGH_TRY(auto hold, attachments->hold());
  BOUGH_TRY(attachments->put(sha256, *bytes));
  BOUGH_TRY(const auto again, session.loadOwn(sequence, 1));
  if (!again.empty() && again.front().payload == *bytes) return true;
  // The entry may have been erased meanwhile: then the attachment must not stay.
  hold.reset();
  BOUGH_TRY(attachments->removeUnused({sha256}));
  return false;
}

Error lostAttachment(const std::string& sessionId, const Entry& entry, const std::string& sha256, const Error& why) {
  return fail(ErrorCode::Damaged,
              fmt::format("session {}: attachment {} of entry {} is {}", sessionId, sha256, entry.id,
                          why.code == ErrorCode::Damaged ? "damaged" : "missing"),
              "bring it back from a copy of the store, or erase the entry to continue without it")
      .error();
}

// Returns true when attachments of these entries were restored, so that the entries must be read again.
Result<bool> restoreLostAttachments(StoreSide& side, StoredSession& session, std::uint64_t from,
                                    const std::vector<Entry>& entries, StoreSide* other) {
  bool anyRestored = false;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    if (isUnreadable(entry)) {
      return fail(
          ErrorCode::Damaged, fmt::format("session {}: {}", session.sessionId(), unreadableText(entry)),
          fmt::format("`bough verify {}` says more; bring the bytes back from a copy first", session.sessionId()));
    }
    // For an attachment that it has, the store returns the payload itself. Payloads that only look like a reference are
    // stored as attachments as well, so this reference is real.
    const auto reference = readAttachmentReference(entry.payload);
    if (!reference) continue;
    const auto kept = side.store->readAttachment(*reference);
    if (kept) continue;
    if (!LostPayloads::isLoss(kept.error())) return std::unexpected(kept.error());
    bool isRestored = false;
    if (other != nullptr) {
      BOUGH_TRY(isRestored, restoreAttachment(side, session, from + i, *reference, *other));
    }
    if (!isRestored) return std::unexpected(lostAttachment(session.sessionId(), entry, *reference, kept.error()));
    anyRestored = true;
  }
  return anyRestored;
}

Result<std::vector<Entry>> readAtMost(StoreSide& side, const std::string& sessionId, std::uint64_t from,
                                      std::size_t count, StoreSide* other) {
  BOUGH_TRY(const auto session, side.backend->open(sessionId));
  BOUGH_TRY(auto entries, session->loadOwn(from, count));
  BOUGH_TRY(const bool anyRestored, restoreLostAttachments(side, *session, from, entries, other));
  if (!anyRestored) return entries;
  BOUGH_TRY(entries, session->loadOwn(from, count));
  BOUGH_TRY(restoreLostAttachments(side, *session, from, entries, nullptr));
  return entries;
}

}  // namespace

Result<std::vector<Entry>> readPart(StoreSide& side, const std::string& sessionId, std::uint64_t from,
                                    StoreSide* other) {
  return readAtMost(side, sessionId, from, kPartEntries, other);
}

Result<std::vector<Entry>> readCount(StoreSide& side, const std::string& sessionId, std::uint64_t from,
                                     std::size_t count, StoreSide* other) {
  std::vector<Entry> entries;
  while (entries.size() < count) {
    BOUGH_TRY(auto part, readAtMost(side, sessionId, from + entries.size(), count - entries.size(), other));
    if (part.empty()) break;
    std::ranges::move(part, std::back_inserter(entries));
  }
  return entries;
}

Result<std::vector<std::string>> trashIdsOf(StoreSide& side, const std::string& sessionId) {
  if (side.trash && side.trash->usesLeft > 0) {
    --side.trash->usesLeft;
  } else {
    const auto trash = side.store->listTrash();
    if (!trash && trash.error().code == ErrorCode::Unsupported) return {};  // a backend need not have a trash
    if (!trash) return std::unexpected(trash.error());
    side.trash = std::make_shared<KnownTrash>();
    side.trash->usesLeft = trash->size() / 5;
    for (const TrashedSession& each : *trash) side.trash->trashIds.emplace(each.sessionId, each.trashId);
  }
  std::vector<std::string> found;
  const auto [begin, end] = side.trash->trashIds.equal_range(sessionId);
  for (auto each = begin; each != end; ++each) found.push_back(each->second);
  return found;
}

namespace {

std::string sessionIn(std::string_view header, std::string_view name) {
  const auto origin = json::findMember(header, name);
  return origin ? json::findString(*origin, "sessionId").value_or("") : "";
}

// Records the ids that an erased entry or a receipt names.
void noteErased(const Entry& entry, std::vector<std::string>& ids) {
  if (isErasedPayload(entry.payload)) ids.push_back(entry.id);
  if (entry.type != entry_type::kRedaction || !json::findMember(entry.payload, "erased")) return;
  if (auto target = json::findString(entry.payload, "entryId")) ids.push_back(std::move(*target));
}

// Records the erased entries of a session in the trash. Returns the session whose history it shares.
Result<std::string> noteErasedInTrash(const StoreSide& side, const std::string& trashId,
                                      std::vector<std::string>& ids) {
  std::string before;
  const auto read = side.store->exportTrashed(trashId, [&](std::string_view line) {
    const auto entry = side.store->serializer().decode(line);
    if (entry) noteErased(*entry, ids);
    if (entry && entry->type == entry_type::kSessionHeader) before = sessionIn(entry->payload, "parentSession");
    return true;
  });
  const bool isGone = !read && read.error().code == ErrorCode::NotFound;  // restored, or removed for good
  if (!read && !isGone) return std::unexpected(read.error());
  return before;
}

// Returns what a store knows to be erased of a session that it lacks: from its trash, and from the sessions whose
// history it shared.
Result<std::vector<std::string>> erasedOf(StoreSide& side, std::string sessionId) {
  std::vector<std::string> ids;
  for (std::size_t steps = 0; !sessionId.empty() && steps < kMostForks; ++steps) {
    BOUGH_TRY(const auto header, findHeader(side, sessionId));
    if (header) {
      BOUGH_TRY(const auto session, side.backend->open(sessionId));
      const std::string type(entry_type::kRedaction);
      BOUGH_TRY(const auto loaded, session->load({.options = {.type = type}, .asStored = true}));
      for (const Entry& entry : loaded.entries) noteErased(entry, ids);
      return ids;
    }
    BOUGH_TRY(const auto trashed, trashIdsOf(side, sessionId));
    sessionId.clear();
    for (const std::string& trashId : trashed) {
      BOUGH_TRY(sessionId, noteErasedInTrash(side, trashId, ids));
    }
  }
  return ids;
}

// Refuses erased entries: they must not come back with a session that was moved to the trash after the erasure, or that
// has its own copy of the history it shared.
Result<void> refuseErased(StoreSide& from, StoreSide& side, const std::string& sessionId, const Entry& header) {
  LoadQuery query{.asStored = true};
  BOUGH_TRY(query.ids, erasedOf(side, sessionId));
  BOUGH_TRY(const auto copied, erasedOf(side, sessionIn(header.payload, "detachedFrom")));
  query.ids.insert(query.ids.end(), copied.begin(), copied.end());
  if (query.ids.empty()) return {};
  BOUGH_TRY(const auto session, from.backend->open(sessionId));
  BOUGH_TRY(const auto loaded, session->load(query));
  for (const Entry& entry : loaded.entries) {
    if (!isErasedPayload(entry.payload)) return std::unexpected(erasedInOne(sessionId, entry.id, side, from));
  }
  return {};
}

}  // namespace

Result<void> makeSession(StoreSide& from, StoreSide& side, const std::string& sessionId, const Entry& header) {
  BOUGH_TRY(auto known, findHeader(side, sessionId));
  if (!known) {
    BOUGH_TRY(refuseErased(from, side, sessionId, header));
    BOUGH_TRY(checkFormat(header, sessionId, from.backend->describe(), 0, side.backend->serializer().schemaVersion()));
    auto made =
        side.backend->create({.sessionId = sessionId, .entries = {header}, .origin = readHeader(header).origin});
    if (made || made.error().code != ErrorCode::AlreadyExists) return made;
    BOUGH_TRY(known, findHeader(side, sessionId));
    if (!known) return made;
  }
  // Another copy may have created the session at the same time.
  if (isSame(*known, header)) return {};
  if (isDetached(*known, header) || isDetached(header, *known)) {
    return fail(
        ErrorCode::Conflict,
        fmt::format("session {} shares its history in one of the stores and has its own copy of it in the other",
                    sessionId),
        "`bough sync` gives it its own copy in both");
  }
  return fail(ErrorCode::Conflict,
              fmt::format("{} has another session under the id {}", side.backend->describe(), sessionId),
              fmt::format("give one of them another id, in its own store: `bough fork {0} --id NAME`, then "
                          "`bough rm {0} --detach`",
                          sessionId));
}

Result<void> appendAll(StoreSide& side, const std::string& sessionId, const std::vector<Entry>& entries,
                       std::string& tail, std::uint64_t& appended) {
  for (std::size_t from = 0; from < entries.size();) {
    std::vector<Entry> batch;
    std::size_t bytes = 0;
    for (; from < entries.size() && bytes < kBatchBytes; ++from) {
      bytes += entries[from].payload.size() + entries[from].meta.size();
      batch.push_back(entries[from]);
    }
    std::string last = batch.back().id;
    const std::size_t count = batch.size();
    BOUGH_TRY(side.store->appendSessionEntries(sessionId, std::move(batch), {.expectedTail = tail}));
    tail = std::move(last);
    appended += count;
  }
  return {};
}

bool SeenSessions::isCausedByRemoval(const Error& error) const {
  if (error.code != ErrorCode::NotFound) return false;
  return std::ranges::any_of(seen_, [](const auto& each) {
    const auto header = findHeader(*each.first, each.second);
    return header && !*header;
  });
}

bool isSame(const Entry& left, const Entry& right) {
  const auto parent = [](const Entry& entry) { return entry.parentId.value_or(""); };
  if (left.id != right.id || parent(left) != parent(right)) return false;
  // If a line was unreadable when it was erased, its type and its timestamp were lost.
  if (isErasedPayload(left.payload) && isErasedPayload(right.payload)) return true;
  if (left.type != right.type || left.timestamp != right.timestamp || left.runId != right.runId) return false;
  const bool samePayload = left.payload == right.payload || (left.type == entry_type::kSessionHeader &&
                                                             isSameHeaderPayload(left.payload, right.payload));
  return samePayload && left.meta == right.meta && left.extra == right.extra;
}

bool isDetached(const Entry& header, const Entry& forkHeader) {
  if (!readHeader(forkHeader).origin) return false;
  Entry detached = forkHeader;
  detached.payload = detachHeaderPayload(forkHeader.payload, "");
  return isSame(header, detached);
}

Error erasedInOne(const std::string& sessionId, const std::string& entryId, const StoreSide& erased,
                  const StoreSide& whole) {
  return fail(ErrorCode::IdConflict,
              fmt::format("entry {} of session {} was erased in {} and is still in {}", entryId, sessionId,
                          erased.backend->describe(), whole.backend->describe()),
              "erase it there, too (`bough erase`), then repeat this; nothing was changed")
      .error();
}

}  // namespace bough::copying
