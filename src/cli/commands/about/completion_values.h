// What the words of a command line can be: sessions, entries, labels, keys, models, agents, times.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/definition/command.h"

namespace bough::cli::completion_command {

using Words = std::vector<std::string>;

/// What is known of the word that is completed.
struct Typed {
  std::string command = {};
  std::string session = {};  ///< The first argument before it: what a session comes as.
  std::string given = {};    ///< The session that an option before it names, as --in and --with do.
  std::string word = {};
  bool notes = false;  ///< Whether the shell shows notes beside what it offers.
};

/// What a shell gets: the word and, after a tab, a note of one line, if there is one.
std::string noted(const std::string& word, std::string_view note);
/// The help of a command or an option, where the shell shows notes.
std::string helpNote(std::string_view help, bool notes);
Words commandNames(bool notes);
/// What an option or an argument can be; nothing where that is a file or anything at all.
Words valuesOf(const Option& option, const Context& context, const Typed& typed);

}  // namespace bough::cli::completion_command
