// The row of a session while it is being updated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bough/catalog.h"
#include "catalog/database/database.h"

namespace bough::catalog {

struct SessionRow {
  std::int64_t id = 0;  ///< 0: not numbered yet.
  bool stored = false;  ///< The row is in the table.
  std::string stamp;
  std::string headerId;
  std::string lastId;
  std::uint64_t catalogedEntries = 0;  ///< How many of its entries are in the catalog.
  std::uint64_t indexedEntries = 0;    ///< How many of them are in the search index.
  std::string titleEntryId;            ///< The entry that gave the title.
  std::uint64_t firstMs = 0;
  std::string lastMessageId;
  std::string lastModel;
  std::uint64_t countedBytes = 0;  ///< Size of the log up to the end of the last complete batch.
  std::string lostEntryId;         ///< The last entry of a longer version of this log that was read before.
  std::uint64_t lostEntries = 0;   ///< How many entries that longer log had.
  SessionSummary facts;            ///< What users of the catalog see.
};

/// The columns of a SessionRow, in the order that readRow expects.
std::string_view rowColumns();
SessionRow readRow(const Query& row);

/// Returns the usage of a session by model. Uses the built-in prices when `prices` is null.
std::vector<ModelUsage> readModels(Database& database, std::int64_t session, const PriceTable* prices);

/// Fills in the costs. Uses the built-in prices when `prices` is null.
void addPrices(std::vector<ModelUsage>& models, const PriceTable* prices);

std::optional<SessionRow> findRow(Database& database, std::string_view sessionId);
/// Assigns the next id to a row without one, before the row is stored. The data that belongs to the row can then be
/// stored first, in the same transaction.
void assignRowId(Database& database, SessionRow& row);
/// Stores the row. Assigns an id when it has none.
void saveRow(Database& database, SessionRow& row, std::uint32_t changeGroup);

/// The number of a session's entry in the tables `entry` and `search`.
inline std::int64_t entryRow(std::int64_t session, std::uint64_t sequence) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(session) << 32 | sequence);
}

}  // namespace bough::catalog
