#include "store/file/file_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <unordered_set>

#include "base/system/file_io.h"
#include "base/try.h"
#include "log/file/archive.h"
#include "log/file/new_file.h"
#include "store/file/file_erasure.h"
#include "store/file/file_maintenance.h"
#include "store/file/file_trash.h"
#include "store/file/migration.h"
#include "store/file/parts/removed_list.h"
#include "store/file/parts/turn_number.h"
#include "store/file/session_watcher.h"
#include "store/rules/append_rules.h"
#include "store/rules/header.h"

namespace bough {
namespace {

constexpr std::string_view kTemporarySettings = "settings";  // settings.<16 digits>.tmp
constexpr std::uint64_t kMaxBytes = 64 << 10;

class LogHold final : public Hold {
 public:
  explicit LogHold(OpenLog log) : log_(std::move(log)) {}

 private:
  OpenLog log_;
};

// Passes a whole file to `use`, in parts of one mebibyte. Each part starts with the last bytes of the previous part, so
// that a name at the boundary is complete in one of them.
Result<void> forEachPart(Directory& folder, const std::string& name, const std::function<void(std::string_view)>& use) {
  constexpr std::size_t kPartBytes = std::size_t{1} << 20;
  constexpr std::size_t kAgainBytes = 128;
  const std::string path = folder.path() + "/" + name;
  auto file = folder.open(name, OpenMode::Read);
  if (!file && file.error() == ENOENT) return {};
  if (!file) return std::unexpected(systemError(file.error(), "open", path));
  std::string part(kPartBytes, '\0');
  for (std::uint64_t at = 0;; at += kPartBytes - kAgainBytes) {
    const auto got = readFully(**file, at, part);
    if (!got) return std::unexpected(systemError(got.error(), "read", path));
    use(std::string_view(part).substr(0, *got));
    if (*got < part.size()) return {};
  }
}

// Returns where the log of a session may be, in the order of precedence.
std::vector<std::pair<Directory*, std::string>> logPlaces(const LogFolders& folders, const std::string& sessionId) {
  std::vector<std::pair<Directory*, std::string>> places = {{folders.sessions.get(), logName(sessionId)},
                                                            {folders.archive.get(), zstdName(sessionId)},
                                                            {folders.archive.get(), gzipName(sessionId)},
                                                            {folders.sessions.get(), gzipName(sessionId)}};
  return places;
}

// Returns true when every existing place of the log is a folder, which contains no entry.
bool isFolder(const LogFolders& folders, const std::string& sessionId) {
  bool found = false;
  for (const auto& [folder, name] : logPlaces(folders, sessionId)) {
    if (folder == nullptr) continue;
    const auto info = folder->info(name);
    if (!info && info.error() == ENOENT) continue;
    if (!info || !info->isDirectory) return false;
    found = true;
  }
  return found;
}

}  // namespace

FileBackend::FileBackend(std::unique_ptr<FileStore> store)
    : SharingBackend(store->ids),
      store_(std::move(store)),
      logs_(*this, *store_),
      attachments_(*this, *store_),
      trash_(std::make_unique<FileTrash>(*this, *store_, logs_)),
      maintenance_(std::make_unique<FileMaintenance>(*this, *store_, logs_)) {}

FileBackend::~FileBackend() = default;

Result<std::shared_ptr<FileBackend>> FileBackend::open(const std::string& folder, const StoreOptions& options,
                                                       const EntrySerializer& serializer, Environment& environment) {
  BOUGH_TRY(auto store, FileStore::open(folder, options, serializer, environment));
  std::shared_ptr<FileBackend> backend(new FileBackend(std::move(store)));
  // A process that cannot finish the erasure leaves it to the next one. The sessions can be read meanwhile.
  (void)FileErasure(*backend, *backend->store_, backend->logs_).resumeInterrupted();
  return backend;
}

SessionTrash* FileBackend::trash() {
  return trash_.get();
}

SharingTrash& FileBackend::sharedTrash() {
  return *trash_;
}

SessionMaintenance* FileBackend::maintenance() {
  return maintenance_.get();
}

Result<void> FileBackend::probe() {
  if (store_->readOnlyReason) return std::unexpected(*store_->readOnlyReason);
  return orError(store_->folders.sessions->checkWritable(), "write to", store_->folders.sessions->path());
}

Result<std::shared_ptr<SharingSession>> FileBackend::session(const std::string& sessionId) {
  return logs_.session(sessionId);
}

Result<std::shared_ptr<SessionLog>> FileBackend::log(const std::string& sessionId) {
  BOUGH_TRY(const auto session, logs_.session(sessionId));
  return session->log();
}

Result<SeenOrigin> FileBackend::seenOrigin(const std::string& sessionId) {
  BOUGH_TRY(const SeenOrigin seen, originSeenIn(log(sessionId), store_->serializer));
  if (!seen.isCertain && isFolder(store_->folders, sessionId))
    return fail(ErrorCode::NotFound, sessionId + " is not a session");
  return seen;
}

Result<std::vector<std::string>> FileBackend::listSessions() {
  constexpr std::string_view kEndings[] = {".jsonl", ".jsonl.zst", ".jsonl.gz"};
  std::unordered_set<std::string> ids;
  for (const auto& folder : {store_->folders.sessions, store_->folders.archive}) {
    if (!folder) continue;
    auto names = folder->list();
    if (!names) return std::unexpected(systemError(names.error(), "list", folder->path()));
    for (const std::string& name : *names) {
      for (const std::string_view ending : kEndings) {
        if (!name.ends_with(ending)) continue;
        std::string id = name.substr(0, name.size() - ending.size());
        if (isSessionId(id)) ids.insert(std::move(id));
        break;
      }
    }
  }
  std::vector<std::string> sorted(ids.begin(), ids.end());
  std::ranges::sort(sorted);
  return sorted;
}

Result<std::unique_ptr<ChangeWatcher>> FileBackend::watch(const std::vector<std::string>& sessionIds) {
  return watchSessions(*store_->folders.sessions, sessionIds);
}

Result<void> FileBackend::storeNew(const std::string& sessionId, const std::vector<Entry>& entries) {
  BOUGH_TRY(store_->checkWritable(sessionId));
  return logs_.openFiles([&] { return storeFile(sessionId, entries); });
}

Result<void> FileBackend::storeFile(const std::string& sessionId, const std::vector<Entry>& entries) {
  const LogFolders& folders = store_->folders;
  const auto exists = [&] {
    return fail(ErrorCode::AlreadyExists, fmt::format("there is a session {} already", sessionId),
                "choose another id, or append to that one");
  };
  const auto found = openLog(folders, sessionId);
  if (found) return exists();
  if (found.error().code != ErrorCode::NotFound) return std::unexpected(found.error());
  BOUGH_TRY(const auto lines, prepareFirstBatch(entries, store_->serializer));
  BOUGH_TRY(store_->syncFolders());
  std::string bytes;
  SealDigits seal;
  const auto count = static_cast<std::uint32_t>(lines.size());
  for (std::uint32_t i = 0; i < count; ++i) seal = appendSealedLine(bytes, lines[i].text(), seal, i + 1, count);

  const ChangeMark mark(store_->changes, sessionId, ChangeKind::Names);
  // Two processes that create the same session at once each write their own file; the first to take the name wins.
  const std::string temporary = fmt::format("{}.{:016x}", logName(sessionId), store_->environment.random.next());
  NewFile file(*folders.sessions, temporary);
  BOUGH_TRY(file.create());
  BOUGH_TRY(file.add(bytes));
  BOUGH_TRY(file.sync());
  auto placed = file.publishAs(logName(sessionId));
  if (!placed && placed.error().code == ErrorCode::AlreadyExists) return exists();
  return placed;
}

// Another process that created the store as well, and stored nothing in it, may have removed its folders since they
// were opened.
bool FileBackend::hold() {
  if (!store_->options.create) return true;
  store_->hold = FolderLock::shared(store_->root->path());
  const auto sessions = store_->folders.sessions->info(".");
  return sessions && sessions->linkCount > 0;
}

// A write to a log changes its size or its time, and a replacement changes its identity.
Result<std::string> FileBackend::stamp(const std::string& sessionId) {
  BOUGH_TRY(checkSessionId(sessionId));
  const auto places = logPlaces(store_->folders, sessionId);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& [folder, name] = places[i];
    if (folder == nullptr) continue;
    auto info = folder->info(name);
    if (!info && info.error() == ENOENT) continue;
    if (!info) return std::unexpected(systemError(info.error(), "look at", folder->path() + "/" + name));
    return fmt::format("{}:{}:{}:{}", i, info->identity.inode, info->sizeBytes, info->modifiedNs);
  }
  return fail(ErrorCode::NotFound, fmt::format("there is no session {} in {}", sessionId, store_->root->path()),
              "`bough ls` lists the sessions of a store");
}

