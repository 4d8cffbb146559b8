// Opens sessions of other agents named on the command line: files, and sessions in the agents' own folders.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bough/transcript.h"
#include "cli/definition/command.h"
#include "cli/names/named_session.h"

namespace bough::cli {

/// Returns the user's home folder and environment, which determine where agents keep their sessions.
TranscriptHome transcriptHome();

/// Returns the folder for data that can be rebuilt: $XDG_CACHE_HOME/bough, otherwise ~/.cache/bough.
Result<std::string> cacheFolder();

/// Creates a temporary folder and returns its path. The folder is removed with the result.
Result<std::shared_ptr<std::string>> makeTemporaryFolder();

/// Returns the agent whose transcript a file is. If no known agent matches, the error says why.
Result<std::string> agentOfFile(const std::string& path);

/// Opens a transcript as a session that can be read: in memory, or, if it is large, in a temporary folder. Reports
/// damage on stderr.
Result<NamedSession> openTranscript(const std::string& path);

/// The same for one file, but prints nothing; `report` says what was read.
Result<NamedSession> openTranscript(const std::string& path, TranscriptReport& report);

/// Returns true when a file is too large to be held in memory.
bool isLargeTranscript(const std::string& path);

/// The same for the files of one session.
Result<NamedSession> openTranscript(const std::vector<std::string>& paths);

/// Returns a text that changes whenever the file changes; empty when the file does not exist.
std::string stampOf(const std::string& path);

/// Imports the transcript again into its copy, which openTranscript() made, whenever the file changes, until the result
/// is destroyed. `stamp` belongs to the file as it was before the copy was made.
Result<std::shared_ptr<void>> followTranscript(const NamedSession& copy, const std::string& path, std::string stamp);

/// Lists on stderr the folders that could not be read, if there are any.
void reportUnreadableFolders(const TranscriptWalk& walk);

/// Returns the agents that `--agents` names: "claude-code,codex", or all of them ("all").
Result<std::vector<std::string>> parseAgents(const std::string& list);

/// Returns one line about damage, if there is any: "3 places are damaged (2 were read all the same)…".
std::string damageText(const TranscriptReport& report, const std::string& path);

}  // namespace bough::cli
