// An entry is one line of a session's log: never changed once stored, and a child of the entry it names as its parent.
//
// Everything here is a value or stateless, so any thread may use it; nothing here reads or writes a store. What an
// append checks of an entry stands at Session::append, what a type's payload must hold in docs/format.md.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bough/error.h"

namespace BOUGH_PUBLIC bough {

/// An entry's line in a log is never longer, seal included: an append of a longer one is InvalidArgument. Large
/// payloads are elsewhere, as attachments (StoreOptions::attachmentBytes).
inline constexpr std::size_t kMaxLineBytes = std::size_t{128} << 20;
/// A batch of more entries is neither written (InvalidArgument) nor read (it counts as damage).
inline constexpr std::uint32_t kMaxBatchEntries = 1'000'000;

/// The types bough knows. Others are stored, returned and kept byte for byte all the same: 1 to 64 of [A-Za-z0-9._:-],
/// except `unreadable`, which is how a load shows what is damaged or lost.
namespace entry_type {
inline constexpr std::string_view kSessionHeader = "session_header";  ///< The first one; append refuses others.
inline constexpr std::string_view kMessage = "message";               ///< In a provider's dialect, verbatim.
inline constexpr std::string_view kMessageDeltaBatch = "message_delta_batch";  ///< Parts of a message as they came in.
inline constexpr std::string_view kModelChange = "model_change";               ///< Which model answers from here on.
inline constexpr std::string_view kThinkingLevelChange = "thinking_level_change";  ///< How much it thinks from here on.
inline constexpr std::string_view kRuntimeInit = "runtime_init";  ///< System prompt and tools from here on.
inline constexpr std::string_view kSystemPromptOverride = "system_prompt_override";  ///< Another system prompt alone.
inline constexpr std::string_view kCompactionSummary = "compaction_summary";  ///< Stands for the entries before it.
inline constexpr std::string_view kBranchSummary = "branch_summary";          ///< What another branch came to.
inline constexpr std::string_view kCustom = "custom";                         ///< A program's own.
inline constexpr std::string_view kToolStart = "tool_start";                  ///< A tool is about to run.
// Control entries say something about other entries. They never become the head.
inline constexpr std::string_view kHead = "head";                 ///< Moves the head.
inline constexpr std::string_view kLabel = "label";               ///< Gives an entry a name, or takes one away.
inline constexpr std::string_view kSessionInfo = "session_info";  ///< Title, time to live, pin.
inline constexpr std::string_view kRedaction = "redaction";       ///< Hides the payload of an entry.
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

/// The kind of a type; Other for one that bough does not know, and for an empty one.
EntryKind entryKind(std::string_view type);

/// As isControlType.
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
  /// 1 to 128 of [A-Za-z0-9._:-], unique in the session. Left empty on append: the store makes a time-ordered one. An
  /// append with ids of the caller's can be repeated: what is stored already is recognized.
  std::string id = {};
  /// The parent's id; empty for a root (`null` in the file). Left out on append: the head at that point of the batch.
  /// On load it is always there.
  std::optional<std::string> parentId = {};
  std::string type = {};  ///< One of entry_type, or the caller's own.
  /// RFC 3339, from 1970 to 9999. Left empty on append: now, in UTC, with milliseconds.
  std::string timestamp = {};
  std::string runId = {};    ///< Which run of a program wrote it, at most 256 bytes; empty when absent.
  std::string payload = {};  ///< A JSON object.
  std::string meta = {};     ///< A JSON object, or empty when absent.
  std::string extra = {};    ///< Members bough does not know, as `"name":value,…`; empty when there are none.
  bool redacted = false;     ///< On load: the payload is hidden by a redaction; `payload` says by whom and why.
};

// Entries for what is said most often, with correct escaping. Leave id, parent and time to the store, or set them.
// These never fail: a raw message that is not JSON, and a text that is not UTF-8, make an entry that append refuses
// with InvalidArgument. That JSON is a message of its dialect is not checked until somebody reads it as one.

/// What a person said.
[[nodiscard]] Entry userText(std::string_view text);
/// What a model said, when no provider's own message is at hand.
[[nodiscard]] Entry assistantText(std::string_view text);
/// A system prompt as a message of the conversation.
[[nodiscard]] Entry systemText(std::string_view text);
/// A model's message as the provider's API has it, byte for byte. Dialects: anthropic, openai-chat, openai-responses,
/// gemini, bough.
[[nodiscard]] Entry assistant(std::string_view dialect, std::string_view rawJson);
/// Any provider's message: a prompt with an image, a tool result in the provider's own form. Dialects as above.
[[nodiscard]] Entry rawMessage(std::string_view dialect, std::string_view rawJson);
/// What a tool returned for a call. `callId` is the one that the model's message has.
[[nodiscard]] Entry toolResult(std::string_view callId, std::string_view text, bool isError = false);

/// Where a forked session continues from: an entry of another session, whose branch it shares.
struct ForkOrigin {
  std::string sessionId = {};
  std::string entryId = {};  ///< Of that session, or of what it shares itself.
  bool operator==(const ForkOrigin&) const = default;
};

// How an entry becomes one line of text and comes back.

/// What is in place of what an entry leaves out. The caller sees to it that these are good: they are not checked.
/// Views: they must live until the call returns.
struct EntryDefaults {
  std::string_view id = {};
  std::string_view parentId = {};  ///< Empty for a root.
  std::string_view timestamp = {};
};

/// Turns entries into text and back. A log reads some of the text itself, so these bytes are fixed; SessionStore::open
/// and every append refuse a serializer that writes others:
///   1. the text is one JSON object on one line that begins `{"id":"…","parentId":"…","type":"…"` (`null` for a root);
///   2. its member `payload` is the entry's payload, byte for byte (line breaks between tokens are blanks);
///   3. it has no member `seal`: the log adds that one last, and decode must skip it.
/// Timestamp, runId, meta and extra may have any names and order, and further members may follow. Implementations are
/// stateless: every call may come from any thread. They must outlive the backends that use them.
class EntrySerializer {
 public:
  virtual ~EntrySerializer() = default;

