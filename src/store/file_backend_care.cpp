// How FileBackend looks after a session's files: verifying, repairing, migrating, archiving, writing anew.

#include <fmt/format.h>

#include "log/archive.h"
#include "store/file_backend.h"
#include "store/fork_history.h"
#include "store/header.h"
#include "store/migration.h"
#include "store/verification.h"

namespace bough {
namespace {

std::string otherCopyText(const PackedCopy& copy, const OpenLog& counting) {
  return fmt::format(
      "{} is not read and holds something else than {}; look which one is right and move the other out of the store",
      copy.path(), counting.path());
}

}  // namespace

Result<std::vector<std::string>> FileBackend::otherCopies(const std::string& sessionId) {
  auto counting = openLog(folders_, sessionId);
  if (!counting) return std::unexpected(counting.error());
  const auto copies = copiesBeside(folders_, sessionId, *counting);
  if (!copies) return std::unexpected(copies.error());
  std::vector<std::string> texts;
  for (const PackedCopy& copy : *copies) {
    if (!copy.covered) texts.push_back(otherCopyText(copy, *counting));
  }
  return texts;
}

Result<VerifyReport> FileBackend::verify(const std::string& sessionId) {
  auto session = log(sessionId);
  if (!session) return std::unexpected(session.error());
  auto report = verifyLog(**session, serializer_, *this);
  if (!report) return report;
  auto counting = openLog(folders_, sessionId);
  if (!counting) return std::unexpected(counting.error());
  auto copies = copiesBeside(folders_, sessionId, *counting);
  if (!copies) return std::unexpected(copies.error());
  for (const PackedCopy& copy : *copies) {
    ++(copy.covered ? report->noteCount : report->problemCount);
    report->problems.push_back(
        {.kind = copy.covered ? ProblemKind::Leftover : ProblemKind::OtherCopy,
         .offset = 0,
         .bytes = 0,
         .message = copy.covered ? fmt::format("{} holds nothing more; `bough repair` removes it", copy.path())
                                 : otherCopyText(copy, *counting)});
  }
  return report;
}

Result<RepairReport> FileBackend::repair(const std::string& sessionId) {
  if (auto valid = checkSessionId(sessionId); !valid) return std::unexpected(valid.error());
  const ChangeMark mark(changes_, sessionId);
  auto left = removeLeftovers(folders_, sessionId, options_.lockTimeoutMs);
  if (!left) return std::unexpected(left.error());
  auto session = log(sessionId);
  if (!session) return std::unexpected(session.error());
  auto report = (*session)->repair();
  if (!report) return report;
  report->removedFiles = std::move(left->removed);
  report->otherCopies = std::move(left->otherCopies);
  if (!report->otherCopies.empty()) report->path = (*session)->path();
  if (const auto from = origin(sessionId); from && !report->refusal) {
    if (auto shared = ForkHistory::ofFork(*this, sessionId, *from); !shared) report->refusal = shared.error();
  }
  return report;
}

// What is left of a header that cannot be read is taken over when it names an entry that is there: the name may be what
// was damaged.
Result<std::optional<ForkOrigin>> FileBackend::originLeft(const std::string& sessionId) {
  auto seen = seenOrigin(sessionId);
  if (!seen) return std::unexpected(seen.error());
  if (seen->sure || !seen->origin) return std::nullopt;
  const auto shared = ForkHistory::ofFork(*this, sessionId, seen->origin);
  if (shared && shared->size() > 0) return seen->origin;
  return fail(
      ErrorCode::Damaged,
      fmt::format("the header of session {} cannot be read ({}/{}, byte 0); what is left of it names entry \"{}\" "
                  "of session {}, which is not there",
                  sessionId, folders_.sessions->path(), logName(sessionId), seen->origin->entryId,
                  seen->origin->sessionId),
      "bring that one back (`bough trash --restore`, or a copy), or the first line of this one from a copy");
}

Result<MigrationResult> FileBackend::migrate(const std::string& sessionId) {
  if (auto valid = checkSessionId(sessionId); !valid) return std::unexpected(valid.error());
  auto left = originLeft(sessionId);
  if (!left) return std::unexpected(left.error());
  if (auto settled = settleFolders(); !settled) return std::unexpected(settled.error());
  const ChangeMark mark(changes_, sessionId);
  auto result = migrateLog(folders_, attachments_, sessionId, *left, serializer_, environment_, options_.lockTimeoutMs);
  forget(sessionId);
  return result;
}

Result<ArchiveSizes> FileBackend::archive(const std::string& sessionId) {
  if (auto valid = checkSessionId(sessionId); !valid) return std::unexpected(valid.error());
  if (auto settled = settleFolders(); !settled) return std::unexpected(settled.error());
  const ChangeMark mark(changes_, sessionId);
  auto archived = archiveLog(folders_, sessionId, options_.lockTimeoutMs);
  forget(sessionId);
  return archived;
}

Result<void> FileBackend::rewrite(const std::string& sessionId, const std::vector<Entry>& entries,
                                  const std::string& expectedTail) {
  if (auto valid = checkSessionId(sessionId); !valid) return valid;
  if (auto settled = settleFolders(); !settled) return settled;
  const ChangeMark mark(changes_, sessionId);
  auto rewritten = rewriteLog(folders_, sessionId, entries, expectedTail, serializer_, options_.lockTimeoutMs);
  forget(sessionId);
  return rewritten;
}

}  // namespace bough
