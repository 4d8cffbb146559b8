#include "message/dialect/reader.h"

#include <algorithm>
#include <charconv>

#include "base/json/json_write.h"

namespace bough::message {

TextView Reader::text(Tree::Index node) const {
  if (!tree.isString(node)) return {};
  return {.escaped = tree.body(node), .present = true, .oddEscapes = tree.hasOddEscapes(node)};
}

TextView Reader::own(std::string_view plain) {
  const std::string& kept = out.owned.emplace_front(json::quoted(plain));
  return {.escaped = std::string_view(kept).substr(1, kept.size() - 2), .present = true, .oddEscapes = false};
}

TextView Reader::joined(const std::vector<TextView>& texts, std::string_view escapedSeparator) {
  if (texts.empty()) return {};
  if (texts.size() == 1) return texts.front();
  TextView all{.escaped = {}, .present = true, .oddEscapes = false};
  std::string& kept = out.owned.emplace_front();
  for (const TextView& text : texts) {
    if (&text != &texts.front()) kept += escapedSeparator;
    kept += text.escaped;
    all.oddEscapes |= text.oddEscapes;
  }
  all.escaped = kept;
  return all;
}

std::uint64_t Reader::tokens(Tree::Index node) const {
  if (node == Tree::kNone || tree.kind(node) != json::Kind::Number) return 0;
  const std::string_view raw = tree.raw(node);
  std::uint64_t value = 0;
  std::from_chars(raw.data(), raw.data() + raw.size(), value);
  return std::min(value, kMaxTokens);
}

void Reader::extra(std::vector<std::string_view>& extras, Tree::Index key) const {
  const Tree::Index value = key + 1;
  const bool container = tree.isArray(value) || tree.isObject(value);
  if (tree.kind(value) == json::Kind::Null || (container && tree.next(value) == value + 1)) return;
  extras.push_back(tree.body(key));
}

void Reader::extrasOf(std::vector<std::string_view>& extras, Tree::Index object,
                      std::initializer_list<std::string_view> known) const {
  for (const auto [key, value] : tree.members(object)) {
    const bool isKnown = std::ranges::any_of(known, [&](std::string_view name) { return tree.stringIs(key, name); });
    if (!isKnown) extra(extras, key);
  }
}

Block Reader::unknownBlock(Tree::Index node, TextView type, std::string_view problem) const {
  Block block;
  block.kind = BlockKind::Unknown;
  block.raw = tree.raw(node);
  block.type = type;
  block.problem = problem;
  return block;
}

bool Reader::url(TextView address, Block& block) {
  if (!address.present || address.empty()) return false;
  // "\/" is the only escape that serializers write in addresses. With it, the address is not a slice any more.
  if (address.escaped.contains('\\')) address = own(address.decode());
  const std::string_view text = address.escaped;
  if (!text.starts_with("data:")) {
    block.source = MediaSource::Url;
    block.text = address;
    return true;
  }
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos || !text.substr(0, comma).ends_with(";base64")) return false;
  const std::string_view type = text.substr(5, comma - 5 - std::string_view(";base64").size());
  block.source = MediaSource::Base64;
  block.type = {.escaped = type.substr(0, type.find(';')), .present = true, .oddEscapes = false};
  block.text = {.escaped = text.substr(comma + 1), .present = true, .oddEscapes = false};
  return true;
}

bool Reader::fileData(const TextView& data, Block& block) {
  const bool address = data.escaped.starts_with("data:") || data.escaped.starts_with("http");
  if (address || data.empty()) return url(data, block);
  block.source = MediaSource::Base64;
  block.text = data.escaped.contains('\\') ? own(data.decode()) : data;
  return true;
}

namespace {

// Returns whether lists of blocks are so long that the blocks would take a thousand times the bytes of their text.
// Lists in a tool's arguments have other names and need no blocks.
bool hasTooManyBlocks(const Tree& tree, Tree::Index message) {
  constexpr std::size_t kMostBlocks = 100'000;
  constexpr std::string_view kLists[] = {"content", "parts", "output", "tool_calls", "annotations", "citations"};
  const Tree::Index end = tree.next(message);
  if (end - message < kMostBlocks) return false;
  std::size_t blocks = 0;
  for (Tree::Index at = message; at + 1 < end; ++at) {
    if (!tree.isString(at) || !tree.isArray(at + 1)) continue;
    if (std::ranges::find(kLists, tree.body(at)) == std::end(kLists)) continue;
    for ([[maybe_unused]] const Tree::Index each : tree.elements(at + 1)) ++blocks;
  }
  return blocks > kMostBlocks;
}

}  // namespace

Problem readMessage(Dialect dialect, const Tree& tree, Tree::Index node, Message& out) {
  out.dialect = dialect;
  out.raw = tree.raw(node);
  if (!tree.isObject(node)) return "a message is an object";
  if (hasTooManyBlocks(tree, node)) return "it holds more than 100,000 blocks";
  switch (dialect) {
    case Dialect::Anthropic: return readAnthropic(tree, node, out);
    case Dialect::OpenaiChat: return readOpenaiChat(tree, node, out);
    case Dialect::OpenaiResponses: return readOpenaiResponses(tree, node, out);
    case Dialect::Gemini: return readGemini(tree, node, out);
    case Dialect::Plain: return readPlain(tree, node, out);
    case Dialect::Bough: return readBough(tree, node, out);
  }
  return "an unknown dialect";
}

Problem readSystem(Dialect dialect, const Tree& tree, Tree::Index node, Message& out) {
  out.dialect = dialect;
  out.raw = tree.raw(node);
  out.role = Role::System;
  Reader reader(tree, out);
  if (dialect == Dialect::Gemini) {
    const Problem problem = readGeminiContent(reader, node);
    // The members of a single part are in its block.
    if (!problem && !tree.isString(tree.find(node, "text"))) reader.extrasOf(out.extras, node, {"role", "parts"});
    return problem;
  }
  return readAnthropicContent(reader, node);
}

}  // namespace bough::message
