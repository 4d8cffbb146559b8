// The tree's links, in two passes over the columns: parents forwards (a parent stands before its children, so its depth
// is known), children backwards (so that each list comes out in log order).

#include <algorithm>

#include "bough/tree.h"

namespace bough {

std::string_view toString(TreeProblemKind kind) {
  return kind == TreeProblemKind::Cycle ? "cycle" : "orphan";
}

SessionTree::SessionTree(SessionOutline outline, std::vector<TreeLabel> labels)
    : kinds_(std::move(outline.kinds)), parents_(std::move(outline.parents)), head_(outline.head) {
  parents_.resize(kinds_.size(), kNoNode);
  linkParents();
  linkChildren();
  if (head_ >= kinds_.size()) head_ = kNoNode;
  if (head_ != kNoNode && !isNode(head_)) head_ = parents_[head_];

  std::erase_if(labels, [this](const TreeLabel& label) { return !isNode(label.node); });
  labels_ = std::move(labels);
  std::ranges::sort(labels_, {}, &TreeLabel::name);
  labelsByNode_ = labels_;
  std::ranges::stable_sort(labelsByNode_, {}, &TreeLabel::node);
}

// Points every parent at a node or at none, and finds depths and problems. Entries that are no nodes keep their nearest
// node as parent, so that what hangs under them is found; an unknown one stays unknown for their children.
void SessionTree::linkParents() {
  const auto count = static_cast<TreeNode>(kinds_.size());
  depths_.resize(count);
  std::optional<std::vector<bool>> inCycle;
  std::size_t nodes = 0;
  for (TreeNode i = 0; i < count; ++i) {
    TreeNode parent = parents_[i];
    const bool isNode = isConversation(kinds_[i]);
    nodes += isNode ? 1 : 0;
    // Nearly always: a message under an earlier one.
    if (parent < i && isNode && isConversation(kinds_[parent])) {
      depths_[i] = depths_[parent] + 1;
      continue;
    }
    const bool backwards = parent < i;
    if (backwards && !isConversation(kinds_[parent])) parent = parents_[parent];
    const bool unknown = parent != kNoNode && parent >= i;
    // A parent behind its child is damage, and may lead back to the child. What stands before the first such entry
    // points backwards only, so it does not matter that it has been linked.
    if (unknown && !backwards && parent < count && !inCycle) inCycle = findCycles();
    if (!isNode) {
      parents_[i] = unknown ? SessionOutline::kElsewhere : parent;
      continue;
    }
    if (unknown) {
      const bool cycle = !backwards && inCycle && (*inCycle)[i];
      problems_.push_back({.kind = cycle ? TreeProblemKind::Cycle : TreeProblemKind::Orphan, .node = i});
      parent = kNoNode;
    }
    parents_[i] = parent;
    if (parent != kNoNode) depths_[i] = depths_[parent] + 1;
  }
  nodeCount_ = nodes;
}

// Which entries lie on a circle of parents. Follows each unvisited entry upwards until it meets what was visited; when
// that was in the same walk, the part from there on is a circle.
std::vector<bool> SessionTree::findCycles() const {
  const std::size_t count = parents_.size();
  std::vector<bool> onCircle(count, false);
  std::vector<TreeNode> walkOf(count, kNoNode);
  for (TreeNode start = 0; start < count; ++start) {
    TreeNode at = start;
    while (at < count && walkOf[at] == kNoNode) {
      walkOf[at] = start;
      at = parents_[at];
    }
    if (at >= count || walkOf[at] != start) continue;
    for (TreeNode member = at; !onCircle[member]; member = parents_[member]) onCircle[member] = true;
  }
  return onCircle;
}

void SessionTree::linkChildren() {
  firstChild_.resize(kinds_.size(), kNoNode);
  nextSibling_.resize(kinds_.size(), kNoNode);
  for (auto i = static_cast<TreeNode>(kinds_.size()); i-- > 0;) {
    const TreeNode parent = parents_[i];
    if (!isConversation(kinds_[i])) {
      if (parent == SessionOutline::kElsewhere) parents_[i] = kNoNode;
      continue;
    }
    TreeNode& first = parent == kNoNode ? firstRoot_ : firstChild_[parent];
    nextSibling_[i] = first;
    first = i;
  }
}

std::vector<TreeNode> SessionTree::listFrom(TreeNode first) const {
  std::vector<TreeNode> list;
  for (TreeNode at = first; at != kNoNode; at = nextSibling_[at]) list.push_back(at);
  return list;
}

std::vector<TreeNode> SessionTree::path(TreeNode node) const {
  std::vector<TreeNode> nodes(depths_[node] + std::size_t{1});
  for (std::size_t i = nodes.size(); i-- > 0; node = parents_[node]) nodes[i] = node;
  return nodes;
}

TreeNode SessionTree::ancestor(TreeNode node, std::size_t steps) const {
  for (; steps > 0 && node != kNoNode; --steps) node = parents_[node];
  return node;
}

TreeNode SessionTree::root(TreeNode node) const {
  return ancestor(node, depths_[node]);
}

TreeNode SessionTree::commonAncestor(TreeNode left, TreeNode right) const {
  const std::size_t depth = std::min(depths_[left], depths_[right]);
  left = ancestor(left, depths_[left] - depth);
  right = ancestor(right, depths_[right] - depth);
  while (left != right) {
    left = parents_[left];
    right = parents_[right];
  }
  return left;
}

std::vector<TreeNode> SessionTree::leaves() const {
  std::vector<TreeNode> found;
  for (TreeNode i = 0; i < kinds_.size(); ++i) {
    if (firstChild_[i] == kNoNode && isConversation(kinds_[i])) found.push_back(i);
  }
  return found;
}

// Each branch is followed up to where it leaves another one, so every entry is visited once at most.
std::vector<TreeBranch> SessionTree::branches() const {
  std::vector<bool> orphaned;
  if (!problems_.empty()) {
    orphaned.resize(kinds_.size(), false);
    for (const TreeProblem& problem : problems_) orphaned[problem.node] = true;
    for (TreeNode i = 0; i < kinds_.size(); ++i) {
      if (isConversation(kinds_[i]) && parents_[i] != kNoNode) orphaned[i] = orphaned[parents_[i]];
    }
  }
  std::vector<TreeBranch> found;
  for (const TreeNode leaf : leaves()) {
    TreeBranch branch{.leaf = leaf, .firstOwn = leaf, .length = depths_[leaf] + std::size_t{1}, .ownLength = 1};
    for (TreeNode up = parents_[leaf]; up != kNoNode && !isBranchPoint(up); up = parents_[up]) {
      branch.firstOwn = up;
      ++branch.ownLength;
    }
    branch.isHead = leaf == head_;
    branch.isOrphan = !orphaned.empty() && orphaned[leaf];
    found.push_back(branch);
  }
  return found;
}

std::vector<TreeNode> SessionTree::branchPoints() const {
  std::vector<TreeNode> found;
  for (TreeNode i = 0; i < kinds_.size(); ++i) {
    if (isConversation(kinds_[i]) && isBranchPoint(i)) found.push_back(i);
  }
  return found;
}

std::optional<TreeNode> SessionTree::labelled(std::string_view name) const {
  const auto found = std::ranges::lower_bound(labels_, name, {}, &TreeLabel::name);
  if (found == labels_.end() || found->name != name) return std::nullopt;
  return found->node;
}

std::vector<std::string_view> SessionTree::labelsOf(TreeNode node) const {
  std::vector<std::string_view> names;
  for (const TreeLabel& label : std::ranges::equal_range(labelsByNode_, node, {}, &TreeLabel::node)) {
    names.emplace_back(label.name);
  }
  return names;
}

bool SessionTree::isOrphan(TreeNode node) const {
  return std::ranges::binary_search(problems_, node, {}, &TreeProblem::node);
}

}  // namespace bough
