// Files that were found and not read yet, because no list needed them: the table `waiting` of a catalog of files.
//
// Of each it is known when something was last said in it at the latest. So the newest sessions are listed without
// reading the others, which stay here until a question comes that only all of them can answer.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "catalog/database/database.h"
#include "catalog/outside/outside_file.h"

namespace bough::catalog {

class WaitingFiles {
 public:
  explicit WaitingFiles(Database& database) : database_(database) {}

  /// Makes the table.
  void prepare();
  /// Notes a file, or what it is like now. Reads its end.
  void add(const OutsideFile& file);
  void remove(const std::string& path);
  /// At most so many of those in which something may have been said at that time or later, the newest first.
  std::vector<OutsideFile> since(std::uint64_t timeMs, std::size_t most);
  /// Forgets those whose file is not there any more.
  void removeGone();

 private:
  Database& database_;
};

/// Tells whether files are not there any more. A session in a database is named FILE#ID: it is gone when the database
/// can be read and does not have it. What a database has is asked once.
class GoneFiles {
 public:
  bool isGone(const std::string& path);

 private:
  bool isGoneFrom(const std::string& database, const std::string& path);

  std::string database_;  // the one that was asked last
  bool isReadable_ = false;
  std::unordered_set<std::string> sessions_;
};

}  // namespace bough::catalog
