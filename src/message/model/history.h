// A history during a conversion: the original form of each message, whatever document it is in now.
//
// An Original is one stored value in the dialect in which its author wrote it. A document that was converted before is
// first read back into originals (restore.h). Originals are then written into the target's document (plan.h,
// writers.h), verbatim when they are in the target's dialect. The records say which written value came from which
// original.
#pragma once

#include <bough/message.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "message/json/json_tree.h"
#include "message/model/aliases.h"

namespace bough::message {

/// The parts of a request that are converted. All other parts are settings of one provider and stay with it.
enum class Section : std::uint8_t { System, Tools, Messages };
inline constexpr std::array<Section, 3> kSections = {Section::System, Section::Tools, Section::Messages};

struct ToolDefinition {
  bool known = false;     ///< A function or a freeform tool; anything else is specific to the provider.
  bool freeform = false;  ///< Takes text instead of JSON.
  TextView name;
  TextView description;
  std::string_view schema;  ///< Raw JSON schema; empty when missing.
  std::string_view strict;  ///< Raw `strict`, which both dialects of OpenAI have; empty when missing.
  std::vector<std::string_view> extras;
  std::int64_t element = -1;  ///< Index of the element in the document's list of tools.
  /// For Gemini: name of the list in that element which contains the tool; otherwise empty.
  std::string_view declarations;
  std::int64_t declaration = -1;  ///< Index in that list.
};

/// Original::documentPlace of an original that is not in a document of its own dialect. The place is needed to restore
/// the bytes between originals.
inline constexpr std::int64_t kNotInDocument = -1;

/// Hashes of what preceded a signed block. The signature is valid only when the same content precedes the block again.
struct Prefix {
  std::uint64_t system = 0;
  std::uint64_t tools = 0;
  std::uint64_t messages = 0;
  bool operator==(const Prefix&) const = default;
};

struct Original {
  Dialect dialect = Dialect::Bough;
  Section section = Section::Messages;
  bool fromWayBack = false;          ///< It was restored, and not read from the document.
  bool hasNoProvider = false;        ///< In a session: it belongs to no provider and stays the same for every target.
  bool isRequestMember = false;      ///< The value of a member of the request (`system`), and not an element of a list.
  const json::Tree* tree = nullptr;  ///< The index that contains it, at `node`.
  json::Tree::Index node = 0;
  std::string_view raw;
  std::string_view entryId{};  ///< In a session: the entry that holds the message.
  bool neverJoined = false;    ///< In a session: it is never joined with the message before it.
  /// Some blocks of the message were edited, and this original has the others. It is written again.
  bool partial = false;
  bool lostCall = false;        ///< With `partial`: a call before these blocks does not come back.
  bool unpaired = false;        ///< In a way back: it now has a call without its result, or a result without its call.
  bool joinsPrevious = false;   ///< It is a piece of the same message as the previous original.
  bool replacesSystem = false;  ///< It is a message, but was the system prompt before it was edited.
  bool unreadable = false;      ///< Set with `redacted` when its bytes are damaged.
  bool erased = false;          ///< Set with `redacted` when its bytes no longer exist.
  bool redacted = false;        ///< Its content is hidden. It only marks its place and those of `hiddenResults`.
  bool isContentLost = false;   ///< With `redacted`: its content is not known any more; it may have answered calls.
  std::string_view problem;     ///< Why it cannot be converted; empty when it can.
  std::string_view separator;   ///< The bytes between the previous element and this one.
  std::int64_t documentPlace = kNotInDocument;
  /// In a session: index of the message that it was read from, or restored from.
  std::int64_t messageIndex = kNotInDocument;
  std::optional<std::uint64_t> recordedHash;  ///< Hash of its bytes, as recorded in a way back.
  std::optional<std::uint64_t> contentHash;   ///< Hash of its content, if already computed.
  Prefix prefix;                              ///< Only set for signed blocks of Anthropic.
  bool signedBlocks = false;
  Message message;
  /// With `redacted`: the results that it held, with only the ids and names of their calls.
  std::vector<Block> hiddenResults;
  std::unique_ptr<ToolDefinition> tool;  ///< Only set for a tool.
};

/// Hides the content of an original, except for which calls it answered: their ids and names also occur in the calls.
inline void hideContent(Original& original) {
  for (const Block& block : original.message.blocks) {
    if (block.kind != BlockKind::ToolResult) continue;
    Block& hidden = original.hiddenResults.emplace_back();
    hidden.kind = BlockKind::ToolResult;
    hidden.id = block.id;
    hidden.name = block.name;
    hidden.idMissing = block.idMissing;
  }
  const Role role = original.message.role;
  original.redacted = true;
  original.message = {};
  original.message.role = role;
  original.raw = {};
}

/// Returns whether an original appears unchanged in a document of the target.
inline bool staysVerbatim(const Original& original, Dialect target) {
  return original.dialect == target || original.hasNoProvider;
}

/// A setting of a request as a conversion wrote it. While its value is unchanged, nobody set it in that document.
struct Setting {
  std::string unit{};  ///< The unit of translation: "temperature", "toolChoice", "format" …
  std::string path{};  ///< Member names joined by dots, in the dialect of the request.
  std::string json{};
};

/// The text of a request around its sections: a list of literal texts, each with the section that follows it.
struct RequestFrame {
  struct Part {
    std::string text{};       ///< Verbatim.
    bool hasSection = false;  ///< Whether a section follows.
    Section section = Section::Messages;
    std::string keyText{};    ///< `"system": `, up to the value; for a list, up to its first element.
    std::string emptyText{};  ///< The value to write when the section is empty (`null`); may be empty.
    std::string endText{};    ///< The text that ends the value; for a list, everything after its last element.
  };

