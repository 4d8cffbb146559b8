// The rules for a single entry that need no stored session: what type and payload may be, and which entry a control
// entry names. Every backend applies them, whoever judges the rest.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bough/entry.h"
#include "bough/error.h"

namespace bough {

inline constexpr const char* kParentHint = "name an earlier entry, or leave parentId out to continue from the head";

std::unexpected<Error> invalidEntry(const Entry& entry, std::string_view what, const char* hint);

Result<void> checkType(const Entry& entry, EntryKind kind);
/// No entry has the id of a place: that means what is there.
Result<void> checkId(const Entry& entry);
/// `textBytes`: of the entry as a line, without its seal.
Result<void> checkSize(const Entry& entry, std::size_t textBytes);
/// What the payload of a type must hold, except that what it names exists.
Result<void> checkPayload(const Entry& entry, EntryKind kind);

/// What the entry must be that a control entry names.
enum class TargetRule : std::uint8_t {
  Head,       ///< An entry of the conversation.
  Label,      ///< An entry of the conversation.
  Redaction,  ///< An entry that can be hidden: canBeRedacted.
};
struct ControlTarget {
  std::string entryId;
  TargetRule rule = TargetRule::Head;
};
/// The entry that a control entry names; none when it names none. The payload has passed checkPayload.
std::optional<ControlTarget> targetOf(const Entry& entry, EntryKind kind);
/// Whether that entry, of this type, may be named so; NotFound without a type: there is no such entry.
Result<void> judgeTarget(std::string_view sessionId, const ControlTarget& target,
                         const std::optional<std::string>& type);

/// Whether entries of this kind can be hidden: not those by which a session is read.
bool canBeRedacted(EntryKind kind);

/// Whether one of two payloads is the other, kept as an attachment: that may change between two deliveries.
bool isSamePayload(std::string_view mine, std::string_view theirs);

/// The Conflict that says which tail a session has instead of the expected one.
Error tailConflict(std::string_view sessionId, std::string_view expected, std::string_view actual);
/// The Conflict that says that a later turn has begun than the one that the append belongs to.
Error turnConflict(std::string_view sessionId, std::uint64_t turn, std::uint64_t latest, std::string_view tail);

}  // namespace bough
