// Finds files that a command may change and that programs of version control run or obey.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "bough/agent/working_folder.h"

namespace bough::agent {

/// The words after the allowed ones. `patterns` holds, for each word, the place of the first character that a shell
/// expands to file names, or npos.
struct PathWords {
  std::span<const std::string> words;
  std::span<const std::size_t> patterns;
};

/// Returns why the user must be asked about such words: a word, or a copy made in the folder that it names, leads to a
/// file that may be run or obeyed (git_files.h). Empty when nothing speaks against the words, and for programs that
/// only read. `allowed` holds the words after the program's name.
std::string reasonToAskAboutFiles(std::string_view program, std::span<const std::string> allowed,
                                  const PathWords& added, const WorkingFolder& folder);

}  // namespace bough::agent
