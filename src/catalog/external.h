// Rows of sessions that are not in a store: other agents' files, read in place.
//
// A folder contains a catalog.db whose rows come only from such files. Its table `outside` has a row for each file: the
// file's stamp when it was read, and the session that the file is part of, or the reason why it is not a session.
// Several threads read files; a file is read again only when its stamp has changed. A list of the newest sessions reads
// only the files that may contain one of them, and leaves the rest for later (external/waiting_files.h). Memory does
// not grow with the number of files, except for 24 bytes per file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bough/catalog.h"
#include "bough/error.h"
#include "catalog/external/external_file.h"

namespace bough::catalog {

struct ExternalReport {
  std::uint64_t read = 0;        ///< Files that were read because they are new or have changed.
  std::uint64_t unreadable = 0;  ///< How many of all files are not sessions or could not be read.
  std::string example;           ///< The error of one of them.
};

/// The rows that a list needs: the `limit` most recently active sessions that match `filter`.
struct NewestRows {
  SessionFilter filter;
  std::size_t limit = 0;
};

/// Updates the rows in `folder` from these files. Rows of deleted files are deleted; rows of existing files that `walk`
/// does not name this time remain. With `newest`, only the rows that such a list shows are guaranteed to be present and
/// complete. `progress` receives the number of files read.
Result<ExternalReport> updateExternalRows(const std::string& folder, const ExternalWalk& walk,
                                          const std::function<void(std::uint64_t)>& progress,
                                          const NewestRows* newest = nullptr);

/// Returns true when at least `bytes` of these files would have to be read. Reads none of them.
Result<bool> hasExternalBacklog(const std::string& folder, const ExternalWalk& walk, std::uint64_t bytes);

/// Returns the files that each session's row was made from, by path; an empty list for a session without a row.
Result<std::vector<std::vector<std::string>>> externalFilesOf(const std::string& folder,
                                                              const std::vector<std::string>& sessions);

}  // namespace bough::catalog
