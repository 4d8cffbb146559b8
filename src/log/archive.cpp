#include "log/archive.h"

#include <fmt/format.h>

#include <cerrno>
#include <vector>

#include "base/file_io.h"
#include "base/sha256.h"
#include "log/zstd_frames.h"

namespace bough {
namespace {

// Reads all of a source in pieces of one frame and gives each to `use`. Stops at the first error.
template <typename Use>
Result<void> forEachPiece(ByteSource& source, std::string_view path, Use use) {
  std::string piece;
  for (std::uint64_t at = 0;; at += piece.size()) {
    piece.resize(kFramePlainBytes);
    const auto got = readFully(source, at, piece);
    if (!got && got.error() == EILSEQ) {
      return fail(ErrorCode::Damaged, fmt::format("{} cannot be unpacked behind byte {}", path, at),
                  "restore it from a copy; nothing was changed");
    }
    if (!got) return std::unexpected(systemError(got.error(), "read", path));
    piece.resize(*got);
    if (piece.empty()) return {};
    if (auto used = use(std::string_view(piece)); !used) return used;
  }
}

// A file that gets its name only when it is whole and synced; it vanishes with this object otherwise.
class NewFile {
 public:
  NewFile(Directory& folder, std::string_view name)
      : folder_(folder), name_(name), temporary_(fmt::format("{}.tmp", name)) {}
  ~NewFile() {
    if (file_ && !placed_) (void)folder_.remove(temporary_);
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  // The caller holds the session's lock, so a temporary file that is there was left by a crash.
  Result<void> create() {
    (void)folder_.remove(temporary_);
    auto file = folder_.open(temporary_, OpenMode::CreateNew);
    if (!file) return std::unexpected(systemError(file.error(), "create", path()));
    file_ = std::move(*file);
    return {};
  }
  Result<void> add(std::string_view bytes) {
    auto written = writeFully(*file_, size_, bytes);
    size_ += bytes.size();
    return orError(std::move(written), "write", path());
  }
  Result<void> sync() { return orError(file_->sync(), "sync", path()); }
  Result<void> place() {
    auto renamed = folder_.rename(temporary_, name_);
    placed_ = renamed.has_value();
    if (!renamed) return orError(std::move(renamed), "rename", path());
    return orError(folder_.sync(), "sync the folder of", path());
  }
  [[nodiscard]] std::shared_ptr<File> file() const { return file_; }
  [[nodiscard]] std::string path() const { return fmt::format("{}/{}", folder_.path(), name_); }
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  Directory& folder_;
  std::string name_;
  std::string temporary_;
  std::shared_ptr<File> file_;
  std::uint64_t size_ = 0;
  bool placed_ = false;
};

Result<void> removeDurably(Directory& folder, std::string_view name) {
  const std::string path = fmt::format("{}/{}", folder.path(), name);
  if (auto removed = folder.remove(name); !removed) return orError(std::move(removed), "remove", path);
  return orError(folder.sync(), "sync the folder of", path);
}

// Compresses `plain` into `out`; returns the sum of the plain bytes.
Result<std::string> pack(OpenLog& plain, NewFile& out) {
  Sha256 sum;
  std::vector<FrameSizes> frames;
  auto packed = forEachPiece(*plain.source, plain.path(), [&](std::string_view piece) {
    sum.add(piece);
    const std::string frame = packFrame(piece);
    frames.push_back(
        {.packed = static_cast<std::uint32_t>(frame.size()), .plain = static_cast<std::uint32_t>(piece.size())});
    return out.add(frame);
  });
  if (packed) packed = out.add(packFrameTable(frames));
  if (packed) packed = out.sync();
  if (!packed) return std::unexpected(packed.error());
  return sum.finish();
}

Result<std::string> sumOf(ByteSource& source, std::string_view path) {
  Sha256 sum;
  auto read = forEachPiece(source, path, [&](std::string_view piece) -> Result<void> {
    sum.add(piece);
    return {};
  });
  if (!read) return std::unexpected(read.error());
  return sum.finish();
}

// Locks an open log, provided it still has its name.
Result<bool> lockNamed(OpenLog& log, int timeoutMs) {
  if (auto locked = lockWithin(*log.file, LockKind::Exclusive, timeoutMs, log.path()); !locked) {
    return std::unexpected(locked.error());
  }
  const auto info = log.folder->info(log.name);
  return info && info->identity == log.identity;
}

}  // namespace

Result<ArchiveSizes> archiveLog(const LogFolders& folders, std::string_view sessionId, int lockTimeoutMs) {
  auto log = openLog(folders, sessionId);
  if (!log) return std::unexpected(log.error());
  const auto sizesOf = [](OpenLog& open, std::uint64_t packed) -> Result<ArchiveSizes> {
    const auto plain = open.source->size();
    if (!plain) return std::unexpected(systemError(plain.error(), "look at", open.path()));
    return ArchiveSizes{.plainBytes = *plain, .packedBytes = packed};
  };
  if (log->form != LogForm::Plain) {
    const auto info = log->file->info();
    return sizesOf(*log, info ? info->sizeBytes : 0);
  }
  if (!folders.archive) {
    return fail(ErrorCode::ReadOnly, "the store has no archive folder and cannot make one", "check its permissions");
  }
  auto current = lockNamed(*log, lockTimeoutMs);
  if (!current) return std::unexpected(current.error());
  const FileLock lock(*log->file);
  if (!*current) return fail(ErrorCode::Busy, fmt::format("{} was replaced meanwhile", log->path()), "try again");

  NewFile packed(*folders.archive, zstdName(sessionId));
  if (auto created = packed.create(); !created) return std::unexpected(created.error());
  const auto sum = pack(*log, packed);
  if (!sum) return std::unexpected(sum.error());
  auto reread = zstdSource(packed.file());
  const auto check = reread ? sumOf(**reread, packed.path()) : Result<std::string>("");
  if (!check) return std::unexpected(check.error());
  if (*check != *sum) {
    return fail(ErrorCode::Io, fmt::format("{} did not read back as it was written", packed.path()),
                "check the disk; the session stays as it was");
  }
  if (auto placed = packed.place(); !placed) return std::unexpected(placed.error());
  auto sizes = sizesOf(*log, packed.size());
  if (auto removed = removeDurably(*folders.sessions, log->name); !removed) return std::unexpected(removed.error());
  return sizes;
}

Result<void> restoreArchive(const LogFolders& folders, std::string_view sessionId, int lockTimeoutMs) {
  auto log = openLog(folders, sessionId);
  if (!log) return std::unexpected(log.error());
  if (log->form == LogForm::Plain) return {};
  auto current = lockNamed(*log, lockTimeoutMs);
  if (!current) return std::unexpected(current.error());
  const FileLock lock(*log->file);
  if (!*current) return {};  // another process has restored it

  NewFile plain(*folders.sessions, logName(sessionId));
  if (auto created = plain.create(); !created) return created;
  auto unpacked = forEachPiece(*log->source, log->path(), [&](std::string_view piece) { return plain.add(piece); });
  if (unpacked) unpacked = plain.sync();
  if (unpacked) unpacked = plain.place();
  if (!unpacked) return unpacked;
  return removeDurably(*log->folder, log->name);
}

}  // namespace bough
