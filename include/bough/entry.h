// An entry is one line of a session's log. It never changes once it is stored, and it is a child of the entry that it
// names as its parent.
//
// Everything here is a value or stateless, so any thread may use it; nothing here reads or writes a store.
// Session::append documents what an append checks; docs/format.md documents what the payload of each type must hold.
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

/// The longest line that an entry may have in a log, seal included. An append of a longer entry fails with
/// InvalidArgument. Large payloads are stored outside of the line, as attachments (StoreOptions::attachmentBytes).
inline constexpr std::size_t kMaxLineBytes = std::size_t{128} << 20;
/// The most entries a batch may have. A larger batch is not written (InvalidArgument), and counts as damage when read.
inline constexpr std::uint32_t kMaxBatchEntries = 1'000'000;

/// The types that bough knows. Entries of other types are stored, returned and kept byte for byte as well. A type is 1
/// to 64 of [A-Za-z0-9._:-]. `unreadable` is reserved: a load uses it for entries that are damaged or lost.
namespace entry_type {
inline constexpr std::string_view kSessionHeader = "session_header";  ///< The first entry; append refuses it.
inline constexpr std::string_view kMessage = "message";               ///< In a provider's dialect, verbatim.
inline constexpr std::string_view kMessageDeltaBatch = "message_delta_batch";  ///< Parts of a message as they arrived.
inline constexpr std::string_view kModelChange = "model_change";               ///< Which model answers from here on.
inline constexpr std::string_view kThinkingLevelChange = "thinking_level_change";  ///< How much it thinks from here on.
inline constexpr std::string_view kRuntimeInit = "runtime_init";  ///< System prompt and tools from here on.
inline constexpr std::string_view kSystemPromptOverride = "system_prompt_override";  ///< A new system prompt alone.
inline constexpr std::string_view kCompactionSummary = "compaction_summary";  ///< A summary of the entries before it.
inline constexpr std::string_view kBranchSummary = "branch_summary";          ///< A summary of another branch.
inline constexpr std::string_view kCustom = "custom";                         ///< For programs that use bough.
inline constexpr std::string_view kToolStart = "tool_start";                  ///< A tool is about to run.
// Control entries describe other entries. They never become the head.
inline constexpr std::string_view kHead = "head";                 ///< Moves the head.
inline constexpr std::string_view kLabel = "label";               ///< Gives an entry a name, or removes a name.
inline constexpr std::string_view kSessionInfo = "session_info";  ///< Title, time to live, pin.
inline constexpr std::string_view kRedaction = "redaction";       ///< Hides the payload of an entry.
}  // namespace entry_type

/// Returns true for types whose entries control the session instead of continuing the conversation.
constexpr bool isControlType(std::string_view type) {
  return type == entry_type::kHead || type == entry_type::kLabel || type == entry_type::kSessionInfo ||
         type == entry_type::kRedaction;
}

/// A type as a number, as an index stores it. The order is part of the index file's format.
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

/// Returns the kind of a type; Other for an empty type and for types that bough does not know.
EntryKind entryKind(std::string_view type);

/// Returns true for control entries, as isControlType does.
constexpr bool isControl(EntryKind kind) {
  return kind >= EntryKind::Head;
}

/// Returns true when entries of this kind are part of the conversation: all except control entries and headers.
constexpr bool isConversation(EntryKind kind) {
  return !isControl(kind) && kind != EntryKind::SessionHeader;
}

/// One entry. The JSON texts (payload, meta, extra) are kept verbatim: number literals, key order and escapes stay as
/// they were appended. Only two things change: line breaks between tokens are stored as spaces, and blanks around the
/// text are dropped.
struct Entry {
  /// 1 to 128 of [A-Za-z0-9._:-], unique in the session. When it is empty on append, the store generates a time-ordered
  /// id. With ids of the caller's own an append can be repeated safely: entries that are already stored are recognized.
  std::string id = {};
  /// The parent's id; empty for a root (`null` in the file). When it is std::nullopt on append, the parent is the head
  /// at that point of the batch. A load always sets it.
  std::optional<std::string> parentId = {};
  std::string type = {};  ///< One of entry_type, or the caller's own.
  /// RFC 3339, from the years 1970 to 9999. When it is empty on append: the current time in UTC, with milliseconds.
  std::string timestamp = {};
  std::string runId = {};    ///< The run of the program that wrote the entry, at most 256 bytes; may be empty.
  std::string payload = {};  ///< A JSON object.
  std::string meta = {};     ///< A JSON object, or empty when there is none.
  std::string extra = {};    ///< Members that bough does not know, as `"name":value,…`; may be empty.
  bool redacted = false;     ///< On load: a redaction hides the payload; `payload` says by whom and why.
};

// Functions that make the most common entries, with correct escaping. Leave id, parent and time to the store, or set
// them. These functions never fail: if a raw message is not JSON, or a text is not UTF-8, append refuses the entry with
// InvalidArgument. Whether the JSON is a valid message of its dialect is checked only when a call reads the entry as a
// message.

/// Makes an entry for a text that a person wrote.
[[nodiscard]] Entry userText(std::string_view text);
/// Makes an entry for a text that a model wrote, for callers that do not have the provider's own message.
[[nodiscard]] Entry assistantText(std::string_view text);
/// Makes an entry that holds a system prompt as a message of the conversation.
[[nodiscard]] Entry systemText(std::string_view text);
/// Makes an entry that holds a model's message exactly as the provider's API returned it. Dialects: anthropic,
/// openai-chat, openai-responses, gemini, bough.
[[nodiscard]] Entry assistant(std::string_view dialect, std::string_view rawJson);
/// Makes an entry that holds any message of a provider, such as a prompt with an image or a tool result in the
/// provider's own form. The dialects are those of assistant().
[[nodiscard]] Entry rawMessage(std::string_view dialect, std::string_view rawJson);
/// Makes an entry for the result of a tool call. `callId` is the call's id in the model's message.
[[nodiscard]] Entry toolResult(std::string_view callId, std::string_view text, bool isError = false);

