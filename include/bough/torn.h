// Torn bytes: bytes that an append moved aside from the end of a session's log because they were not a complete batch.
// These calls read them, append their entries again, or delete them. Two more calls find entries and sessions that are
// missing from the logs. Only for stores in a folder: elsewhere readTorn, putBackTorn and dropTorn return Unsupported,
// and the other calls find nothing.
//
// All torn bytes of a session are in <store>/sessions/<id>.torn, one record after the other, until putBackTorn or
// dropTorn is called. Any thread may make any call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bough/entry.h"
#include "bough/error.h"
#include "bough/store.h"

namespace BOUGH_PUBLIC bough {

/// Bytes that were moved aside at one time.
struct TornRecord {
  std::uint64_t offset = 0;           ///< Their place in the log.
  std::uint64_t bytes = 0;            ///< How many.
  std::string timestamp = {};         ///< When they were moved aside.
  std::vector<Entry> entries = {};    ///< The intact entries in these bytes.
  std::uint64_t unreadableBytes = 0;  ///< Bytes that are not part of an intact entry.
};

/// The torn bytes of a session that are still set aside.
struct TornReport {
  std::string sessionId = {};
  std::string file = {};                 ///< The path of <id>.torn.
  std::uint64_t fileBytes = 0;           ///< 0 when there are none.
  std::vector<TornRecord> records = {};  ///< In the order in which they were moved aside.
};

/// The result of putBackTorn.
struct TornPutBack {
  std::size_t appendedCount = 0;  ///< Entries that were added to the session.
  std::size_t storedCount = 0;    ///< Entries that the session had already.
  std::size_t movedCount = 0;     ///< Entries whose parent is lost: they now continue the entry before them.
  std::uint64_t keptBytes = 0;    ///< Bytes that cannot be appended, and stay set aside.
};

/// Returns how many bytes of a session are set aside: the size of <id>.torn, 0 when there is no such file. Opens no
/// file; never fails.
[[nodiscard]] std::uint64_t tornBytes(const SessionStore& store, const std::string& sessionId);

/// Reads what is set aside; changes nothing. The whole result is in memory: Unsupported when it is larger than 512 MiB.
/// InvalidArgument when `sessionId` is not a valid id.
[[nodiscard]] Result<TornReport> readTorn(SessionStore& store, const std::string& sessionId);

/// Appends the intact entries that the session does not have, as one batch, durably. The head does not move if the
/// session was continued meanwhile. A record is removed when nothing is left in it. Can be repeated: entries that are
/// stored are recognized by their ids. Fails as readTorn, Session::append and dropTorn do.
[[nodiscard]] Result<TornPutBack> putBackTorn(SessionStore& store, const std::string& sessionId);

/// Deletes everything that is set aside, durably. Conflict when its size differs from `fileBytes`
/// (TornReport::fileBytes), so that nothing is deleted unseen; NotFound when there is nothing; Busy when the session's
/// log stays locked for ten seconds.
[[nodiscard]] Result<void> dropTorn(SessionStore& store, const std::string& sessionId, std::uint64_t fileBytes);

/// Describes, for people, what the store's catalog has counted for a session and the log no longer holds. Empty when
/// nothing is missing or there is no catalog. Rebuilding the catalog accepts the log as it is. Reads one row of the
/// catalog and a few lines of the log; does not update the catalog. Fails when the catalog cannot be read: Busy,
/// Damaged, or an error of the system.
[[nodiscard]] Result<std::string> missingFromLog(SessionStore& store, const std::string& sessionId);

/// A session that is gone, although it was not removed with bough.
struct MissingSession {
  std::string sessionId = {};
  std::uint64_t entries = 0;  ///< Entries that the catalog had counted.
};

/// Returns the sessions that the store's catalog has counted and that are neither in the store, nor in the trash, nor
/// removed forever. Empty when there is no catalog. Rebuilding the catalog forgets them. Reads all ids of the catalog,
/// and lists the store.
[[nodiscard]] Result<std::vector<MissingSession>> missingSessions(SessionStore& store);

}  // namespace BOUGH_PUBLIC bough