bool FileBackend::has(const std::string& sessionId) {
  const auto found = stamp(sessionId);
  return found || found.error().code != ErrorCode::NotFound;
}

Result<void> FileBackend::removeIf(const std::string& sessionId, const Allowed& allowed) {
  BOUGH_TRY(store_->checkWritable(sessionId));
  const LogFolders& folders = store_->folders;
  BOUGH_TRY(const auto locked, openLocked(folders, sessionId, LockKind::Exclusive, store_->options.lockTimeoutMs));
  BOUGH_TRY(allowed());
  const ChangeMark mark(store_->changes, sessionId, ChangeKind::Names);
  // Remove the log last: the session exists as long as its log. Before that, durably remove what an interrupted
  // archiving or restoring left, because it would bring the session back.
  for (const auto& [folder, name] : logPlaces(folders, sessionId)) {
    if (folder == nullptr || (folder == locked.folder.get() && name == locked.name)) continue;
    if (auto gone = folder->remove(name); !gone && gone.error() != ENOENT) {
      return orError(std::move(gone), "remove", folder->path() + "/" + name);
    }
  }
  for (const auto& folder : {folders.sessions, folders.archive}) {
    if (folder) {
      BOUGH_TRY(orError(folder->sync(), "sync", folder->path()));
    }
  }
  for (const std::string& name : {indexName(sessionId), tornName(sessionId), formatZeroName(sessionId)}) {
    (void)folders.sessions->remove(name);
  }
  removeTurn(*store_->root, sessionId);
  (void)noteRemoved(*store_->root, sessionId);
  auto removed = removeDurably(*locked.folder, locked.name);
  logs_.drop(sessionId);
  return removed;
}

