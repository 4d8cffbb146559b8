// A store in PostgreSQL, as described in docs/scale.md. The rules for forks, trash and removal are the common ones of
// all backends that share history (store/sharing); reading and writing are SQL.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/postgres/catalog/postgres_catalog.h"
#include "store/postgres/change_feed.h"
#include "store/postgres/postgres_session.h"
#include "store/postgres/schema/database.h"
#include "store/sharing/sharing_backend.h"

namespace bough::postgres {

class PostgresTrash final : public SharingTrash {
 public:
  PostgresTrash(SharingBackend& backend, Database& database) : SharingTrash(backend), database_(database) {}

  [[nodiscard]] Result<std::vector<TrashedSession>> list() override;
  [[nodiscard]] Result<void> exportLines(const std::string& trashId,
                                         const std::function<bool(std::string_view)>& line) override;
  Result<TrashedSession> moveIf(const std::string& sessionId, const Allowed& allowed) override;
  Result<SessionState> stateOf(const std::string& trashId) override;
  Result<SeenOrigin> originOf(const std::string& trashId) override;
  Result<SeenOrigins> origins() override;
  Result<void> moveBack(const std::string& trashId) override;
  Result<void> removeOne(const std::string& trashId) override;

 private:
  Result<Rows> find(const std::string& trashId);
  Database& database_;
};

class PostgresAttachments final : public AttachmentStore {
 public:
  explicit PostgresAttachments(Database& database) : database_(database) {}

  [[nodiscard]] Result<std::unique_ptr<Hold>> hold() override;
  [[nodiscard]] Result<void> put(const std::string& sha256, std::string_view bytes) override;
  [[nodiscard]] Result<std::string> get(const std::string& sha256) override;
  [[nodiscard]] Result<std::vector<std::string>> unused() override;
  [[nodiscard]] Result<std::size_t> removeUnused(const std::vector<std::string>& sha256s) override;

 private:
  class Holder;
  Database& database_;
};

class PostgresBackend final : public SharingBackend, public ChangeFeed, public SessionMaintenance {
 public:
  explicit PostgresBackend(std::unique_ptr<Database> database);
  static Result<std::shared_ptr<PostgresBackend>> open(const std::string& url, PoolOptions options,
                                                       const EntrySerializer& serializer, Environment& environment);

  /// Sets the folder for derived data. Without a folder, derived data is kept in memory.
  void keepCatalogIn(std::string folder) { catalogFolder_ = std::move(folder); }

  /// Makes probe() fail when the clocks of this machine and of the server differ by more than a day.
  void requireClock() { requiresClock_ = true; }

  [[nodiscard]] std::string describe() const override { return database_->shown(); }
  [[nodiscard]] const EntrySerializer& serializer() const override { return database_->serializer; }
  [[nodiscard]] Result<void> probe() override;
  [[nodiscard]] Result<std::vector<std::string>> listSessions() override;
  [[nodiscard]] Result<void> create(const SessionCreation& session) override;
  [[nodiscard]] Result<std::vector<std::string>> forksOf(const std::string& sessionId) override;
  [[nodiscard]] std::vector<Result<AppendResult>> append(const std::vector<SessionAppend>& batches) override;
  [[nodiscard]] Result<std::unique_ptr<ChangeWatcher>> watch(const std::vector<std::string>& sessionIds) override;
  [[nodiscard]] Result<std::string> settings() override;
  [[nodiscard]] Result<void> saveSettings(std::string_view text) override;
  [[nodiscard]] SessionTrash* trash() override { return &trash_; }
  [[nodiscard]] AttachmentStore* attachments() override { return &attachments_; }
  [[nodiscard]] SessionMaintenance* maintenance() override { return this; }
  [[nodiscard]] ChangeFeed* changes() override { return this; }
  [[nodiscard]] CatalogSource* catalog() override { return &catalog_; }

  [[nodiscard]] std::string folder() const override;
  [[nodiscard]] Result<ChangeSet> since(std::string_view token) override;
  [[nodiscard]] std::uint32_t groupOf(std::string_view) const override { return 0; }
  [[nodiscard]] Result<std::string> stamp(const std::string& sessionId) override;

  [[nodiscard]] Result<VerifyReport> verify(const std::string& sessionId) override;
  [[nodiscard]] Result<MigrationResult> migrate(const std::string& sessionId) override;
  [[nodiscard]] Result<ErasureReport> erase(const Erasure& erasure) override;
  [[nodiscard]] Result<void> detach(const std::string& forkId) override { return SharingBackend::detach(forkId); }
  [[nodiscard]] Result<void> detachRest(const std::string& forkId) override {
    return SharingBackend::detachRest(forkId);
  }

  Result<std::shared_ptr<SharingSession>> session(const std::string& sessionId) override;
  bool has(const std::string& sessionId) override;
  Result<SeenOrigin> seenOrigin(const std::string& sessionId) override;
  Result<SeenOrigins> seenOrigins(const std::function<bool(const std::string&)>& isKnown) override;
  Result<std::unique_ptr<Hold>> pin(const std::string& sessionId, const std::string& entryId) override;
  Result<void> storeNew(const std::string& sessionId, const std::vector<Entry>& entries) override;
  Result<void> rewrite(const std::string& sessionId, const std::vector<Entry>& entries,
                       const std::string& expectedTail) override;
  Result<void> removeIf(const std::string& sessionId, const Allowed& allowed) override;
  SharingTrash& sharedTrash() override { return trash_; }
  std::optional<std::uint64_t> nameChanges() override { return std::nullopt; }

 private:
  std::string catalogFolder_;
  bool requiresClock_ = false;
  std::unique_ptr<Database> database_;
  AppendQueue queue_;
  ChangeHub hub_;
  PostgresTrash trash_;
  PostgresAttachments attachments_;
  PostgresCatalog catalog_;
};

/// A change of a session whose row is locked.
struct SessionChange {
  std::function<std::vector<Call>(const Rows& session)> calls;
  /// Returns a statement that gives a row if the change was made to this life of the session. It is asked when the
  /// answer of an earlier attempt was lost. Otherwise the change would be made twice, or to a session that was created
  /// since, or its result would be taken for another client's.
  std::function<Call(std::int64_t life)> isDone;
};

/// Locks a session's row, calls `allowed`, and then makes the change in the same transaction. NotFound when there is no
/// such session.
Result<void> changeIf(Database& database, const std::string& sessionId, const Allowed& allowed,
                      const SessionChange& change);

/// Returns a statement that gives a row if a session has this life, for use as SessionChange::isDone.
Call hasLife(Database& database, const std::string& sessionId, std::int64_t life);

}  // namespace bough::postgres
