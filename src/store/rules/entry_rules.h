// The rules for a single entry that do not need the stored session: its type, its payload, and which entry a control
// entry names. Every backend applies them, even if it judges the other rules in another way.
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
/// Refuses an id of the form that names a place in a log: such an id already refers to the entry at that place.
Result<void> checkId(const Entry& entry);
/// `textBytes` is the size of the entry's line without its seal.
Result<void> checkSize(const Entry& entry, std::size_t textBytes);
/// Checks what the payload of a type must contain. Does not check that the entries it names exist.
Result<void> checkPayload(const Entry& entry, EntryKind kind);

/// What an entry must be so that a control entry may name it.
enum class TargetRule : std::uint8_t {
  Head,       ///< An entry of the conversation.
  Label,      ///< An entry of the conversation.
  Redaction,  ///< An entry that can be hidden: canBeRedacted.
};
struct ControlTarget {
  std::string entryId;
  TargetRule rule = TargetRule::Head;
};
/// Returns the entry that a control entry names, or std::nullopt when it names none. The payload has passed
/// checkPayload.
std::optional<ControlTarget> targetOf(const Entry& entry, EntryKind kind);
/// Checks that a control entry may name an entry of this type. NotFound when `type` is std::nullopt: there is no such
/// entry.
Result<void> checkControlTarget(std::string_view sessionId, const ControlTarget& target,
                                const std::optional<std::string>& type);

/// Returns true when entries of this kind can be hidden. Entries that are needed to read a session cannot.
bool canBeRedacted(EntryKind kind);

/// Returns true when one of two payloads is the other one stored as an attachment: that may differ between two
/// deliveries of a batch.
bool isSamePayload(std::string_view mine, std::string_view theirs);

/// Returns a Conflict that names the expected and the actual tail.
Error tailConflict(std::string_view sessionId, std::string_view expected, std::string_view actual);
/// Returns a Conflict that says that a later turn than the append's has begun.
Error turnConflict(std::string_view sessionId, std::uint64_t turn, std::uint64_t latest, std::string_view tail);

}  // namespace bough
