#include "cli/commands/sessions/search_around.h"

#include <algorithm>

#include "base/try.h"
#include "bough/tree.h"

namespace bough::cli {
namespace {

// Skips entries such as turn totals and model changes, which do not help to read the messages.
bool isShownAround(const SessionTree& tree, Sequence node) {
  const EntryKind kind = tree.kind(node);
  return kind == EntryKind::Message || kind == EntryKind::CompactionSummary || kind == EntryKind::BranchSummary ||
         kind == EntryKind::Other;
}

std::vector<Sequence> nodesBefore(const SessionTree& tree, Sequence node, std::size_t count) {
  std::vector<Sequence> nodes;
  for (Sequence at = tree.parent(node); at != kNoSequence && nodes.size() < count; at = tree.parent(at)) {
    if (isShownAround(tree, at)) nodes.push_back(at);
  }
  std::ranges::reverse(nodes);
  return nodes;
}

Sequence lastChild(const SessionTree& tree, Sequence node) {
  Sequence last = kNoSequence;
  for (Sequence at = tree.firstChild(node); at != kNoSequence; at = tree.nextSibling(at)) last = at;
  return last;
}

// With `isEnd`, nothing after the leaf is returned.
std::vector<Sequence> nodesAfter(const SessionTree& tree, Sequence node, std::size_t count, Sequence leaf, bool isEnd) {
  std::vector<Sequence> nodes;
  const bool leadsThere = leaf != kNoSequence && tree.commonAncestor(node, leaf) == node;
  std::size_t steps = leadsThere ? tree.depth(leaf) - tree.depth(node) : 0;
  for (Sequence at = node; nodes.size() < count;) {
    if (steps == 0 && isEnd) return nodes;
    at = steps > 0 ? tree.ancestor(leaf, --steps) : lastChild(tree, at);
    if (at == kNoSequence) return nodes;
    if (isShownAround(tree, at)) nodes.push_back(at);
  }
  return nodes;
}

Result<std::vector<EntrySummary>> describe(SessionStore& store, const std::string& sessionId,
                                           const std::vector<Sequence>& nodes) {
  constexpr std::size_t kGraphemes = 100;
  if (nodes.empty()) return std::vector<EntrySummary>();
  return describeEntries(store, sessionId, kGraphemes)(nodes);
}

}  // namespace

Result<Around> readAround(SessionStore& store, const SearchHit& hit, std::size_t count, const std::string& leaf) {
  Around around;
  if (count == 0 || hit.entryId.empty()) return around;
  BOUGH_TRY(const auto tree, store.loadTree(hit.sessionId));
  BOUGH_TRY(const auto node, store.sequenceOf(hit.sessionId, hit.entryId));
  if (!tree.isNode(node)) return around;
  Sequence end = tree.head();
  if (!leaf.empty()) {
    BOUGH_TRY(end, store.sequenceOf(hit.sessionId, leaf));
    if (!tree.isNode(end)) end = kNoSequence;
  }
  BOUGH_TRY(around.before, describe(store, hit.sessionId, nodesBefore(tree, node, count)));
  BOUGH_TRY(around.after, describe(store, hit.sessionId, nodesAfter(tree, node, count, end, !leaf.empty())));
  return around;
}

}  // namespace bough::cli
