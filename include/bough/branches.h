// The branches of a session as people list them: how long, how old, and what was said last.
#pragma once

#include <string>
#include <vector>

#include "bough/error.h"
#include "bough/store.h"
#include "bough/tree.h"
#include "bough/tree_drawing.h"

namespace bough {

struct BranchListing {
  std::string leafId;      ///< The branch's last entry: what names it, for switch and fork.
  std::string firstOwnId;  ///< The first entry that no other branch has.
  std::size_t length = 0;  ///< Entries from the root to the leaf.
  std::size_t ownLength = 0;
  std::string timestamp;           ///< Of the last entry.
  std::string speaker;             ///< Of the last message; empty when the branch has none.
  std::string lastMessage;         ///< At most 50 graphemes, on one line, printable.
  std::vector<std::string> names;  ///< Labels of the leaf.
  bool isHead = false;
  bool isOrphan = false;  ///< It begins with an entry whose parent is missing.
};

inline constexpr std::size_t kLastMessageGraphemes = 50;

/// All branches, in log order of their leaves. Reads two entries of each.
Result<std::vector<BranchListing>> listBranches(SessionStore& store, const std::string& sessionId);
/// The same for a tree that is there already.
Result<std::vector<BranchListing>> listBranches(SessionStore& store, const std::string& sessionId,
                                                const SessionTree& tree);

/// What drawTree asks for: summaries of a session's entries of at most so many graphemes. Must not outlive the store.
DescribeEntries describeEntries(SessionStore& store, const std::string& sessionId, std::size_t graphemes = 72);

}  // namespace bough
