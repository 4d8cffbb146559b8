// Maintenance of a file backend's sessions: verify, repair, migrate, archive.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/file/file_store.h"
#include "store/file/open_logs.h"
#include "store/sharing/sharing_backend.h"

namespace bough {

class FileMaintenance final : public SessionMaintenance {
 public:
  FileMaintenance(SharingBackend& backend, FileStore& store, OpenLogs& logs)
      : backend_(backend), store_(store), logs_(logs) {}

  [[nodiscard]] Result<VerifyReport> verify(const std::string& sessionId) override;
  [[nodiscard]] Result<void> detach(const std::string& forkId) override;
  [[nodiscard]] Result<void> detachRest(const std::string& forkId) override;
  [[nodiscard]] Result<RepairReport> repair(const std::string& sessionId) override;
  [[nodiscard]] Result<MigrationResult> migrate(const std::string& sessionId) override;
  [[nodiscard]] Result<ArchiveSizes> archive(const std::string& sessionId) override;
  [[nodiscard]] Result<ErasureReport> erase(const Erasure& erasure) override;

 private:
  Result<std::optional<ForkOrigin>> originLeft(const std::string& sessionId);

  SharingBackend& backend_;
  FileStore& store_;
  OpenLogs& logs_;
};

/// Returns a message for each other copy of a session that is not read but has different content.
Result<std::vector<std::string>> otherCopiesOf(const LogFolders& folders, const std::string& sessionId);

}  // namespace bough
