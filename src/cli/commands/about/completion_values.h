// Finds the possible values of words on a command line: sessions, entries, labels, keys, models, agents, times.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/definition/command.h"

namespace bough::cli::completion_command {

using Words = std::vector<std::string>;

/// The context of the word to complete.
struct Typed {
  std::string command = {};
  std::string session = {};  ///< The first argument before it, which names a session.
  std::string given = {};    ///< The session named by an option before it, such as --in or --with.
  std::string word = {};
  bool notes = false;  ///< Whether the shell shows notes beside candidates.
};

/// Returns the candidate in the form for a shell: the word and, after a tab, a note of one line, if there is one.
std::string noted(const std::string& word, std::string_view note);
/// Returns the help of a command or an option, if the shell shows notes.
std::string helpNote(std::string_view help, bool notes);
Words commandNames(bool notes);
/// Returns the possible values of an option or argument; empty when it takes a file or any text.
Words valuesOf(const Option& option, const Context& context, const Typed& typed);

}  // namespace bough::cli::completion_command
