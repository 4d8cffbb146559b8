#include "store/sharing/session_loader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/model/kind_set.h"
#include "base/system/file_io.h"
#include "base/try.h"
#include "store/rules/append_rules.h"
#include "store/rules/attachment_reference.h"
#include "store/rules/entry_rules.h"

namespace bough {
namespace {

// Returns the entries of these types on the branch that ends in `leafId`, root first. Uses only the index. A header is
// on no branch. Returns std::nullopt when the branch leaves the session, or when the index does not distinguish the
// types.
Result<std::optional<std::vector<std::uint64_t>>> sequencesOfTypes(SharingSession& session, const std::string& leafId,
                                                                   const std::vector<std::string>& types) {
  KindSet wanted;
  for (const std::string& type : types) wanted.add(entryKind(type));
  BOUGH_TRY(const auto leaf, session.ownSequenceOf(leafId));
  if (!leaf || wanted.contains(EntryKind::Other)) return std::nullopt;
  BOUGH_TRY(const SessionOutline outline, session.ownOutline());
  std::vector<std::uint64_t> found;
  if (*leaf >= outline.kinds.size()) return std::nullopt;
  const std::size_t begin = outline.kinds.front() == EntryKind::SessionHeader ? 1 : 0;
  const auto look = [&](std::uint32_t first, std::uint32_t last) {
    const std::span stretch = std::span<const EntryKind>(outline.kinds).first(last + std::size_t{1});
    const std::size_t before = found.size();
    for (std::size_t at = wanted.find(stretch, std::max<std::size_t>(first, begin)); at < stretch.size();
         at = wanted.find(stretch, at + 1)) {
      found.push_back(at);
    }
    std::reverse(found.begin() + static_cast<std::ptrdiff_t>(before), found.end());
  };
  const std::uint32_t end = outline.walkUp(static_cast<std::uint32_t>(*leaf), look);
  if (end != kNoSequence) return std::nullopt;
  std::ranges::reverse(found);
  return found;
}

// Selects from `size` places that all have a wanted type: applies the limit first, then `last`.
struct PlaceRange {
  std::size_t from = 0;
  std::size_t count = 0;
};
PlaceRange wantedRange(std::size_t size, const LoadOptions& wanted) {
  const std::size_t limited = std::min(size, wanted.limit);
  const std::size_t count = std::min(limited, wanted.last.value_or(SIZE_MAX));
  return {.from = limited - count, .count = count};
}

// Returns the wanted types; empty for all types.
std::vector<std::string> wantedTypes(const LoadOptions& wanted) {
  return wanted.type.empty() ? wanted.types : std::vector{wanted.type};
}

bool isTypeExcluded(const LoadOptions& wanted, const std::string& type) {
  return !wanted.types.empty() && std::ranges::find(wanted.types, type) == wanted.types.end();
}

// Returns true when only the header is wanted, which is not part of any shared history.
bool isHeaderAlone(const LoadOptions& wanted) {
  const std::vector<std::string> types = wantedTypes(wanted);
  return types.size() == 1 && types.front() == entry_type::kSessionHeader;
}

// Applies the conditions that the selection has not applied yet.
void applyRemainingConditions(std::vector<Entry>& entries, const LoadOptions& wanted) {
  if (!wanted.type.empty()) std::erase_if(entries, [&](const Entry& entry) { return entry.type != wanted.type; });
  std::erase_if(entries, [&](const Entry& entry) { return isTypeExcluded(wanted, entry.type); });
  if (entries.size() > wanted.limit) entries.resize(wanted.limit);
  if (wanted.last && entries.size() > *wanted.last) {
    entries.erase(entries.begin(), entries.end() - static_cast<std::ptrdiff_t>(*wanted.last));
  }
}

}  // namespace

Result<std::shared_ptr<const ForkHistory>> SessionLoader::history() {
  if (!history_) {
    BOUGH_TRY(history_, session_.history());
  }
  return history_;
}

Result<LoadResult> SessionLoader::load(const LoadQuery& query) {
  LoadResult result;
  if (query.after) {
    BOUGH_TRY(result, after(*query.after, query.options.limit));
  } else if (!query.ids.empty()) {
    BOUGH_TRY(result, byId(query.ids));
  } else if (!query.sequences.empty()) {
    BOUGH_TRY(result.entries, entriesAt(query.sequences));
  } else {
    BOUGH_TRY(result.entries, select(query.options));
    applyRemainingConditions(result.entries, query.options);
  }
  if (!query.asStored) {
    const std::size_t before = result.entries.size();
    BOUGH_TRY(showPayloads(result.entries, query.options.showRedacted, query.options.limitBytes));
    result.end.next -= std::min<std::uint64_t>(result.end.next, before - result.entries.size());
  }
  if (query.after && !result.entries.empty()) result.end.entryId = result.entries.back().id;
  return result;
}

Result<Redactions> SessionLoader::redactions() {
  Redactions found;
  const auto take = [&](SharingSession& session) -> Result<void> {
    constexpr EntryKind kKinds[] = {EntryKind::Redaction};
    BOUGH_TRY(const auto sequences, session.ownControls(kKinds));
    if (sequences.empty()) return {};
    BOUGH_TRY(auto entries, session.ownEntries(sequences));
    for (Entry& entry : entries) found.add(std::move(entry));
    return {};
  };
  BOUGH_TRY(const auto shared, history());
  for (const ForkHistory::Part& part : shared->parts()) BOUGH_TRY(take(*part.session));
  BOUGH_TRY(take(session_));
  return found;
}

// Loads payloads that are stored as attachments, and hides redacted ones.
Result<void> SessionLoader::showPayloads(std::vector<Entry>& entries, bool showRedacted, std::size_t limitBytes) {
  Redactions hidden;
  const auto canBeHidden = [](const Entry& entry) { return canBeRedacted(entryKind(entry.type)); };
  if (!showRedacted && std::ranges::any_of(entries, canBeHidden)) {
    BOUGH_TRY(hidden, redactions());
  }
  LostPayloads& lost = session_.sessions().lostPayloads();
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < entries.size(); bytes += entries[i++].payload.size()) {
    if (bytes >= limitBytes) {
      entries.resize(i);
      break;
    }
    Entry& entry = entries[i];
    if (hidden.hide(entry)) {
      lost.noteReadable(session_.sessionId(), entry.id);
      continue;
    }
    const auto reference = readAttachmentReference(entry.payload);
    if (!reference) continue;
    auto payload = session_.sessions().attachment(*reference);
    if (payload) {
      entry.payload = std::move(*payload);
      lost.noteReadable(session_.sessionId(), entry.id);
      continue;
    }
    if (!LostPayloads::isLoss(payload.error())) {
      payload.error().message =
          fmt::format("entry {} of session {}: {}", entry.id, session_.sessionId(), payload.error().message);
      return std::unexpected(payload.error());
    }
    lost.markLost(session_.sessionId(), entry, payload.error());
  }
  return {};
}

