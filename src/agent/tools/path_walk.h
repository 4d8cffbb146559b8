// Walks a path part by part through open folders, as the system would, including links and `..`.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bough/agent/working_folder.h"
#include "bough/error.h"

namespace bough::agent {

/// Where a walk ended.
struct WalkedPath {
  std::shared_ptr<const Descriptor> folder;  ///< The last folder on the way, open.
  std::vector<std::string> names;  ///< The parts after `folder`: names that do not exist, or a name that is not a
                                   ///< folder.
  std::string path;                ///< Absolute, without links.
  bool passedMark = false;         ///< Whether the walk passed through the folder marked by the caller.
};

/// Walks an absolute path. `mark` is an open folder. Fails like the system: too many links, no permission, a file in
/// the middle of the path.
Result<WalkedPath> walkPath(std::string_view absolutePath, int mark);

}  // namespace bough::agent
