// Tells which words are options, and which options may take the next word as their value.
#pragma once

#include <string_view>

#include "agent/rules/program_names.h"

namespace bough::agent {

/// Options before a command that take no value: the word after them is the command.
constexpr std::string_view kPlainOptions =
    "-- --no-pager -q --quiet --silent --verbose --json --offline --locked --frozen --rm -h --help -V --version";

inline bool isOptionWord(std::string_view word) {
  return word.starts_with('-') || word.starts_with('+');
}

inline bool mayTakeValue(std::string_view option) {
  return option.starts_with('-') && !option.contains('=') && !holdsWord(kPlainOptions, option);
}

}  // namespace bough::agent
