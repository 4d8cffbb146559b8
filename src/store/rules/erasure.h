// What erasing an entry for good means, in any backend.
//
// The entry keeps its id, parent, type, timestamp and run. Its payload becomes `{"erased":{"receiptId":"…"}}`; meta and
// unknown members are removed. A receipt is added: a `redaction` of the entry whose payload also contains
// `"erased":{"sha256":"…","bytes":n}`, so that every view treats the entry as redacted. The digest is in upper case,
// because 64 lower-case digits would count as the name of an attachment.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/model/ids.h"
#include "bough/entry.h"
#include "bough/maintenance.h"
#include "bough/storage_backend.h"

namespace bough {

/// The place of an unreadable entry that is to be erased.
struct DamagedPlace {
  std::uint64_t offset = 0;
  std::string parentId;
};

/// One entry to erase.
struct ErasureTarget {
  std::string entryId;
  std::string sessionId;  ///< The session to which the entry belongs.
  /// Of the payload as stored in the line: distinguishes copies from other entries with the same id. For a damaged
  /// entry, of its line.
  std::string storedSha256;
  std::string sha256;  ///< Of the payload itself, or of the damaged line, in upper case.
  std::uint64_t bytes = 0;
  std::string receiptId;
  std::optional<DamagedPlace> damaged = {};

  /// Sets the content of a damaged entry's line, without its line end.
  void setLine(std::string_view line);
};

/// An erasure that was decided on. Contains nothing of what is erased.
struct ErasurePlan {
  std::string sessionId;  ///< The session in which the entries were named.
  std::string by;
  std::string reason;
  std::string timestamp;
  std::map<std::string, ErasureTarget, std::less<>> targets;  ///< By entry id.
  std::vector<std::string> attachments;                       ///< SHA-256s of payloads that are stored as attachments.

  /// Attachments with which a migration to another provider can be undone. They contain the original messages, so they
  /// are removed although entries name them.
  std::vector<std::string> wayBackAttachments;

  [[nodiscard]] const ErasureTarget* find(std::string_view entryId) const;
};

/// Returns InvalidArgument when an erasure lacks entries, a name or a reason.
Result<void> checkErasure(const Erasure& erasure);

/// Adds an own entry of a session to a plan, unless it is already there. InvalidArgument when the entry is needed to
/// read the session, or was erased before.
Result<void> addTarget(ErasurePlan& plan, const std::string& sessionId, const Entry& stored, IdGenerator& ids);

/// A line for which isDerivedFrom is true contains at least one of these words.
inline constexpr std::string_view kDerivedMarkers[] = {R"("migration")", R"("carries")"};
/// Returns true when `stored` repeats an entry of the plan: it was converted from that entry, or is another agent's
/// line that was written for it.
bool isDerivedFrom(const ErasurePlan& plan, const Entry& stored);

/// The line of another agent's file that an imported entry came from.
struct AgentLine {
  std::string agent;
  std::uint64_t at = 0;         ///< Its offset in that file.
  bool payloadHasLine = false;  ///< The payload contains the line, also on behalf of later entries from the same line.

  [[nodiscard]] bool isSame(const AgentLine& other) const { return agent == other.agent && at == other.at; }
};
/// Returns std::nullopt for an entry that was not imported.
std::optional<AgentLine> agentLineOf(std::string_view payload);

/// Returns the attachments named in a line that may be the way back of a migration.
std::vector<std::string> wayBackAttachmentsIn(std::string_view line);
/// Returns true when the way back of a migration contains an entry of the plan.
bool wayBackNamesTarget(const ErasurePlan& plan, std::string_view wayBack);

/// Returns true when a payload is the result of an erasure.
bool isErasedPayload(std::string_view payload);

/// Returns the erased form of an entry.
Entry erasedEntry(const Entry& stored, const ErasureTarget& target);
/// Returns the erased form of an entry that cannot be read: a custom entry in its place.
Entry erasedDamagedEntry(const ErasurePlan& plan, const ErasureTarget& target);

/// Returns the receipt for one entry. `parentId` is the head of its session.
Entry receiptOf(const ErasurePlan& plan, const ErasureTarget& target, std::string_view parentId);

/// Returns the report for the caller.
ErasureReport reportOf(const ErasurePlan& plan);

}  // namespace bough
