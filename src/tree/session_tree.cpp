#include <algorithm>

#include "bough/tree.h"
#include "tree/session_tree_builder.h"

namespace bough {

std::string_view toString(TreeProblemKind kind) {
  return kind == TreeProblemKind::Cycle ? "cycle" : "orphan";
}

SessionTree::SessionTree(SessionOutline outline, std::vector<TreeLabel> labels)
    : kinds_(std::move(outline.kinds)), head_(outline.head) {
  Builder builder(*this, outline.jumps);
  builder.run();
  if (head_ >= kinds_.size()) head_ = kNoSequence;
  if (head_ != kNoSequence && !isNode(head_)) head_ = builder.nodeAbove(head_);

  std::erase_if(labels, [this](const TreeLabel& label) { return !isNode(label.node); });
  labels_ = std::move(labels);
  std::ranges::sort(labels_, {}, &TreeLabel::name);
  labelsByNode_ = labels_;
  std::ranges::stable_sort(labelsByNode_, {}, &TreeLabel::node);
}

std::uint32_t SessionTree::runOf(Sequence node) const {
  return static_cast<std::uint32_t>(std::ranges::upper_bound(runs_, node, {}, &Run::first) - runs_.begin() - 1);
}

std::span<const std::uint32_t> SessionTree::runsUnder(Sequence node) const {
  const auto found =
      std::ranges::equal_range(byParent_, node, {}, [&](std::uint32_t run) { return runs_[run].parent; });
  return {found.begin(), found.end()};
}

Sequence SessionTree::parent(Sequence node) const {
  const Run& run = runs_[runOf(node)];
  return node == run.first ? run.parent : node - 1;
}

Sequence SessionTree::firstChild(Sequence node) const {
  if (node < runs_[runOf(node)].last) return node + 1;
  const auto under = runsUnder(node);
  return under.empty() ? kNoSequence : runs_[under.front()].first;
}

Sequence SessionTree::nextSibling(Sequence node) const {
  const Run& run = runs_[runOf(node)];
  if (node > run.first) {
    const auto others = runsUnder(node - 1);
    return others.empty() ? kNoSequence : runs_[others.front()].first;
  }
  const std::size_t next = run.place + std::size_t{1};
  const bool same = next < byParent_.size() && runs_[byParent_[next]].parent == run.parent;
  return same ? runs_[byParent_[next]].first : kNoSequence;
}

Sequence SessionTree::firstRoot() const {
  const auto roots = runsUnder(kNoSequence);
  return roots.empty() ? kNoSequence : runs_[roots.front()].first;
}

bool SessionTree::isBranchPoint(Sequence node) const {
  return runsUnder(node).size() + (node < runs_[runOf(node)].last ? 1 : 0) > 1;
}

std::size_t SessionTree::depth(Sequence node) const {
  const Run& run = runs_[runOf(node)];
  return std::size_t{run.depth} + (node - run.first);
}

std::vector<Sequence> SessionTree::listFrom(Sequence first) const {
  std::vector<Sequence> list;
  for (Sequence at = first; at != kNoSequence; at = nextSibling(at)) list.push_back(at);
  return list;
}

std::vector<Sequence> SessionTree::path(Sequence node) const {
  std::vector<Sequence> nodes(depth(node) + 1);
  std::size_t left = nodes.size();
  for (std::uint32_t at = runOf(node);; at = runs_[at].above) {
    const Run& run = runs_[at];
    for (Sequence member = node; left > run.depth; --member) nodes[--left] = member;
    if (run.parent == kNoSequence) return nodes;
    node = run.parent;
  }
}

Sequence SessionTree::ancestor(Sequence node, std::size_t steps) const {
  for (std::uint32_t at = runOf(node);; at = runs_[at].above) {
    const Run& run = runs_[at];
    if (steps <= node - run.first) return node - static_cast<Sequence>(steps);
    if (run.parent == kNoSequence) return kNoSequence;
    steps -= node - run.first + std::size_t{1};
    node = run.parent;
  }
}

Sequence SessionTree::root(Sequence node) const {
  std::uint32_t at = runOf(node);
  while (runs_[at].parent != kNoSequence) at = runs_[at].above;
  return runs_[at].first;
}

// The parent run of a run always comes before it, so the later of the two runs moves up until both are the same.
Sequence SessionTree::commonAncestor(Sequence left, Sequence right) const {
  std::uint32_t leftRun = runOf(left);
  std::uint32_t rightRun = runOf(right);
  while (leftRun != rightRun) {
    Sequence& later = leftRun > rightRun ? left : right;
    std::uint32_t& run = leftRun > rightRun ? leftRun : rightRun;
    if (runs_[run].parent == kNoSequence) return kNoSequence;
    later = runs_[run].parent;
    run = runs_[run].above;
  }
  return std::min(left, right);
}

std::vector<Sequence> SessionTree::leaves() const {
  std::vector<Sequence> found;
  for (const Run& run : runs_) {
    if (runsUnder(run.last).empty()) found.push_back(run.last);
  }
  return found;
}

std::vector<TreeBranch> SessionTree::branches() const {
  std::vector<TreeBranch> found;
  for (const Run& run : runs_) {
    if (runsUnder(run.last).empty()) found.push_back(branchOf(run));
  }
  return found;
}

// Walks up, run by run, to the point where another branch leaves.
TreeBranch SessionTree::branchOf(const Run& leafRun) const {
  TreeBranch branch{.leaf = leafRun.last,
                    .firstOwn = leafRun.first,
                    .length = std::size_t{leafRun.depth} + (leafRun.last - leafRun.first) + 1,
                    .ownLength = 0,
                    .isHead = leafRun.last == head_,
                    .isOrphan = leafRun.isOrphan};
  const Run* run = &leafRun;
  for (Sequence end = leafRun.last;;) {
    // The last entry of this run before `end` that is the parent of another run: a branch point, because this run
    // continues it too.
    const auto parentOf = [&](std::uint32_t other) { return runs_[other].parent; };
    const auto behind = std::ranges::lower_bound(byParent_, end, {}, parentOf);
    if (behind != byParent_.begin() && parentOf(*(behind - 1)) >= run->first) {
      branch.firstOwn = parentOf(*(behind - 1)) + 1;
    } else {
      branch.firstOwn = run->first;
    }
    branch.ownLength += end - branch.firstOwn + std::size_t{1};
    if (branch.firstOwn != run->first || run->parent == kNoSequence || isBranchPoint(run->parent)) return branch;
    end = run->parent;
    run = &runs_[run->above];
  }
}

std::vector<Sequence> SessionTree::branchPoints() const {
  std::vector<Sequence> found;
  for (std::size_t i = 0; i < byParent_.size() && runs_[byParent_[i]].parent != kNoSequence; ++i) {
    const Sequence parent = runs_[byParent_[i]].parent;
    if ((found.empty() || found.back() != parent) && isBranchPoint(parent)) found.push_back(parent);
  }
  return found;
}

std::vector<std::string_view> SessionTree::labelsOf(Sequence node) const {
  std::vector<std::string_view> names;
  for (const TreeLabel& label : std::ranges::equal_range(labelsByNode_, node, {}, &TreeLabel::node)) {
    names.emplace_back(label.name);
  }
  return names;
}

bool SessionTree::isOrphan(Sequence node) const {
  return std::ranges::binary_search(problems_, node, {}, &TreeProblem::node);
}

}  // namespace bough
