// Sessions in a folder of plain files. file_store.h lists the files.
#pragma once

#include <memory>
#include <string>

#include "store/file/file_attachments.h"
#include "store/file/file_store.h"
#include "store/file/open_logs.h"
#include "store/sharing/sharing_backend.h"

namespace bough {

class FileBackend : public SharingBackend, public ChangeFeed {
 public:
  static Result<std::shared_ptr<FileBackend>> open(const std::string& folder, const StoreOptions& options,
                                                   const EntrySerializer& serializer, Environment& environment);
  ~FileBackend() override;
  /// Keeps others from removing the store while it is empty. Returns false when it was already removed.
  [[nodiscard]] bool hold();

  [[nodiscard]] std::string describe() const override { return store_->root->path(); }
  [[nodiscard]] const EntrySerializer& serializer() const override { return store_->serializer; }
  [[nodiscard]] bool isUsableAfterFork() const override { return true; }
  [[nodiscard]] Result<void> probe() override;
  [[nodiscard]] Result<std::vector<std::string>> listSessions() override;
  [[nodiscard]] Result<std::unique_ptr<ChangeWatcher>> watch(const std::vector<std::string>& sessionIds) override;
  [[nodiscard]] Result<std::string> settings() override;
  [[nodiscard]] Result<void> saveSettings(std::string_view text) override;
  [[nodiscard]] SessionTrash* trash() override;
  [[nodiscard]] AttachmentStore* attachments() override { return &attachments_; }
  [[nodiscard]] SessionMaintenance* maintenance() override;
  [[nodiscard]] ChangeFeed* changes() override { return this; }

  [[nodiscard]] std::string folder() const override { return store_->root->path(); }
  [[nodiscard]] Result<ChangeSet> since(std::string_view token) override { return store_->changes.since(token); }
  [[nodiscard]] std::uint32_t groupOf(std::string_view sessionId) const override {
    return ChangeMap::groupOf(sessionId);
  }
  [[nodiscard]] Result<std::string> stamp(const std::string& sessionId) override;

  Result<std::shared_ptr<SharingSession>> session(const std::string& sessionId) override;
  bool has(const std::string& sessionId) override;
  Result<SeenOrigin> seenOrigin(const std::string& sessionId) override;
  Result<std::unique_ptr<Hold>> pin(const std::string& sessionId, const std::string& entryId) override;
  Result<void> storeNew(const std::string& sessionId, const std::vector<Entry>& entries) override;
  Result<void> rewrite(const std::string& sessionId, const std::vector<Entry>& entries,
                       const std::string& expectedTail) override;
  Result<void> removeIf(const std::string& sessionId, const Allowed& allowed) override;
  SharingTrash& sharedTrash() override;
  std::optional<std::uint64_t> nameChanges() override { return store_->changes.nameChanges(); }
  Result<std::vector<std::string>> otherCopies(const std::string& sessionId) override;
  Result<void> exportSetAside(const std::function<void(std::string_view)>& use) override;

  /// Returns the open log of a session.
  Result<std::shared_ptr<SessionLog>> log(const std::string& sessionId);

 protected:
  explicit FileBackend(std::unique_ptr<FileStore> store);
  [[nodiscard]] FileStore& store() { return *store_; }

 private:
  Result<void> storeFile(const std::string& sessionId, const std::vector<Entry>& entries);

  std::unique_ptr<FileStore> store_;
  OpenLogs logs_;
  FileAttachments attachments_;
  std::unique_ptr<SharingTrash> trash_;
  std::unique_ptr<SessionMaintenance> maintenance_;
};

}  // namespace bough
