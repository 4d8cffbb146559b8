// Sessions in a folder of plain files.
//
//   sessions/<id>.jsonl     the log            sessions/<id>.idx   its index, rebuildable
//   sessions/<id>.torn      bytes a crash left sessions/<id>.v0    the file a migration replaced
//   attachments/sha256/…    large payloads     archive/<id>.jsonl.zst   cold sessions
//   trash/<id>~<when>.…     what was thrown away            changes     what changed, for catalogs
//   settings.json           what was said about the store as a whole
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/environment.h"
#include "base/ids.h"
#include "base/process_state.h"
#include "bough/storage_backend.h"
#include "bough/store.h"
#include "log/session_log.h"
#include "store/attachments.h"
#include "store/change_map.h"

namespace bough {

/// InvalidArgument when it is none.
Result<void> checkSessionId(const std::string& sessionId);

/// A file of a session, and what it is called in the trash.
struct FilePlace {
  Directory* folder = nullptr;
  std::string name;
  std::string trashName;
  bool isLog = false;
};

class FileBackend : public StorageBackend {
 public:
  static Result<std::shared_ptr<FileBackend>> open(const std::string& folder, const StoreOptions& options,
                                                   const EntrySerializer& serializer, Environment& environment);

  [[nodiscard]] std::string describe() const override { return root_->path(); }
  [[nodiscard]] const EntrySerializer& serializer() const override { return serializer_; }
  [[nodiscard]] bool isUsableAfterFork() const override { return true; }
  Result<void> probe() override;
  Result<std::vector<std::string>> listSessions() override;
  Result<std::string> settings() override;
  Result<void> saveSettings(std::string_view text) override;
  [[nodiscard]] std::string folder() const override { return root_->path(); }
  Result<ChangeSet> changesSince(std::string_view token) override { return changes_.since(token); }
  [[nodiscard]] std::uint32_t changeGroup(std::string_view sessionId) const override {
    return ChangeMap::groupOf(sessionId);
  }
  Result<std::string> stamp(const std::string& sessionId) override;
  Result<void> createSession(const std::string& sessionId, const std::vector<Entry>& entries) override;
  Result<SessionState> state(const std::string& sessionId) override { return stateOf(log(sessionId)); }
  Result<Entry> header(const std::string& sessionId) override;
  Result<std::optional<ForkOrigin>> origin(const std::string& sessionId) override;
  Result<SeenOrigin> seenOrigin(const std::string& sessionId) override { return originSeenIn(log(sessionId)); }
  Result<AppendResult> append(AppendRequest& request) override;
  Result<std::uint64_t> numbering(const std::string& sessionId) override;
  Result<std::optional<std::uint64_t>> sequenceOf(const std::string& sessionId, std::string_view entryId) override;
  Result<std::vector<std::uint64_t>> select(const std::string& sessionId, const Selection& selection) override;
  Result<std::vector<std::uint64_t>> controls(const std::string& sessionId) override;
  Result<SessionOutline> outline(const std::string& sessionId) override;
  Result<std::vector<std::string>> findIds(const std::string& sessionId, std::string_view prefix,
                                           std::size_t limit) override;
  Result<BranchPart> branch(const std::string& sessionId, std::uint64_t leaf, std::size_t limit) override;
  Result<std::vector<Entry>> read(const std::string& sessionId, std::span<const std::uint64_t> sequences) override;
  Result<void> exportLines(const std::string& sessionId, const std::function<bool(std::string_view)>& line) override;
  Result<void> exportSetAside(const std::function<void(std::string_view)>& use) override;
  Result<std::unique_ptr<ChangeWatcher>> watch(const std::string& sessionId) override;
  Result<std::vector<std::string>> otherCopies(const std::string& sessionId) override;
  Result<VerifyReport> verify(const std::string& sessionId) override;
  Result<RepairReport> repair(const std::string& sessionId) override;
  Result<MigrationResult> migrate(const std::string& sessionId) override;
  Result<ArchiveSizes> archive(const std::string& sessionId) override;
  Result<void> rewrite(const std::string& sessionId, const std::vector<Entry>& entries,
                       const std::string& expectedTail) override;
  Result<void> remove(const std::string& sessionId, const std::function<Result<void>()>& allowed) override;
  Result<TrashedSession> trash(const std::string& sessionId, const std::function<Result<void>()>& allowed) override;
  Result<std::vector<TrashedSession>> listTrash() override;
  Result<SessionState> trashedState(const std::string& trashId) override;
  Result<SeenOrigin> trashedOrigin(const std::string& trashId) override { return originSeenIn(trashedLog(trashId)); }
  Result<void> exportTrashedLines(const std::string& trashId,
                                  const std::function<bool(std::string_view)>& line) override;
  Result<void> restore(const std::string& trashId) override;
  Result<void> removeTrashed(const std::string& trashId) override;
  Result<std::unique_ptr<Hold>> pin(const std::string& sessionId, const std::string& entryId) override;
  Result<std::unique_ptr<Hold>> holdAttachments() override { return attachments_.hold(); }
  Result<void> putAttachment(const std::string& sha256, std::string_view bytes) override;
  Result<std::string> getAttachment(const std::string& sha256) override { return attachments_.get(sha256); }
  Result<std::vector<std::string>> listAttachments() override { return attachments_.list(); }
  Result<std::size_t> removeAttachments(const std::vector<std::string>& sha256s,
                                        const std::function<Result<bool>(const std::string&)>& stillUnused) override {
    return attachments_.remove(sha256s, stillUnused);
  }

