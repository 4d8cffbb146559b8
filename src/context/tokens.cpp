#include "context/tokens.h"

#include <bough/context.h>

#include <algorithm>

namespace bough::context {
namespace {

// The overhead of a message and of each of its blocks, in tokens.
constexpr std::uint64_t kMessageTokens = 4;
constexpr std::uint64_t kCallTokens = 12;
// An image of about one megapixel; providers scale larger ones down to that.
constexpr std::uint64_t kImageTokens = 1600;
constexpr std::uint64_t kDocumentCharsPerToken = 50;

std::uint64_t estimateMedia(const Block& block) {
  if (block.source == MediaSource::Text) return estimateText(block.text.escaped, true);
  if (block.kind == BlockKind::Image || block.source != MediaSource::Base64) return kImageTokens;
  return std::max<std::uint64_t>(kImageTokens, block.text.escaped.size() / kDocumentCharsPerToken);
}

std::uint64_t estimateBlock(const Block& block) {
  switch (block.kind) {
    case BlockKind::Text:
    case BlockKind::Thinking:
    case BlockKind::Refusal: return estimateText(block.text.escaped, true);
    case BlockKind::RedactedThinking: return estimateText(block.signature.escaped, true);
    case BlockKind::ToolCall: {
      const bool isText = block.input.starts_with('"');
      return kCallTokens + estimateText(block.name.escaped, true) + estimateText(block.input, isText) +
             estimateText(block.text.escaped, true);
    }
    case BlockKind::ToolResult: {
      std::uint64_t tokens = kCallTokens;
      for (const Block& each : block.content) tokens += estimateBlock(each);
      return tokens;
    }
    case BlockKind::Image:
    case BlockKind::Document: return estimateMedia(block);
    case BlockKind::Citation: return 0;
    case BlockKind::Unknown: return estimateText(block.raw, false);
  }
  return 0;
}

}  // namespace

std::uint64_t estimateJson(std::string_view json) {
  return estimateText(json, json.starts_with('"'));
}

std::uint64_t estimateMessage(const Message& message) {
  std::uint64_t tokens = kMessageTokens;
  for (const Block& block : message.blocks) tokens += estimateBlock(block);
  return tokens;
}

}  // namespace bough::context

namespace bough {

std::uint64_t estimateTokens(std::string_view text) {
  return context::estimateText(text, false);
}

}  // namespace bough
