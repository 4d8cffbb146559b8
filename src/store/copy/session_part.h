// What copying and syncing share: reading a session's own entries, creating a missing session, appending.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bough/store.h"

namespace bough::copying {

/// Returns a session's header; std::nullopt when the store has no such session.
Result<std::optional<Entry>> findHeader(StoreSide& side, const std::string& sessionId);

/// Returns the session and those that its history leads through, the oldest first. Asks the `sides` in turn.
Result<std::vector<std::string>> lineageOf(const std::vector<StoreSide*>& sides, const std::string& sessionId);

/// Returns own entries starting at a sequence, a few megabytes of them; none at the end of the session. A missing or
/// damaged attachment is restored from `other`; Damaged when `other` is null or has lost it as well.
Result<std::vector<Entry>> readPart(StoreSide& side, const std::string& sessionId, std::uint64_t from,
                                    StoreSide* other = nullptr);
/// The same, but exactly `count` entries if the session has that many.
Result<std::vector<Entry>> readCount(StoreSide& side, const std::string& sessionId, std::uint64_t from,
                                     std::size_t count, StoreSide* other = nullptr);

/// Returns the trash ids of sessions with this id in a store's trash.
Result<std::vector<std::string>> trashIdsOf(StoreSide& side, const std::string& sessionId);

/// Creates the session with this header, the first entry of the session in `from`. Conflict when the session exists
/// with another header. Creates nothing when the session could not be appended to, or when it contains an entry that
/// was erased here before the session was moved to the trash (IdConflict).
Result<void> makeSession(StoreSide& from, StoreSide& side, const std::string& sessionId, const Entry& header);

/// Appends entries in batches of a few megabytes. Conflict unless `tail` is the session's tail; `tail` is updated.
/// `appended` counts the entries that were appended, even if a later batch fails.
Result<void> appendAll(StoreSide& side, const std::string& sessionId, const std::vector<Entry>& entries,
                       std::string& tail, std::uint64_t& appended);

/// Sessions that a store had while they were copied. Somebody may remove one of them meanwhile.
class SeenSessions {
 public:
  void add(StoreSide& side, const std::string& sessionId) { seen_.emplace_back(&side, sessionId); }
  /// Returns true when an error was caused by the removal of one of them.
  bool isCausedByRemoval(const Error& error) const;

 private:
  std::vector<std::pair<StoreSide*, std::string>> seen_;
};

/// How often a session that was removed meanwhile is created again.
inline constexpr int kRemovalTries = 5;

/// Returns true when two entries are equal in everything that is stored. Two erased entries are equal, although each
/// has its own receipt.
bool isSame(const Entry& left, const Entry& right);

/// Returns true when `header` is what the header of a fork becomes after the fork was given its own copy of the shared
/// history.
bool isDetached(const Entry& header, const Entry& forkHeader);

/// Returns the error for an entry that was erased in one store and is complete in the other.
Error erasedInOne(const std::string& sessionId, const std::string& entryId, const StoreSide& erased,
                  const StoreSide& whole);

}  // namespace bough::copying
