// Files that a command may change, and that programs of version control run or obey.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "bough/agent/working_folder.h"

namespace bough::agent {

/// Words after the allowed ones; of each the first character that a shell makes names of files of, or npos.
struct WordsOnDisk {
  std::span<const std::string> words;
  std::span<const std::size_t> patterns;
};

/// Why such words have to be asked about: where one of them leads, or what is copied into a folder that one names,
/// may be run or obeyed (git_files.h). Empty when nothing speaks against them, and for programs that only read.
/// `allowed` holds the words after the program's name.
std::string dangerousFile(std::string_view program, std::span<const std::string> allowed, const WordsOnDisk& added,
                          const WorkingFolder& folder);

}  // namespace bough::agent
