// A session's row while it is brought up to date.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bough/catalog.h"
#include "catalog/database/database.h"

namespace bough::catalog {

struct SessionRow {
  std::int64_t id = 0;  ///< 0: none yet.
  bool stored = false;  ///< It is in the table.
  std::string stamp;
  std::string headerId;
  std::string lastId;
  std::uint64_t taken = 0;
  std::uint64_t indexed = 0;
  std::string titleEntry;  ///< Where the title is from.
  std::uint64_t firstMs = 0;
  std::string lastMessageId;
  std::string lastModel;
  std::uint64_t countedBytes = 0;  ///< Up to the end of the last complete batch.
  std::string lostId;              ///< The last entry of a longer log of this session that was read once.
  std::uint64_t lostEntries = 0;   ///< How many entries that log held.
  SessionSummary facts;            ///< What everybody sees.
};

/// The columns of a SessionRow, in the order that readRow wants them.
std::string_view rowColumns();
SessionRow readRow(const Query& row);

/// What a row's session used, model by model; by the built-in prices when there are no others.
std::vector<ModelUsage> readModels(Database& database, std::int64_t session, const PriceTable* prices);

/// Adds what each costs; by the built-in prices when there are no others.
void addPrices(std::vector<ModelUsage>& models, const PriceTable* prices);

std::optional<SessionRow> findRow(Database& database, std::string_view sessionId);
/// Gives a row that has no id the next one, before it is stored: what belongs to it can be stored first, in the same
/// transaction.
void numberRow(Database& database, SessionRow& row);
/// Stores the row; gives it an id when it has none.
void saveRow(Database& database, SessionRow& row, std::uint32_t changeGroup);

/// The numbers of a session's entries in the tables `entry` and `search`.
inline std::int64_t entryRow(std::int64_t session, std::uint64_t sequence) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(session) << 32 | sequence);
}

}  // namespace bough::catalog
