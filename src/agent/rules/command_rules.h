// Which commands run without a question, and how a command is shown to the person who is asked.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bough/agent/working_folder.h"

namespace bough::agent {

/// Why a command has to be asked about although it begins with an allowed one; empty when nothing speaks against it.
/// Arguments after the allowed words may be anything except options that are not known to be harmless
/// (harmless_options.h), commands of a program that are not known to run nothing else (harmless_commands.h), settings
/// (`CC=./x`), addresses of repositories on this machine (local_addresses.h), files that a program writes beside what
/// it reads, files that programs of version control obey (written_files.h), shell syntax, and words that a shell may
/// turn into options (`*`, `{…}`). `folder` is where it runs; without one, what is on the disk is not asked about.
std::string dangerIn(std::string_view command, std::string_view allowed, const WorkingFolder* folder = nullptr);

/// Whether a command needs no question: it is one of the allowed ones, with harmless arguments.
bool isAllowedCommand(std::string_view command, const std::vector<std::string>& allowed,
                      const WorkingFolder* folder = nullptr);

/// Why nothing is ever allowed by this: no command that begins with it is. Empty when something may be.
std::string whyAllowsNothing(std::string_view allowed);

/// The question about a command: all of it, with control characters and those that cannot be seen written out, and with
/// its first line again at the end when it has many.
std::string commandQuestion(std::string_view command, const std::vector<std::string>& allowed,
                            const WorkingFolder* folder = nullptr);

/// Text in which nothing is hidden: control characters except line ends, and characters without a width or that turn
/// the direction of writing, become `\u{200B}`. In files tabs are nothing unusual: `keepTabs`.
std::string visibleText(std::string_view utf8, bool keepTabs = false);

}  // namespace bough::agent
