// Sessions in memory, for as long as the backend lives. For tests, for short-lived agents, and as the shortest example
// of a backend.
#pragma once

#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "base/system/environment.h"
#include "bough/store.h"
#include "store/memory/memory_session.h"

namespace bough {

class MemoryBackend final : public SharingBackend, public ChangeFeed, public SessionMaintenance {
 public:
  MemoryBackend(const EntrySerializer& serializer, Environment& environment);

  [[nodiscard]] std::string describe() const override { return "memory:"; }
  [[nodiscard]] const EntrySerializer& serializer() const override { return store_->serializer; }
  [[nodiscard]] Result<void> probe() override { return {}; }
  [[nodiscard]] Result<std::vector<std::string>> listSessions() override;
  [[nodiscard]] Result<std::unique_ptr<ChangeWatcher>> watch(const std::vector<std::string>& sessionIds) override;
  [[nodiscard]] Result<std::string> settings() override;
  [[nodiscard]] Result<void> saveSettings(std::string_view text) override;
  [[nodiscard]] SessionTrash* trash() override { return &trash_; }
  [[nodiscard]] AttachmentStore* attachments() override { return &attachments_; }
  [[nodiscard]] SessionMaintenance* maintenance() override { return this; }
  [[nodiscard]] ChangeFeed* changes() override { return this; }

  [[nodiscard]] std::string folder() const override { return {}; }
  [[nodiscard]] Result<ChangeSet> since(std::string_view token) override;
  [[nodiscard]] std::uint32_t groupOf(std::string_view) const override { return 0; }
  [[nodiscard]] Result<std::string> stamp(const std::string& sessionId) override;

  [[nodiscard]] Result<VerifyReport> verify(const std::string& sessionId) override;
  [[nodiscard]] Result<void> detach(const std::string& forkId) override { return SharingBackend::detach(forkId); }
  [[nodiscard]] Result<void> detachRest(const std::string& forkId) override {
    return SharingBackend::detachRest(forkId);
  }
  [[nodiscard]] Result<RepairReport> repair(const std::string& sessionId) override;
  [[nodiscard]] Result<MigrationResult> migrate(const std::string& sessionId) override;
  [[nodiscard]] Result<ArchiveSizes> archive(const std::string& sessionId) override;
  [[nodiscard]] Result<ErasureReport> erase(const Erasure& erasure) override;

  Result<std::shared_ptr<SharingSession>> session(const std::string& sessionId) override { return find(sessionId); }
  bool has(const std::string& sessionId) override { return find(sessionId).has_value(); }
  Result<SeenOrigin> seenOrigin(const std::string& sessionId) override;
  Result<std::unique_ptr<Hold>> pin(const std::string& sessionId, const std::string& entryId) override;
  Result<void> storeNew(const std::string& sessionId, const std::vector<Entry>& entries) override;
  Result<void> rewrite(const std::string& sessionId, const std::vector<Entry>& entries,
                       const std::string& expectedTail) override;
  Result<void> removeIf(const std::string& sessionId, const Allowed& allowed) override;
  SharingTrash& sharedTrash() override { return trash_; }
  std::optional<std::uint64_t> nameChanges() override { return std::nullopt; }

 private:
  explicit MemoryBackend(std::shared_ptr<MemoryStore> store);

  class Trash final : public SharingTrash {
   public:
    explicit Trash(MemoryBackend& backend) : SharingTrash(backend), backend_(backend) {}
    [[nodiscard]] Result<std::vector<TrashedSession>> list() override;
    [[nodiscard]] Result<void> exportLines(const std::string& trashId,
                                           const std::function<bool(std::string_view)>& line) override;
    Result<TrashedSession> moveIf(const std::string& sessionId, const Allowed& allowed) override;
    Result<SessionState> stateOf(const std::string& trashId) override;
    Result<SeenOrigin> originOf(const std::string& trashId) override;
    Result<void> moveBack(const std::string& trashId) override;
    Result<void> removeOne(const std::string& trashId) override;
    /// Returns the logs with the id of their session.
    std::vector<std::pair<std::string, std::shared_ptr<MemoryLog>>> logs();

   private:
    struct Trashed {
      TrashedSession about;
      std::shared_ptr<MemoryLog> log;
    };
    Result<Trashed> find(const std::string& trashId);
    MemoryBackend& backend_;
    std::map<std::string, Trashed> trashed_;  // guarded by the backend's mutex_
  };

  class Attachments final : public SharingAttachments {
   public:
    using SharingAttachments::SharingAttachments;
    [[nodiscard]] Result<std::unique_ptr<Hold>> hold() override;
    [[nodiscard]] Result<void> put(const std::string& sha256, std::string_view bytes) override;
    [[nodiscard]] Result<std::string> get(const std::string& sha256) override;
    Result<std::vector<std::string>> list() override;
    Result<std::size_t> removeIf(const std::vector<std::string>& sha256s,
                                 const std::function<Result<bool>(const std::string&)>& isUnused) override;

   private:
    std::mutex mutex_;
    std::map<std::string, std::string> bytes_;
    std::shared_mutex adding_;  // shared while attachments are added, exclusive while they are removed
  };

  Result<std::shared_ptr<MemorySession>> find(const std::string& sessionId);
  /// Returns the logs of the sessions and of the trash, with the id of their session.
  std::vector<std::pair<std::string, std::shared_ptr<MemoryLog>>> allLogs();
  /// Adds a session. AlreadyExists when there is one with that id.
  Result<void> place(const std::string& sessionId, std::shared_ptr<MemoryLog> log);
  /// Drops a removed session that nobody has open.
  void dropUnused(const std::string& sessionId);
  template <typename Lock>
  struct LockedSession;
  template <typename Lock>
  Result<LockedSession<Lock>> lockSession(const std::string& sessionId);

  std::shared_ptr<MemoryStore> store_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<MemorySession>> sessions_;  // includes removed sessions that somebody has open
  std::string settings_;
  Trash trash_;
  Attachments attachments_;
};

}  // namespace bough
