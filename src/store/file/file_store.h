// A store in a folder of plain files: where things are, and what its parts share.
//
//   sessions/<id>.jsonl     the log            sessions/<id>.idx   its index, rebuildable
//   sessions/<id>.torn      bytes a crash left sessions/<id>.v0    the file a migration replaced
//   attachments/sha256/…    large payloads     archive/<id>.jsonl.zst   cold sessions
//   trash/<id>~<when>.…     what was thrown away            changes     what changed, for catalogs
//   settings.json           what was said about the store as a whole
//   removed                 ids of sessions that were removed for good
//   erasure.json            an erasure that is under way           catalog.db  derived; emptied by an erasure
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/model/ids.h"
#include "base/system/environment.h"
#include "base/system/folder_hold.h"
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

/// All calls may come from any thread.
struct FileStore {
  FileStore(std::shared_ptr<Directory> rootFolder, LogFolders logFolders, const StoreOptions& storeOptions,
            const EntrySerializer& entrySerializer, Environment& env);

  static Result<std::unique_ptr<FileStore>> open(const std::string& folder, const StoreOptions& options,
                                                 const EntrySerializer& serializer, Environment& environment);

  /// ReadOnly for a session file outside of a store; checks the id.
  [[nodiscard]] Result<void> mayWrite(const std::string& sessionId) const;
  /// Before anything is acknowledged that lies in the store's folders, their names are durable. Not only who makes them
  /// sees to that: it may have died in between.
  Result<void> syncFolders();
  Result<std::shared_ptr<Directory>> trashFolder(bool create) const;
  /// Asks who else in the store has counted entries of a session. Not to be called when the store is gone.
  [[nodiscard]] AskElsewhere askElsewhere(const std::string& sessionId) const;

  const std::shared_ptr<Directory> root;
  const LogFolders folders;
  const StoreOptions options;
  const EntrySerializer& serializer;
  Environment& environment;
  IdGenerator ids;
  ChangeMap changes;
  AttachmentFolder attachments;
  FolderHold hold;  ///< Of `root`.
  bool writeIndex = true;
  std::optional<Error> onlyRead;  ///< Why nothing may be written, for a session file outside of a store.

 private:
  std::atomic<bool> foldersSynced_ = false;
};

}  // namespace bough
