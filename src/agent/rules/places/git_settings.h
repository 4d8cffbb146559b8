// What files of git's settings name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bough::agent {

struct GitSettings {
  std::vector<std::string> hookFolders{};   ///< Each `core.hooksPath`, as it is written.
  std::vector<std::string> includes{};      ///< Each `include.path`, also of those that have a condition.
  std::vector<std::string> localRemotes{};  ///< Each `remote.NAME.url` and `pushurl` that is a path here.
  bool isCut = false;                       ///< There is more than was read.
};

/// Reads the text as git does: names in any case, quotes, comments, values that go on in the next line.
GitSettings readGitSettings(std::string_view text);

/// Whether git takes the address of a repository for a path.
bool isLocalAddress(std::string_view address);

/// What the environment sets, for the commands that it is given to: GIT_CONFIG_COUNT and the keys and values that it
/// counts, and GIT_CONFIG_PARAMETERS (`git -c`).
GitSettings gitSettingsOfEnvironment();

}  // namespace bough::agent
