// What the catalog of a store has counted of a session, read from catalog.db without the catalog: a log that holds
// less, or whose end does not verify, was more once.
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
  std::string headerId = {};      ///< Of the log that was counted.
  std::string lastId = {};        ///< The last entry that was counted.
  std::uint64_t entries = 0;      ///< How many were counted.
  std::uint64_t bytes = 0;        ///< Up to the end of the last complete batch.
  std::string lostId = {};        ///< The last entry of a longer log that was counted before; empty: there was none.
  std::uint64_t lostEntries = 0;  ///< How many that log held.
};

inline constexpr const char* kCatalogFile = "catalog.db";
/// What was the catalog until it was found damaged and another one was made in its place.
inline constexpr const char* kDamagedCatalogFile = "catalog.db.damaged";

/// All rows by session id; none when there is no catalog, or one of another version. Fails when it cannot be asked: the
/// file cannot be read, is damaged or locked for too long.
Result<std::vector<CatalogRow>> readCatalogRows(const std::string& folder);

/// None when there is no catalog of this version, or no such row. Fails as readCatalogRows. `folder` is the store's,
/// `file` the catalog in it.
Result<std::optional<CatalogRow>> readCatalogRow(const std::string& folder, std::string_view sessionId,
                                                 const char* file = kCatalogFile);

/// Takes everything out of the catalog's file, and leaves the file where it is: programs that have it open see that it
/// is empty. A file that is removed under them leaves its write-ahead log to the next one of that name, which takes the
/// old pages in. What it had counted of the logs stays, of `rewritten` ones without the place of their end. False when
/// there is no such file, or it cannot be done within seconds.
bool emptyCatalog(const std::string& folder, const std::vector<std::string>& rewritten);

}  // namespace bough
