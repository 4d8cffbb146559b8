// What programs do with the words that follow their options.
#pragma once

#include <string_view>

namespace bough::agent {

/// Runs the program which its arguments name: shells, `env`, `xargs`, `ssh`.
bool runsItsArguments(std::string_view program);

/// Reads its first file and writes its second one: `uniq`, `cpp`.
bool writesSecondFile(std::string_view program);

/// Writes whatever files the archive or patch names that it is given, unless an option makes it only list them.
bool writesWhatFilesName(std::string_view program);

/// Whether the option makes such a program only list what is in a file.
bool onlyLists(std::string_view program, std::string_view option);

/// Changes no file, whatever it is given, as long as its options are harmless.
bool onlyReads(std::string_view program);

}  // namespace bough::agent
