#include "store/sharing/fork_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/model/ids.h"
#include "base/try.h"
#include "store/rules/header.h"
#include "store/sharing/place_names.h"
#include "store/sharing/sharing_session.h"

namespace bough {
namespace {

struct OpenedSession {
  std::shared_ptr<SharingSession> session;
  std::uint64_t generation;
};

Result<OpenedSession> open(SharingSessions& sessions, const std::string& sessionId) {
  // A header may name anything, but only an id can be the name of a session.
  if (!isSessionId(sessionId)) return fail(ErrorCode::NotFound, fmt::format("there is no session \"{}\"", sessionId));
  BOUGH_TRY(auto session, sessions.session(sessionId));
  BOUGH_TRY(const std::uint64_t generation, session->generation());
  return OpenedSession{.session = std::move(session), .generation = generation};
}

}  // namespace

bool isLostSession(const Error& error) {
  return error.code == ErrorCode::NotFound || (error.code == ErrorCode::Damaged && !error.retryable);
}

void ForkHistory::endAt(const std::string& leaf, const std::string& session, std::optional<Error> why) {
  missing_ = leaf;
  missingFrom_ = session;
  lostError_ = std::move(why);
}

void ForkHistory::appendKnown(const ForkHistory& rest) {
  parts_.insert(parts_.end(), rest.parts_.rbegin(), rest.parts_.rend());
  size_ += rest.size_;
}

Result<ForkHistory> ForkHistory::walk(SharingSessions& sessions, std::string session, std::string leaf,
                                      std::size_t limit, bool isOwnLeaf) {
  ForkHistory history;
  std::unordered_set<std::string> visited;
  while (history.size_ < limit) {
    if (!visited.insert(session).second) {
      return fail(ErrorCode::Damaged, fmt::format("session {} is a fork of itself", session),
                  "correct parentSession in its header");
    }
    auto opened = open(sessions, session);
    if (!opened && isLostSession(opened.error())) {
      history.endAt(leaf, session, std::move(opened.error()));
      break;
    }
    BOUGH_TRY(const auto found, std::move(opened));
    const bool isOwn = std::exchange(isOwnLeaf, false);
    BOUGH_TRY(const auto sequence,
              isOwn ? found.session->ownSequenceOf(leaf) : sequenceNamedFrom(*found.session, leaf));
    // A session on the way is recorded even if it has no entry of the branch: its redactions apply to the branch.
    Part& part =
        history.parts_.emplace_back(Part{.session = found.session, .generation = found.generation, .sequences = {}});
    if (sequence) {
      BOUGH_TRY(BranchPart own, found.session->ownBranch(*sequence, limit - history.size_));
      if (!own.sequences.empty() && own.sequences.front() == 0) {
        // If the header is unreadable, the first readable entry belongs to the conversation.
        BOUGH_TRY(const Entry first, found.session->header());
        if (first.type == entry_type::kSessionHeader) own.sequences.erase(own.sequences.begin());
      }
      history.size_ += own.sequences.size();
      part.sequences = std::move(own.sequences);
      leaf = std::move(own.continuesAt);
      if (leaf.empty()) break;
    }
    auto header = found.session->header();
    if (!header && isLostSession(header.error())) {
      if (part.sequences.empty()) history.parts_.pop_back();
      history.endAt(leaf, session, std::move(header.error()));
      break;
    }
    BOUGH_TRY(const Entry first, std::move(header));
    const auto origin = readHeader(first).origin;
    if (!origin) {
      history.endAt(leaf, session, std::nullopt);
      break;
    }
    const auto rest = leaf == origin->entryId && limit == SIZE_MAX ? found.session->cachedHistory(origin) : nullptr;
    if (rest) {
      history.appendKnown(*rest);
      break;
    }
    session = origin->sessionId;
  }
  std::ranges::reverse(history.parts_);
  return history;
}

Result<ForkHistory> ForkHistory::ofBranch(SharingSession& session, const std::string& leafId, std::size_t limit) {
  auto history = walk(session.sessions(), session.sessionId(), leafId, limit, /*isOwnLeaf=*/true);
  if (!history || history->size_ > 0 || history->missing_ != leafId) return history;
  return fail(ErrorCode::NotFound, fmt::format("session {} has no entry {}", session.sessionId(), leafId),
              "`bough cat` prints all entries of a session");
}

Result<void> ForkHistory::keepTypes(const std::vector<std::string>& types) {
  size_ = 0;
  for (Part& part : parts_) {
    std::vector<std::uint64_t> wanted;
    for (const std::string& type : types) {
      BOUGH_TRY(const auto found, part.session->ownSelect({.type = type}));
      wanted.insert(wanted.end(), found.begin(), found.end());
    }
    std::ranges::sort(wanted);
    std::vector<std::uint64_t> kept;
    std::ranges::set_intersection(part.sequences, wanted, std::back_inserter(kept));
    part.sequences = std::move(kept);
    size_ += part.sequences.size();
  }
  return {};
}

Result<ForkHistory> ForkHistory::ofFork(SharingSessions& sessions, const std::string& sessionId,
                                        const std::optional<ForkOrigin>& origin, Lost lost) {
  if (!origin) return ForkHistory();
  auto history = walk(sessions, origin->sessionId, origin->entryId, SIZE_MAX, /*isOwnLeaf=*/false);
  const auto isSelf = [&](const Part& part) { return part.session->sessionId() == sessionId; };
  if (history && std::ranges::any_of(history->parts_, isSelf)) {
    return fail(ErrorCode::Damaged, fmt::format("session {} is a fork of itself", sessionId),
                "correct parentSession in its header");
  }
  if (!history || !history->lostError_ || lost == Lost::EndThere) return history;
  Error error = std::move(*history->lostError_);
  const bool isGone = error.code == ErrorCode::NotFound;
  error.message = fmt::format("session {} is a fork of session {}, whose history {}: {}", sessionId, origin->sessionId,
                              isGone ? "is not in the store" : "cannot be read", error.message);
  error.hint = fmt::format(
      "bring {}, or turn what is left into an independent session: `bough repair --detach`",
      isGone ? "that session back (`bough trash --restore`, or a copy of its file)" : "its file back from a copy");
  return std::unexpected(std::move(error));
}

Result<std::vector<Entry>> ForkHistory::read(std::size_t from, std::size_t limit) const {
  std::vector<Entry> entries;
  for (const Part& part : parts_) {
    if (from >= part.sequences.size()) {
      from -= part.sequences.size();
      continue;
    }
    const std::size_t count = std::min(part.sequences.size() - from, limit - entries.size());
    BOUGH_TRY(auto read, part.session->ownEntries(std::span(part.sequences).subspan(from, count)));
    if (entries.empty()) {
      entries = std::move(read);
    } else {
      std::ranges::move(read, std::back_inserter(entries));
    }
    from = 0;
    if (entries.size() == limit) break;
  }
  return entries;
}

Result<std::vector<Entry>> ForkHistory::readAt(std::span<const std::size_t> places) const {
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
    BOUGH_TRY(auto read, part.session->ownEntries(wanted));
    for (std::size_t i = 0; i < into.size(); ++i) entries[into[i]] = std::move(read[i]);
  }
  return entries;
}

