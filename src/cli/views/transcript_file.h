// A session as the file of another agent: what `export`, `resume` and `repair` share.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/system/file_system.h"
#include "base/system/whole_file.h"
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
  bool needsFolder = false;  ///< A session without a folder gets `folder`, or the present one.
  std::string folder = {};
  unsigned copy = 0;  ///< Not 0: as a session with an id of its own (factsOfCopy).
  /// As WriteTranscriptOptions::keepBeside.
  std::function<Result<void>(const std::string& name, std::string_view bytes)> keepBeside = {};
};

struct MadeTranscript {
  TranscriptFacts facts;
  WrittenTranscript written;
};

/// Gets the pieces of a file.
using TranscriptSink = std::function<Result<void>(std::string_view piece)>;

/// Gives a session as the file of another agent to `out`, piece by piece. `begin` gets the facts before the first
/// piece.
Result<MadeTranscript> makeTranscript(SessionStore& store, const std::string& sessionId, const TranscriptWish& wish,
                                      const TranscriptSink& out,
                                      const std::function<Result<void>(const TranscriptFacts& facts)>& begin = {});

/// A file that must not exist yet, written piece by piece: it is there whole, after save(), or not at all. Mode 0600;
/// its folders are made.
class NewFile {
 public:
  /// AlreadyExists when it does.
  static Result<std::unique_ptr<NewFile>> make(const std::string& path);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();
  Result<void> add(std::string_view piece);
  Result<void> save();

  /// The steps of save(), for several files at once.
  Result<void> sync();
  Result<void> publish();
  Result<void> syncFolder();

 private:
  NewFile(std::string path, std::unique_ptr<Directory> folder) : path_(std::move(path)), folder_(std::move(folder)) {}
  [[nodiscard]] std::string name() const;

  std::string path_;
  std::unique_ptr<Directory> folder_;
  int folderDescriptor_ = -1;
  std::optional<WholeFile> file_;
};

/// The same for bytes that are in memory.
Result<void> writeNewFile(const std::string& path, std::string_view bytes);

/// The same for many files in one folder, one after the other, which reach the disk together. When one cannot be
/// written, some of those before it are there.
class NewFiles {
 public:
  Result<void> begin(const std::string& path);
  /// Adds to the file that began last.
  Result<void> add(std::string_view piece) { return group_.back()->add(piece); }
  Result<void> save();

 private:
  std::vector<std::unique_ptr<NewFile>> group_;
};

/// Writes a file, or completes one that holds the beginning of these bytes, in place. One that holds more is left
/// alone. AlreadyExists when it holds something else, Conflict when it changes meanwhile.
Result<void> writeOrResumeFile(const std::string& path, std::string_view bytes);

/// What could not be written, on stderr.
void printWritten(const MadeTranscript& made);

/// The agents that can be written.
std::vector<std::string> agentChoices();
/// --cwd-map OLD=NEW.
Option cwdMapOption(std::vector<std::string>& target);
/// What --cwd-map says about a session of that folder. InvalidArgument for a map without `=`.
Result<std::vector<MovedFolder>> movesOf(const std::string& folder, const std::vector<std::string>& maps);
/// Where the folder is now; says so when no move fits it, unless `isQuiet`.
std::string mapFolder(const std::string& folder, const std::vector<MovedFolder>& moves, bool isQuiet = false);

}  // namespace bough::cli
