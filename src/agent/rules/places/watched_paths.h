// Resolves where file names lead, for checks whether a program of version control obeys a file.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bough/agent/working_folder.h"

namespace bough::agent {

/// Returns true when the path exists. A link counts, even if its target does not exist.
bool pathExists(const std::string& path);
bool isLink(const std::string& path);
/// Returns true when `path` is `folder` or inside it, judged by the names alone.
bool isBelow(std::string_view path, std::string_view folder);

/// Returns the path that a setting names. Empty when the path cannot be determined.
std::string pathOfSetting(const std::string& value, const std::string& relativeTo);
/// Returns the folder that holds a file.
std::string folderOf(const std::string& file);

/// The paths that a command may change. Checks whether other paths lead to them.
class WatchedPaths {
 public:
  /// Both arguments must outlive this object. The paths are absolute and without links.
  WatchedPaths(std::span<const std::string> paths, const WorkingFolder& folder) : paths_(paths), folder_(folder) {}

  /// Returns true when `start`, after following links, is one of the paths or a folder that holds one of them.
  [[nodiscard]] bool isReachedFrom(const std::string& start) const;
  /// The same for each link in a folder, because a hook is often a link to a script. Also true when the folder has more
  /// names than the limit.
  [[nodiscard]] bool isReachedByLinkIn(const std::string& folder) const;

  /// Returns the text of a file and the number of its bytes. std::nullopt when the file cannot be read.
  [[nodiscard]] std::optional<WorkingFolder::Content> read(const std::string& file, std::size_t mostBytes) const;
  /// Returns the path that a file names, such as `.git` of worktrees and submodules (`gitdir: ../real`).
  [[nodiscard]] std::string namedByFile(const std::string& folderOfFile, std::string_view name,
                                        std::string_view beforeName) const;
  [[nodiscard]] const std::string& workingFolder() const { return folder_.path(); }

 private:
  std::span<const std::string> paths_;
  const WorkingFolder& folder_;
};

}  // namespace bough::agent
