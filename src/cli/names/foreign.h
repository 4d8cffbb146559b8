// Sessions of other agents, named on the command line: files, and what the agents keep in their own folders.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bough/transcript.h"
#include "cli/definition/command.h"
#include "cli/names/named_session.h"

namespace bough::cli {

/// The user's folder and environment, for the places where agents keep sessions.
TranscriptHome transcriptHome();

/// The folder of what can be made again: $XDG_CACHE_HOME/bough, else ~/.cache/bough.
Result<std::string> cacheFolder();

/// A temporary folder, by its path; it goes with the result.
Result<std::shared_ptr<std::string>> makePassingFolder();

/// Whether a file is the transcript of an agent that bough knows; the error says why it is none.
Result<std::string> agentOfFile(const std::string& path);

/// A transcript as a session that can be read: in memory, or when it is large in a folder that goes with it. What is
/// damaged in it is said on stderr.
Result<NamedSession> openTranscript(const std::string& path);

/// The same for one file, without a word; `report` tells what was read.
Result<NamedSession> openTranscript(const std::string& path, TranscriptReport& report);

/// Whether a file is too large to be held in memory.
bool isLargeTranscript(const std::string& path);

/// The same for the files of one session.
Result<NamedSession> openTranscript(const std::vector<std::string>& paths);

/// What changes with a file; empty when there is none.
std::string stampOf(const std::string& path);

/// Imports a transcript into its copy, which openTranscript() made, again whenever the file changes, until the result
/// goes. `stamp`: of the file before the copy was made.
Result<std::shared_ptr<void>> followTranscript(const NamedSession& copy, const std::string& path, std::string stamp);

/// Says on stderr which folders could not be looked into, when there are any.
void tellOfFolders(const TranscriptWalk& walk);

/// The agents that `--agents` names: "claude-code,codex", or all ("all").
Result<std::vector<std::string>> parseAgents(const std::string& list);

/// One line about damage, when there is any: "3 places are damaged (2 were read all the same)…".
std::string damageText(const TranscriptReport& report, const std::string& path);

}  // namespace bough::cli
