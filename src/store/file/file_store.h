// A store in a folder of plain files: its files, and what its parts share.
//
//   sessions/<id>.jsonl     the log            sessions/<id>.idx   its index, rebuildable
//   sessions/<id>.torn      bytes a crash left sessions/<id>.v0    the file a migration replaced
//   attachments/sha256/…    large payloads     archive/<id>.jsonl.zst   rarely used sessions
//   trash/<id>~<when>.…     sessions in the trash           changes     counters of changes, for catalogs
//   settings.json           settings of the store as a whole
//   removed                 ids of sessions that were removed for good
//   erasure.json            a running erasure                      catalog.db  derived; emptied by an erasure
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/model/ids.h"
#include "base/system/environment.h"
#include "base/system/folder_lock.h"
#include "bough/store.h"
#include "log/file/log_files.h"
#include "log/index/counted_elsewhere.h"
#include "store/file/parts/attachments.h"
#include "store/file/parts/change_map.h"

namespace bough {

namespace store_folder {
inline constexpr std::string_view kSessions = "sessions";
inline constexpr std::string_view kArchive = "archive";
inline constexpr std::string_view kAttachments = "attachments";
inline constexpr std::string_view kTrash = "trash";
inline constexpr std::string_view kSettings = "settings.json";
}  // namespace store_folder

/// Thread-safe.
struct FileStore {
  FileStore(std::shared_ptr<Directory> rootFolder, LogFolders logFolders, const StoreOptions& storeOptions,
            const EntrySerializer& entrySerializer, Environment& env);

  static Result<std::unique_ptr<FileStore>> open(const std::string& folder, const StoreOptions& options,
                                                 const EntrySerializer& serializer, Environment& environment);

  /// Returns ReadOnly for a session file outside a store. Also checks the id.
  [[nodiscard]] Result<void> checkWritable(const std::string& sessionId) const;
  /// Makes the names of the store's folders durable. Called before anything in them is acknowledged. The process that
  /// created a folder may have died before it did that, so every process does it.
  Result<void> syncFolders();
  Result<std::shared_ptr<Directory>> trashFolder(bool create) const;
  /// Returns a function that asks who else in the store has counted entries of a session. It must not be called after
  /// the store is gone.
  [[nodiscard]] AskElsewhere askElsewhere(const std::string& sessionId) const;

  const std::shared_ptr<Directory> root;
  const LogFolders folders;
  const StoreOptions options;
  const EntrySerializer& serializer;
  Environment& environment;
  IdGenerator ids;
  ChangeMap changes;
  AttachmentFolder attachments;
  FolderLock hold;  ///< Holds `root`.
  bool writeIndex = true;
  std::optional<Error> readOnlyReason;  ///< Set for a session file outside a store: why nothing may be written.

 private:
  std::atomic<bool> foldersSynced_ = false;
};

}  // namespace bough
