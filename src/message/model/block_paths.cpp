#include "message/model/block_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "message/model/request_names.h"

namespace bough::message {
namespace {

// In Gemini, declarations are in lists inside the elements.
std::string placeOfTool(const ToolDefinition& tool) {
  const std::string element = fmt::format("[{}]", tool.element);
  return tool.declarations.empty() ? element : fmt::format("{}.{}[{}]", element, tool.declarations, tool.declaration);
}

// Returns the index of a block in a message; the number of blocks when it is not one of them.
std::size_t numberOf(const std::vector<Block>& blocks, const Block* block) {
  const Block* const begin = blocks.data();
  if (block == nullptr || std::less<>{}(block, begin) || !std::less<>{}(block, begin + blocks.size())) {
    return blocks.size();
  }
  return static_cast<std::size_t>(block - begin);
}

}  // namespace

std::string pathOf(const Original& original) {
  if (!original.entryId.empty()) return original.section == Section::Messages ? "message" : "payload";
  const RequestNames names = requestNames(original.dialect);
  std::string path = original.fromWayBack ? std::string(toString(original.dialect)) + ":" : std::string();
  switch (original.section) {
    case Section::System: path += names.system; break;
    case Section::Tools: path += names.tools; break;
    case Section::Messages: path += names.messages; break;
  }
  if (original.tool != nullptr && original.tool->element >= 0) return path + placeOfTool(*original.tool);
  if (original.documentPlace != kNotInDocument && !original.isRequestMember)
    path += fmt::format("[{}]", original.documentPlace);
  return path;
}

std::string BlockPaths::of(const Original& original, const Block* block) {
  std::string path = pathOf(original);
  const std::size_t number = numberOf(original.message.blocks, block);
  if (number == original.message.blocks.size()) return path;
  // A block that is the whole stored value has no path of its own.
  if (block->raw.data() == original.raw.data()) return path;
  if (original.dialect == Dialect::OpenaiChat && original.tree != nullptr) return path + placeInChat(original, *block);
  const std::string_view list = original.dialect == Dialect::Gemini ? ".parts" : ".content";
  return path + fmt::format("{}[{}]", list, placeOf(original.message.blocks, number));
}

std::size_t BlockPaths::placeOf(const std::vector<Block>& blocks, std::size_t number) {
  if (blocks_ != blocks.data() || number < number_) {
    blocks_ = blocks.data();
    number_ = place_ = 0;
  }
  for (; number_ < number; ++number_) {
    if (blocks[number_].kind != BlockKind::Citation) ++place_;
  }
  // A citation is inside the text before it.
  return blocks[number].kind == BlockKind::Citation && place_ > 0 ? place_ - 1 : place_;
}

// In Chat, texts, calls, reasoning and refusals are in separate members.
std::string BlockPaths::placeInChat(const Original& original, const Block& block) {
  const bool isIndexed = tree_ == original.tree && node_ == original.node && text_ == original.tree->text().data();
  if (!isIndexed) indexChat(original);
  const auto found = std::ranges::lower_bound(values_, block.raw.data(), std::less<>{}, &Value::begin);
  if (found == values_.end() || found->begin != block.raw.data()) return inMessage_;
  const std::string_view key = tree_->body(found->key);
  if (found->element == kNone) return fmt::format("{}.{}", inMessage_, key);
  return fmt::format("{}.{}[{}]", inMessage_, key, found->element);
}

void BlockPaths::indexChat(const Original& original) {
  const json::Tree& tree = *original.tree;
  tree_ = &tree;
  node_ = original.node;
  text_ = tree.text().data();
  values_.clear();
  inMessage_.clear();
  json::Tree::Index message = original.node;
  if (tree.find(message, "role") == json::Tree::kNone) {
    for (const json::Tree::Index choice : tree.elements(tree.find(message, "choices"))) {
      message = tree.find(choice, "message");
      inMessage_ = ".choices[0].message";
      break;
    }
  }
  for (const auto [key, value] : tree.members(message)) {
    values_.push_back({.begin = tree.raw(value).data(), .key = key});
    std::size_t element = 0;
    for (const json::Tree::Index each : tree.elements(value)) {
      values_.push_back({.begin = tree.raw(each).data(), .key = key, .element = element++});
    }
  }
  std::ranges::stable_sort(values_, std::less<>{}, &Value::begin);
}

}  // namespace bough::message
