// Rows of sessions that are in no store: files of other agents, read where they lie.
//
// A folder holds a catalog.db whose rows were made from such files alone. Its table `outside` has a row for each file:
// what the file was like when it was read (its stamp), and the session that it is a part of, or why it is not one. A
// file is read by one of several threads; again only when its stamp has changed. A list of the newest sessions reads
// only the files that may hold one of them, and leaves the others waiting (outside/waiting_files.h). Memory does not
// grow with the number of files, except for 24 bytes each.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bough/catalog.h"
#include "bough/error.h"
#include "catalog/outside/outside_file.h"

namespace bough::catalog {

struct OutsideReport {
  std::uint64_t read = 0;        ///< Files that were read, because they are new or have changed.
  std::uint64_t unreadable = 0;  ///< Of all files, those that are not sessions or could not be read.
  std::string example;           ///< What is wrong with one of them.
};

/// What a list needs of the rows: the first of them by when they were last active, the newest first.
struct NewestRows {
  SessionFilter filter;
  std::size_t limit = 0;
};

/// Brings the rows in `folder` up to date with these files. Rows of files that are gone go; those of other files, which
/// are not named this time, stay. With `newest`, only the rows that such a list shows are sure to be there, whole.
/// `progress` gets how many were read.
Result<OutsideReport> takeInOutside(const std::string& folder, const OutsideWalk& walk,
                                    const std::function<void(std::uint64_t)>& progress,
                                    const NewestRows* newest = nullptr);

/// Whether at least so many bytes of these files would have to be read, without reading them.
Result<bool> hasOutsideBacklog(const std::string& folder, const OutsideWalk& walk, std::uint64_t bytes);

/// The files that each of these sessions' rows was made from, by path; none where there is no such row.
Result<std::vector<std::vector<std::string>>> outsideFilesOf(const std::string& folder,
                                                             const std::vector<std::string>& sessions);

}  // namespace bough::catalog
