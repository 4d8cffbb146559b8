// What an append set aside from the end of a session's log, because it was not a complete batch: reading it, putting it
// back, deleting it. And what is gone from a log without a trace. Only for a store in a folder: elsewhere readTorn,
// putBackTorn and dropTorn return Unsupported, and the others find nothing.
//
// All that was set aside of a session is in <store>/sessions/<id>.torn, one record after the other, until somebody
// decides about it. Every call may come from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bough/entry.h"
#include "bough/error.h"
#include "bough/store.h"

namespace BOUGH_PUBLIC bough {

/// Bytes that were set aside at one time.
struct TornRecord {
  std::uint64_t offset = 0;           ///< Where they were in the log.
  std::uint64_t bytes = 0;            ///< How many.
  std::string timestamp = {};         ///< When they were set aside.
  std::vector<Entry> entries = {};    ///< The entries in them that are intact.
  std::uint64_t unreadableBytes = 0;  ///< What is not an entry.
};

/// What was set aside from a session and nobody has decided about.
struct TornReport {
  std::string sessionId = {};
  std::string file = {};                 ///< The path of <id>.torn.
  std::uint64_t fileBytes = 0;           ///< 0 when nothing was set aside.
  std::vector<TornRecord> records = {};  ///< In the order in which they were set aside.
};

/// What became of it.
struct TornPutBack {
  std::size_t appendedCount = 0;  ///< Entries that the session has now.
  std::size_t storedCount = 0;    ///< Entries that the session had already.
  std::size_t movedCount = 0;     ///< Entries whose parent is lost: they continue the entry before it.
  std::uint64_t keptBytes = 0;    ///< Not entries that can be appended, so they stay set aside.
};

/// How many bytes of a session are set aside: the size of <id>.torn, 0 when there is none. Opens no file; never fails.
[[nodiscard]] std::uint64_t tornBytes(const SessionStore& store, const std::string& sessionId);

/// Reads what is set aside; changes nothing. All of it is in memory at once: Unsupported when it is larger than 512
/// MiB. InvalidArgument when that is not a session's id.
[[nodiscard]] Result<TornReport> readTorn(SessionStore& store, const std::string& sessionId);

/// Appends the intact entries among it that the session does not have, as one batch, durably. The head stays where it
/// is if the session was continued meanwhile. The record goes when nothing is left in it. Can be repeated: what is
/// stored is recognized by its id. Fails as readTorn, Session::append and dropTorn do.
[[nodiscard]] Result<TornPutBack> putBackTorn(SessionStore& store, const std::string& sessionId);

/// Deletes all that is set aside, durably. Conflict when it does not have the size that TornReport::fileBytes said, so
/// that nothing goes unseen; NotFound when there is none; Busy when the session's log stays locked for ten seconds.
[[nodiscard]] Result<void> dropTorn(SessionStore& store, const std::string& sessionId, std::uint64_t fileBytes);

/// What the store's catalog has counted of a session and its log does not hold any more, for people; empty when nothing
/// is missing or there is no catalog. Rebuilding the catalog accepts the log as it is. Reads one row of the catalog and
/// a few lines of the log; does not bring the catalog up to date. Fails when the catalog cannot be asked: Busy,
/// Damaged, or what the system says.
[[nodiscard]] Result<std::string> missingFromLog(SessionStore& store, const std::string& sessionId);

/// A session that is gone, though nobody removed it with bough.
struct MissingSession {
  std::string sessionId = {};
  std::uint64_t entries = 0;  ///< What the catalog had counted.
};

/// Sessions that the store's catalog has counted and that are neither in the store, nor in the trash, nor removed for
/// good; none when there is no catalog. Rebuilding the catalog forgets them. Reads all ids of the catalog, and lists
/// the store.
[[nodiscard]] Result<std::vector<MissingSession>> missingSessions(SessionStore& store);

}  // namespace BOUGH_PUBLIC bough
