// The tables of catalog.db, and how the file is opened in any state.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bough/catalog.h"
#include "catalog/database/database.h"

namespace bough::catalog {

/// The version of the file. An older file is rebuilt, a newer one is left alone.
inline constexpr int kSchemaVersion = 16;
inline constexpr const char* kFileName = "catalog.db";
/// A damaged catalog that was replaced by a new one. The store still reads from it how much was counted
/// (catalog_row.h).
inline constexpr const char* kDamagedFileName = "catalog.db.damaged";

/// The stamp of a row that only keeps what an earlier catalog had counted of a log.
inline constexpr std::string_view kCarriedStamp = "carried";

/// Shows whether the file was changed in between.
struct FileState {
  std::uint64_t inode = 0;
  std::uint64_t sizeBytes = 0;
  std::uint64_t modifiedNs = 0;
  bool operator==(const FileState&) const = default;
};

struct OpenedCatalog {
  std::unique_ptr<Database> database;
  bool memory = false;    ///< In memory: everything must be taken in first.
  bool readOnly = false;  ///< The file can be read but not written.
  /// Set when the file was opened as immutable, without a lock or a WAL. Whatever was read is valid only if the file is
  /// still in this state afterwards.
  std::optional<FileState> immutableState;
  std::vector<std::string> notes;
};

/// Opens the catalog in `folder`; in memory when `folder` is empty or the file cannot be used. With `allowImmutable`, a
/// file that nobody is writing to is opened so that reading writes nothing at all; search is not prepared then. With
/// `replaceNewer`, a file of a newer version is rebuilt; otherwise it is left alone.
Result<OpenedCatalog> openCatalog(const std::string& folder, const CatalogOptions& options, bool allowImmutable,
                                  bool replaceNewer = false);

std::optional<FileState> fileStateOf(const std::string& folder);

/// Returns true when an erasure has removed everything from the file since it was opened, including the tables.
bool isEmptied(Database& database);

/// Renames a damaged file, so that the next openCatalog creates a new one. Returns a note about it.
Result<std::string> setAsideDamaged(const std::string& folder);

/// Deletes the damaged file that was set aside, for a caller that accepts the sessions as they are.
void removeDamagedCopy(const std::string& folder);

/// Empties the catalog, within the caller's transaction.
void resetSchema(Database& database);

}  // namespace bough::catalog
