// Commands of common programs that run the program named after them: `bundle exec rspec`, `ip netns exec a ls`.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bough::agent {

/// Returns the places among the allowed words (those after the program's name) where a program may begin that a command
/// of `program` runs; the rules of that program apply as well. The place is the number of words when that program does
/// not follow yet. There can be several places, because an option may or may not take the next word as its value.
std::vector<std::size_t> programsRunBy(std::string_view program, std::span<const std::string> allowed);

/// Returns why the user must be asked about the added words: one of them may be a program that is run. Empty when
/// nothing speaks against them.
std::string reasonToAskAboutRunning(std::string_view program, std::span<const std::string> allowed,
                                    std::span<const std::string> added);

}  // namespace bough::agent
