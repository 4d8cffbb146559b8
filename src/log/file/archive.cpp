#include "log/file/archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/bytes/sha256.h"
#include "base/system/file_io.h"
#include "base/text/shell_word.h"
#include "base/try.h"
#include "log/file/new_file.h"
#include "log/source/zstd_frames.h"

namespace bough {
namespace {

// Reads all of a source in pieces of one frame and passes each to `use`. Stops at the first error.
template <typename Use>
Result<void> forEachPiece(OpenLog& log, Use use) {
  std::string piece;
  for (std::uint64_t at = 0;; at += piece.size()) {
    piece.resize(kFramePlainBytes);
    const auto got = readFully(*log.source, at, piece);
    if (!got) return std::unexpected(readError(log, got.error(), "read"));
    if (log.source->damagedAt()) return std::unexpected(unpackError(log));
    piece.resize(*got);
    if (piece.empty()) return {};
    if (auto used = use(std::string_view(piece)); !used) return used;
  }
}

// Compresses `plain` into `out`. Returns the checksum of the plain bytes.
Result<std::string> pack(OpenLog& plain, NewFile& out) {
  Sha256 sum;
  std::vector<FrameSizes> frames;
  auto packed = forEachPiece(plain, [&](std::string_view piece) {
    sum.add(piece);
    const std::string frame = packFrame(piece);
    frames.push_back(
        {.packed = static_cast<std::uint32_t>(frame.size()), .plain = static_cast<std::uint32_t>(piece.size())});
    return out.add(frame);
  });
  if (packed) packed = out.add(packFrameTable(frames));
  if (packed) packed = out.sync();
  if (!packed) return std::unexpected(packed.error());
  return sum.hex();
}

Result<std::string> sumOf(OpenLog& log) {
  Sha256 sum;
  auto read = forEachPiece(log, [&](std::string_view piece) -> Result<void> {
    sum.add(piece);
    return {};
  });
  if (!read) return std::unexpected(read.error());
  return sum.hex();
}

// Returns true when `whole` begins with all bytes of `part`. Returns false when that cannot be determined.
bool isBeginning(ByteSource& part, ByteSource& whole) {
  std::string piece;
  std::string same;
  for (std::uint64_t at = 0;; at += piece.size()) {
    piece.resize(kFramePlainBytes);
    const auto got = readFully(part, at, piece);
    if (!got || part.damagedAt()) return false;
    if (*got == 0) return true;
    piece.resize(*got);
    same.resize(*got);
    const auto found = readFully(whole, at, same);
    if (!found || whole.damagedAt() || *found != *got || same != piece) return false;
  }
}

}  // namespace

Result<std::vector<PackedCopy>> copiesBeside(const LogFolders& folders, std::string_view sessionId, OpenLog& log) {
  std::vector<PackedCopy> copies;
  const auto look = [&](const std::shared_ptr<Directory>& folder, std::string name, LogForm form) -> Result<void> {
    if (!folder || (folder == log.folder && name == log.name)) return {};
    auto packed = openPacked(folder, name, form);
    if (!packed && packed.error().code == ErrorCode::NotFound) return {};
    if (!packed) return std::unexpected(packed.error());
    copies.push_back(
        {.folder = folder, .name = std::move(name), .isRedundant = isBeginning(*packed->source, *log.source)});
    return {};
  };
  auto looked = look(folders.archive, zstdName(sessionId), LogForm::Zstd);
  if (looked) looked = look(folders.archive, gzipName(sessionId), LogForm::Gzip);
  if (looked) looked = look(folders.sessions, gzipName(sessionId), LogForm::Gzip);
  if (!looked) return std::unexpected(looked.error());
  return copies;
}

Result<std::vector<PackedCopy>> dropRedundantCopies(const LogFolders& folders, std::string_view sessionId,
                                                    OpenLog& log) {
  auto copies = copiesBeside(folders, sessionId, log);
  if (!copies || std::ranges::none_of(*copies, &PackedCopy::isRedundant)) return copies;
  // The name of the log may not be on the disk yet.
  if (auto synced = log.folder->sync(); !synced) {
    return std::unexpected(systemError(synced.error(), "sync", log.folder->path()));
  }
  for (const PackedCopy& copy : *copies) {
    if (!copy.isRedundant) continue;
    if (auto gone = copy.folder->remove(copy.name); !gone && gone.error() != ENOENT) {
      return std::unexpected(systemError(gone.error(), "remove", copy.path()));
    }
  }
  return copies;
}

Result<ArchiveSizes> archiveLog(const LogFolders& folders, std::string_view sessionId, int lockTimeoutMs) {
  BOUGH_TRY(auto log, openLocked(folders, sessionId, LockKind::Exclusive, lockTimeoutMs));
  const auto sizesOf = [](OpenLog& open, std::uint64_t packed) -> Result<ArchiveSizes> {
    const auto plain = open.source->size();
    if (!plain) return std::unexpected(readError(open, plain.error(), "look at"));
    return ArchiveSizes{.plainBytes = *plain, .packedBytes = packed};
  };
  if (log.form != LogForm::Plain) {
    const auto info = log.file->info();
    return sizesOf(log, info ? info->sizeBytes : 0);
  }
  if (!folders.archive) {
    const std::string sessions = folders.sessions->path();
    const std::string path = sessions.substr(0, sessions.rfind('/')) + "/archive";
    return fail(ErrorCode::NotFound, fmt::format("the store has no folder {}", path),
                fmt::format("make it with `mkdir -m 700 {}`, then try again", shellWord(path)));
  }
  BOUGH_TRY(const auto copies, copiesBeside(folders, sessionId, log));
  for (const PackedCopy& copy : copies) {
    if (copy.isRedundant) continue;
    return fail(ErrorCode::Damaged,
                fmt::format("{} and {} are both there and hold different things", log.path(), copy.path()),
                "look which one is right and move the other out of the store; nothing was changed");
  }
  NewFile packed(*folders.archive, zstdName(sessionId));
  BOUGH_TRY(packed.create());
  BOUGH_TRY(const auto sum, pack(log, packed));
  OpenLog reread{.form = LogForm::Zstd,
                 .file = packed.file(),
                 .source = {},
                 .folder = folders.archive,
                 .name = zstdName(sessionId),
                 .info = {}};
  auto source = zstdSource(packed.file());
  if (source) reread.source = std::move(*source);
  const auto check = source ? sumOf(reread) : Result<std::string>("");
  if (!check && check.error().code != ErrorCode::Damaged) return std::unexpected(check.error());
  if (!check || *check != sum) {
    return fail(ErrorCode::Io, fmt::format("{} did not read back as it was written", packed.path()),
                "check the disk; the session stays as it was");
  }
  // Locked, so that a process that opens the archive by its name waits until the plain log is removed.
  BOUGH_TRY(lockWithin(*packed.file(), LockKind::Exclusive, lockTimeoutMs, packed.path()));
  BOUGH_TRY(packed.publish());
  auto sizes = sizesOf(log, packed.size());
  BOUGH_TRY(removeDurably(*folders.sessions, log.name));
  return sizes;
}

Result<void> restoreArchive(const LogFolders& folders, std::string_view sessionId, int lockTimeoutMs) {
  BOUGH_TRY(auto log, openLocked(folders, sessionId, LockKind::Exclusive, lockTimeoutMs));
  if (log.form == LogForm::Plain) {
    // Another process has restored the log. If it died meanwhile, it may have left the compressed file.
    auto dropped = dropRedundantCopies(folders, sessionId, log);
    return dropped ? Result<void>() : std::unexpected(dropped.error());
  }

  NewFile plain(*folders.sessions, logName(sessionId));
  if (auto created = plain.create(); !created) return created;
  auto unpacked = forEachPiece(log, [&](std::string_view piece) { return plain.add(piece); });
  if (unpacked) unpacked = plain.sync();
  // Locked, so that a process that opens the log by its name waits until the compressed file is removed. Without the
  // lock, it could archive the log again before that, and we would remove the new archive instead of the old one.
  if (unpacked) unpacked = lockWithin(*plain.file(), LockKind::Exclusive, lockTimeoutMs, plain.path());
  if (unpacked) unpacked = plain.publish();
  if (!unpacked) return unpacked;
  return removeDurably(*log.folder, log.name);
}

}  // namespace bough
