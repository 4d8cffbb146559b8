// An entry is one line of a session's log: never changed once stored, and a child of the entry it names as its parent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bough {

/// An entry's line in a log is never longer, seal included. Large payloads stand elsewhere, as attachments.
inline constexpr std::size_t kMaxLineBytes = std::size_t{128} << 20;
/// A batch of more entries is neither written nor read.
inline constexpr std::uint32_t kMaxBatchEntries = 1'000'000;

/// The types bough knows. Others are stored, returned and kept byte for byte all the same.
namespace entry_type {
inline constexpr std::string_view kSessionHeader = "session_header";
inline constexpr std::string_view kMessage = "message";
inline constexpr std::string_view kMessageDeltaBatch = "message_delta_batch";
inline constexpr std::string_view kModelChange = "model_change";
inline constexpr std::string_view kThinkingLevelChange = "thinking_level_change";
inline constexpr std::string_view kRuntimeInit = "runtime_init";
inline constexpr std::string_view kSystemPromptOverride = "system_prompt_override";
inline constexpr std::string_view kCompactionSummary = "compaction_summary";
inline constexpr std::string_view kBranchSummary = "branch_summary";
inline constexpr std::string_view kCustom = "custom";
inline constexpr std::string_view kToolStart = "tool_start";
// Control entries say something about other entries. They never become the head.
inline constexpr std::string_view kHead = "head";
inline constexpr std::string_view kLabel = "label";
inline constexpr std::string_view kSessionInfo = "session_info";
inline constexpr std::string_view kRedaction = "redaction";
}  // namespace entry_type

/// Whether entries of this type steer the session instead of continuing it.
constexpr bool isControlType(std::string_view type) {
  return type == entry_type::kHead || type == entry_type::kLabel || type == entry_type::kSessionInfo ||
         type == entry_type::kRedaction;
}

/// A type as a number: what an index keeps of it. The order is part of the index file's format.
enum class EntryKind : std::uint8_t {
  Other,  ///< A type that bough does not know.
  SessionHeader,
  Message,
  MessageDeltaBatch,
  ModelChange,
  ThinkingLevelChange,
  RuntimeInit,
  SystemPromptOverride,
  CompactionSummary,
  BranchSummary,
  Custom,
  ToolStart,
  Head,
  Label,
  SessionInfo,
  Redaction,
};

EntryKind entryKind(std::string_view type);

constexpr bool isControl(EntryKind kind) {
  return kind >= EntryKind::Head;
}

/// Whether entries of this kind are part of the conversation: all but control entries and headers.
constexpr bool isConversation(EntryKind kind) {
  return !isControl(kind) && kind != EntryKind::SessionHeader;
}

/// One entry. Texts that hold JSON (payload, meta, extra) are verbatim: number literals, key order and escapes are
/// those that were appended; only line breaks between tokens are stored as spaces, and blanks around the text are not.
struct Entry {
  /// 1 to 128 of [A-Za-z0-9._:-]. Left empty on append: the store makes a time-ordered one.
  std::string id;
  /// The parent's id; empty for a root (`null` in the file). Left out on append: the head at that point of the batch.
  std::optional<std::string> parentId;
  std::string type;
  /// RFC 3339. Left empty on append: now, in UTC, with milliseconds.
  std::string timestamp;
  std::string runId;      ///< Empty when absent.
  std::string payload;    ///< A JSON object.
  std::string meta;       ///< A JSON object, or empty when absent.
  std::string extra;      ///< Members bough does not know, as `"name":value,…`; empty when there are none.
  bool redacted = false;  ///< On load: the payload is hidden by a redaction; `payload` says by whom and why.
};

/// Where a forked session continues from: an entry of another session, whose branch it shares.
struct ForkOrigin {
  std::string sessionId;
  std::string entryId;
  bool operator==(const ForkOrigin&) const = default;
};

}  // namespace bough
