// Which files belong to a session, and how its log is opened in any of its places.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/system/file_system.h"
#include "bough/error.h"
#include "log/source/byte_source.h"

namespace bough {

enum class LogForm : std::uint8_t { Plain, Zstd, Gzip };

/// The folders of a store that hold logs.
struct LogFolders {
  std::shared_ptr<Directory> sessions;
  std::shared_ptr<Directory> archive;  ///< Null when the store has none.
  std::optional<LogForm> only = {};    ///< When set, look only for this form, and only in `sessions`.
};

std::string logName(std::string_view sessionId);         // <id>.jsonl
std::string indexName(std::string_view sessionId);       // <id>.idx
std::string tornName(std::string_view sessionId);        // <id>.torn
std::string formatZeroName(std::string_view sessionId);  // <id>.v0
std::string zstdName(std::string_view sessionId);        // <id>.jsonl.zst
std::string gzipName(std::string_view sessionId);        // <id>.jsonl.gz

/// An open log.
struct OpenLog {
  LogForm form = LogForm::Plain;
  std::shared_ptr<File> file;
  std::unique_ptr<ByteSource> source;
  std::shared_ptr<Directory> folder;
  std::string name;
  FileInfo info;       ///< When the file was opened.
  int writeError = 0;  ///< Why the file cannot be written; 0 when it can.

  /// For messages.
  [[nodiscard]] std::string path() const { return folder->path() + "/" + name; }
};

/// Returns the error for a compressed log that cannot be unpacked completely.
Error unpackError(const OpenLog& log);

/// Returns the error for a failed read of the log.
Error readError(const OpenLog& log, int number, std::string_view what);

/// Opens a compressed file. Also opens a file that cannot be unpacked; reading it fails.
Result<OpenLog> openPacked(const std::shared_ptr<Directory>& folder, std::string name, LogForm form);

/// Opens a session's log: the plain file if it exists, otherwise a compressed one. NotFound when there is none.
Result<OpenLog> openLog(const LogFolders& folders, std::string_view sessionId);

/// Opens a session's log and locks it. Retries when the file is replaced meanwhile. The lock is released with the
/// result's file.
Result<OpenLog> openLocked(const LogFolders& folders, std::string_view sessionId, LockKind kind, int timeoutMs);

}  // namespace bough
