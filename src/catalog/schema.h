// The tables of catalog.db, and how the file is opened whatever state it is in.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bough/catalog.h"
#include "catalog/database.h"

namespace bough::catalog {

/// The file's version; one of another version is made anew (older) or left alone (newer).
inline constexpr int kSchemaVersion = 1;
inline constexpr const char* kFileName = "catalog.db";

struct OpenedCatalog {
  std::unique_ptr<Database> database;
  bool memory = false;    ///< In memory: everything has to be taken in first.
  bool readOnly = false;  ///< The file can be read, not written.
  std::vector<std::string> notes;
};

/// Opens the catalog in `folder`; in memory when that is empty or the file cannot be used.
Result<OpenedCatalog> openCatalog(const std::string& folder, const CatalogOptions& options);

/// Moves a damaged file aside, so that the next openCatalog makes a new one. Returns a note about it.
Result<std::string> setAside(const std::string& folder);

/// Empties the catalog, within the caller's transaction.
void resetSchema(Database& database);

}  // namespace bough::catalog
