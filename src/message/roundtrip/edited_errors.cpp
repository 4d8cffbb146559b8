#include "message/roundtrip/edited_errors.h"

#include <algorithm>
#include <map>

namespace bough::message {
namespace {

constexpr std::string_view kMark = "Error";       // A result that begins with this needs no prefix.
constexpr std::string_view kWritten = "Error: ";  // The prefix for any other failed result.

struct FailedResult {
  int results = 0;  // Number of results with this id.
  bool failed = false;
  bool wasMarked = false;  // The tool itself wrote the word.
};

const Block* firstText(const Block& result) {
  const auto found = std::ranges::find(result.content, BlockKind::Text, &Block::kind);
  return found == result.content.end() ? nullptr : &*found;
}

std::map<std::string, FailedResult> failedResults(const std::vector<Original>& originals) {
  std::map<std::string, FailedResult> found;
  for (const Original& original : originals) {
    for (const Block& block : original.message.blocks) {
      if (block.kind != BlockKind::ToolResult) continue;
      const Block* const text = firstText(block);
      found[block.id.decode()] = {.results = found[block.id.decode()].results + 1,
                                  .failed = block.isError,
                                  .wasMarked = text != nullptr && text->text.escaped.starts_with(kMark)};
    }
  }
  return found;
}

}  // namespace

std::set<std::string> markEditedErrors(const WayBackData& wayBack, std::vector<Original>& document) {
  std::set<std::string> marked;
  if (wayBack.document != Dialect::OpenaiChat && wayBack.document != Dialect::OpenaiResponses) return marked;
  const auto known = failedResults(wayBack.originals);
  for (Original& original : document) {
    for (Block& block : original.message.blocks) {
      const auto result = block.kind == BlockKind::ToolResult ? known.find(block.id.decode()) : known.end();
      // When several results have the same id, it is not known which one this is.
      if (result == known.end() || !result->second.failed || result->second.results > 1) continue;
      const auto text = std::ranges::find(block.content, BlockKind::Text, &Block::kind);
      const std::string_view word = result->second.wasMarked ? kMark : kWritten;
      if (text == block.content.end() || !text->text.escaped.starts_with(word)) continue;
      block.isError = true;
      if (!result->second.wasMarked) text->text.escaped.remove_prefix(kWritten.size());
      marked.insert(result->first);
    }
  }
  return marked;
}

}  // namespace bough::message
