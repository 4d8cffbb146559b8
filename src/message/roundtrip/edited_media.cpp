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

const Block* resultAt(const WayBackData& wayBack, const BlockRecord& written) {
  if (written.original < 0 || written.blockIndex < 0) return nullptr;
  const auto& blocks = wayBack.originals[static_cast<std::size_t>(written.original)].message.blocks;
  const auto place = static_cast<std::size_t>(written.blockIndex);
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
                                                   const std::function<bool(std::size_t written)>& isKept) {
  std::map<ResultPlace, WrittenBeside> found;
  for (std::size_t i = 0; i < wayBack.records.blocks.size(); ++i) {
    const BlockRecord& written = wayBack.records.blocks[i];
    if (resultAt(wayBack, written) == nullptr || isKept(i)) continue;
    const auto [at, first] = found.try_emplace({written.original, written.blockIndex});
    if (!first) ++at->second.written;
  }
  std::erase_if(found, [](const auto& each) { return each.second.written == 0; });
  return found;
}

void findUnchanged(const Records& records, const Original& original, const std::vector<std::size_t>& writtenBlocks,
                   std::map<ResultPlace, WrittenBeside>& results) {
  const auto blocks = separateBlocksOf(original);
  for (std::size_t k = 0; k < writtenBlocks.size(); ++k) {
    if (writtenBlocks[k] == kUnmatched || blocks[k]->kind == BlockKind::ToolResult) continue;
    const BlockRecord& record = records.blocks[writtenBlocks[k]];
    const auto found = results.find({record.original, record.blockIndex});
    if (found == results.end()) continue;
    found->second.unchanged.push_back(writtenBlocks[k]);
    if (blocks[k]->kind != BlockKind::Text) found->second.media.push_back(blocks[k]);
  }
}

}  // namespace

ReturnedMedia mediaOfEdited(const WayBackData& wayBack, const std::vector<Original>& document,
                            const std::vector<DocumentValue>& values,
                            const std::function<bool(std::size_t written)>& isKept) {
  ReturnedMedia returned{.goesBack = std::vector<char>(wayBack.records.blocks.size(), 0), .byResultId = {}};
  auto edited = editedResults(wayBack, isKept);
  if (edited.empty()) return returned;
  for (const std::size_t i : valuesIn(document, Section::Messages)) {
    findUnchanged(wayBack.records, document[i], values[i].writtenBlocks, edited);
  }
  const auto results = countResults(document);
  for (const auto& [place, beside] : edited) {
    const Block& result = *resultAt(wayBack, {.original = place.first, .blockIndex = place.second});
    const auto now = results.find(result.id.decode());
    // When several results have the same id, it is not known which one this is.
    if (beside.unchanged.size() != beside.written || now == results.end() || now->second != 1) continue;
    for (const std::size_t written : beside.unchanged) returned.goesBack[written] = 1;
    for (const Block* const block : beside.media) returned.byResultId[now->first].push_back(*block);
  }
  return returned;
}

void returnMedia(const ReturnedMedia& media, Original& original) {
  if (media.byResultId.empty()) return;
  for (Block& block : original.message.blocks) {
    const auto found =
        block.kind == BlockKind::ToolResult ? media.byResultId.find(block.id.decode()) : media.byResultId.end();
    if (found == media.byResultId.end()) continue;
    block.content.insert(block.content.end(), found->second.begin(), found->second.end());
  }
}

}  // namespace bough::message
