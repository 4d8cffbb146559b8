#include "transcript/agents/gemini_cli/chat_tree.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

namespace bough::transcript::gemini_cli {
namespace {

std::uint64_t siblingKey(const std::string& id, std::size_t parent, std::uint64_t contentHash) {
  return std::hash<std::string>()(fmt::format("{} {} {}", parent, contentHash, id));
}

}  // namespace

std::size_t ChatTree::findChild(const std::string& id, std::uint64_t contentHash) const {
  const std::size_t parent = path_.empty() ? kRoot : path_.back();
  const auto found = byKey_.find(siblingKey(id, parent, contentHash));
  if (found == byKey_.end()) return kRoot;
  const Node& node = nodes_[found->second];
  return node.id == id && node.parent == parent && node.contentHash == contentHash ? found->second : kRoot;
}

std::size_t ChatTree::placeOf(const std::string& id) const {
  const auto found = byId_.find(id);
  if (found == byId_.end()) return path_.size();
  const std::size_t depth = nodes_[found->second].depth;
  return depth < path_.size() && path_[depth] == found->second ? depth : path_.size();
}

std::size_t ChatTree::originalOf(std::size_t number) const {
  while (nodes_[number].keptOf != kRoot) number = nodes_[number].keptOf;
  return number;
}

void ChatTree::add(Node node) {
  const std::size_t added = nodes_.size();
  // Messages that follow an older version of the message stay where they are.
  const bool isLast = node.depth + 1 >= path_.size();
  byKey_.try_emplace(siblingKey(node.id, node.parent, node.contentHash), added);
  nodes_.push_back(std::move(node));
  if (!isLast) return;
  path_.resize(nodes_[added].depth);
  appendToPath(added);
}

void ChatTree::addAnswers(std::size_t number, std::vector<AnsweredCall> answers, std::string last) {
  nodes_[number].answers = std::move(answers);
  nodes_[number].last = std::move(last);
}

void ChatTree::appendToPath(std::size_t number) {
  path_.push_back(number);
  byId_[nodes_[number].id] = number;
}

}  // namespace bough::transcript::gemini_cli
