// A message as every provider means it: a role and blocks in order, read from the bytes one provider wrote.
//
// A Message is a view. It points into the stored bytes, copies only what had to be put together again, and never
// changes what it points to. The stored bytes stay the truth; what the view has no word for is an Unknown block or an
// extra.
//
// Everything here works on bytes in memory and is stateless: any thread may call it, and equal bytes give equal
// results. Bytes may come from anywhere: what breaks a rule is an error or an Unknown block.
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

/// One way to write messages down.
enum class Dialect : std::uint8_t {
  Anthropic,        ///< Messages API.
  OpenaiChat,       ///< Chat Completions.
  OpenaiResponses,  ///< Responses: a flat list of items.
  Gemini,           ///< generateContent.
  Plain,            ///< Bare entries: user, assistant, tool_call, tool_use, tool_result. Read only.
  Bough,            ///< The normalized form itself.
};

/// "anthropic", "openai-chat", "openai-responses", "gemini", "plain", "bough".
std::string_view toString(Dialect dialect);

/// The dialect of a name that toString gives. Fails with InvalidArgument when there is none; the hint lists those there
/// are.
[[nodiscard]] Result<Dialect> parseDialect(std::string_view name);

enum class Role : std::uint8_t { System, User, Assistant, Tool };
std::string_view toString(Role role);

enum class BlockKind : std::uint8_t {
  Text,
  Thinking,
  RedactedThinking,  ///< Reasoning that only its provider can read.
  ToolCall,
  ToolResult,
  Image,
  Document,  ///< A file of any type that is not an image: PDF, text, sound, video.
  Refusal,
  Citation,  ///< Belongs to the text before it.
  Unknown,   ///< Kept verbatim in `raw`.
};
std::string_view toString(BlockKind kind);

/// A JSON string where it is: the part between its quotes, still escaped. Valid as long as the bytes it was read from.
struct TextView {
  std::string_view escaped = {};
  bool present = false;     ///< Tells an empty string from a missing one.
  bool oddEscapes = false;  ///< There may be \u or \/ escapes: other bytes can mean the same text.

  /// Whether it is missing or the empty text.
  [[nodiscard]] bool empty() const { return escaped.empty(); }
  /// The text itself; a lone surrogate becomes U+FFFD.
  [[nodiscard]] std::string decode() const;
};

/// Where the bytes of an image or a document are; they, or their address, are the block's `text`.
enum class MediaSource : std::uint8_t { None, Base64, Url, FileId, Text };

/// One block of a message. Which members say something depends on its kind; the others are empty.
struct Block {
  BlockKind kind = BlockKind::Unknown;
  MediaSource source = MediaSource::None;
  bool isError = false;             ///< ToolResult: the tool failed.
  bool freeform = false;            ///< ToolCall: the input is text, not JSON; then it is in `text`.
  bool idMissing = false;           ///< ToolCall, ToolResult: the provider wrote no id.
  std::string_view raw = {};        ///< The stored value; empty when the block has none of its own.
  std::string_view input = {};      ///< ToolCall: the arguments, a raw JSON object, or a raw string that holds JSON.
  std::string_view problem = {};    ///< Unknown: what is wrong with it, when it is not merely unknown.
  TextView type = {};               ///< Image, Document: the media type. Unknown, Citation: the provider's name for it.
  TextView text = {};               ///< Text, Thinking, Refusal; Image and Document: see MediaSource.
  TextView id = {};                 ///< ToolCall, ToolResult: the call's id. Thinking: the item's.
  TextView name = {};               ///< ToolCall, ToolResult: the tool. Document: its title or file name.
  TextView signature = {};          ///< What proves the block to its provider: signature, encrypted_content, data …
  std::vector<Block> content = {};  ///< ToolResult: text, images, documents. Document of text: images in it.
  std::vector<std::string_view> extras = {};  ///< Names of stored members that this view has no field for.
};

/// No request takes more tokens than this. A greater number in a file is damage, and counts as this many, so that sums
/// never overflow.
inline constexpr std::uint64_t kMaxTokens = std::uint64_t{1} << 40U;

/// What an answer used. No token counts twice, except that reasoning is part of the output.
struct Usage {
  std::uint64_t inputTokens = 0;
  std::uint64_t outputTokens = 0;
  std::uint64_t cacheReadTokens = 0;
  std::uint64_t cacheWriteTokens = 0;
  std::uint64_t reasoningTokens = 0;
  std::uint64_t cacheWriteHourTokens = 0;  ///< Of cacheWriteTokens: those kept for an hour, which cost more.

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

/// Moves, but does not copy: its views may point into `owned`.
struct Message {
  Message() = default;
  Message(Message&&) = default;
  Message& operator=(Message&&) = default;

