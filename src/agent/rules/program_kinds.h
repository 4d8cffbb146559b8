// Classifies programs by what they do with the words after their options.
#pragma once

#include <string_view>

namespace bough::agent {

/// Returns true for programs that run the program named in their arguments: shells, `env`, `xargs`, `ssh`.
bool runsItsArguments(std::string_view program);

/// Returns true for programs that read their first file and write their second one: `uniq`, `cpp`.
bool writesSecondFile(std::string_view program);

/// Returns true for programs that write whatever files an archive or patch names, unless an option makes them only
/// list.
bool unpacksFiles(std::string_view program);

/// Returns true when the option makes such a program only list the contents of its file.
bool onlyLists(std::string_view program, std::string_view option);

/// Returns true for programs that change no file, whatever their arguments, as long as their options are harmless.
bool onlyReads(std::string_view program);

}  // namespace bough::agent
