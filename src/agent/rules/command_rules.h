// Decides which commands run without a question, and how a command is shown to the person who is asked.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bough/agent/working_folder.h"

namespace bough::agent {

/// Returns why the user must be asked about a command although it begins with an allowed one; empty when nothing speaks
/// against running it. The words after the allowed ones may be anything except:
/// - options that are not known to be harmless (harmless_options.h);
/// - commands of a program that are not known to run nothing else (harmless_commands.h);
/// - settings (`CC=./x`);
/// - addresses of repositories on this machine (local_addresses.h);
/// - files that a program writes besides those it reads;
/// - files that programs of version control obey (written_files.h);
/// - shell syntax, and words that a shell may turn into options (`*`, `{…}`).
/// `folder` is where the command runs; without it, files on the disk are not checked.
std::string reasonToAsk(std::string_view command, std::string_view allowed, const WorkingFolder* folder = nullptr);

/// Returns true when a command needs no question: it is an allowed command with harmless arguments.
bool isAllowedCommand(std::string_view command, const std::vector<std::string>& allowed,
                      const WorkingFolder* folder = nullptr);

/// Returns why allowing this text would never allow any command; empty when it can allow some.
std::string whyAllowsNothing(std::string_view allowed);

/// Returns the question about a command. It holds the whole command, with control and invisible characters written as
/// escapes. A command of many lines has its first line repeated at the end.
std::string commandQuestion(std::string_view command, const std::vector<std::string>& allowed,
                            const WorkingFolder* folder = nullptr);

/// Returns text in which nothing is hidden: control characters (except line ends), characters without a width, and
/// characters that change the writing direction become `\u{200B}`. With `keepTabs`, tabs stay; they are normal in
/// files.
std::string visibleText(std::string_view utf8, bool keepTabs = false);

}  // namespace bough::agent
