// The options of common programs that only choose what is shown or tried.
#pragma once

#include <optional>
#include <string_view>

namespace bough::agent {

/// Whether an option of this program neither runs other programs, nor writes, sends or removes files, nor loads
/// settings. None for a program that is not in the table: nobody knows.
std::optional<bool> isHarmlessOption(std::string_view program, std::string_view option);

}  // namespace bough::agent