  Dialect dialect = Dialect::Bough;
  Role role = Role::User;
  std::string_view raw = {};  ///< The stored bytes. Clear it when you change the message, so that it is written again.
  TextView roleName = {};     ///< The provider's word for the role ("developer", "model").
  TextView id = {};
  TextView model = {};
  TextView stopReason = {};
  std::optional<Usage> usage = {};
  std::vector<Block> blocks = {};
  std::vector<std::string_view> extras = {};  ///< Names of stored members that this view has no field for.
  std::forward_list<std::string> owned = {};  ///< Texts that are nowhere in the stored bytes.
};

/// Reads one stored message: an element of a history, or a provider's whole response. `stored` must outlive the result.
/// Fails with InvalidArgument, and says why and where, when it is not a message of that dialect. One pass over the
/// bytes; of texts nothing is copied.
[[nodiscard]] Result<Message> normalize(std::string_view stored, Dialect dialect);

/// The dialect that an entry's payload names; none when it names none. Fails with InvalidArgument when there is no such
/// dialect.
[[nodiscard]] Result<std::optional<Dialect>> namedDialect(const Entry& entry);

/// Whether an entry holds a message: one of type `message`, or a bare one (`user`, `assistant`, `tool_call`,
/// `tool_use`, `tool_result`).
bool holdsMessage(const Entry& entry);

/// Reads the message of an entry: `{"dialect":…,"message":…}`, or without a dialect a plain one, in `message` or as the
/// payload itself, whose type may be that of the entry. `entry` must outlive the result. Fails with InvalidArgument
/// when it holds none that can be read.
[[nodiscard]] Result<Message> normalizeEntry(const Entry& entry);

/// What denormalize left out of the messages it wrote.
struct LeftOut {
  std::size_t block = 0;   ///< Index into Message::blocks.
  std::string field = {};  ///< "thinking", "citation", "text.cache_control" …
  std::string reason = {};
};

/// A message as another dialect writes it.
struct Denormalized {
  std::vector<std::string> messages = {};  ///< One dialect's message can be several of another, or none.
  std::vector<LeftOut> leftOut = {};
};

/// Writes a message in a dialect. In its own dialect, with `raw` set, that is `raw`, byte for byte. What the dialect
/// has no place for is left out and named; convertHistory (convert.h) keeps that for the way back. Fails with
/// Unsupported for Plain, which is only read.
[[nodiscard]] Result<Denormalized> denormalize(const Message& message, Dialect dialect);

// An entry as people read it: in one line, or part by part.

/// What an entry says in one line.
struct EntrySummary {
  std::string entryId = {};
  std::string timestamp = {};
  std::string speaker = {};  ///< user, assistant, system, tool; of entries that are not messages, their type.
  std::string text = {};     ///< Printable, on one line: the first text in plain words (no marks of Markdown), else the
                             ///< first tool call, else what there is.
  bool failed = false;       ///< It holds the result of a tool that failed.
};

/// Summarizes an entry. Never fails: what cannot be read as a message is shown as it is stored. `text` has at most so
/// many graphemes, as a person counts characters.
EntrySummary summarizeEntry(const Entry& entry, std::size_t graphemes);

/// One part of what an entry says.
struct EntryPart {
  BlockKind kind = BlockKind::Text;
  std::string text = {};    ///< What is said; of a tool call its arguments, of a result what it returned.
  std::string name = {};    ///< Of a tool call or result: the tool, or the call's id where there is no name.
  bool isError = false;     ///< A tool result: the tool failed.
  std::string callId = {};  ///< Of a tool call or result: the call's id; empty when the provider wrote none.
};

/// All that an entry says, decoded.
struct EntryView {
  std::string speaker = {};  ///< user, assistant, system, tool; for an entry that is not a message, its type.
  bool isMessage = false;
  std::vector<EntryPart> parts = {};
};

/// Takes an entry apart. Never fails: what cannot be read as a message is shown as it is stored. Texts are copied and
/// may hold control characters: make them printable before they go to a terminal.
EntryView viewEntry(const Entry& entry);

/// Whether a message holds the result of a tool that failed. Where a dialect has no flag for that (OpenAI's), a result
/// that begins with `Error:` or is a JSON object with an `error` counts.
bool hasFailedResult(const Message& message);

/// The same of an entry; false when it holds no message.
bool hasFailedResult(const Entry& entry);

}  // namespace BOUGH_PUBLIC bough
