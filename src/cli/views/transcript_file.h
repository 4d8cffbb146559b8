// A session as the file of another agent: what `export`, `resume` and `repair` share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bough/store.h"
#include "bough/transcript.h"
#include "cli/definition/command.h"

namespace bough::cli {

struct TranscriptWish {
  std::string agent;
  std::string at;                   ///< The entry to continue from; empty: the head.
  std::vector<std::string> cwdMap;  ///< OLD=NEW.
  bool branchOnly = false;
  bool bare = false;         ///< Without the original entries (WriteTranscriptOptions::bare).
  bool needsFolder = false;  ///< A session without a folder gets the present one.
  unsigned copy = 0;         ///< Not 0: as a session with an id of its own (factsOfCopy).
};

struct MadeTranscript {
  TranscriptFacts facts;
  std::string bytes;
  WrittenTranscript written;
};

Result<MadeTranscript> makeTranscript(SessionStore& store, const std::string& sessionId, const TranscriptWish& wish);

/// Writes a file that must not exist yet, whole or not at all, mode 0600; makes its folders. AlreadyExists when it
/// does.
Result<void> writeNewFile(const std::string& path, std::string_view bytes);

/// Writes a file, or completes one that holds the beginning of these bytes. AlreadyExists when it holds something else.
Result<void> writeOrResumeFile(const std::string& path, std::string_view bytes);

/// What could not be written, on stderr.
void printWritten(const MadeTranscript& made);

/// The agents that can be written.
std::vector<std::string> agentChoices();
/// --cwd-map OLD=NEW.
Option cwdMapOption(std::vector<std::string>& target);
/// A path with the longest OLD that it begins with replaced by its NEW. InvalidArgument for a map without `=`.
Result<std::string> mapFolder(const std::string& folder, const std::vector<std::string>& maps);
/// A word for a POSIX shell.
std::string shellWord(std::string_view text);

}  // namespace bough::cli
