// A session as a tree: its branches, where they part, and the way from a root to any entry.
//
// A node is an entry of the conversation, named by its sequence: its place in the session as the store shows it (the
// header is 0, then what a fork shares, then its own entries in log order). Control entries and headers are no nodes.
// The tree holds no ids and no texts: SessionStore::loadEntriesAt brings those of the few entries that are shown.
//
// Nothing here recurses, and damaged files cannot make it run for ever: an entry whose parent is unknown, or is its own
// descendant, begins a tree of its own and is listed under problems().
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bough/outline.h"

namespace bough {

/// An entry's sequence.
using TreeNode = std::uint32_t;
inline constexpr TreeNode kNoNode = SessionOutline::kNone;

/// A name for an entry.
struct TreeLabel {
  std::string name;
  TreeNode node = kNoNode;
};

/// The path from a root to a leaf.
struct TreeBranch {
  TreeNode leaf = kNoNode;
  TreeNode firstOwn = kNoNode;  ///< The first entry that no other branch has.
  std::size_t length = 0;       ///< Entries from the root to the leaf.
  std::size_t ownLength = 0;    ///< Entries from firstOwn to the leaf.
  bool isHead = false;          ///< The head is its leaf.
  bool isOrphan = false;        ///< It begins with an entry whose parent is missing.
};

enum class TreeProblemKind : std::uint8_t {
  Orphan,  ///< The parent is no entry of the session, or a later one.
  Cycle,   ///< The parent is a descendant of the entry, or the entry itself.
};
/// "orphan", "cycle".
std::string_view toString(TreeProblemKind kind);

struct TreeProblem {
  TreeProblemKind kind = TreeProblemKind::Orphan;
  TreeNode node = kNoNode;
};

class SessionTree {
 public:
  SessionTree() = default;
  /// Takes any outline whose jumps are in order. Labels of what is no node are left out.
  explicit SessionTree(SessionOutline outline, std::vector<TreeLabel> labels = {});

  /// Entries of the session, nodes or not: all sequences are smaller.
  [[nodiscard]] std::size_t entryCount() const { return kinds_.size(); }
  [[nodiscard]] std::size_t nodeCount() const { return nodeCount_; }
  [[nodiscard]] bool isNode(TreeNode entry) const { return entry < kinds_.size() && isConversation(kinds_[entry]); }
  [[nodiscard]] EntryKind kind(TreeNode node) const { return kinds_[node]; }

  /// kNoNode for a root, an orphan's too.
  [[nodiscard]] TreeNode parent(TreeNode node) const;
  /// In log order; kNoNode ends both lists.
  [[nodiscard]] TreeNode firstChild(TreeNode node) const;
  [[nodiscard]] TreeNode nextSibling(TreeNode node) const;
  [[nodiscard]] TreeNode firstRoot() const;
  [[nodiscard]] std::vector<TreeNode> children(TreeNode node) const { return listFrom(firstChild(node)); }
  [[nodiscard]] std::vector<TreeNode> roots() const { return listFrom(firstRoot()); }
  [[nodiscard]] bool isLeaf(TreeNode node) const { return firstChild(node) == kNoNode; }
  [[nodiscard]] bool isBranchPoint(TreeNode node) const;
  /// 0 for a root.
  [[nodiscard]] std::size_t depth(TreeNode node) const;

  /// From the root to the node, both included.
  [[nodiscard]] std::vector<TreeNode> path(TreeNode node) const;
  /// So many parents up; kNoNode past the root.
  [[nodiscard]] TreeNode ancestor(TreeNode node, std::size_t steps) const;
  [[nodiscard]] TreeNode root(TreeNode node) const;
  /// The last entry that both paths have; kNoNode when they have none.
  [[nodiscard]] TreeNode commonAncestor(TreeNode left, TreeNode right) const;

  /// In log order of the leaves.
  [[nodiscard]] std::vector<TreeNode> leaves() const;
  [[nodiscard]] std::vector<TreeBranch> branches() const;
  [[nodiscard]] std::vector<TreeNode> branchPoints() const;

  /// The entry that the next turn continues from; kNoNode before the first one.
  [[nodiscard]] TreeNode head() const { return head_; }
  /// By name.
  [[nodiscard]] const std::vector<TreeLabel>& labels() const { return labels_; }
  [[nodiscard]] std::optional<TreeNode> labelled(std::string_view name) const;
  /// The labels of one node, by name.
  [[nodiscard]] std::vector<std::string_view> labelsOf(TreeNode node) const;

  /// In log order.
  [[nodiscard]] const std::vector<TreeProblem>& problems() const { return problems_; }
  [[nodiscard]] bool isOrphan(TreeNode node) const;

 private:
  // Entries that follow one another, each the child of the one before. Most of a session is a few of these, so the
  // tree of a million entries is small, and questions are a search among the runs.
  struct Run {
    TreeNode first = kNoNode;
    TreeNode last = kNoNode;
    TreeNode parent = kNoNode;  // of `first`
    std::uint32_t above = 0;    // the run that `parent` is in
    std::uint32_t depth = 0;    // of `first`
    std::uint32_t place = 0;    // in byParent_
    bool isOrphan = false;      // its root is one
  };
  class Builder;

  [[nodiscard]] std::uint32_t runOf(TreeNode node) const;
  [[nodiscard]] std::span<const std::uint32_t> runsUnder(TreeNode node) const;
  [[nodiscard]] TreeBranch branchOf(const Run& leafRun) const;
  [[nodiscard]] std::vector<TreeNode> listFrom(TreeNode first) const;

  std::vector<EntryKind> kinds_;
  std::vector<Run> runs_;                // by their first entries
  std::vector<std::uint32_t> byParent_;  // the same by parents, then by first entries; roots last
  TreeNode head_ = kNoNode;
  std::size_t nodeCount_ = 0;
  std::vector<TreeLabel> labels_;
  std::vector<TreeLabel> labelsByNode_;
  std::vector<TreeProblem> problems_;
};

}  // namespace bough
