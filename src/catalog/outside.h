// Rows of sessions that are in no store: files of other agents, read where they lie.
//
// A folder holds a catalog.db whose rows were made from such files alone. Each file is read once, by several threads;
// again only when its stamp has changed. A row's `stamp` names its files, one a line, each with its own stamp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bough/catalog.h"
#include "bough/error.h"

namespace bough::catalog {

struct OutsideFile {
  std::string path;
  std::string stamp;  ///< Changes when the file does. Without line breaks.
  std::uint64_t sizeBytes = 0;
};

struct OutsideReport {
  std::uint64_t read = 0;        ///< Files that were read, because they are new or have changed.
  std::uint64_t unreadable = 0;  ///< Of these, those that could not be.
  std::string example;           ///< What is wrong with the first of them.
};

/// Brings the rows in `folder` up to date with these files. Rows of files that are gone go; those of other files, which
/// are not named this time, stay. `progress` gets how many of how many were read.
Result<OutsideReport> takeInOutside(const std::string& folder, const std::vector<OutsideFile>& files,
                                    const std::function<void(std::uint64_t, std::uint64_t)>& progress);

/// Which of these files would have to be read (by their places in the list), without reading them.
Result<std::vector<std::size_t>> outsideChanges(const std::string& folder, const std::vector<OutsideFile>& files);

/// The files that a session's row was made from; none when there is no such row.
Result<std::vector<std::string>> outsideFilesOf(const std::string& folder, const std::string& sessionId);

}  // namespace bough::catalog
