// A history while it is converted: what each message was first written as, whatever document it is in now.
//
// A Original is one stored value in the dialect its author wrote it in. A document that was converted before is read
// back into originals first (restore.h); originals are then written into the target's document (plan.h, writers.h),
// verbatim where they are of its dialect. The records say which written value came from which original.
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

/// The parts of a request that are converted. The rest are settings of one provider and stay with it.
enum class Section : std::uint8_t { System, Tools, Messages };
inline constexpr std::array<Section, 3> kSections = {Section::System, Section::Tools, Section::Messages};

struct ToolDefinition {
  bool known = false;     ///< A function or a freeform tool; anything else is the provider's own.
  bool freeform = false;  ///< Takes text instead of JSON.
  TextView name;
  TextView description;
  std::string_view schema;  ///< Raw JSON schema; empty when there is none.
  std::string_view strict;  ///< Raw `strict`, which the two of OpenAI share; empty when there is none.
  std::vector<std::string_view> extras;
  std::int64_t element = -1;      ///< Of the list of tools in the document that it was read from: where it stands.
  std::string_view declarations;  ///< The list in that element that it is in, as Gemini has one; empty: none.
  std::int64_t declaration = -1;  ///< Where it stands in there.
};

/// Where an original stood in the document of its own dialect, so that the bytes between originals come back too.
inline constexpr std::int64_t kNoPlace = -1;

/// What stood before a signed block: it must be there again for the signature to hold.
struct Prefix {
  std::uint64_t system = 0;
  std::uint64_t tools = 0;
  std::uint64_t messages = 0;
  bool operator==(const Prefix&) const = default;
};

struct Original {
  Dialect dialect = Dialect::Bough;
  Section section = Section::Messages;
  bool fromWayBack = false;          ///< Restored, not read from the document.
  bool neutral = false;              ///< Of a session: it is not a provider's, and stays as it is for every target.
  bool wholeSlot = false;            ///< The value of a request's own member (`system`), not an element of a list.
  const json::Tree* tree = nullptr;  ///< Where it is indexed, at `node`.
  json::Tree::Index node = 0;
  std::string_view raw;
  std::string_view entryId{};   ///< Of a session's message: the entry that holds it.
  bool apart = false;           ///< Of a session: it is never joined with the message before it.
  bool partial = false;         ///< Some of its blocks were edited; these are the others. It is arranged again.
  bool lostCall = false;        ///< Partial: a call that was before these blocks does not come back.
  bool unpaired = false;        ///< Of a way back: it has a call without its result, or a result without its call, now.
  bool joinsPrevious = false;   ///< A piece of the same message as the original before it.
  bool replacesSystem = false;  ///< A message that was the system prompt before it was edited.
  bool unreadable = false;      ///< Redacted in the sense below, but because its bytes are damaged.
  bool erased = false;          ///< Redacted in the sense below, and its bytes are gone.
  bool redacted = false;        ///< Its content is hidden: it only holds its place, and those of `hiddenResults`.
  bool unknown = false;         ///< Redacted: what it was cannot be told any more; it may have answered calls.
  std::string_view problem;     ///< Why it cannot be converted; empty when it can.
  std::string_view separator;   ///< The bytes between the element before it and this one.
  std::int64_t place = kNoPlace;
  std::int64_t documentIndex = kNoPlace;      ///< Of a session's message: the value it was read from, or restored from.
  std::optional<std::uint64_t> recordedHash;  ///< Of its bytes, as a way back has it.
  std::optional<std::uint64_t> contentHash;   ///< Of what it says, when that was hashed already.
  Prefix prefix;                              ///< With signed blocks of Anthropic only.
  bool signedBlocks = false;
  Message message;
  std::vector<Block> hiddenResults;      ///< Redacted: the results it held, by the ids and names of their calls alone.
  std::unique_ptr<ToolDefinition> tool;  ///< Of a tool only.
};

/// Hides what an original says, except which calls it answered: their ids and names are in the calls as well.
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

/// Whether it is in a document of the target as it was written.
inline bool staysVerbatim(const Original& original, Dialect target) {
  return original.dialect == target || original.neutral;
}

/// A setting of a request as a conversion wrote it: as long as it still says the same, nobody set it there.
struct Setting {
  std::string unit{};  ///< What is translated as one: "temperature", "toolChoice", "format" …
  std::string path{};  ///< Names joined by dots, as the dialect that it is written for has them.
  std::string json{};
};

/// The text of a request around its sections: literal blocks, each with the section that follows it.
struct RequestText {
  struct Part {
    std::string text{};    ///< Literal.
    bool hasSlot = false;  ///< Whether a section follows.
    Section slot = Section::Messages;
    std::string keyText{};    ///< `"system": `, up to the value; of a list up to its first element.
    std::string emptyText{};  ///< The value when nothing is to be put there (`null`); may be empty.
    std::string endText{};    ///< What ends the value: of a list from its last element on.
  };

  Dialect dialect = Dialect::Bough;
  bool bare = false;         ///< The document is the list itself.
  bool stringInput = false;  ///< The messages are one string, as Responses allows.
  std::string toolsText;     ///< The stored tools, spliced when all of them come back.
  std::uint64_t toolCount = 0;
  std::vector<Setting> written{};  ///< The settings that a conversion put there; empty in a document of its author.
  std::vector<Part> parts;
};

/// One block of a written value.
struct LeafRecord {
  std::uint64_t hash = 0;
  std::int32_t original = -1;    ///< -1: synthetic.
  const Block* block = nullptr;  ///< While it is written: the block of the original, or one inside it.
  std::int32_t place = -1;       ///< In a way back: which block of the original; -1 for all of it.
};

/// One written value: a message, an item, a tool, a system prompt.
struct NodeRecord {
  Section section = Section::Messages;
  bool verbatim = false;
  std::int32_t original = -1;  ///< Verbatim: which. In a WayBack: the last original it keeps that is before this one.
  std::uint64_t hash = 0;
  std::uint32_t firstLeaf = 0;
  std::uint32_t leafCount = 0;
  std::size_t end = 0;  ///< Where it ends in the text it was written to.
};

/// How often ids of calls were used in the parts of a session that were converted before this one, by hash.
struct EarlierCalls {
  std::unordered_map<std::uint64_t, unsigned> ids;
  std::unordered_map<std::uint64_t, unsigned> made;  ///< Of calls that had none.
};

struct History {
  bool begins = true;               ///< The conversation begins here; false for a later part of one.
  bool goesOn = false;              ///< More of the conversation follows: the last message is not at its very end.
  EarlierCalls* earlier = nullptr;  ///< Of a session that is converted in parts: the calls of this one are added.
  std::int64_t lastPlace = -1;      ///< Of the messages that come back: where the last one of their document stood.
  std::vector<Original> originals;  ///< In order: system, tools, messages.
  std::vector<RequestText> requestTexts;  ///< At most one a dialect: the last that was seen.
  Aliases ids{Aliases::Of::CallId};
  Aliases names{Aliases::Of::ToolName};
  std::vector<std::string_view> freeformTools;  ///< Names of tools that a way back has calls of that take text.
  // What originals point into.
  std::deque<json::Tree> trees;
  std::deque<std::string> texts;
  json::Tree scratch;  ///< Where a value is indexed first.

  [[nodiscard]] const RequestText* requestTextOf(Dialect dialect) const {
    for (const RequestText& requestText : requestTexts) {
      if (requestText.dialect == dialect) return &requestText;
    }
    return nullptr;
  }
};

}  // namespace bough::message