Result<std::unique_ptr<Hold>> FileBackend::pin(const std::string& sessionId, const std::string& entryId) {
  BOUGH_TRY(checkSessionId(sessionId));
  BOUGH_TRY(auto locked, openLocked(store_->folders, sessionId, LockKind::Shared, store_->options.lockTimeoutMs));
  BOUGH_TRY(const auto session, log(sessionId));
  BOUGH_TRY(session->makeDurable(entryId));
  return std::make_unique<LogHold>(std::move(locked));
}

Result<void> FileBackend::rewrite(const std::string& sessionId, const std::vector<Entry>& entries,
                                  const std::string& expectedTail) {
  BOUGH_TRY(store_->checkWritable(sessionId));
  BOUGH_TRY(store_->syncFolders());
  const ChangeMark mark(store_->changes, sessionId);
  auto rewritten =
      rewriteLog(store_->folders, sessionId, entries, expectedTail, store_->serializer, store_->options.lockTimeoutMs);
  logs_.drop(sessionId);
  return rewritten;
}

Result<std::vector<std::string>> FileBackend::otherCopies(const std::string& sessionId) {
  return otherCopiesOf(store_->folders, sessionId);
}

Result<void> FileBackend::exportSetAside(const std::function<void(std::string_view)>& use) {
  auto trash = store_->trashFolder(false);
  if (!trash && trash.error().code != ErrorCode::NotFound) return std::unexpected(trash.error());
  for (const auto& folder : {store_->folders.sessions, trash ? *trash : nullptr}) {
    if (!folder) continue;
    auto names = folder->list();
    if (!names) return std::unexpected(systemError(names.error(), "list", folder->path()));
    for (const std::string& name : *names) {
      if (!name.ends_with(tornName("")) && !name.ends_with(formatZeroName(""))) continue;
      BOUGH_TRY(forEachPart(*folder, name, use));
    }
  }
  return {};
}

Result<std::string> FileBackend::settings() {
  const std::string path = fmt::format("{}/{}", store_->root->path(), store_folder::kSettings);
  auto file = store_->root->open(store_folder::kSettings, OpenMode::Read);
  if (!file && file.error() == ENOENT) return std::string();
  if (!file) return std::unexpected(systemError(file.error(), "open", path));
  return orError(readWhole(**file, kMaxBytes), "read", path);
}

// Writes the settings under a unique temporary name first, so that the file has either the new content or the old.
Result<void> FileBackend::saveSettings(std::string_view text) {
  if (store_->readOnlyReason) return std::unexpected(*store_->readOnlyReason);
  const std::string path = fmt::format("{}/{}", store_->root->path(), store_folder::kSettings);
  const std::string temporary = temporaryName(kTemporarySettings, store_->environment.random.next());
  auto file = store_->root->open(temporary, OpenMode::CreateNew);
  if (!file) return std::unexpected(systemError(file.error(), "make", path));
  SysResult<void> done = writeFully(**file, 0, text);
  if (done) done = (*file)->sync();
  if (done) done = store_->root->rename(temporary, store_folder::kSettings);
  if (done) done = store_->root->sync();
  if (!done) (void)store_->root->remove(temporary);
  removeOldTemporaries(*store_->root, kTemporarySettings, store_->environment.clock.nowMs());
  return orError(std::move(done), "write", path);
}

Result<std::shared_ptr<StorageBackend>> makeFileBackend(const std::string& folder, const StoreOptions& options,
                                                        const EntrySerializer& serializer) {
  constexpr int kMostTries = 8;
  for (int tries = 1;; ++tries) {
    BOUGH_TRY(auto backend, FileBackend::open(folder, options, serializer, systemEnvironment()));
    if (backend->hold() || tries == kMostTries) return std::shared_ptr<StorageBackend>(std::move(backend));
  }
}

}  // namespace bough
