#include "store/file/parts/attachments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "base/bytes/sha256.h"
#include "base/system/file_io.h"
#include "base/try.h"
#include "store/rules/attachment_reference.h"

namespace bough {
namespace {

constexpr std::string_view kLockName = "lock";

class LockHold final : public Hold {
 public:
  explicit LockHold(std::unique_ptr<File> file) : file_(std::move(file)) {}

 private:
  std::unique_ptr<File> file_;
};

Error missing(const std::string& sha256) {
  return {.code = ErrorCode::NotFound,
          .message = fmt::format("attachment {} is missing", sha256),
          .hint =
              "copy it back into the store's attachments folder, or hide the entry with `bough redact` to continue "
              "without it",
          .retryable = false,
          .actualTail = {}};
}

// Returns true when the file contains exactly these bytes. Returns false after a failed read; the file is then
// replaced.
bool holds(File& file, std::string_view bytes) {
  constexpr std::size_t kPart = std::size_t{1} << 20;
  const auto info = file.info();
  if (!info || info->sizeBytes != bytes.size()) return false;
  std::string part(std::min(kPart, bytes.size()), '\0');
  for (std::size_t at = 0; at < bytes.size(); at += part.size()) {
    const std::string_view expected = bytes.substr(at, part.size());
    const auto got = readFully(file, at, std::span(part).first(expected.size()));
    if (!got || std::string_view(part).substr(0, *got) != expected) return false;
  }
  return true;
}

bool isHex(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// Returns true for the name of a file whose writer died: `<64 digits>.<16 digits>.tmp`.
bool isUnfinished(std::string_view name) {
  constexpr std::size_t kDigits = 16;
  return name.size() == 64 + kDigits + 5 && isSha256(name.substr(0, 64)) && name[64] == '.' &&
         isHex(name.substr(65, kDigits)) && name.ends_with(".tmp");
}

}  // namespace

AttachmentFolder::AttachmentFolder(std::shared_ptr<Directory> store, Environment& environment, int lockTimeoutMs)
    : store_(std::move(store)), environment_(environment), lockTimeoutMs_(lockTimeoutMs) {}

Result<std::unique_ptr<Directory>> AttachmentFolder::root(bool create) {
  auto attachments = store_->openDirectory("attachments", create);
  if (!attachments) return orError(std::move(attachments), "open", store_->path() + "/attachments");
  auto opened = orError((*attachments)->openDirectory("sha256", create), "open", (*attachments)->path() + "/sha256");
  if (opened && create && !rootSynced_) {
    if (auto synced = (*attachments)->sync(); !synced) {
      return std::unexpected(systemError(synced.error(), "sync", (*attachments)->path()));
    }
    rootSynced_ = true;
  }
  return opened;
}

Result<std::unique_ptr<Directory>> AttachmentFolder::bucket(const std::string& sha256, bool create) {
  auto top = root(create);
  if (!top) return top;
  const std::string name = sha256.substr(0, 2);
  auto opened = orError((*top)->openDirectory(name, create), "open", (*top)->path() + "/" + name);
  if (opened && create) {
    // Sync even if the folder existed: the process that created it may have died before its name was durable.
    if (auto synced = (*top)->sync(); !synced) {
      return std::unexpected(systemError(synced.error(), "sync", (*top)->path()));
    }
  }
  return opened;
}

Result<std::unique_ptr<File>> AttachmentFolder::lockFile(LockKind kind) {
  BOUGH_TRY(auto top, root(true));
  const std::string path = fmt::format("{}/{}", top->path(), kLockName);
  auto file = top->open(kLockName, OpenMode::OpenOrCreate);
  if (!file) return std::unexpected(systemError(file.error(), "open", path));
  BOUGH_TRY(lockWithin(**file, kind, lockTimeoutMs_, path));
  return std::move(*file);
}

Result<std::unique_ptr<Hold>> AttachmentFolder::hold() {
  BOUGH_TRY(auto file, lockFile(LockKind::Shared));
  return std::make_unique<LockHold>(std::move(file));
}

// On return, the bytes, their name and the folders above are durable. Existing bytes were synced before they got their
// name; only the name may not be on the disk yet.
Result<void> AttachmentFolder::put(const std::string& sha256, std::string_view bytes) {
  BOUGH_TRY(checkAttachmentSize(bytes));
  BOUGH_TRY(auto folder, bucket(sha256, true));
  const std::string name = sha256.substr(2);
  const std::string path = fmt::format("{}/{}", folder->path(), name);
  // Read an existing file before relying on it. A damaged one is replaced, since these bytes are intact.
  if (const auto info = folder->info(name); info && info->isRegular) {
    const auto there = folder->open(name, OpenMode::Read);
    if (there && holds(**there, bytes)) return orError(folder->sync(), "sync the folder of", path);
  }
  const std::string temporary = temporaryName(name, environment_.random.next());
  auto file = folder->open(temporary, OpenMode::CreateNew);
  if (!file) return std::unexpected(systemError(file.error(), "create", path));
  auto done = writeFully(**file, 0, bytes);
  if (done) done = (*file)->sync();
  if (done) done = folder->rename(temporary, name);
  if (!done) {
    (void)folder->remove(temporary);
    return std::unexpected(systemError(done.error(), "write", path));
  }
  return orError(folder->sync(), "sync the folder of", path);
}

Result<std::string> AttachmentFolder::get(const std::string& sha256) {
  if (!isSha256(sha256)) return fail(ErrorCode::InvalidArgument, fmt::format("{} is not a SHA-256", sha256));
  auto folder = bucket(sha256, false);
  if (!folder) return std::unexpected(folder.error().code == ErrorCode::NotFound ? missing(sha256) : folder.error());
  auto file = (*folder)->open(sha256.substr(2), OpenMode::Read);
  if (!file && file.error() == ENOENT) return std::unexpected(missing(sha256));
  const std::string path = (*folder)->path() + "/" + sha256.substr(2);
  if (!file) return std::unexpected(systemError(file.error(), "open", path));
  auto bytes = readWhole(**file, kMaxAttachmentBytes);
  if (!bytes) return std::unexpected(systemError(bytes.error(), "read", path));
  if (Sha256::of(*bytes) != sha256) {
    return fail(ErrorCode::Damaged, fmt::format("attachment {} is not what its name says", path),
                "restore it from a copy, or hide the entry with `bough redact` to continue without it");
  }
  return std::move(*bytes);
}

Result<std::vector<std::string>> AttachmentFolder::list() {
  std::vector<std::string> found;
  auto top = root(false);
  if (!top && top.error().code == ErrorCode::NotFound) return found;
  if (!top) return std::unexpected(top.error());
  auto buckets = (*top)->list();
  if (!buckets) return std::unexpected(systemError(buckets.error(), "list", (*top)->path()));
  for (const std::string& name : *buckets) {
    if (name.size() != 2) continue;
    auto folder = (*top)->openDirectory(name, false);
    if (!folder) continue;
    auto files = (*folder)->list();
    if (!files) return std::unexpected(systemError(files.error(), "list", (*folder)->path()));
    for (const std::string& file : *files) {
      if (isSha256(name + file) || isUnfinished(name + file)) found.push_back(name + file);
    }
  }
  std::ranges::sort(found);
  return found;
}

Result<std::size_t> AttachmentFolder::remove(const std::vector<std::string>& sha256s,
                                             const std::function<Result<bool>(const std::string&)>& stillUnused) {
  BOUGH_TRY(const auto lock, lockFile(LockKind::Exclusive));
  std::size_t removed = 0;
  for (const std::string& sha256 : sha256s) {
    if (!isSha256(sha256) && !isUnfinished(sha256)) {
      return fail(ErrorCode::InvalidArgument, fmt::format("{} is not a SHA-256", sha256));
    }
    BOUGH_TRY(auto unused, stillUnused(sha256));
    if (!unused) continue;
    auto folder = bucket(sha256, false);
    if (!folder && folder.error().code == ErrorCode::NotFound) continue;
    if (!folder) return std::unexpected(folder.error());
    auto gone = (*folder)->remove(sha256.substr(2));
    if (!gone && gone.error() != ENOENT) {
      return std::unexpected(systemError(gone.error(), "remove", (*folder)->path() + "/" + sha256.substr(2)));
    }
    if (gone) ++removed;
  }
  return removed;
}

Result<void> AttachmentFolder::syncFoldersOf(const std::vector<std::string>& sha256s) {
  for (const std::string& sha256 : sha256s) {
    auto folder = bucket(sha256, false);
    if (!folder && folder.error().code == ErrorCode::NotFound) continue;
    if (!folder) return std::unexpected(folder.error());
    if (auto synced = (*folder)->sync(); !synced) {
      return std::unexpected(systemError(synced.error(), "sync", (*folder)->path()));
    }
  }
  return {};
}

}  // namespace bough
