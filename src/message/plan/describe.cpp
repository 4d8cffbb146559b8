#include "message/plan/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "message/json/json_tree.h"

namespace bough::message {
namespace {

using json::Tree;

// Members that mean nothing to another model.
constexpr std::string_view kNoise[] = {"id",
                                       "status",
                                       "call_id",
                                       "tool_use_id",
                                       "caller",
                                       "cache_control",
                                       "encrypted_content",
                                       "encrypted_index",
                                       "encrypted_stdout",
                                       "signature",
                                       "thoughtSignature",
                                       "thought_signature"};
// A string of this many bytes without a blank is data, not text.
constexpr std::size_t kDataBytes = 1000;

bool isNoise(const Tree& tree, Tree::Index key, Tree::Index value, bool outermost) {
  const bool container = tree.isArray(value) || tree.isObject(value);
  if (tree.kind(value) == json::Kind::Null || (container && tree.next(value) == value + 1)) return true;
  if (outermost && tree.stringIs(key, "type")) return true;
  return std::ranges::any_of(kNoise, [&](std::string_view name) { return tree.stringIs(key, name); });
}

void appendScalar(const Tree& tree, Tree::Index value, std::string& out) {
  const std::string_view raw = tree.raw(value);
  const bool data =
      tree.isString(value) && (raw.starts_with("\"data:") || (raw.size() > kDataBytes && !raw.contains(' ')));
  out += data ? fmt::format("\"({} bytes)\"", raw.size() - 2) : std::string(raw);
}

std::string readablePart(const Tree& tree) {
  struct Open {
    Tree::Index end;
    bool object;
    bool empty;
  };
  std::string out;
  std::vector<Open> open;
  for (Tree::Index at = 0;;) {
    while (!open.empty() && at == open.back().end) {
      out += open.back().object ? '}' : ']';
      open.pop_back();
    }
    if (at > 0 && open.empty()) return out;
    Tree::Index value = at;
    if (!open.empty()) {
      Open& parent = open.back();
      if (parent.object) value = at + 1;
      if (parent.object && isNoise(tree, at, value, open.size() == 1)) {
        at = tree.next(value);
        continue;
      }
      if (!parent.empty) out += ',';
      parent.empty = false;
      if (parent.object) out.append(tree.raw(at)).append(":");
    }
    if (tree.isObject(value) || tree.isArray(value)) {
      out += tree.isObject(value) ? '{' : '[';
      open.push_back({.end = tree.next(value), .object = tree.isObject(value), .empty = true});
      at = value + 1;
    } else {
      appendScalar(tree, value, out);
      at = tree.next(value);
    }
  }
}

}  // namespace

std::optional<std::string> describe(const Block& block) {
  Tree tree;
  if (tree.parse(block.raw) || !tree.isObject(0)) return std::nullopt;
  const std::string said = readablePart(tree);
  if (said == "{}") return std::nullopt;
  return fmt::format("[{}] {}", block.type.present ? block.type.decode() : "unknown", said);
}

}  // namespace bough::message
