#include "tree/session_tree_builder.h"

#include <algorithm>
#include <span>

#include "base/model/kind_set.h"

namespace bough {
namespace {

// Returns which entries are on a cycle of parents. Follows each unvisited entry upward until it reaches a visited
// entry. If that entry was visited in the same walk, the part of the walk from there is a cycle.
std::vector<bool> findCycles(const std::vector<SessionOutline::Jump>& jumps, Sequence entries) {
  std::vector<Sequence> parents(entries);
  for (Sequence i = 0; i < entries; ++i) parents[i] = i - 1;  // kNoSequence for the first
  for (const SessionOutline::Jump& jump : jumps) {
    if (jump.sequence < entries) parents[jump.sequence] = jump.parent;
  }
  const std::size_t count = parents.size();
  std::vector<bool> isInCycle(count, false);
  std::vector<Sequence> walkOf(count, kNoSequence);
  for (Sequence start = 0; start < count; ++start) {
    Sequence at = start;
    while (at < count && walkOf[at] == kNoSequence) {
      walkOf[at] = start;
      at = parents[at];
    }
    if (at >= count || walkOf[at] != start) continue;
    for (Sequence member = at; !isInCycle[member]; member = parents[member]) isInCycle[member] = true;
  }
  return isInCycle;
}

}  // namespace

void SessionTree::Builder::run() {
  const std::vector<EntryKind>& kinds = tree_.kinds_;
  const auto count = static_cast<Sequence>(kinds.size());
  auto jump = jumps_.begin();
  for (Sequence i = 0; i < count;) {
    while (jump != jumps_.end() && jump->sequence < i) ++jump;
    const bool jumps = jump != jumps_.end() && jump->sequence == i;
    const Sequence parent = jumps ? (jump++)->parent : i - 1;  // kNoSequence for the first
    if (!isConversation(kinds[i])) {
      others_.emplace_back(i, linkOf(i, parent));
      ++i;
      continue;
    }
    addRun(i, parent);
    const Sequence end = std::min(count, jump == jumps_.end() ? count : std::max(jump->sequence, i + 1));
    const Sequence first = i;
    i = static_cast<Sequence>(conversationEnd(std::span(kinds).first(end), i + 1));
    tree_.runs_.back().last = i - 1;
    tree_.nodeCount_ += i - first;
  }
  tree_.byParent_.resize(tree_.runs_.size());
  for (std::uint32_t run = 0; run < tree_.byParent_.size(); ++run) tree_.byParent_[run] = run;
  std::ranges::stable_sort(tree_.byParent_, {}, [&](std::uint32_t run) { return tree_.runs_[run].parent; });
  for (std::uint32_t place = 0; place < tree_.byParent_.size(); ++place) {
    tree_.runs_[tree_.byParent_[place]].place = place;
  }
}

Sequence SessionTree::Builder::nodeAbove(Sequence entry) const {
  const auto found = std::ranges::lower_bound(others_, entry, {}, &std::pair<Sequence, Link>::first);
  return found == others_.end() || found->first != entry ? kNoSequence : found->second.parent;
}

SessionTree::Builder::Link SessionTree::Builder::linkOf(Sequence entry, Sequence parent) const {
  if (parent == kNoSequence) return {};
  if (parent >= entry) return {.parent = kNoSequence, .isUnknown = true};
  if (isConversation(tree_.kinds_[parent])) return {.parent = parent, .isUnknown = false};
  return std::ranges::lower_bound(others_, parent, {}, &std::pair<Sequence, Link>::first)->second;
}

void SessionTree::Builder::addRun(Sequence first, Sequence parent) {
  const Link link = linkOf(first, parent);
  Run run{.first = first, .last = first, .parent = link.parent};
  if (link.isUnknown) {
    run.isOrphan = true;
    const auto kind = isInCycle(first, parent) ? TreeProblemKind::Cycle : TreeProblemKind::Orphan;
    tree_.problems_.push_back({.kind = kind, .node = first});
  }
  if (link.parent != kNoSequence) {
    run.above = tree_.runOf(link.parent);
    const Run& above = tree_.runs_[run.above];
    run.depth = above.depth + (link.parent - above.first) + 1;
    run.isOrphan = above.isOrphan;
  }
  tree_.runs_.push_back(run);
}

// A parent that comes after its child is damage, and may lead back to the child.
bool SessionTree::Builder::isInCycle(Sequence entry, Sequence parent) {
  const auto count = static_cast<Sequence>(tree_.kinds_.size());
  if (parent < entry || parent >= count) return false;
  if (!inCycle_) inCycle_ = findCycles(jumps_, count);
  return (*inCycle_)[entry];
}

}  // namespace bough
