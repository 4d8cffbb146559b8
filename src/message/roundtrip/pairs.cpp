#include "message/roundtrip/pairs.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "message/plan/server_tool_blocks.h"

namespace bough::message {
namespace {

struct PairedBlock {
  BlockPlace place;
  bool isResult = false;
};

// The dialect, the id, and a number of the message or turn when there is no id.
using Key = std::tuple<Dialect, std::string, std::size_t>;

// Returns all calls and results of a use that come back when another one of that use does not. `whereOf`: those without
// an id belong together when their messages have the same number.
template <typename BlockOf>
std::vector<BlockPlace> unpairedBlocks(const std::vector<Original>& originals, const ComesBack& comesBack,
                                       BlockOf blockOf, const std::vector<std::size_t>& whereOf) {
  std::map<Key, std::vector<PairedBlock>> uses;
  for (std::size_t i = 0; i < originals.size(); ++i) {
    const std::vector<Block>& blocks = originals[i].message.blocks;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      std::optional<ServerToolBlock> found = blockOf(blocks[b], originals[i].dialect);
      if (!found) continue;
      const std::size_t where = found->id.empty() ? whereOf[i] : 0;
      uses[{originals[i].dialect, std::move(found->id), where}].push_back({{i, b}, found->isResult});
    }
  }
  std::vector<BlockPlace> unpaired;
  const auto blockComesBack = [&](const PairedBlock& each) { return comesBack(each.place); };
  for (const auto& [key, blocksOfUse] : uses) {
    const auto results = std::ranges::count_if(blocksOfUse, &PairedBlock::isResult);
    const bool wasPair = results > 0 && results < std::ssize(blocksOfUse);
    if (!wasPair || std::ranges::all_of(blocksOfUse, blockComesBack)) continue;
    for (const PairedBlock& each : blocksOfUse) {
      if (blockComesBack(each)) unpaired.push_back(each.place);
    }
  }
  return unpaired;
}

std::optional<ServerToolBlock> functionBlockOf(const Block& block, Dialect /*dialect*/) {
  const bool result = block.kind == BlockKind::ToolResult;
  if (!result && block.kind != BlockKind::ToolCall) return std::nullopt;
  return ServerToolBlock{.isResult = result, .id = block.idMissing ? std::string() : block.id.decode()};
}

// A call of a provider's own tool and its result are in one message.
std::vector<std::size_t> messagesOf(const std::vector<Original>& originals) {
  std::vector<std::size_t> messages(originals.size());
  std::iota(messages.begin(), messages.end(), std::size_t{0});
  return messages;
}

// The results of functions follow the assistant's message.
std::vector<std::size_t> turnsOf(const std::vector<Original>& originals) {
  std::vector<std::size_t> turns;
  bool lastAssistant = false;
  for (const Original& original : originals) {
    const bool assistant = original.message.role == Role::Assistant;
    const bool begins = assistant && !lastAssistant;
    turns.push_back((turns.empty() ? 0 : turns.back()) + (begins ? 1 : 0));
    lastAssistant = assistant;
  }
  return turns;
}

}  // namespace

std::vector<BlockPlace> unpairedServerToolBlocks(const std::vector<Original>& originals, const ComesBack& comesBack) {
  return unpairedBlocks(originals, comesBack, serverToolBlockOf, messagesOf(originals));
}

std::vector<std::size_t> originalsWithUnpairedCalls(const std::vector<Original>& originals,
                                                    const ComesBack& comesBack) {
  std::vector<std::size_t> found;
  for (const BlockPlace& place : unpairedBlocks(originals, comesBack, functionBlockOf, turnsOf(originals))) {
    found.push_back(place.original);
  }
  return found;
}

bool isReasoningItem(const Original& original) {
  const std::vector<Block>& blocks = original.message.blocks;
  return original.dialect == Dialect::OpenaiResponses && !blocks.empty() &&
         std::ranges::all_of(blocks, [](const Block& block) {
           return block.kind == BlockKind::Thinking || block.kind == BlockKind::RedactedThinking;
         });
}

// The API's own summary of the history is not an answer, and neither is a reference to an item.
bool mayFollowReasoning(const Original& next) {
  constexpr std::string_view kOthers[] = {"compaction", "compaction_summary", "item_reference"};
  const std::vector<Block>& blocks = next.message.blocks;
  if (next.section != Section::Messages || next.message.role != Role::Assistant || blocks.empty()) return false;
  if (next.dialect != Dialect::OpenaiResponses) return true;
  return std::ranges::find(kOthers, blocks.front().type.escaped) == std::end(kOthers);
}

}  // namespace bough::message
