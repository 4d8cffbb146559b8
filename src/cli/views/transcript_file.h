// Writes a session as the file of another agent; shared by `export`, `resume` and `repair`.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/system/atomic_file.h"
#include "base/system/file_system.h"
#include "bough/store.h"
#include "bough/transcript.h"
#include "cli/definition/command.h"

namespace bough::cli {

struct TranscriptRequest {
  std::string agent;
  std::string at;                   ///< The entry to continue from; empty: the head.
  std::vector<std::string> cwdMap;  ///< Each OLD=NEW.
  bool branchOnly = false;
  bool bare = false;         ///< Leave out the original entries (WriteTranscriptOptions::bare).
  bool needsFolder = false;  ///< Give a session without a folder `folder`, or the current one.
  std::string folder = {};
  unsigned copy = 0;  ///< Unless 0: write a session with a new id (factsOfCopy).
  /// See WriteTranscriptOptions::keepBeside.
  std::function<Result<void>(const std::string& name, std::string_view bytes)> keepBeside = {};
};

struct SessionTranscript {
  TranscriptFacts facts;
  WrittenTranscript written;
};

/// Receives the pieces of a file.
using TranscriptSink = std::function<Result<void>(std::string_view piece)>;

/// Writes a session as another agent's file to `out`, piece by piece. Calls `begin` with the facts before the first
/// piece.
Result<SessionTranscript> writeSessionTranscript(
    SessionStore& store, const std::string& sessionId, const TranscriptRequest& request, const TranscriptSink& out,
    const std::function<Result<void>(const TranscriptFacts& facts)>& begin = {});

/// A file that must not exist yet, written piece by piece. The write is atomic: the file exists after save(), complete,
/// or not at all. Mode 0600; missing parent folders are created.
class NewFile {
 public:
  /// Fails with AlreadyExists when the file exists.
  static Result<std::unique_ptr<NewFile>> make(const std::string& path);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();
  Result<void> add(std::string_view piece);
  Result<void> save();

  /// The steps of save(), for saving several files together.
  Result<void> sync();
  Result<void> publish();
  Result<void> syncFolder();

 private:
  NewFile(std::string path, std::unique_ptr<Directory> folder) : path_(std::move(path)), folder_(std::move(folder)) {}
  [[nodiscard]] std::string name() const;

  std::string path_;
  std::unique_ptr<Directory> folder_;
  int folderDescriptor_ = -1;
  std::optional<AtomicFile> file_;
};

/// The same for bytes in memory.
Result<void> writeNewFile(const std::string& path, std::string_view bytes);

/// The same for many files in one folder, written one after the other and synced together. If one of them cannot be
/// written, some of those before it exist.
class NewFiles {
 public:
  Result<void> begin(const std::string& path);
  /// Appends to the file that was begun last.
  Result<void> add(std::string_view piece) { return group_.back()->add(piece); }
  Result<void> save();

 private:
  std::vector<std::unique_ptr<NewFile>> group_;
};

/// Writes a file, or completes in place a file that holds the beginning of these bytes. Leaves a file that holds more
/// alone. Fails with AlreadyExists when the file holds something else, and with Conflict when it changes meanwhile.
Result<void> writeOrResumeFile(const std::string& path, std::string_view bytes);

/// Lists on stderr what could not be written.
void printWritten(const SessionTranscript& made);

/// Returns the agents whose files can be written.
std::vector<std::string> writableAgents();
/// The option --cwd-map OLD=NEW.
Option cwdMapOption(std::vector<std::string>& target);
/// Returns the moves that --cwd-map gives for a session of that folder. Fails with InvalidArgument for a map without
/// `=`.
Result<std::vector<MovedFolder>> movesOf(const std::string& folder, const std::vector<std::string>& maps);
/// Returns where the folder is now. Says so when no move fits, unless `isQuiet`.
std::string mapFolder(const std::string& folder, const std::vector<MovedFolder>& moves, bool isQuiet = false);

}  // namespace bough::cli
