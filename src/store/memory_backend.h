// Sessions in memory, as long as the backend lives.
#pragma once

#include <memory>

#include "base/environment.h"
#include "base/ids.h"
#include "bough/store.h"

namespace bough {

struct MemorySession;

class MemoryBackend final : public StorageBackend {
 public:
  MemoryBackend(const EntrySerializer& serializer, Environment& environment);

  [[nodiscard]] std::string describe() const override { return "memory:"; }
  [[nodiscard]] const EntrySerializer& serializer() const override { return serializer_; }
  Result<void> probe() override { return {}; }
  Result<std::vector<std::string>> listSessions() override;
  Result<std::string> settings() override;
  Result<void> saveSettings(std::string_view text) override;
  [[nodiscard]] std::string folder() const override { return {}; }
  Result<ChangeSet> changesSince(std::string_view token) override;
  [[nodiscard]] std::uint32_t changeGroup(std::string_view) const override { return 0; }
  Result<std::string> stamp(const std::string& sessionId) override;
  Result<void> createSession(const std::string& sessionId, const std::vector<Entry>& entries) override;
  Result<SessionState> state(const std::string& sessionId) override;
  Result<Entry> header(const std::string& sessionId) override;
  Result<std::optional<ForkOrigin>> origin(const std::string& sessionId) override;
  Result<SeenOrigin> seenOrigin(const std::string& sessionId) override;
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
  Result<std::unique_ptr<ChangeWatcher>> watch(const std::string& sessionId) override;
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
  Result<SeenOrigin> trashedOrigin(const std::string& trashId) override;
  Result<void> exportTrashedLines(const std::string& trashId,
                                  const std::function<bool(std::string_view)>& line) override;
  Result<void> restore(const std::string& trashId) override;
  Result<void> removeTrashed(const std::string& trashId) override;
  Result<std::unique_ptr<Hold>> pin(const std::string& sessionId, const std::string& entryId) override;
  Result<std::unique_ptr<Hold>> holdAttachments() override;
  Result<void> putAttachment(const std::string& sha256, std::string_view bytes) override;
  Result<std::string> getAttachment(const std::string& sha256) override;
  Result<std::vector<std::string>> listAttachments() override;
  Result<std::size_t> removeAttachments(const std::vector<std::string>& sha256s,
                                        const std::function<Result<bool>(const std::string&)>& stillUnused) override;

 private:
  struct State;
  class MemoryWatcher;
  class AttachmentHold;
  Result<std::shared_ptr<MemorySession>> session(const std::string& sessionId);
  Result<std::shared_ptr<MemorySession>> trashed(const std::string& trashId);
  Result<SessionState> stateOf(const std::string& sessionId, MemorySession& known);
  void noteChange(const std::string& sessionId);

  const EntrySerializer& serializer_;
  Environment& environment_;
  IdGenerator ids_;
  std::shared_ptr<State> state_;
};

}  // namespace bough
