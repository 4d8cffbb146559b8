#include "store/sharing/sharing_session.h"

#include <fmt/format.h>

#include "base/try.h"
#include "store/rules/attachment_reference.h"
#include "store/sharing/place_names.h"
#include "store/sharing/session_loader.h"

namespace bough {
namespace {

using CachedBytes = std::shared_ptr<std::atomic<std::size_t>>;

// Returns true when a session may keep this history. Listing a store opens all of its forks, and each fork shares as
// much as all forks before it in its chain together, so the memory is limited. A history that is not kept is walked
// again, up to the nearest kept one. In a long chain, every 64th history is kept beyond the limit.
bool isWorthCaching(const ForkHistory& history, std::size_t kept) {
  constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  constexpr std::size_t kFarApart = 64;
  return kept <= kMostBytes || (history.parts().size() % kFarApart == 0 && kept <= 2 * kMostBytes);
}

// Counts the history's memory until its last user is gone.
std::shared_ptr<const ForkHistory> withCountedMemory(ForkHistory made, const CachedBytes& kept) {
  const std::size_t bytes = made.bytes();
  auto owned = std::make_unique<const ForkHistory>(std::move(made));
  *kept += bytes;
  return {owned.release(), [kept, bytes](const ForkHistory* history) {
            *kept -= bytes;
            delete history;
          }};
}

}  // namespace

std::shared_ptr<const ForkHistory> SharingSession::cachedHistory(const std::optional<ForkOrigin>& origin) {
  CachedHistories& here = *cached_;
  std::shared_ptr<const ForkHistory> known;
  {
    const std::lock_guard lock(here.mutex);
    if (here.origin == origin) known = here.history;
  }
  return known && known->isCurrent() ? known : nullptr;
}

Result<std::shared_ptr<const ForkHistory>> SharingSession::historyOf(const std::optional<ForkOrigin>& origin) {
  if (!origin) return std::make_shared<const ForkHistory>();
  if (auto known = cachedHistory(origin)) return known;
  BOUGH_TRY(ForkHistory made, ForkHistory::ofFork(sessions_, sessionId_, origin));
  if (!isWorthCaching(made, *sessions_.cachedBytes())) return std::make_shared<const ForkHistory>(std::move(made));
  auto history = withCountedMemory(std::move(made), sessions_.cachedBytes());
  CachedHistories& here = *cached_;
  const std::lock_guard lock(here.mutex);
  here.origin = origin;
  here.history = history;
  return history;
}

Result<std::shared_ptr<const ForkHistory>> SharingSession::history() {
  // Look at the session first, so that its origin was not read from a file that is gone.
  BOUGH_TRY(generation());
  BOUGH_TRY(const auto from, origin());
  auto whole = historyOf(from);
  if (whole || !isLostSession(whole.error())) return whole;
  BOUGH_TRY(auto rest, ForkHistory::ofFork(sessions_, sessionId_, from, ForkHistory::Lost::EndThere));
  return std::make_shared<const ForkHistory>(std::move(rest));
}

Result<std::shared_ptr<const ForkHistory>> SharingSession::branchInParts(const std::string& leafId) {
  CachedHistories& here = *cached_;
  std::shared_ptr<const ForkHistory> known;
  {
    const std::lock_guard lock(here.mutex);
    if (here.branch && here.leafId == leafId) known = here.branch;
  }
  if (known && known->isCurrent()) return known;
  BOUGH_TRY(ForkHistory made, ForkHistory::ofBranch(*this, leafId, SIZE_MAX));
  const bool canBeKept = made.prepareForCacheOf(*this);
  auto branch = std::make_shared<const ForkHistory>(std::move(made));
  if (!canBeKept) return branch;
  std::string leaf = leafId;
  const std::lock_guard lock(here.mutex);
  here.leafId = std::move(leaf);
  here.branch = branch;
  return branch;
}

void SharingSession::dropBranch() {
  std::shared_ptr<const ForkHistory> last;  // destroyed after the lock is released
  CachedHistories& here = *cached_;
  const std::lock_guard lock(here.mutex);
  last.swap(here.branch);
}

std::string SharingSession::lostSession(const std::optional<ForkOrigin>& origin) {
  if (!origin) return {};
  if (!sessions_.has(origin->sessionId)) return origin->sessionId;
  const auto shared = history();
  return shared ? (*shared)->missingFrom() : std::string();  // a read reports why it cannot be read
}

Result<std::vector<Entry>> SharingSession::ownEntries(std::span<const std::uint64_t> sequences) {
  BOUGH_TRY(auto entries, ownRead(sequences));
  BOUGH_TRY(resolvePlaces(*this, entries));
  return entries;
}

Result<LoadResult> SharingSession::load(const LoadQuery& query) {
  return retryWhenChanged([&] { return SessionLoader(*this).load(query); });
}

Result<std::vector<Entry>> SharingSession::loadOwn(std::uint64_t fromSequence, std::size_t limit) {
  constexpr std::size_t kAtOnce = 64;
  return retryWhenChanged([&]() -> Result<std::vector<Entry>> {
    BOUGH_TRY(const auto sequences, ownSelect({.fromSequence = fromSequence, .limit = limit}));
    std::vector<Entry> entries;
    entries.reserve(sequences.size());
    std::span<const std::uint64_t> rest = sequences;
    for (std::size_t bytes = 0; !rest.empty() && bytes < kOwnPartBytes;) {
      BOUGH_TRY(auto part, ownEntries(rest.first(std::min(rest.size(), kAtOnce))));
      rest = rest.subspan(std::min(rest.size(), kAtOnce));
      for (Entry& entry : part) {
        if (bytes >= kOwnPartBytes) break;
        if (const auto reference = readAttachmentReference(entry.payload)) {
          auto payload = sessions_.attachment(*reference);
          if (!payload && !LostPayloads::isLoss(payload.error())) return std::unexpected(payload.error());
          if (payload) entry.payload = std::move(*payload);
        }
        bytes += entry.payload.size();
        entries.push_back(std::move(entry));
      }
    }
    return entries;
  });
}

Result<std::vector<std::string>> SharingSession::findIds(std::string_view prefix, std::size_t limit) {
  BOUGH_TRY(const auto shared, history());
  std::vector<std::string> found;
  // The other sessions may have more ids with this prefix than the shared branch.
  for (const ForkHistory::Part& part : shared->parts()) {
    BOUGH_TRY(auto ids, part.session->ownIds(prefix, SIZE_MAX));
    for (std::string& id : ids) {
      BOUGH_TRY(const auto place, shared->find(id));
      if (place && found.size() < limit) found.push_back(std::move(id));
    }
  }
  BOUGH_TRY(auto own, ownIds(prefix, limit - found.size()));
  std::ranges::move(own, std::back_inserter(found));
  return found;
}

}  // namespace bough
