#include "store/rules/entry_rules.h"

#include <fmt/format.h>

#include "base/bytes/sha256.h"
#include "base/json/json_scan.h"
#include "base/model/ids.h"
#include "base/model/unreadable.h"
#include "base/text/text.h"
#include "base/try.h"
#include "store/rules/attachment_reference.h"

namespace bough {
namespace {

constexpr std::size_t kSealBytes = 64;  // more than the size of a seal
constexpr const char* kPayloadHint = "docs/format.md says what the payload of each type holds";

bool namesNoEntry(const Entry& entry) {
  return json::findMember(entry.payload, "entryId") == "null";
}

Result<void> checkText(const Entry& entry, std::string_view name, bool filled = false) {
  if (const auto text = json::findString(entry.payload, name); text && !(filled && text->empty())) return {};
  return invalidEntry(entry, fmt::format("a {} needs {} in its payload", entry.type, name), kPayloadHint);
}

// Checks that each member is of the right kind or null, which removes an earlier value.
Result<void> checkInfo(const Entry& entry) {
  using json::Kind;
  const auto isGood = [&](std::string_view name, auto right) {
    const auto value = json::findMember(entry.payload, name);
    return !value || json::kindOf(*value) == Kind::Null || right(json::kindOf(*value));
  };
  const auto isText = [](Kind kind) { return kind == Kind::String; };
  const auto isTruth = [](Kind kind) { return kind == Kind::True || kind == Kind::False; };
  const auto isCount = [&](Kind) { return json::findUnsigned(entry.payload, "timeToLiveMs").has_value(); };
  if (isGood("title", isText) && isGood("titleSource", isText) && isGood("pinned", isTruth) &&
      isGood("timeToLiveMs", isCount)) {
    return {};
  }
  return invalidEntry(entry, "title and titleSource are texts, pinned is true or false, timeToLiveMs a whole number",
                      kPayloadHint);
}

// A label of any name may be removed.
Result<void> checkLabel(const Entry& entry) {
  BOUGH_TRY(checkText(entry, "name"));
  if (namesNoEntry(entry)) return {};
  if (const auto name = json::findString(entry.payload, "name"); !isLabelName(*name)) {
    return fail(ErrorCode::InvalidArgument, fmt::format("\"{}\" cannot be a label", text::excerpt(*name, 40)),
                "labels are 1 to 128 bytes of printable text without ~, do not begin with @, have no blank at either "
                "end, and are not -");
  }
  return checkText(entry, "entryId");
}

}  // namespace

std::unexpected<Error> invalidEntry(const Entry& entry, std::string_view what, const char* hint) {
  return fail(ErrorCode::InvalidArgument,
              fmt::format("entry {}: {}", entry.id.empty() ? "(no id yet)" : entry.id, what), hint);
}

Result<void> checkType(const Entry& entry, EntryKind kind) {
  if (kind == EntryKind::SessionHeader) {
    return invalidEntry(entry, "a session has one header, its first entry",
                        "leave it out: `bough new` makes a session with its header");
  }
  if (isUnreadable(entry)) {
    return invalidEntry(entry, "the type `unreadable` is for damaged places of a log", "choose another type");
  }
  constexpr std::size_t kMaxTypeBytes = 64;
  if (kind == EntryKind::Other && (entry.type.size() > kMaxTypeBytes || !isEntryId(entry.type))) {
    return invalidEntry(entry, "the type is not 1 to 64 of [A-Za-z0-9._:-]",
                        "name it as `message`, `custom` or a type of your own");
  }
  return {};
}

Result<void> checkId(const Entry& entry) {
  if (!offsetOfUnreadableId(entry.id)) return {};
  return invalidEntry(entry, "an id of this form means the place of an entry that cannot be read",
                      "choose another id, or leave it out");
}

Result<void> checkSize(const Entry& entry, std::size_t textBytes) {
  if (textBytes + kSealBytes <= kMaxLineBytes) return {};
  return invalidEntry(entry, "the entry is larger than 128 MiB", "store large data as an attachment");
}

Result<void> checkPayload(const Entry& entry, EntryKind kind) {
  // The content of an attachment was checked before it was stored. Control entries are never attachments.
  if (isConversation(kind) && readAttachmentReference(entry.payload)) return {};
  switch (kind) {
    case EntryKind::Head: return namesNoEntry(entry) ? Result<void>() : checkText(entry, "entryId");
    case EntryKind::Label: return checkLabel(entry);
    case EntryKind::Redaction:
      BOUGH_TRY(checkText(entry, "entryId"));
      BOUGH_TRY(checkText(entry, "by", /*filled=*/true));
      return checkText(entry, "reason", /*filled=*/true);
    case EntryKind::SessionInfo: return checkInfo(entry);
    case EntryKind::CompactionSummary: return checkText(entry, "firstKeptEntryId");
    case EntryKind::BranchSummary:
      BOUGH_TRY(checkText(entry, "sourceSessionId"));
      return checkText(entry, "sourceEntryId");
    default: return {};
  }
}

std::optional<ControlTarget> targetOf(const Entry& entry, EntryKind kind) {
  TargetRule rule = TargetRule::Head;
  switch (kind) {
    case EntryKind::Head: break;
    case EntryKind::Label: rule = TargetRule::Label; break;
    case EntryKind::Redaction: rule = TargetRule::Redaction; break;
    default: return std::nullopt;
  }
  auto id = json::findString(entry.payload, "entryId");
  if (!id) return std::nullopt;
  return ControlTarget{.entryId = std::move(*id), .rule = rule};
}

Result<void> checkControlTarget(std::string_view sessionId, const ControlTarget& target,
                                const std::optional<std::string>& type) {
  if (!type) {
    return fail(ErrorCode::NotFound, fmt::format("session {} has no entry {}", sessionId, target.entryId),
                "`bough cat` prints all entries of a session");
  }
  const EntryKind kind = entryKind(*type);
  const bool hides = target.rule == TargetRule::Redaction;
  if (hides ? canBeRedacted(kind) : isConversation(kind)) return {};
  const std::string_view why = hides ? "a session cannot be read without it, so it cannot be hidden"
                               : target.rule == TargetRule::Label ? "it cannot be labelled"
                                                                  : "it cannot be the head";
  return fail(ErrorCode::InvalidArgument, fmt::format("entry {} is a {}: {}", target.entryId, *type, why),
              hides ? "name a message or another entry that says something"
                    : "name a message or another entry of the conversation");
}

bool canBeRedacted(EntryKind kind) {
  return kind != EntryKind::SessionHeader && kind != EntryKind::Head && kind != EntryKind::Redaction;
}

bool isSamePayload(std::string_view mine, std::string_view theirs) {
  const auto myReference = readAttachmentReference(mine);
  const auto theirReference = readAttachmentReference(theirs);
  if (myReference.has_value() == theirReference.has_value()) return false;
  return myReference ? *myReference == Sha256::of(theirs) : *theirReference == Sha256::of(mine);
}

Error tailConflict(std::string_view sessionId, std::string_view expected, std::string_view actual) {
  return {.code = ErrorCode::Conflict,
          .message = fmt::format("session {} has moved on: its tail is {}, not {}", sessionId, actual, expected),
          .hint = "load what was appended meanwhile, then append after the new tail or branch",
          .retryable = false,
          .actualTail = std::string(actual)};
}

Error turnConflict(std::string_view sessionId, std::uint64_t turn, std::uint64_t latest, std::string_view tail) {
  return {.code = ErrorCode::Conflict,
          .message = fmt::format("turn {} of session {} is over: turn {} has begun, here or on another machine", turn,
                                 sessionId, latest),
          .hint = "load what was appended meanwhile, then begin a turn of your own",
          .retryable = false,
          .actualTail = std::string(tail),
          .latestTurn = latest};
}

}  // namespace bough
