#include "log/file/log_files.h"

#include <fmt/format.h>

#include <cerrno>

#include "base/system/file_io.h"
#include "base/try.h"

namespace bough {
namespace {

Result<OpenLog> openPlain(const std::shared_ptr<Directory>& folder, std::string name) {
  OpenLog log{.form = LogForm::Plain, .file = {}, .source = {}, .folder = folder, .name = std::move(name), .info = {}};
  auto file = folder->open(log.name, OpenMode::ReadWrite);
  log.writeError = file ? 0 : file.error();
  if (!file && (file.error() == EACCES || file.error() == EROFS || file.error() == EPERM)) {
    file = folder->open(log.name, OpenMode::Read);
  }
  if (!file) return std::unexpected(systemError(file.error(), "open", log.path()));
  log.file = std::move(*file);
  log.source = plainSource(log.file);
  return log;
}

}  // namespace

std::string logName(std::string_view sessionId) {
  return fmt::format("{}.jsonl", sessionId);
}
std::string indexName(std::string_view sessionId) {
  return fmt::format("{}.idx", sessionId);
}
std::string tornName(std::string_view sessionId) {
  return fmt::format("{}.torn", sessionId);
}
std::string formatZeroName(std::string_view sessionId) {
  return fmt::format("{}.v0", sessionId);
}
std::string zstdName(std::string_view sessionId) {
  return fmt::format("{}.jsonl.zst", sessionId);
}
std::string gzipName(std::string_view sessionId) {
  return fmt::format("{}.jsonl.gz", sessionId);
}

Error unpackError(const OpenLog& log) {
  return fail(ErrorCode::Damaged,
              fmt::format("{} cannot be unpacked at byte {}", log.path(), log.source->damagedAt().value_or(0)),
              "put a good copy in its place (`bough cat` prints what can still be read); nothing was changed")
      .error();
}

Error readError(const OpenLog& log, int number, std::string_view what) {
  if (number != EILSEQ) return systemError(number, what, log.path());
  return unpackError(log);
}

Result<OpenLog> openPacked(const std::shared_ptr<Directory>& folder, std::string name, LogForm form) {
  OpenLog log{.form = form, .file = {}, .source = {}, .folder = folder, .name = std::move(name), .info = {}};
  auto file = folder->open(log.name, OpenMode::Read);
  if (!file) return std::unexpected(systemError(file.error(), "open", log.path()));
  log.file = std::move(*file);
  auto source = form == LogForm::Zstd ? zstdSource(log.file) : gzipSource(log.file);
  if (!source && source.error() != EILSEQ) return std::unexpected(systemError(source.error(), "read", log.path()));
  log.source = source ? std::move(*source) : unreadableSource();
  return log;
}

Result<OpenLog> openLog(const LogFolders& folders, std::string_view sessionId) {
  auto log = folders.only == LogForm::Zstd   ? openPacked(folders.sessions, zstdName(sessionId), LogForm::Zstd)
             : folders.only == LogForm::Gzip ? openPacked(folders.sessions, gzipName(sessionId), LogForm::Gzip)
                                             : openPlain(folders.sessions, logName(sessionId));
  const auto missing = [&] { return !log && log.error().code == ErrorCode::NotFound; };
  // Between two lookups another process may have archived or restored the log. Then the log is in a place where we
  // looked before.
  for (int rounds = 0; missing() && !folders.only && rounds < 3; ++rounds) {
    if (folders.archive) log = openPacked(folders.archive, zstdName(sessionId), LogForm::Zstd);
    if (missing() && folders.archive) log = openPacked(folders.archive, gzipName(sessionId), LogForm::Gzip);
    if (missing()) log = openPacked(folders.sessions, gzipName(sessionId), LogForm::Gzip);
    if (missing()) log = openPlain(folders.sessions, logName(sessionId));
  }
  if (missing()) {
    return fail(ErrorCode::NotFound, fmt::format("there is no session {} in {}", sessionId, folders.sessions->path()),
                "`bough ls` lists the sessions of a store");
  }
  if (!log) return log;
  const auto info = log->file->info();
  if (!info) return std::unexpected(systemError(info.error(), "look at", log->path()));
  log->info = *info;
  return log;
}

Result<OpenLog> openLocked(const LogFolders& folders, std::string_view sessionId, LockKind kind, int timeoutMs) {
  for (int tries = 0; tries < 8; ++tries) {
    auto log = openLog(folders, sessionId);
    if (!log) return log;
    BOUGH_TRY(lockWithin(*log->file, kind, timeoutMs, log->path()));
    const auto info = log->folder->info(log->name);
    const bool named = info && info->identity == log->info.identity;
    // A plain log that appeared meanwhile takes precedence.
    if (named && (folders.only || log->form == LogForm::Plain || !folders.sessions->info(logName(sessionId))))
      return log;
  }
  return fail(ErrorCode::Busy, fmt::format("session {} is replaced again and again", sessionId), "try again");
}

}  // namespace bough