Result<std::vector<Entry>> SessionLoader::entriesFrom(std::uint64_t from, std::size_t limit) {
  BOUGH_TRY(const auto shared, history());
  std::vector<Entry> entries;
  const auto add = [&](std::vector<Entry> part) { std::ranges::move(part, std::back_inserter(entries)); };
  const auto own = [&](std::uint64_t first, std::size_t count) -> Result<std::vector<Entry>> {
    BOUGH_TRY(const auto sequences, session_.ownSelect({.fromSequence = first, .limit = count}));
    return session_.ownEntries(sequences);
  };
  if (from == 0 && limit > 0) {
    BOUGH_TRY(auto header, own(0, 1));
    add(std::move(header));
  }
  if (from <= shared->size() && entries.size() < limit && shared->size() > 0) {
    const std::size_t skip = from == 0 ? 0 : static_cast<std::size_t>(from - 1);
    BOUGH_TRY(auto others, shared->read(skip, limit - entries.size()));
    add(std::move(others));
  }
  if (entries.size() < limit) {
    const std::uint64_t first = from > shared->size() ? from - shared->size() : 1;
    BOUGH_TRY(auto rest, own(std::max<std::uint64_t>(first, 1), limit - entries.size()));
    add(std::move(rest));
  }
  return entries;
}

Result<std::optional<std::uint64_t>> SessionLoader::sequenceOf(const std::string& entryId) {
  BOUGH_TRY(const auto shared, history());
  BOUGH_TRY(const auto own, session_.ownSequenceOf(entryId));
  if (own) return sequenceInSession(*own, shared->size());
  BOUGH_TRY(const auto place, shared->find(entryId));
  if (place) return *place + 1;
  return std::nullopt;
}

Result<std::uint64_t> SessionLoader::sequenceAfter(const std::string& position) {
  if (position.empty()) return 0;
  BOUGH_TRY(const auto sequence, sequenceOf(position));
  if (sequence) return *sequence + 1;
  return fail(ErrorCode::NotFound,
              fmt::format("session {} has no entry {} to continue from", session_.sessionId(), position),
              "start from the beginning with an empty position");
}

