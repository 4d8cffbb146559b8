// Reads the paths that git's settings files name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bough::agent {

struct GitSettings {
  std::vector<std::string> hookFolders{};   ///< Each `core.hooksPath`, as written.
  std::vector<std::string> includes{};      ///< Each `include.path`, including the conditional ones.
  std::vector<std::string> localRemotes{};  ///< Each `remote.NAME.url` and `pushurl` that is a path on this machine.
  bool isCut = false;                       ///< True when the limit stopped the reader before the end.
};

/// Parses the text as git does: names in any case, quotes, comments, values that continue on the next line.
GitSettings readGitSettings(std::string_view text);

/// Returns true when git treats the address of a repository as a path.
bool isLocalAddress(std::string_view address);

/// Returns the settings from the environment: GIT_CONFIG_COUNT with the keys and values that it counts, and
/// GIT_CONFIG_PARAMETERS (`git -c`).
GitSettings gitSettingsOfEnvironment();

}  // namespace bough::agent
