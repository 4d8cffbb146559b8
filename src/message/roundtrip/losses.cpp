#include "message/roundtrip/losses.h"

#include <fmt/format.h>

#include "message/model/dialects.h"
#include "message/model/media.h"

namespace bough::message {

void LossReporter::message(const Original& original) const {
  for (const std::string_view name : original.message.extras) lost(original, nullptr, fmt::format("message.{}", name));
  if (original.tool == nullptr) return;
  for (const std::string_view name : original.tool->extras) lost(original, nullptr, fmt::format("tool.{}", name));
}

void LossReporter::block(const Original& original, const Block& block) const {
  const bool carried = block.kind == BlockKind::Citation || block.kind == BlockKind::Thinking ||
                       block.kind == BlockKind::RedactedThinking || block.kind == BlockKind::Unknown;
  if (carried) return lost(original, &block, toString(block.kind));
  within(original, block, nullptr);
}

void LossReporter::within(const Original& original, const Block& block, const Block* inside) const {
  const Block* const where = inside == nullptr ? &block : inside;
  if (document_ != Dialect::Bough) form(original, block, inside);
  for (const std::string_view name : block.extras) {
    lost(original, where, fmt::format("{}.{}", toString(block.kind), name));
  }
  for (const Block& nested : block.content) within(original, nested, where);
}

// Reports what the document has in another form. `inside`: the block of the message that contains `block`.
void LossReporter::form(const Original& original, const Block& block, const Block* inside) const {
  const Block* const where = inside == nullptr ? &block : inside;
  const bool media = block.kind == BlockKind::Image || block.kind == BlockKind::Document;
  const Role role = inside == nullptr ? original.message.role : Role::Tool;
  // If not held, it was written as text, or as a note.
  const bool held = media && canHoldMedia(document_, role, block, original.dialect);
  if (media && !held) lost(original, where, toString(block.kind));
  if (media && !block.name.empty() && !canHoldTitle(document_, block, held)) {
    lost(original, where, fmt::format("{}.{}", toString(block.kind), titleName(original.dialect)));
  }
  const bool openai = isOpenai(document_);
  if (block.kind == BlockKind::Refusal && !openai) lost(original, where, "refusal");
  if (block.kind == BlockKind::Unknown) lost(original, where, block.type.present ? block.type.escaped : "unknown");
  const bool isSigned = block.kind == BlockKind::Text || block.kind == BlockKind::ToolCall;
  if (isSigned && !block.signature.empty()) lost(original, where, "thoughtSignature");
  if (block.isError && openai && !markedErrors_.contains(block.id.decode())) {
    lost(original, where, "tool_result.is_error");
  }
}

void LossReporter::lost(const Original& original, const Block* block, std::string_view field) const {
  reporter_.lossy(Change::LeftOut, original, block, field, "it belonged to what was edited, and does not come back");
}

}  // namespace bough::message
