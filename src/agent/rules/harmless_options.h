// The options of common programs that only choose what is shown or tried.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bough::agent {

/// Returns true when this option neither runs other programs, nor writes, sends or removes files, nor loads settings.
/// For a program that is not in the tables, only a few options count as harmless.
bool isHarmlessOption(std::string_view program, std::string_view option);

/// Returns true when an option that is harmless for the program's other commands names a program here: `words`, the
/// words after the program's name, hold a command for which it does.
bool optionNamesProgram(std::string_view program, std::span<const std::string> words, std::string_view option);

/// Returns true when a program only prints, whatever its options.
bool onlyPrints(std::string_view program);

}  // namespace bough::agent
