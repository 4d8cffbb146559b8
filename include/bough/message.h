// A message in a form that is common to all providers: a role and blocks in order, read from the bytes that one
// provider wrote.
//
// A Message is a view. It points into the stored bytes, copies only texts that had to be reassembled, and never changes
// the bytes. The stored bytes remain the truth. What the view cannot express becomes an Unknown block or an extra.
//
// Everything here works on bytes in memory and is stateless: any thread may call it, and equal bytes give equal
// results. The bytes may come from anywhere: input that breaks a rule becomes an error or an Unknown block.
#pragma once

#include <cstdint>
#include <forward_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bough/entry.h"
#include "bough/error.h"

namespace BOUGH_PUBLIC bough {

/// A format in which messages are written.
enum class Dialect : std::uint8_t {
  Anthropic,        ///< Messages API.
  OpenaiChat,       ///< Chat Completions.
  OpenaiResponses,  ///< Responses: a flat list of items.
  Gemini,           ///< generateContent.
  Plain,            ///< Plain entries: user, assistant, tool_call, tool_use, tool_result. Read only.
  Bough,            ///< The normalized form itself.
};

/// Returns "anthropic", "openai-chat", "openai-responses", "gemini", "plain" or "bough".
std::string_view toString(Dialect dialect);

/// Returns the dialect with this name, as toString returns it. Fails with InvalidArgument when there is none; the hint
/// lists all names.
[[nodiscard]] Result<Dialect> parseDialect(std::string_view name);

enum class Role : std::uint8_t { System, User, Assistant, Tool };
std::string_view toString(Role role);

enum class BlockKind : std::uint8_t {
  Text,
  Thinking,
  RedactedThinking,  ///< Reasoning in a form that only its provider can read.
  ToolCall,
  ToolResult,
  Image,
  Document,  ///< A file of any type that is not an image: PDF, text, sound, video.
  Refusal,
  Citation,  ///< Belongs to the text before it.
  Unknown,   ///< Kept verbatim in `raw`.
};
std::string_view toString(BlockKind kind);

/// A JSON string in place: the part between its quotes, still escaped. Valid as long as the bytes that it was read
/// from.
struct TextView {
  std::string_view escaped = {};
  bool present = false;     ///< Distinguishes an empty string from a missing one.
  bool oddEscapes = false;  ///< May contain \u or \/ escapes: other bytes can mean the same text.

  /// Returns true when the string is missing or empty.
  [[nodiscard]] bool empty() const { return escaped.empty(); }
  /// Returns the text with escapes resolved; a lone surrogate becomes U+FFFD.
  [[nodiscard]] std::string decode() const;
};

/// Where the bytes of an image or a document are. The block's `text` holds the bytes or their address.
enum class MediaSource : std::uint8_t { None, Base64, Url, FileId, Text };

/// One block of a message. Its kind determines which members are used; the others are empty.
struct Block {
  BlockKind kind = BlockKind::Unknown;
  MediaSource source = MediaSource::None;
  bool isError = false;             ///< ToolResult: the tool failed.
  bool freeform = false;            ///< ToolCall: the input is text, not JSON, and is in `text`.
  bool idMissing = false;           ///< ToolCall, ToolResult: the provider set no id.
  std::string_view raw = {};        ///< The stored value; empty when the block has no value of its own.
  std::string_view input = {};      ///< ToolCall: the arguments, a raw JSON object or a raw string that holds JSON.
  std::string_view problem = {};    ///< Unknown: what is wrong with it, when it is not just an unknown type.
  TextView type = {};               ///< Image, Document: the media type. Unknown, Citation: the provider's name for it.
  TextView text = {};               ///< Text, Thinking, Refusal; Image and Document: see MediaSource.
  TextView id = {};                 ///< ToolCall, ToolResult: the id of the call. Thinking: the id of the item.
  TextView name = {};               ///< ToolCall, ToolResult: the tool. Document: its title or file name.
  TextView signature = {};          ///< The provider's proof for the block: signature, encrypted_content, data …
  std::vector<Block> content = {};  ///< ToolResult: text, images, documents. Document of text: images in it.
  std::vector<std::string_view> extras = {};  ///< Names of stored members that this view does not represent.
};

/// No request can use more tokens than this. A greater number in a file is damage and counts as this number, so that
/// sums never overflow.
inline constexpr std::uint64_t kMaxTokens = std::uint64_t{1} << 40U;

/// What an answer used. Each token counts once, except that reasoning is also part of the output.
struct Usage {
  std::uint64_t inputTokens = 0;
  std::uint64_t outputTokens = 0;
  std::uint64_t cacheReadTokens = 0;
  std::uint64_t cacheWriteTokens = 0;
  std::uint64_t reasoningTokens = 0;
  std::uint64_t cacheWriteHourTokens = 0;  ///< Part of cacheWriteTokens: kept for an hour, which costs more.

