// The options of common programs that only choose what is shown or tried.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bough::agent {

/// Whether an option of this program neither runs other programs, nor writes, sends or removes files, nor loads
/// settings. Of a program that is not in the tables, few options are known to be harmless.
bool isHarmlessOption(std::string_view program, std::string_view option);

/// Whether an option that is harmless for other commands of the program names a program for this one: one of `words`,
/// those after the program's name, is the command.
bool namesProgramHere(std::string_view program, std::span<const std::string> words, std::string_view option);

/// Whether a program does nothing but print, whatever its options.
bool onlyPrints(std::string_view program);

}  // namespace bough::agent