 protected:
  FileBackend(std::shared_ptr<Directory> root, LogFolders folders, const StoreOptions& options,
              const EntrySerializer& serializer, Environment& environment);

  bool writeIndex_ = true;

 private:
  Result<std::shared_ptr<SessionLog>> log(const std::string& sessionId);
  struct Target {
    std::shared_ptr<SessionLog> log;
    std::uint64_t generation = 0;  ///< Of the log that the request's origin was read from; 0 when that is not known.
    std::uint32_t changeGroup = 0;
  };
  Result<Target> target(const AppendRequest& request);
  void makeRoom();
  void forget(const std::string& sessionId);
  [[nodiscard]] std::vector<FilePlace> placesOf(const std::string& sessionId, const std::string& trashId) const;
  Result<std::shared_ptr<Directory>> trashFolder(bool create);
  Result<std::shared_ptr<SessionLog>> trashedLog(const std::string& trashId);
  Result<SessionState> stateOf(const Result<std::shared_ptr<SessionLog>>& log);
  Result<SeenOrigin> originSeenIn(const Result<std::shared_ptr<SessionLog>>& log);
  Result<std::optional<ForkOrigin>> originLeft(const std::string& sessionId);
  Result<void> settleFolders();

  std::shared_ptr<Directory> root_;
  LogFolders folders_;
  StoreOptions options_;
  const EntrySerializer& serializer_;
  Environment& environment_;
  IdGenerator ids_;
  AttachmentFolder attachments_;
  ChangeMap changes_;
  std::atomic<bool> foldersSynced_ = false;

  struct CachedLog {
    std::shared_ptr<SessionLog> log;
    std::list<std::string>::iterator place;
    std::uint32_t changeGroup = 0;
    std::uint64_t originGeneration = 0;  // of the log, when `origin` was read from it
    std::optional<ForkOrigin> origin;
  };
  // Open logs, the most recently used first: as many as may be open at a time.
  struct OpenLogs {
    std::mutex mutex;
    std::list<std::string> recent;
    std::unordered_map<std::string, CachedLog> logs;
    std::unordered_map<std::string, SessionLog::Trace> traces;  // of logs that were closed for want of room
  };
  PerProcess<OpenLogs> openLogs_;
};

}  // namespace bough
