#include "bough/tree.h"

#include <algorithm>

#include "base/try.h"
#include "bough/store.h"

namespace bough {
namespace {

constexpr std::size_t kBranchesAtATime = 256;

// Returns the last message on the path from a leaf to its root; kNoSequence when there is none.
Sequence lastMessage(const SessionTree& tree, Sequence leaf) {
  Sequence at = leaf;
  while (at != kNoSequence && tree.kind(at) != EntryKind::Message) at = tree.parent(at);
  return at;
}

}  // namespace

Result<std::vector<BranchListing>> listBranches(SessionStore& store, const std::string& sessionId) {
  BOUGH_TRY(auto tree, store.loadTree(sessionId));
  return listBranches(store, sessionId, tree);
}

Result<std::vector<BranchListing>> listBranches(SessionStore& store, const std::string& sessionId,
                                                const SessionTree& tree) {
  const auto branches = tree.branches();
  std::vector<BranchListing> listed;
  listed.reserve(branches.size());
  for (std::size_t from = 0; from < branches.size(); from += kBranchesAtATime) {
    const std::size_t end = std::min(branches.size(), from + kBranchesAtATime);
    // For each branch: its leaf, its first own entry, its last message (or the leaf again).
    std::vector<Sequence> wanted;
    for (std::size_t i = from; i < end; ++i) {
      const Sequence message = lastMessage(tree, branches[i].leaf);
      wanted.insert(wanted.end(),
                    {branches[i].leaf, branches[i].firstOwn, message == kNoSequence ? branches[i].leaf : message});
    }
    BOUGH_TRY(auto entries, store.loadEntriesAt(sessionId, wanted));
    for (std::size_t i = from; i < end; ++i) {
      const TreeBranch& branch = branches[i];
      const Entry* found = &entries[(i - from) * 3];
      BranchListing row{.leafId = found[0].id,
                        .firstOwnId = found[1].id,
                        .length = branch.length,
                        .ownLength = branch.ownLength,
                        .timestamp = found[0].timestamp,
                        .speaker = {},
                        .lastMessage = {},
                        .names = {},
                        .isHead = branch.isHead,
                        .isOrphan = branch.isOrphan};
      for (const std::string_view name : tree.labelsOf(branch.leaf)) row.names.emplace_back(name);
      EntrySummary summary = summarizeEntry(found[2], kLastMessageGraphemes);
      if (found[2].type == entry_type::kMessage) row.speaker = std::move(summary.speaker);
      row.lastMessage = std::move(summary.text);
      listed.push_back(std::move(row));
    }
  }
  return listed;
}

DescribeEntries describeEntries(SessionStore& store, const std::string& sessionId, std::size_t graphemes) {
  return [&store, sessionId, graphemes](const std::vector<Sequence>& nodes) -> Result<std::vector<EntrySummary>> {
    BOUGH_TRY(const auto session, store.session(sessionId));
    std::vector<EntrySummary> summaries;
    summaries.reserve(nodes.size());
    BOUGH_TRY(forEachEntryAt(session, nodes, [&](const Entry& entry) {
      summaries.push_back(summarizeEntry(entry, graphemes));
      return true;
    }));
    return summaries;
  };
}

}  // namespace bough
