#include "store/file/file_store.h"

#include <fmt/format.h>

#include <cerrno>

#include "base/system/file_io.h"
#include "base/try.h"
#include "store/file/parts/counted_places.h"
#include "store/rules/header.h"

namespace bough {
namespace {

Result<std::shared_ptr<Directory>> makeFolder(Directory& parent, std::string_view name, bool create) {
  auto folder = parent.openDirectory(name, create);
  const std::string path = fmt::format("{}/{}", parent.path(), name);
  if (!folder) return std::unexpected(systemError(folder.error(), "open", path));
  return std::shared_ptr<Directory>(std::move(*folder));
}

}  // namespace

FileStore::FileStore(std::shared_ptr<Directory> rootFolder, LogFolders logFolders, const StoreOptions& storeOptions,
                     const EntrySerializer& entrySerializer, Environment& env)
    : root(std::move(rootFolder)),
      folders(std::move(logFolders)),
      options(storeOptions),
      serializer(entrySerializer),
      environment(env),
      ids(env.clock, env.random),
      changes(root, env),
      attachments(root, env, storeOptions.lockTimeoutMs) {}

Result<std::unique_ptr<FileStore>> FileStore::open(const std::string& folder, const StoreOptions& options,
                                                   const EntrySerializer& serializer, Environment& environment) {
  auto root = environment.files.openRoot(folder, options.create);
  if (!root && root.error() == ENOENT && !options.create) {
    return fail(ErrorCode::NotFound, fmt::format("there is no store at {}", folder),
                "`bough new` makes one; --store or BOUGH_STORE names another");
  }
  if (!root && root.error() == ENOTDIR) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} is not a folder", folder),
                "name a folder with --store or BOUGH_STORE");
  }
  if (!root) {
    Error error = systemError(root.error(), root.error() == ENOENT ? "make the store" : "open the store", folder);
    if (root.error() == ENOENT) error.hint = "--store or BOUGH_STORE names another place";
    return std::unexpected(std::move(error));
  }
  std::shared_ptr<Directory> store = std::move(*root);

  // A store that cannot be written is opened for reading, with the folders that exist.
  const bool create = options.create && store->checkWritable().has_value();
  LogFolders folders;
  auto sessions = makeFolder(*store, store_folder::kSessions, create);
  if (!sessions && sessions.error().code == ErrorCode::NotFound) {
    return fail(ErrorCode::NotFound, fmt::format("{} is not a store: it has no folder `sessions`", folder),
                "`bough new` makes one; --store or BOUGH_STORE names another");
  }
  if (!sessions) return std::unexpected(sessions.error());
  folders.sessions = std::move(*sessions);
  auto archive = makeFolder(*store, store_folder::kArchive, create);
  if (archive) folders.archive = std::move(*archive);
  auto attachments = makeFolder(*store, store_folder::kAttachments, create);
  for (const auto* made : {&archive, &attachments}) {
    if (!*made && made->error().code != ErrorCode::NotFound) return std::unexpected(made->error());
  }
  return std::make_unique<FileStore>(std::move(store), std::move(folders), options, serializer, environment);
}

Result<void> FileStore::checkWritable(const std::string& sessionId) const {
  if (readOnlyReason) return std::unexpected(*readOnlyReason);
  return checkSessionId(sessionId);
}

Result<void> FileStore::syncFolders() {
  if (foldersSynced_) return {};
  BOUGH_TRY(orError(root->sync(), "sync", root->path()));
  foldersSynced_ = true;
  return {};
}

Result<std::shared_ptr<Directory>> FileStore::trashFolder(bool create) const {
  auto folder = root->openDirectory(store_folder::kTrash, create);
  if (!folder) return std::unexpected(systemError(folder.error(), "open", root->path() + "/trash"));
  if (create) {
    BOUGH_TRY(orError(root->sync(), "sync", root->path()));
  }
  return std::shared_ptr<Directory>(std::move(*folder));
}

AskElsewhere FileStore::askElsewhere(const std::string& sessionId) const {
  return [this, sessionId](std::string_view firstLine) -> CountedElsewhere {
    if (readOnlyReason) return {};
    return countedElsewhere(
        {.root = *root, .folders = folders, .trash = store_folder::kTrash, .serializer = serializer}, sessionId,
        firstLine);
  };
}

}  // namespace bough
