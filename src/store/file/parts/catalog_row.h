// What a store's catalog has counted of a session, read directly from catalog.db. A log that contains fewer entries
// than counted, or whose end does not verify, once contained more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bough/error.h"

namespace bough {

/// A row of the view `counted`.
struct CatalogRow {
  std::string sessionId = {};
  std::string headerId = {};      ///< The header of the log that was counted.
  std::string lastId = {};        ///< The last entry that was counted.
  std::uint64_t entries = 0;      ///< The number of entries that were counted.
  std::uint64_t bytes = 0;        ///< Up to the end of the last complete batch.
  std::string lostId = {};        ///< The last entry of a longer log that was counted before; may be empty.
  std::uint64_t lostEntries = 0;  ///< The number of entries in that log.
};

inline constexpr const char* kCatalogFile = "catalog.db";
/// A former catalog that was found damaged and replaced by a new one.
inline constexpr const char* kDamagedCatalogFile = "catalog.db.damaged";

/// Returns all rows, sorted by session id; none when there is no catalog or it has another version. Fails when the
/// catalog cannot be read, is damaged or stays locked for too long.
Result<std::vector<CatalogRow>> readCatalogRows(const std::string& folder);

/// Returns the row of a session; std::nullopt when there is no catalog of this version, or no such row. Fails as
/// readCatalogRows. `folder` is the store's folder, `file` the name of the catalog in it.
Result<std::optional<CatalogRow>> readCatalogRow(const std::string& folder, std::string_view sessionId,
                                                 const char* file = kCatalogFile);

/// Empties the catalog's file but leaves it in place, so that programs that have it open see that it is empty. If the
/// file were removed instead, its write-ahead log would remain, and the next file of that name would take over the old
/// pages. What the catalog has counted of the logs is kept; for the logs in `rewritten` without the place of their end.
/// Returns false when there is no such file, or when emptying it fails or takes too long.
bool emptyCatalog(const std::string& folder, const std::vector<std::string>& rewritten);

}  // namespace bough