// A sequence is only valid for the generation it was read in. If the session was truncated or replaced since, the
// entry's id gives the position.
Result<LoadResult> SessionLoader::after(const SessionPosition& position, std::size_t limit) {
  LoadResult result{.end = position};
  BOUGH_TRY(result.end.generation, session_.generation());
  if (result.end.generation != position.generation) {
    BOUGH_TRY(result.end.next, sequenceAfter(position.entryId));
  }
  if (limit == 0) return result;
  BOUGH_TRY(result.entries, entriesFrom(result.end.next, limit));
  BOUGH_TRY(const std::uint64_t now, session_.generation());
  if (now != result.end.generation) return changedWhileRead("session " + session_.sessionId());
  result.end.next += result.entries.size();
  return result;
}

Result<LoadResult> SessionLoader::byId(const std::vector<std::string>& ids) {
  LoadResult result;
  for (const std::string& id : ids) {
    // If the session has the entry itself, the shared history is not searched.
    BOUGH_TRY(const auto own, session_.ownSequenceOf(id));
    std::optional<std::size_t> place;
    BOUGH_TRY(const auto shared, history());
    if (!own) {
      BOUGH_TRY(place, shared->find(id));
    }
    if (!own && !place) continue;
    BOUGH_TRY(auto entries, own ? session_.ownEntries(std::span(&*own, 1)) : shared->read(*place, 1));
    result.entries.push_back(std::move(entries.front()));
    result.sequences.push_back(own ? sequenceInSession(*own, shared->size()) : *place + 1);
  }
  return result;
}

Result<std::vector<Entry>> SessionLoader::entriesAt(std::span<const std::uint64_t> sequences) {
  BOUGH_TRY(const auto past, history());
  const std::size_t shared = past->size();
  std::vector<std::uint64_t> own;
  std::vector<std::size_t> others;
  const auto isOwn = [&](std::uint64_t sequence) { return sequence == 0 || sequence > shared; };
  for (const std::uint64_t sequence : sequences) {
    if (isOwn(sequence)) own.push_back(sequence == 0 ? 0 : sequence - shared);
    if (!isOwn(sequence)) others.push_back(static_cast<std::size_t>(sequence - 1));
  }
  auto read = session_.ownEntries(own);
  if (!read && !own.empty()) {
    BOUGH_TRY(const SessionState now, session_.state());
    const auto beyond = std::ranges::find_if(own, [&](std::uint64_t sequence) { return sequence >= now.entryCount; });
    if (beyond != own.end()) {
      return fail(ErrorCode::NotFound,
                  fmt::format("session {} has no sequence {}", session_.sessionId(), *beyond + shared),
                  "load the session's tree again");
    }
  }
  BOUGH_TRY(auto mine, std::move(read));
  if (others.empty()) return mine;
  BOUGH_TRY(auto theirs, past->readAt(others));
  std::vector<Entry> entries;
  entries.reserve(sequences.size());
  auto nextOwn = mine.begin();
  auto nextShared = theirs.begin();
  for (const std::uint64_t sequence : sequences) {
    entries.push_back(std::move(isOwn(sequence) ? *nextOwn++ : *nextShared++));
  }
  return entries;
}

Result<std::vector<Entry>> SessionLoader::select(const LoadOptions& wanted) {
  if (!wanted.type.empty() && isTypeExcluded(wanted, wanted.type)) return std::vector<Entry>();
  if (wanted.branch && wanted.branch->empty()) {
    BOUGH_TRY(const SessionState state, session_.state());
    if (state.headId.empty()) return std::vector<Entry>();
    LoadOptions ofHead = wanted;
    ofHead.branch = state.headId;
    return select(ofHead);
  }
  // Look at the session first, so that its origin was not read from a file that is gone.
  BOUGH_TRY(session_.generation());
  BOUGH_TRY(const auto origin, session_.origin());
  if (wanted.branch) {
    // A fork has the branch that it shares, but not the rest of the other session.
    if (origin) {
      BOUGH_TRY(const auto known, sequenceOf(*wanted.branch));
      if (!known) {
        return fail(ErrorCode::NotFound,
                    fmt::format("session {} has no entry {}", session_.sessionId(), *wanted.branch),
                    "`bough cat` prints all entries of a session");
      }
    }
    return selectBranch(wanted);
  }
  if (!origin || isHeaderAlone(wanted)) return selectOwn(wanted);
  const bool byType = !wanted.type.empty() || !wanted.types.empty();
  if (byType && wanted.fromSequence == 0) return selectShared(wanted);
  return entriesFrom(wanted.fromSequence, byType ? SIZE_MAX : wanted.limit);
}

