#include "store/file/file_maintenance.h"

#include <fmt/format.h>

#include "base/try.h"
#include "log/file/archive.h"
#include "store/file/file_erasure.h"
#include "store/file/migration.h"
#include "store/file/verification.h"
#include "store/sharing/fork_history.h"

namespace bough {
namespace {

std::string otherCopyText(const PackedCopy& copy, const OpenLog& counting) {
  return fmt::format(
      "{} is not read and holds something else than {}; look which one is right and move the other out of the store",
      copy.path(), counting.path());
}

}  // namespace

Result<std::vector<std::string>> otherCopiesOf(const LogFolders& folders, const std::string& sessionId) {
  BOUGH_TRY(auto counting, openLog(folders, sessionId));
  BOUGH_TRY(const auto copies, copiesBeside(folders, sessionId, counting));
  std::vector<std::string> texts;
  for (const PackedCopy& copy : copies) {
    if (!copy.isRedundant) texts.push_back(otherCopyText(copy, counting));
  }
  return texts;
}

Result<VerifyReport> FileMaintenance::verify(const std::string& sessionId) {
  BOUGH_TRY(const auto session, logs_.session(sessionId));
  BOUGH_TRY(const auto log, session->log());
  BOUGH_TRY(auto report, verifyLog(*log, *session, store_.serializer));
  BOUGH_TRY(auto counting, openLog(store_.folders, sessionId));
  BOUGH_TRY(const auto copies, copiesBeside(store_.folders, sessionId, counting));
  for (const PackedCopy& copy : copies) {
    ++(copy.isRedundant ? report.noteCount : report.problemCount);
    report.problems.push_back(
        {.kind = copy.isRedundant ? ProblemKind::Leftover : ProblemKind::OtherCopy,
         .offset = 0,
         .bytes = 0,
         .message = copy.isRedundant ? fmt::format("{} holds nothing more; `bough repair` removes it", copy.path())
                                     : otherCopyText(copy, counting)});
  }
  return report;
}

Result<void> FileMaintenance::detach(const std::string& forkId) {
  return backend_.detach(forkId);
}

Result<void> FileMaintenance::detachRest(const std::string& forkId) {
  return backend_.detachRest(forkId);
}

Result<RepairReport> FileMaintenance::repair(const std::string& sessionId) {
  BOUGH_TRY(store_.checkWritable(sessionId));
  const ChangeMark mark(store_.changes, sessionId);
  BOUGH_TRY(auto left, removeLeftovers(store_.folders, sessionId, store_.options.lockTimeoutMs));
  BOUGH_TRY(const auto session, logs_.session(sessionId));
  BOUGH_TRY(const auto log, session->log());
  BOUGH_TRY(auto report, log->repair());
  report.removedFiles = std::move(left.removed);
  report.otherCopies = std::move(left.otherCopies);
  if (!report.otherCopies.empty()) report.path = log->path();
  if (!report.refusal) {
    BOUGH_TRY(const std::uint64_t notEntries, countNotEntries(*log, store_.serializer));
    report.damagedLines += notEntries;
  }
  if (const auto from = session->origin(); from && !report.refusal) {
    if (auto shared = ForkHistory::ofFork(backend_, sessionId, *from); !shared) report.refusal = shared.error();
  }
  return report;
}

// Returns the origin in the rest of an unreadable header, provided that it names an existing entry: the name itself may
// be damaged.
Result<std::optional<ForkOrigin>> FileMaintenance::originLeft(const std::string& sessionId) {
  BOUGH_TRY(const auto seen, backend_.seenOrigin(sessionId));
  if (seen.isCertain || !seen.origin) return std::nullopt;
  const auto shared = ForkHistory::ofFork(backend_, sessionId, seen.origin);
  if (shared && shared->size() > 0) return seen.origin;
  return fail(
      ErrorCode::Damaged,
      fmt::format("the header of session {} cannot be read ({}/{}, byte 0); what is left of it names entry \"{}\" "
                  "of session {}, which is not there",
                  sessionId, store_.folders.sessions->path(), logName(sessionId), seen.origin->entryId,
                  seen.origin->sessionId),
      "bring that one back (`bough trash --restore`, or a copy), or the first line of this one from a copy");
}

Result<MigrationResult> FileMaintenance::migrate(const std::string& sessionId) {
  BOUGH_TRY(store_.checkWritable(sessionId));
  BOUGH_TRY(const auto left, originLeft(sessionId));
  BOUGH_TRY(store_.syncFolders());
  const ChangeMark mark(store_.changes, sessionId);
  auto result = migrateLog(store_.folders, store_.attachments, sessionId, left, store_.serializer, store_.environment,
                           store_.options.lockTimeoutMs);
  logs_.drop(sessionId);
  return result;
}

Result<ArchiveSizes> FileMaintenance::archive(const std::string& sessionId) {
  BOUGH_TRY(store_.checkWritable(sessionId));
  BOUGH_TRY(store_.syncFolders());
  const ChangeMark mark(store_.changes, sessionId);
  auto archived = archiveLog(store_.folders, sessionId, store_.options.lockTimeoutMs);
  logs_.drop(sessionId);
  return archived;
}

Result<ErasureReport> FileMaintenance::erase(const Erasure& erasure) {
  return FileErasure(backend_, store_, logs_).run(erasure);
}

}  // namespace bough