Result<std::optional<std::size_t>> ForkHistory::find(std::string_view entryId) const {
  std::size_t before = 0;
  for (const Part& part : parts_) {
    BOUGH_TRY(const auto sequence, sequenceNamedFrom(*part.session, entryId));
    if (sequence) {
      const auto at = std::ranges::lower_bound(part.sequences, *sequence);
      if (at != part.sequences.end() && *at == *sequence) {
        return before + static_cast<std::size_t>(at - part.sequences.begin());
      }
    }
    before += part.sequences.size();
  }
  return std::nullopt;
}

Result<std::optional<Entry>> ForkHistory::entryOf(std::string_view entryId) const {
  return retryWhenChanged([&]() -> Result<std::optional<Entry>> {
    BOUGH_TRY(const auto place, find(entryId));
    if (!place) return std::nullopt;
    BOUGH_TRY(auto entries, read(*place, 1));
    return std::move(entries.front());
  });
}

Result<bool> ForkHistory::contains(std::string_view entryId) const {
  BOUGH_TRY(const auto place, retryWhenChanged([&] { return find(entryId); }));
  return place.has_value();
}

bool ForkHistory::prepareForCacheOf(SharingSession& owner) {
  const auto isOther = [&](const Part& part) {
    return part.session.get() != &owner && part.session->sessionId() == owner.sessionId();
  };
  if (std::ranges::any_of(parts_, isOther)) return false;
  for (Part& part : parts_) {
    if (part.session.get() == &owner) part.session = std::shared_ptr<SharingSession>(std::shared_ptr<void>(), &owner);
  }
  return true;
}

bool ForkHistory::isCurrent() const {
  if (!missing_.empty()) return false;  // the missing part may have been restored
  return std::ranges::all_of(parts_, [&](const Part& part) {
    const auto generation = part.session->generation();
    return generation && *generation == part.generation;
  });
}

std::size_t ForkHistory::bytes() const {
  constexpr std::size_t kOfAnAllocation = 32;
  return parts_.size() * (sizeof(Part) + kOfAnAllocation) + size_ * sizeof(std::uint64_t);
}

std::vector<std::string> ForkHistory::sessions() const {
  std::vector<std::string> names;
  for (const Part& part : parts_) names.push_back(part.session->sessionId());
  return names;
}

}  // namespace bough
