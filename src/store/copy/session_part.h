// What copying and syncing share: reading a session's own entries, making a session that is missing, appending.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bough/store.h"

namespace bough::copying {

/// A session's header; none when the store has no such session.
Result<std::optional<Entry>> findHeader(StoreSide& side, const std::string& sessionId);

/// The session and those that its history leads through, the oldest first; `sides` are asked in turn.
Result<std::vector<std::string>> lineageOf(const std::vector<StoreSide*>& sides, const std::string& sessionId);

/// Own entries from a sequence on, a part of the session of a few megabytes; none at its end. An attachment that is
/// missing or damaged comes back from `other`; Damaged when that is none or has lost it, too.
Result<std::vector<Entry>> readPart(StoreSide& side, const std::string& sessionId, std::uint64_t from,
                                    StoreSide* other = nullptr);
/// The same, and exactly `count` entries where the session has them.
Result<std::vector<Entry>> readCount(StoreSide& side, const std::string& sessionId, std::uint64_t from,
                                     std::size_t count, StoreSide* other = nullptr);

/// Those in the trash of a store that had this id.
Result<std::vector<std::string>> trashIdsOf(StoreSide& side, const std::string& sessionId);

/// Makes the session with this header, its first entry in `from`. Conflict when there is one with another header. One
/// that could not be appended to is not made; nor is one that has an entry which was erased before the session was
/// thrown away here (IdConflict).
Result<void> makeSession(StoreSide& from, StoreSide& side, const std::string& sessionId, const Entry& header);

/// Appends entries in batches of a few megabytes. Conflict unless `tail` is the tail; it follows. Each that was
/// appended is added to `appended`, also when a later one is not.
Result<void> appendAll(StoreSide& side, const std::string& sessionId, const std::vector<Entry>& entries,
                       std::string& tail, std::uint64_t& appended);

/// Sessions that a store had while they were copied. Somebody may remove one meanwhile.
class SeenSessions {
 public:
  void add(StoreSide& side, const std::string& sessionId) { seen_.emplace_back(&side, sessionId); }
  /// Whether an error came from one of them being removed.
  bool explain(const Error& error) const;

 private:
  std::vector<std::pair<StoreSide*, std::string>> seen_;
};

/// How often what was removed meanwhile is made again.
inline constexpr int kRemovalTries = 5;

/// Whether two entries are the same in everything that is stored. Two that were erased are: each has a receipt of its
/// own.
bool isSame(const Entry& left, const Entry& right);

/// Whether a header says what that of a fork says once the fork has its own copy of what it shared.
bool isDetached(const Entry& header, const Entry& forkHeader);

/// An entry was erased in one store, and is whole in the other.
Error erasedInOne(const std::string& sessionId, const std::string& entryId, const StoreSide& erased,
                  const StoreSide& whole);

}  // namespace bough::copying
