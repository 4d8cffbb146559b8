#include "store/fork_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "store/header.h"

namespace bough {

Result<ForkHistory> ForkHistory::walk(StorageBackend& backend, std::string session, std::string leaf,
                                      std::size_t limit) {
  ForkHistory history;
  std::unordered_set<std::string> visited;
  while (history.size_ < limit) {
    if (!visited.insert(session).second) {
      return fail(ErrorCode::Damaged, fmt::format("session {} is a fork of itself", session),
                  "correct parentSession in its header");
    }
    const auto numbering = backend.numbering(session);
    if (!numbering) return std::unexpected(numbering.error());
    auto sequence = backend.sequenceOf(session, leaf);
    if (!sequence) return std::unexpected(sequence.error());
    // A session on the way without an entry of the branch still has its say on it: its redactions hold.
    Part& part = history.parts_.emplace_back(Part{.sessionId = session, .numbering = *numbering, .sequences = {}});
    if (*sequence) {
      auto own = backend.branch(session, **sequence, limit - history.size_);
      if (!own) return std::unexpected(own.error());
      if (!own->sequences.empty() && own->sequences.front() == 0) own->sequences.erase(own->sequences.begin());
      history.size_ += own->sequences.size();
      part.sequences = std::move(own->sequences);
      leaf = std::move(own->continuesAt);
      if (leaf.empty()) break;
    }
    auto header = backend.header(session);
    if (!header) return std::unexpected(header.error());
    const auto origin = readHeader(*header).origin;
    if (!origin) {
      history.missing_ = leaf;
      break;
    }
    session = origin->sessionId;
  }
  std::ranges::reverse(history.parts_);
  return history;
}

Result<ForkHistory> ForkHistory::ofBranch(StorageBackend& backend, const std::string& sessionId,
                                          const std::string& leafId, std::size_t limit) {
  auto history = walk(backend, sessionId, leafId, limit);
  if (!history || history->size_ > 0 || history->missing_ != leafId) return history;
  return fail(ErrorCode::NotFound, fmt::format("session {} has no entry {}", sessionId, leafId),
              "`bough cat` prints all entries of a session");
}

Result<void> ForkHistory::keepTypes(StorageBackend& backend, const std::vector<std::string>& types) {
  size_ = 0;
  for (Part& part : parts_) {
    std::vector<std::uint64_t> wanted;
    for (const std::string& type : types) {
      auto found = backend.select(part.sessionId, {.fromSequence = 0, .limit = SIZE_MAX, .type = type});
      if (!found) return std::unexpected(found.error());
      wanted.insert(wanted.end(), found->begin(), found->end());
    }
    std::ranges::sort(wanted);
    std::vector<std::uint64_t> kept;
    std::ranges::set_intersection(part.sequences, wanted, std::back_inserter(kept));
    part.sequences = std::move(kept);
    size_ += part.sequences.size();
  }
  return {};
}

Result<ForkHistory> ForkHistory::ofFork(StorageBackend& backend, const std::string& sessionId,
                                        const std::optional<ForkOrigin>& origin) {
  if (!origin) return ForkHistory();
  auto history = walk(backend, origin->sessionId, origin->entryId, SIZE_MAX);
  const auto isSelf = [&](const Part& part) { return part.sessionId == sessionId; };
  if (history && std::ranges::any_of(history->parts_, isSelf)) {
    return fail(ErrorCode::Damaged, fmt::format("session {} is a fork of itself", sessionId),
                "correct parentSession in its header");
  }
  if (!history && history.error().code == ErrorCode::NotFound) {
    history.error().message = fmt::format("session {} is a fork of session {}, whose history is not in the store: {}",
                                          sessionId, origin->sessionId, history.error().message);
    history.error().hint = "bring that session back: `bough trash --restore`, or a copy of its file";
  }
  return history;
}

Result<std::vector<Entry>> ForkHistory::read(StorageBackend& backend, std::size_t from, std::size_t limit) const {
  std::vector<Entry> entries;
  for (const Part& part : parts_) {
    if (from >= part.sequences.size()) {
      from -= part.sequences.size();
      continue;
    }
    const std::size_t count = std::min(part.sequences.size() - from, limit - entries.size());
    auto read = backend.read(part.sessionId, std::span(part.sequences).subspan(from, count));
    if (!read) return std::unexpected(read.error());
    if (entries.empty()) {
      entries = std::move(*read);
    } else {
      std::ranges::move(*read, std::back_inserter(entries));
    }
    from = 0;
    if (entries.size() == limit) break;
  }
  return entries;
}

Result<std::vector<Entry>> ForkHistory::readAt(StorageBackend& backend, std::span<const std::size_t> places) const {
  std::vector<Entry> entries(places.size());
  std::size_t before = 0;
  for (const Part& part : parts_) {
    std::vector<std::uint64_t> wanted;
    std::vector<std::size_t> into;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i] < before || places[i] - before >= part.sequences.size()) continue;
      wanted.push_back(part.sequences[places[i] - before]);
      into.push_back(i);
    }
    before += part.sequences.size();
    if (wanted.empty()) continue;
    auto read = backend.read(part.sessionId, wanted);
    if (!read) return std::unexpected(read.error());
    for (std::size_t i = 0; i < into.size(); ++i) entries[into[i]] = std::move((*read)[i]);
  }
  return entries;
}

Result<std::optional<std::size_t>> ForkHistory::find(StorageBackend& backend, std::string_view entryId) const {
  std::size_t before = 0;
  for (const Part& part : parts_) {
    auto sequence = backend.sequenceOf(part.sessionId, entryId);
    if (!sequence) return std::unexpected(sequence.error());
    if (*sequence) {
      const auto at = std::ranges::lower_bound(part.sequences, **sequence);
      if (at != part.sequences.end() && *at == **sequence) {
        return before + static_cast<std::size_t>(at - part.sequences.begin());
      }
    }
    before += part.sequences.size();
  }
  return std::nullopt;
}

bool ForkHistory::isCurrent(StorageBackend& backend) const {
  if (!missing_.empty()) return false;  // it may be back
  return std::ranges::all_of(parts_, [&](const Part& part) {
    const auto numbering = backend.numbering(part.sessionId);
    return numbering && *numbering == part.numbering;
  });
}

std::vector<std::string> ForkHistory::sessions() const {
  std::vector<std::string> names;
  for (const Part& part : parts_) names.push_back(part.sessionId);
  return names;
}

}  // namespace bough
