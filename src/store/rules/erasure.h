// What erasing an entry for good means, whatever a backend stores it in.
//
// The entry keeps its id, parent, type, time and run. Its payload becomes `{"erased":{"receiptId":"…"}}`; meta and
// unknown members go. A receipt is added: a `redaction` of the entry whose payload also holds
// `"erased":{"sha256":"…","bytes":n}`, so that every view treats the entry as a redacted one. The digest is in upper
// case: 64 lower-case digits would count as the name of an attachment.
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

/// Where an entry to erase stands that cannot be read.
struct DamagedPlace {
  std::uint64_t offset = 0;
  std::string parentId;
};

/// One entry to erase.
struct ErasureTarget {
  std::string entryId;
  std::string sessionId;  ///< Whose own entry it is.
  /// Of the payload as its line holds it: tells copies from others with the same id. Of a damaged entry, of its line.
  std::string storedSha256;
  std::string sha256;  ///< Of the payload itself, or of the damaged line, in upper case.
  std::uint64_t bytes = 0;
  std::string receiptId;
  std::optional<DamagedPlace> damaged = {};

  /// Says what a damaged entry's line holds, without its line end.
  void setLine(std::string_view line);
};

/// An erasure that was decided on. It holds nothing of what is erased.
struct ErasurePlan {
  std::string sessionId;  ///< In which they were named.
  std::string by;
  std::string reason;
  std::string timestamp;
  std::map<std::string, ErasureTarget, std::less<>> targets;  ///< By entry.
  std::vector<std::string> attachments;                       ///< SHA-256s of payloads that are kept as attachments.

  /// Attachments with which a migration to another provider can be undone: they hold the original messages, and go
  /// though they are named.
  std::vector<std::string> wayBacks;

  [[nodiscard]] const ErasureTarget* find(std::string_view entryId) const;
};

/// InvalidArgument when an erasure lacks entries, a name or a reason.
Result<void> checkErasure(const Erasure& erasure);

/// Adds an own entry of a session to a plan, unless it is there. InvalidArgument when a session is read by it, or it
/// was erased before.
Result<void> addTarget(ErasurePlan& plan, const std::string& sessionId, const Entry& stored, IdGenerator& ids);

/// Words of a line of which one is in it when `isMadeFrom` may be true.
inline constexpr std::string_view kMadeFromWords[] = {R"("migration")", R"("carries")"};
/// Whether `stored` says the same as an entry of the plan: it was converted from it, or is another agent's line that
/// was written for it.
bool isMadeFrom(const ErasurePlan& plan, const Entry& stored);

/// Which line of another agent's file an imported entry came from.
struct AgentLine {
  std::string agent;
  std::uint64_t at = 0;  ///< Its offset.
  bool isHere = false;   ///< The payload holds the line, also for the entries after it that came from the same line.

  [[nodiscard]] bool isSame(const AgentLine& other) const { return agent == other.agent && at == other.at; }
};
/// None for an entry that was not imported.
std::optional<AgentLine> agentLineOf(std::string_view payload);

/// The attachments that a line names which may be the way back of a migration.
std::vector<std::string> wayBacksNamedIn(std::string_view line);
/// Whether the way back of a migration holds an entry of the plan.
bool wayBackHolds(const ErasurePlan& plan, std::string_view wayBack);

/// Whether a payload is what erasing left.
bool isErasedPayload(std::string_view payload);

/// What erasing leaves of an entry.
Entry erasedEntry(const Entry& stored, const ErasureTarget& target);
/// The same of one that cannot be read: a custom entry in its place.
Entry erasedDamage(const ErasurePlan& plan, const ErasureTarget& target);

/// The receipt of one entry; `parentId` is the head of its session.
Entry receiptOf(const ErasurePlan& plan, const ErasureTarget& target, std::string_view parentId);

/// What a caller is told.
ErasureReport reportOf(const ErasurePlan& plan);

}  // namespace bough