Result<std::vector<Entry>> SessionLoader::selectBranch(const LoadOptions& wanted) {
  const std::vector<std::string> types = wantedTypes(wanted);
  // With fromSequence, entries of other types count as well.
  const bool byType = !types.empty() && wanted.fromSequence == 0;
  if (byType) {
    BOUGH_TRY(const auto found, sequencesOfTypes(session_, *wanted.branch, types));
    if (found) {
      const PlaceRange part = wantedRange(found->size(), wanted);
      return session_.ownEntries(std::span(*found).subspan(part.from, part.count));
    }
  }
  const bool inParts = types.empty() && !wanted.last && wanted.limit != SIZE_MAX;
  if (inParts) return branchPart(wanted);
  // Without further conditions, walk only as much of the branch as is wanted.
  const bool plain = types.empty() && wanted.fromSequence == 0 && wanted.limit == SIZE_MAX;
  const std::size_t length = plain ? wanted.last.value_or(SIZE_MAX) : SIZE_MAX;
  // Walk at least one entry, so that a missing branch is noticed.
  BOUGH_TRY(auto branch, ForkHistory::ofBranch(session_, *wanted.branch, std::max<std::size_t>(length, 1)));
  if (byType) {
    BOUGH_TRY(branch.keepTypes(types));
  }
  if (wanted.fromSequence == 0) {
    const PlaceRange part = wantedRange(branch.size(), wanted);
    return branch.read(part.from, part.count);
  }
  return branch.read(static_cast<std::size_t>(std::min<std::uint64_t>(wanted.fromSequence, SIZE_MAX)),
                     types.empty() ? wanted.limit : SIZE_MAX);
}

Result<std::vector<Entry>> SessionLoader::branchPart(const LoadOptions& wanted) {
  BOUGH_TRY(const auto branch, session_.branchInParts(*wanted.branch));
  const std::size_t from = static_cast<std::size_t>(std::min<std::uint64_t>(wanted.fromSequence, branch->size()));
  BOUGH_TRY(auto entries, branch->read(from, wanted.limit));
  if (entries.size() >= branch->size() - from) session_.dropBranch();
  return entries;
}

Result<std::vector<Entry>> SessionLoader::selectOwn(const LoadOptions& wanted) {
  const std::vector<std::string> types = wantedTypes(wanted);
  if (types.size() > 1) {
    BOUGH_TRY(const auto found, ownOfTypes(types, wanted.fromSequence));
    const PlaceRange part = wantedRange(found.size(), wanted);
    return session_.ownEntries(std::span(found).subspan(part.from, part.count));
  }
  const bool fromEnd = wanted.last && wanted.limit == SIZE_MAX;
  BOUGH_TRY(auto sequences, session_.ownSelect({.fromSequence = wanted.fromSequence,
                                                .limit = fromEnd ? *wanted.last : wanted.limit,
                                                .type = types.empty() ? std::string() : types.front(),
                                                .newestFirst = fromEnd}));
  if (fromEnd) std::ranges::reverse(sequences);
  return session_.ownEntries(sequences);
}

// Returns the session's own entries of these types.
Result<std::vector<std::uint64_t>> SessionLoader::ownOfTypes(const std::vector<std::string>& types,
                                                             std::uint64_t fromSequence) {
  std::vector<std::uint64_t> found;
  for (const std::string& type : types) {
    BOUGH_TRY(const auto some, session_.ownSelect({.fromSequence = fromSequence, .type = type}));
    found.insert(found.end(), some.begin(), some.end());
  }
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}

// Returns entries of some types of a session that shares history: its header, its shared entries, its own entries.
Result<std::vector<Entry>> SessionLoader::selectShared(const LoadOptions& wanted) {
  const std::vector<std::string> types = wantedTypes(wanted);
  BOUGH_TRY(const auto own, ownOfTypes(types, 0));
  BOUGH_TRY(const auto whole, history());
  ForkHistory shared = *whole;
  BOUGH_TRY(shared.keepTypes(types));
  const std::size_t headers = !own.empty() && own.front() == 0 ? 1 : 0;
  const PlaceRange part = wantedRange(own.size() + shared.size(), wanted);
  std::vector<Entry> entries;
  // Adds the part of the range [begin, begin + size) that `part` covers, read by `read(from, count)`.
  const auto add = [&](std::size_t begin, std::size_t size, const auto& read) -> Result<void> {
    const std::size_t from = std::max(part.from, begin);
    const std::size_t end = std::min(part.from + part.count, begin + size);
    if (from >= end) return {};
    BOUGH_TRY(auto some, read(from - begin, end - from));
    std::ranges::move(some, std::back_inserter(entries));
    return {};
  };
  const auto readOwn = [&](std::size_t skip) {
    return [&, skip](std::size_t from, std::size_t count) {
      return session_.ownEntries(std::span(own).subspan(skip + from, count));
    };
  };
  BOUGH_TRY(add(0, headers, readOwn(0)));
  BOUGH_TRY(add(headers, shared.size(), [&](std::size_t from, std::size_t count) { return shared.read(from, count); }));
  BOUGH_TRY(add(headers + shared.size(), own.size() - headers, readOwn(headers)));
  return entries;
}

}  // namespace bough