/// The point from which a forked session continues: an entry of another session, whose branch up to that entry the fork
/// shares.
struct ForkOrigin {
  std::string sessionId = {};
  std::string entryId = {};  ///< An entry of that session, or of the history that session shares itself.
  bool operator==(const ForkOrigin&) const = default;
};

// How an entry is written as one line of text and read back.

/// Values for what an entry leaves out. They are not checked; the caller must pass valid values. They are views and
/// must live until the call returns.
struct EntryDefaults {
  std::string_view id = {};
  std::string_view parentId = {};  ///< Empty for a root.
  std::string_view timestamp = {};
};

/// Converts entries to text and back. A log reads parts of the text itself, so the following rules are fixed.
/// SessionStore::open and every append refuse a serializer that breaks them:
///   1. the text is one JSON object on one line that begins `{"id":"…","parentId":"…","type":"…"` (`null` for a root);
///   2. its member `payload` is the entry's payload, byte for byte (line breaks between tokens are blanks);
///   3. it has no member `seal`: the log adds that member last, and decode must skip it.
/// Timestamp, runId, meta and extra may have any names and order, and further members may follow.
/// Implementations are stateless: any thread may call them at any time. They must outlive the backends that use them.
class EntrySerializer {
 public:
  virtual ~EntrySerializer() = default;

  /// Returns the version of the text, from 1. New sessions record this version as the format in their header. A store
  /// appends only to sessions of this version: older sessions must be migrated first, and newer ones cannot be changed.
  [[nodiscard]] virtual int schemaVersion() const = 0;

  /// Appends the text of a complete entry to `out`, without a line end. Fails with InvalidArgument when the entry
  /// breaks the format: an invalid id, parent, time or runId, or a payload, meta or extra that is not the JSON it
  /// should be. `out` may then hold part of the text.
  [[nodiscard]] virtual Result<void> encode(const Entry& entry, std::string& out) const = 0;

  /// Does the same, with `defaults` for what the entry leaves out. The default implementation copies the entry and
  /// calls encode; override it where the copy costs too much.
  [[nodiscard]] virtual Result<void> encodeWith(const Entry& entry, const EntryDefaults& defaults,
                                                std::string& out) const;

  /// Reads what encode wrote, with or without a seal. Fails with Damaged when the text is not an entry.
  [[nodiscard]] virtual Result<Entry> decode(std::string_view text) const = 0;
};

/// Returns the serializer of format 1, which every store uses unless another one is given. It lives as long as the
/// program.
const EntrySerializer& jsonEntrySerializer();

// The shape of a session: the kind of each entry, and the places where an entry does not simply follow the entry before
// it. The shape comes from the index, without reading an entry. The tree (tree.h) is built from it.

/// The number of an entry in the order of its session, or of the list that holds it, from 0.
using Sequence = std::uint32_t;
inline constexpr Sequence kNoSequence = 0xFFFFFFFF;
/// Stands for a parent that is not an earlier entry of the same list.
inline constexpr Sequence kElsewhere = 0xFFFFFFFE;

/// The outline of a session. Each entry is the child of the entry before it unless a jump names another parent; the
/// first entry is a root. Takes one byte per entry and eight per jump. Backends build it (StoredSession::shape).
struct SessionOutline {
  /// An entry whose parent is not the entry directly before it.
  struct Jump {
    Sequence sequence = 0;  ///< The entry.
    /// The parent's sequence; kNoSequence for a root; kElsewhere when the parent is not an earlier entry of this
    /// outline.
    Sequence parent = kNoSequence;
  };

  std::vector<EntryKind> kinds = {};  ///< The kind of each entry, by sequence.
  std::vector<Jump> jumps = {};       ///< In ascending order of sequence.
  Sequence head = kNoSequence;        ///< As in Jump::parent; kNoSequence before the first entry.

  /// Adds an entry after all others.
  void add(EntryKind kind, Sequence parent) {
    const auto sequence = static_cast<Sequence>(kinds.size());
    if (sequence == 0 ? parent != kNoSequence : parent != sequence - 1) jumps.push_back({sequence, parent});
    kinds.push_back(kind);
  }

  /// Walks from an entry towards its root and calls `use(first, last)` for each run of consecutive entries on the way.
  /// Returns where the walk ends: kNoSequence at a root, otherwise kElsewhere or a parent that comes later in the list.
  /// Does not allocate, costs one search among the jumps per run, and always terminates. `sequence` must be an entry of
  /// this outline.
  template <typename Use>
  [[nodiscard]] Sequence walkUp(Sequence sequence, Use use) const {
    auto after = jumps.end();
    for (;;) {
      after = std::ranges::upper_bound(jumps.begin(), after, sequence, {}, &Jump::sequence);
      const bool whole = after == jumps.begin();  // no jump between the first entry and this one
      const Sequence first = whole ? 0 : (after - 1)->sequence;
      const Sequence parent = whole ? kNoSequence : (after - 1)->parent;
      use(first, sequence);
      if (parent >= first) return parent;
      sequence = parent;
    }
  }
};

}  // namespace BOUGH_PUBLIC bough
