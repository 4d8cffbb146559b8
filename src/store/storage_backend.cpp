// Defaults for what a backend need not implement.

#include "bough/storage_backend.h"

#include "base/try.h"

namespace bough {

std::vector<Result<AppendResult>> StorageBackend::append(const std::vector<SessionAppend>& batches) {
  std::vector<Result<AppendResult>> results;
  results.reserve(batches.size());
  for (const SessionAppend& batch : batches) results.push_back(batch.session->append(*batch.request));
  return results;
}

Result<std::unique_ptr<ChangeWatcher>> StorageBackend::watch(const std::vector<std::string>& /*sessionIds*/) {
  return fail(ErrorCode::Unsupported, "this kind of store cannot be watched as a whole",
              "follow its sessions one by one");
}

Result<void> StorageBackend::saveSettings(std::string_view /*text*/) {
  return fail(ErrorCode::Unsupported, "this kind of store keeps no settings");
}

Result<std::uint64_t> StoredSession::beginTurn() {
  return fail(ErrorCode::Unsupported, "this kind of store does not number turns");
}

Result<std::uint64_t> StoredSession::leaseTurn(const TurnLease& /*lease*/) {
  return fail(ErrorCode::Unsupported, "this kind of store does not lease turns");
}

Result<RepairReport> SessionMaintenance::repair(const std::string& sessionId) {
  BOUGH_TRY(verify(sessionId));
  return RepairReport{.sessionId = sessionId};
}

Result<MigrationResult> SessionMaintenance::migrate(const std::string& /*sessionId*/) {
  return fail(ErrorCode::Unsupported, "this kind of store has no sessions of an older format");
}

Result<ArchiveSizes> SessionMaintenance::archive(const std::string& /*sessionId*/) {
  return fail(ErrorCode::Unsupported, "this kind of store has no archive", "use a store in a folder");
}

Result<ErasureReport> SessionMaintenance::erase(const Erasure& /*erasure*/) {
  return fail(ErrorCode::Unsupported, "this kind of store cannot erase payloads for good",
              "`bough redact` hides them; or copy the sessions to a store in a folder and erase them there");
}

}  // namespace bough
