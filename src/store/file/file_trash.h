// The trash of a file backend, in the folder `trash`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/file/file_store.h"
#include "store/file/open_logs.h"
#include "store/sharing/sharing_backend.h"

namespace bough {

class FileTrash final : public SharingTrash {
 public:
  FileTrash(SharingBackend& backend, FileStore& store, OpenLogs& logs)
      : SharingTrash(backend), store_(store), logs_(logs) {}

  [[nodiscard]] Result<std::vector<TrashedSession>> list() override;
  [[nodiscard]] Result<void> exportLines(const std::string& trashId,
                                         const std::function<bool(std::string_view)>& line) override;
  Result<TrashedSession> moveIf(const std::string& sessionId, const Allowed& allowed) override;
  Result<SessionState> stateOf(const std::string& trashId) override;
  Result<SeenOrigin> originOf(const std::string& trashId) override;
  Result<void> moveBack(const std::string& trashId) override;
  Result<void> removeOne(const std::string& trashId) override;
  [[nodiscard]] Result<std::vector<std::string>> missing(std::vector<std::string> sessionIds) override;

 private:
  /// A file of a session, and its name in the trash.
  struct FilePlace {
    Directory* folder = nullptr;
    std::string name;
    std::string trashName;
    bool isLog = false;
  };
  [[nodiscard]] std::vector<FilePlace> placesOf(const std::string& sessionId, const std::string& trashId) const;
  [[nodiscard]] Result<void> undoInterrupted(const std::string& sessionId, const std::shared_ptr<Directory>& trash);
  /// Returns true when the session in the trash still has, or again has, its name in the store: one file with two
  /// names.
  [[nodiscard]] bool hasNameInStore(const std::string& sessionId, const std::string& trashId, Directory& trash) const;
  /// Locks the session of that id in the store if there is one, otherwise the one in the trash. Nobody else moves the
  /// one in the trash meanwhile: a process that moves a session to the trash holds the lock of its log, which is the
  /// same under both names.
  [[nodiscard]] Result<OpenLog> lockLog(const std::string& sessionId, const std::string& trashId,
                                        const std::shared_ptr<Directory>& trash, int timeoutMs) const;
  /// Finishes an interrupted move, unless another process is at work on it.
  Result<void> removeSecondName(const TrashedSession& found, const std::shared_ptr<Directory>& trash);
  Result<void> moveBackLocked(const std::string& sessionId, const std::string& trashId,
                              const std::shared_ptr<Directory>& trash);
  /// Removes the files in the trash only.
  Result<void> removeFiles(const std::string& trashId);
  Result<std::shared_ptr<SessionLog>> trashedLog(const std::string& trashId);

  FileStore& store_;
  OpenLogs& logs_;
};

}  // namespace bough
