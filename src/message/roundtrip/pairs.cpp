#include "message/roundtrip/pairs.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "message/plan/server_halves.h"

namespace bough::message {
namespace {

struct PairHalf {
  BlockPlace place;
  bool isResult = false;
};

// The dialect, the id, and a number of the message or turn when there is no id.
using Key = std::tuple<Dialect, std::string, std::size_t>;

// Returns all halves of a use that come back when some half of that use does not. `whereOf`: halves without an id
// belong together when their messages have the same number.
template <typename HalfOf>
std::vector<BlockPlace> loneHalves(const std::vector<Original>& originals, const Returns& returns, HalfOf halfOf,
                                   const std::vector<std::size_t>& whereOf) {
  std::map<Key, std::vector<PairHalf>> uses;
  for (std::size_t i = 0; i < originals.size(); ++i) {
    const std::vector<Block>& blocks = originals[i].message.blocks;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      std::optional<ServerHalf> half = halfOf(blocks[b], originals[i].dialect);
      if (!half) continue;
      const std::size_t where = half->id.empty() ? whereOf[i] : 0;
      uses[{originals[i].dialect, std::move(half->id), where}].push_back({{i, b}, half->isResult});
    }
  }
  std::vector<BlockPlace> lone;
  const auto comesBack = [&](const PairHalf& half) { return returns(half.place); };
  for (const auto& [key, halves] : uses) {
    const auto results = std::ranges::count_if(halves, &PairHalf::isResult);
    const bool wasPair = results > 0 && results < std::ssize(halves);
    if (!wasPair || std::ranges::all_of(halves, comesBack)) continue;
    for (const PairHalf& half : halves) {
      if (comesBack(half)) lone.push_back(half.place);
    }
  }
  return lone;
}

std::optional<ServerHalf> functionHalfOf(const Block& block, Dialect /*dialect*/) {
  const bool result = block.kind == BlockKind::ToolResult;
  if (!result && block.kind != BlockKind::ToolCall) return std::nullopt;
  return ServerHalf{.isResult = result, .id = block.idMissing ? std::string() : block.id.decode()};
}

// The halves of a provider's own tools are in one message.
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

std::vector<BlockPlace> loneServerHalves(const std::vector<Original>& originals, const Returns& returns) {
  return loneHalves(originals, returns, serverHalfOf, messagesOf(originals));
}

std::vector<std::size_t> originalsOfLoneHalves(const std::vector<Original>& originals, const Returns& returns) {
  std::vector<std::size_t> found;
  for (const BlockPlace& place : loneHalves(originals, returns, functionHalfOf, turnsOf(originals))) {
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
