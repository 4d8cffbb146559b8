// The tables of catalog.db, and how the file is opened whatever state it is in.
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

/// The file's version; one of another version is rebuilt (older) or left alone (newer).
inline constexpr int kSchemaVersion = 16;
inline constexpr const char* kFileName = "catalog.db";
/// A damaged catalog that another one was made for. The store asks it what it had counted (catalog_row.h).
inline constexpr const char* kDamagedFileName = "catalog.db.damaged";

/// The stamp of a row that only says what an earlier catalog had counted of a log.
inline constexpr std::string_view kCarriedStamp = "carried";

/// Tells whether the file was changed meanwhile.
struct FileState {
  std::uint64_t inode = 0;
  std::uint64_t sizeBytes = 0;
  std::uint64_t modifiedNs = 0;
  bool operator==(const FileState&) const = default;
};

struct OpenedCatalog {
  std::unique_ptr<Database> database;
  bool memory = false;    ///< In memory: everything has to be taken in first.
  bool readOnly = false;  ///< The file can be read, not written.
  /// Set when the file is opened as one that nobody changes, without a lock or a file beside it: what was read counts
  /// only if the file is still in this state afterwards.
  std::optional<FileState> quiet;
  std::vector<std::string> notes;
};

/// Opens the catalog in `folder`; in memory when that is empty or the file cannot be used. With `mayBeQuiet` a file
/// that nobody is writing to is opened so that reading it writes nothing at all; search is then not prepared. With
/// `replaceNewer` one of a newer version is rebuilt, else left alone.
Result<OpenedCatalog> openCatalog(const std::string& folder, const CatalogOptions& options, bool mayBeQuiet,
                                  bool replaceNewer = false);

std::optional<FileState> fileStateOf(const std::string& folder);

/// Whether an erasure has taken everything out of the file since it was opened, also the tables.
bool isEmptied(Database& database);

/// Moves a damaged file aside, so that the next openCatalog makes a new one. Returns a note about it.
Result<std::string> setAside(const std::string& folder);

/// Removes what was set aside, for somebody who takes the sessions as they are.
void forgetDamaged(const std::string& folder);

/// Empties the catalog, within the caller's transaction.
void resetSchema(Database& database);

}  // namespace bough::catalog