  Usage& operator+=(const Usage& other) {
    inputTokens += other.inputTokens;
    outputTokens += other.outputTokens;
    cacheReadTokens += other.cacheReadTokens;
    cacheWriteTokens += other.cacheWriteTokens;
    reasoningTokens += other.reasoningTokens;
    cacheWriteHourTokens += other.cacheWriteHourTokens;
    return *this;
  }
};

/// A message. Can be moved but not copied, because its views may point into `owned`.
struct Message {
  Message() = default;
  Message(Message&&) = default;
  Message& operator=(Message&&) = default;

  Dialect dialect = Dialect::Bough;
  Role role = Role::User;
  std::string_view raw = {};  ///< The stored bytes. Clear it when you change the message, so that it is written from
                              ///< the members.
  TextView roleName = {};     ///< The provider's word for the role ("developer", "model").
  TextView id = {};
  TextView model = {};
  TextView stopReason = {};
  std::optional<Usage> usage = {};
  std::vector<Block> blocks = {};
  std::vector<std::string_view> extras = {};  ///< Names of stored members that this view does not represent.
  std::forward_list<std::string> owned = {};  ///< Texts that do not occur in the stored bytes.
};

/// Reads one stored message: an element of a history, or a provider's whole response. `stored` must outlive the result.
/// Fails with InvalidArgument when it is not a message of that dialect; the error says why and where. Makes one pass
/// over the bytes and copies no texts.
[[nodiscard]] Result<Message> normalize(std::string_view stored, Dialect dialect);

/// Returns the dialect that an entry's payload names; std::nullopt when it names none. Fails with InvalidArgument when
/// there is no such dialect.
[[nodiscard]] Result<std::optional<Dialect>> namedDialect(const Entry& entry);

/// Returns true when an entry holds a message: its type is `message`, or one of the plain types `user`, `assistant`,
/// `tool_call`, `tool_use`, `tool_result`.
bool holdsMessage(const Entry& entry);

/// Reads the message of an entry. The payload is `{"dialect":…,"message":…}`; or, without a dialect, a plain message,
/// in `message` or as the payload itself, whose type may be that of the entry. `entry` must outlive the result. Fails
/// with InvalidArgument when the entry holds no readable message.
[[nodiscard]] Result<Message> normalizeEntry(const Entry& entry);

/// One thing that denormalize left out.
struct LeftOut {
  std::size_t block = 0;   ///< Index into Message::blocks.
  std::string field = {};  ///< "thinking", "citation", "text.cache_control" …
  std::string reason = {};
};

/// A message in the form of another dialect.
struct Denormalized {
  std::vector<std::string> messages = {};  ///< One message can become several in another dialect, or none.
  std::vector<LeftOut> leftOut = {};
};

/// Writes a message in a dialect. In the message's own dialect and with `raw` set, the result is `raw`, byte for byte.
/// What the dialect cannot hold is left out and listed; convertHistory (convert.h) keeps such parts for the way back.
/// Fails with Unsupported for Plain, which can only be read.
[[nodiscard]] Result<Denormalized> denormalize(const Message& message, Dialect dialect);

// Entries in a form for people: as one line, or part by part.

/// The content of an entry as one line.
struct EntrySummary {
  std::string entryId = {};
  std::string timestamp = {};
  std::string speaker = {};  ///< user, assistant, system, tool; the type for entries that are not messages.
  std::string text = {};     ///< Printable, on one line: the first text without Markdown markup, otherwise the first
                             ///< tool call, otherwise any content.
  bool failed = false;       ///< It holds the result of a failed tool.
};

/// Summarizes an entry. Never fails: content that cannot be read as a message is shown as stored. `text` has at most
/// `graphemes` graphemes, the characters as a person counts them.
EntrySummary summarizeEntry(const Entry& entry, std::size_t graphemes);

/// One part of an entry's content.
struct EntryPart {
  BlockKind kind = BlockKind::Text;
  std::string text = {};    ///< The text; for a tool call its arguments, for a result what it returned.
  std::string name = {};    ///< For a tool call or result: the tool, or the call's id when there is no name.
  bool isError = false;     ///< For a tool result: the tool failed.
  std::string callId = {};  ///< For a tool call or result: the call's id; empty when the provider set none.
};

/// The whole content of an entry, decoded.
struct EntryView {
  std::string speaker = {};  ///< user, assistant, system, tool; the type for an entry that is not a message.
  bool isMessage = false;
  std::vector<EntryPart> parts = {};
};

/// Splits an entry into its parts. Never fails: content that cannot be read as a message is shown as stored. The texts
/// are copies and may contain control characters; make them printable before you write them to a terminal.
EntryView viewEntry(const Entry& entry);

/// Returns true when a message holds the result of a failed tool. In dialects without a flag for this (OpenAI's), a
/// result counts as failed when it begins with `Error:` or is a JSON object with a member `error`.
bool hasFailedResult(const Message& message);

/// Does the same for an entry; false when the entry holds no message.
bool hasFailedResult(const Entry& entry);

}  // namespace BOUGH_PUBLIC bough
