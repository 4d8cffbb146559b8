// Commands of common programs that run a program which follows them: `bundle exec rspec`, `ip netns exec a ls`.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bough::agent {

/// Where among the allowed words (those after the program's name) a program may begin that a command of `program` runs:
/// its own rules count, too. The number of words where that program is not among them yet. An option may take the next
/// word as its value or not, so that there can be several.
std::vector<std::size_t> programsRunBy(std::string_view program, std::span<const std::string> allowed);

/// Why words that are added have to be asked about, because one of them may be a program that is run. Empty when
/// nothing speaks against them.
std::string dangerousToRun(std::string_view program, std::span<const std::string> allowed,
                           std::span<const std::string> added);

}  // namespace bough::agent
