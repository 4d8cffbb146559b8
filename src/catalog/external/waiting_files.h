// The table `waiting` in a catalog of other agents' files: files that were found but not yet read, because no list
// needed them.
//
// For each file, the table has an upper limit of the time of its last message. The newest sessions can therefore be
// listed without reading the other files, which wait until a question needs all of them.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "catalog/database/database.h"
#include "catalog/external/external_file.h"

namespace bough::catalog {

class WaitingFiles {
 public:
  explicit WaitingFiles(Database& database) : database_(database) {}

  /// Creates the table.
  void prepare();
  /// Adds or updates a file. Reads the end of the file.
  void add(const ExternalFile& file);
  void remove(const std::string& path);
  /// Returns at most `limit` files that may have messages at `timeMs` or later, newest first.
  std::vector<ExternalFile> since(std::uint64_t timeMs, std::size_t limit);
  /// Removes files that no longer exist.
  void removeGone();

 private:
  Database& database_;
};

/// Finds out whether files no longer exist. A session in a database is named FILE#ID: it is gone when the database can
/// be read and does not contain it. The contents of a database are read once.
class GoneFiles {
 public:
  bool isGone(const std::string& path);

 private:
  bool isGoneFrom(const std::string& database, const std::string& path);

  std::string database_;  // the database that was read last
  bool isReadable_ = false;
  std::unordered_set<std::string> sessions_;
};

}  // namespace bough::catalog
