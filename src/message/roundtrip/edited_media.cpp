#include "message/roundtrip/edited_media.h"

#include <utility>

namespace bough::message {
namespace {

using ResultPlace = std::pair<std::int32_t, std::int32_t>;  // An original, and the index of one of its blocks.

// What the document has of one result: first the result itself, then what it could not hold.
struct WrittenBeside {
  std::size_t written = 0;             // Number of blocks next to the result.
  std::vector<std::size_t> unchanged;  // Those blocks that are unchanged.
  std::vector<const Block*> media;
};

const Block* resultAt(const WayBackData& wayBack, const LeafRecord& leaf) {
  if (leaf.original < 0 || leaf.place < 0) return nullptr;
  const auto& blocks = wayBack.originals[static_cast<std::size_t>(leaf.original)].message.blocks;
  const auto place = static_cast<std::size_t>(leaf.place);
  return place < blocks.size() && blocks[place].kind == BlockKind::ToolResult ? &blocks[place] : nullptr;
}

std::map<std::string, int> countResults(const std::vector<Original>& document) {
  std::map<std::string, int> found;
  for (const Original& original : document) {
    for (const Block& block : original.message.blocks) {
      if (block.kind == BlockKind::ToolResult) ++found[block.id.decode()];
    }
  }
  return found;
}

// Returns the results that do not come back unchanged and have blocks next to them.
std::map<ResultPlace, WrittenBeside> editedResults(const WayBackData& wayBack,
                                                   const std::function<bool(std::size_t leaf)>& isKept) {
  std::map<ResultPlace, WrittenBeside> found;
  for (std::size_t i = 0; i < wayBack.records.leaves.size(); ++i) {
    const LeafRecord& leaf = wayBack.records.leaves[i];
    if (resultAt(wayBack, leaf) == nullptr || isKept(i)) continue;
    const auto [at, first] = found.try_emplace({leaf.original, leaf.place});
    if (!first) ++at->second.written;
  }
  std::erase_if(found, [](const auto& each) { return each.second.written == 0; });
  return found;
}

void findUnchanged(const Records& records, const Original& original, const std::vector<std::size_t>& leaves,
                   std::map<ResultPlace, WrittenBeside>& results) {
  const auto blocks = leavesOf(original);
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    if (leaves[k] == kUnmatched || blocks[k]->kind == BlockKind::ToolResult) continue;
    const LeafRecord& record = records.leaves[leaves[k]];
    const auto found = results.find({record.original, record.place});
    if (found == results.end()) continue;
    found->second.unchanged.push_back(leaves[k]);
    if (blocks[k]->kind != BlockKind::Text) found->second.media.push_back(blocks[k]);
  }
}

}  // namespace

ReturnedMedia mediaOfEdited(const WayBackData& wayBack, const std::vector<Original>& document,
                            const std::vector<DocumentValue>& values,
                            const std::function<bool(std::size_t leaf)>& isKept) {
  ReturnedMedia returned{.leaves = std::vector<char>(wayBack.records.leaves.size(), 0), .of = {}};
  auto edited = editedResults(wayBack, isKept);
  if (edited.empty()) return returned;
  for (const std::size_t i : valuesIn(document, Section::Messages)) {
    findUnchanged(wayBack.records, document[i], values[i].leaves, edited);
  }
  const auto results = countResults(document);
  for (const auto& [place, beside] : edited) {
    const Block& result = *resultAt(wayBack, {.original = place.first, .place = place.second});
    const auto now = results.find(result.id.decode());
    // When several results have the same id, it is not known which one this is.
    if (beside.unchanged.size() != beside.written || now == results.end() || now->second != 1) continue;
    for (const std::size_t leaf : beside.unchanged) returned.leaves[leaf] = 1;
    for (const Block* const block : beside.media) returned.of[now->first].push_back(*block);
  }
  return returned;
}

void returnMedia(const ReturnedMedia& media, Original& original) {
  if (media.of.empty()) return;
  for (Block& block : original.message.blocks) {
    const auto found = block.kind == BlockKind::ToolResult ? media.of.find(block.id.decode()) : media.of.end();
    if (found == media.of.end()) continue;
    block.content.insert(block.content.end(), found->second.begin(), found->second.end());
  }
}

}  // namespace bough::message