  Dialect dialect = Dialect::Bough;
  bool bare = false;         ///< The document is only the list itself.
  bool stringInput = false;  ///< The messages are one string, which Responses allows.
  std::string toolsText;     ///< The stored tools, written verbatim when all of them come back.
  std::uint64_t toolCount = 0;
  /// The settings that a conversion added; empty for a document that no conversion wrote.
  std::vector<Setting> written{};
  std::vector<Part> parts;
};

/// One block of a written value.
struct BlockRecord {
  std::uint64_t hash = 0;
  std::int32_t original = -1;    ///< -1 when it is synthetic.
  const Block* block = nullptr;  ///< While writing: the block of the original, or a block inside it.
  std::int32_t blockIndex = -1;  ///< In a way back: index of the block in the original; -1 for the whole original.
};

/// One written value: a message, an item, a tool, a system prompt.
struct ValueRecord {
  Section section = Section::Messages;
  bool verbatim = false;
  /// When verbatim: its original. In a WayBack: the last original in the WayBack that precedes it.
  std::int32_t original = -1;
  std::uint64_t hash = 0;
  std::uint32_t firstBlock = 0;
  std::uint32_t blockCount = 0;
  std::size_t end = 0;  ///< Where it ends in the written text.
};

/// How often each call id was used in the parts of a session that were converted earlier. Keys are hashes.
struct EarlierCalls {
  std::unordered_map<std::uint64_t, unsigned> ids;
  std::unordered_map<std::uint64_t, unsigned> made;  ///< The same for calls without an id, which got one.
};

struct History {
  bool isBeginning = true;          ///< The conversation begins here; false for a later part of it.
  bool hasMore = false;             ///< More of the conversation follows, so the last message is not its end.
  EarlierCalls* earlier = nullptr;  ///< Set for a session that is converted in parts. The calls of this part are added.
  std::int64_t lastDocumentPlace = -1;      ///< The highest Original::documentPlace of the messages in the way back.
  std::vector<Original> originals;          ///< In order: system, tools, messages.
  std::vector<RequestFrame> requestFrames;  ///< At most one per dialect: the most recent.
  Aliases ids{Aliases::Of::CallId};
  Aliases names{Aliases::Of::ToolName};
  std::vector<std::string_view> freeformTools;  ///< Names of tools that take text and have calls in a way back.
  // Storage that originals point into.
  std::deque<json::Tree> trees;
  std::deque<std::string> texts;
  json::Tree scratch;  ///< Where a value is indexed first.

  [[nodiscard]] const RequestFrame* requestFrameOf(Dialect dialect) const {
    for (const RequestFrame& requestFrame : requestFrames) {
      if (requestFrame.dialect == dialect) return &requestFrame;
    }
    return nullptr;
  }
};

}  // namespace bough::message
