// What files of git's settings name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bough::agent {

struct GitSettings {
  std::vector<std::string> hookFolders{};  ///< Each `core.hooksPath`, as it is written.
  std::vector<std::string> includes{};     ///< Each `include.path`, also of those that have a condition.
};

/// Reads the text as git does: names in any case, quotes, comments, values that go on in the next line.
GitSettings readGitSettings(std::string_view text);

}  // namespace bough::agent
