// Where names of files lead, for what asks whether a program of version control obeys a file.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bough/agent/working_folder.h"

namespace bough::agent {

/// Whether something has that name; a link counts, wherever it leads.
bool isThere(const std::string& path);
bool isLink(const std::string& path);
/// Whether it is that folder or in it, by their names.
bool isBelow(std::string_view path, std::string_view folder);

/// A path in settings. Empty when nobody knows where it leads.
std::string pathOfSetting(const std::string& value, const std::string& relativeTo);
/// The folder that holds a file.
std::string folderOf(const std::string& file);

/// The paths that others may lead to.
class LeadsTo {
 public:
  /// Both have to outlive it. Paths are absolute and without links.
  LeadsTo(std::span<const std::string> paths, const WorkingFolder& folder) : paths_(paths), folder_(folder) {}

  /// Whether `from` is one of them, or a folder which holds one; links are followed.
  [[nodiscard]] bool end(const std::string& from) const;
  /// The same of each link in a folder: a hook is often a link to a script. True when it has more names than are
  /// looked at.
  [[nodiscard]] bool fromLinksIn(const std::string& folder) const;

  /// The text of a file, and how many bytes it has. None when it cannot be read.
  [[nodiscard]] std::optional<WorkingFolder::Content> read(const std::string& file, std::size_t mostBytes) const;
  /// The path that is named in a file, such as `.git` (`gitdir: ../real`) of worktrees and submodules.
  [[nodiscard]] std::string namedByFile(const std::string& folderOfFile, std::string_view name,
                                        std::string_view beforeName) const;
  [[nodiscard]] const std::string& workingFolder() const { return folder_.path(); }

 private:
  std::span<const std::string> paths_;
  const WorkingFolder& folder_;
};

}  // namespace bough::agent