  /// The version of the text, from 1, which new sessions have as the format in their header. A store appends to no
  /// other one: older ones are migrated first, and of newer ones it refuses all changes.
  [[nodiscard]] virtual int schemaVersion() const = 0;

  /// Appends the text of a complete entry to `out`, without a line's end. Fails with InvalidArgument when the entry
  /// breaks the format: an id, parent, time or runId that is not one, or a payload, meta or extra that is not JSON of
  /// its kind. `out` may then hold part of the text.
  [[nodiscard]] virtual Result<void> encode(const Entry& entry, std::string& out) const = 0;

  /// The same with `defaults` for what the entry leaves out. The default copies the entry and calls encode; override it
  /// where that matters.
  [[nodiscard]] virtual Result<void> encodeWith(const Entry& entry, const EntryDefaults& defaults,
                                                std::string& out) const;

  /// Reads back what encode wrote, with or without a seal. Fails with Damaged when the text is not an entry.
  [[nodiscard]] virtual Result<Entry> decode(std::string_view text) const = 0;
};

/// The format-1 serializer that every store uses unless it is given another. It lives as long as the program.
const EntrySerializer& jsonEntrySerializer();

// The shape of a session: what kind each entry is and where entries do not simply follow the one before them. It is
// taken from the index without reading an entry; the tree (tree.h) is built from this.

/// An entry's number in the order of its session, or of the list it is in, from 0.
using Sequence = std::uint32_t;
inline constexpr Sequence kNoSequence = 0xFFFFFFFF;
/// Of a parent that is not an earlier entry of the same list.
inline constexpr Sequence kElsewhere = 0xFFFFFFFE;

/// An entry is the child of the one before it unless a jump says otherwise; the first one is a root. A byte an entry,
/// and eight a jump. Built by a backend (StoredSession::shape).
struct SessionOutline {
  /// An entry that does not follow the one before it.
  struct Jump {
    Sequence sequence = 0;  ///< The entry.
    /// The parent's sequence; kNoSequence for a root; kElsewhere when the parent is not an earlier one of these.
    Sequence parent = kNoSequence;
  };

  std::vector<EntryKind> kinds = {};  ///< By sequence.
  std::vector<Jump> jumps = {};       ///< By sequence, ascending.
  Sequence head = kNoSequence;        ///< As Jump::parent; kNoSequence before the first entry.

  /// Adds an entry after the others.
  void add(EntryKind kind, Sequence parent) {
    const auto sequence = static_cast<Sequence>(kinds.size());
    if (sequence == 0 ? parent != kNoSequence : parent != sequence - 1) jumps.push_back({sequence, parent});
    kinds.push_back(kind);
  }

  /// Calls `use(first, last)` for each stretch of entries that follow one another on the way from an entry up. Returns
  /// where that ends: kNoSequence at a root, else kElsewhere, or a parent that comes later. Does not allocate; costs
  /// one search among the jumps for each stretch, and always ends. `sequence` must be one of these.
  template <typename Use>
  [[nodiscard]] Sequence walkUp(Sequence sequence, Use use) const {
    auto after = jumps.end();
    for (;;) {
      after = std::ranges::upper_bound(jumps.begin(), after, sequence, {}, &Jump::sequence);
      const bool whole = after == jumps.begin();  // nothing between it and the first entry
      const Sequence first = whole ? 0 : (after - 1)->sequence;
      const Sequence parent = whole ? kNoSequence : (after - 1)->parent;
      use(first, sequence);
      if (parent >= first) return parent;
      sequence = parent;
    }
  }
};

}  // namespace BOUGH_PUBLIC bough
