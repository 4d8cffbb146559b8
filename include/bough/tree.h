// A session as a tree: its branches, where they part, and the way from a root to any entry.
//
// A node is an entry of the conversation, named by its sequence: its place in the session as the store shows it (the
// header is 0, then what a fork shares, then its own entries in log order). Control entries and headers are not nodes.
// The tree holds no ids and no texts: SessionStore::loadEntriesAt brings those of the few entries that are shown.
//
// Nothing here recurses, and damaged files cannot make it run forever: an entry whose parent is unknown, or is its own
// descendant, begins a tree of its own and is listed under problems().
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bough/entry.h"
#include "bough/error.h"
#include "bough/message.h"

namespace BOUGH_PUBLIC bough {

class SessionStore;

/// A name for an entry.
struct TreeLabel {
  std::string name = {};
  Sequence node = kNoSequence;
};

/// The path from a root to a leaf.
struct TreeBranch {
  Sequence leaf = kNoSequence;
  Sequence firstOwn = kNoSequence;  ///< The first entry that no other branch has.
  std::size_t length = 0;           ///< Entries from the root to the leaf.
  std::size_t ownLength = 0;        ///< Entries from firstOwn to the leaf.
  bool isHead = false;              ///< The head is its leaf.
  bool isOrphan = false;            ///< It begins with an entry whose parent is missing.
};

enum class TreeProblemKind : std::uint8_t {
  Orphan,  ///< The parent is not an entry of the session, or a later one.
  Cycle,   ///< The parent is a descendant of the entry, or the entry itself.
};
/// "orphan", "cycle".
std::string_view toString(TreeProblemKind kind);

struct TreeProblem {
  TreeProblemKind kind = TreeProblemKind::Orphan;
  Sequence node = kNoSequence;
};

/// The tree of one session as it was at one moment (Session::tree). A value; const calls may come from any thread and
/// never fail. Where a call takes a node, it must be one: isNode() says so, and nothing else is checked.
///
/// Costs: about a byte an entry, and a little for each place where branches part. A question about one node is a search
/// among these places; those that return a list cost its length.
class SessionTree {
 public:
  SessionTree() = default;
  /// Takes any outline whose jumps are in order. Labels of what is not a node are left out. A head that is not a node
  /// counts as the nearest node above it.
  explicit SessionTree(SessionOutline outline, std::vector<TreeLabel> labels = {});

  /// Entries of the session, nodes or not: all sequences are smaller.
  [[nodiscard]] std::size_t entryCount() const { return kinds_.size(); }
  [[nodiscard]] std::size_t nodeCount() const { return nodeCount_; }
  /// Of any number; false for one that is past the end.
  [[nodiscard]] bool isNode(Sequence entry) const { return entry < kinds_.size() && isConversation(kinds_[entry]); }
  /// Of any entry below entryCount().
  [[nodiscard]] EntryKind kind(Sequence node) const { return kinds_[node]; }

  /// kNoSequence for a root, an orphan's too.
  [[nodiscard]] Sequence parent(Sequence node) const;
  /// In log order; kNoSequence ends both lists.
  [[nodiscard]] Sequence firstChild(Sequence node) const;
  [[nodiscard]] Sequence nextSibling(Sequence node) const;
  [[nodiscard]] Sequence firstRoot() const;
  [[nodiscard]] std::vector<Sequence> children(Sequence node) const { return listFrom(firstChild(node)); }
  [[nodiscard]] std::vector<Sequence> roots() const { return listFrom(firstRoot()); }
  [[nodiscard]] bool isLeaf(Sequence node) const { return firstChild(node) == kNoSequence; }
  /// Whether it has more than one child.
  [[nodiscard]] bool isBranchPoint(Sequence node) const;
  /// 0 for a root.
  [[nodiscard]] std::size_t depth(Sequence node) const;

  /// From the root to the node, both included.
  [[nodiscard]] std::vector<Sequence> path(Sequence node) const;
  /// So many parents up; kNoSequence past the root.
  [[nodiscard]] Sequence ancestor(Sequence node, std::size_t steps) const;
  /// Where its path begins; itself for a root.
  [[nodiscard]] Sequence root(Sequence node) const;
  /// The last entry that both paths have; kNoSequence when they have none.
  [[nodiscard]] Sequence commonAncestor(Sequence left, Sequence right) const;

  /// In log order of the leaves.
  [[nodiscard]] std::vector<Sequence> leaves() const;
  /// One for each leaf, in the same order.
  [[nodiscard]] std::vector<TreeBranch> branches() const;
  /// In log order.
  [[nodiscard]] std::vector<Sequence> branchPoints() const;

  /// The entry that the next turn continues from; kNoSequence before the first one.
  [[nodiscard]] Sequence head() const { return head_; }
  /// By name.
  [[nodiscard]] const std::vector<TreeLabel>& labels() const { return labels_; }
  /// The labels of one node, by name.
  [[nodiscard]] std::vector<std::string_view> labelsOf(Sequence node) const;

  /// In log order.
  [[nodiscard]] const std::vector<TreeProblem>& problems() const { return problems_; }
  /// Whether it is under problems() itself; what comes from it is not.
  [[nodiscard]] bool isOrphan(Sequence node) const;

 private:
  // Entries that follow one another, each the child of the one before. Most of a session is a few of these, so the
  // tree of a million entries is small, and questions are a search among the runs.
  struct Run {
    Sequence first = kNoSequence;
    Sequence last = kNoSequence;
    Sequence parent = kNoSequence;  // of `first`
    std::uint32_t above = 0;        // the run that `parent` is in
    std::uint32_t depth = 0;        // of `first`
    std::uint32_t place = 0;        // in byParent_
    bool isOrphan = false;          // its root is one
  };
  class Builder;

  [[nodiscard]] std::uint32_t runOf(Sequence node) const;
  [[nodiscard]] std::span<const std::uint32_t> runsUnder(Sequence node) const;
  [[nodiscard]] TreeBranch branchOf(const Run& leafRun) const;
  [[nodiscard]] std::vector<Sequence> listFrom(Sequence first) const;

  std::vector<EntryKind> kinds_;
  std::vector<Run> runs_;                // by their first entries
  std::vector<std::uint32_t> byParent_;  // the same by parents, then by first entries; roots last
  Sequence head_ = kNoSequence;
  std::size_t nodeCount_ = 0;
  std::vector<TreeLabel> labels_;
  std::vector<TreeLabel> labelsByNode_;
  std::vector<TreeProblem> problems_;
};

// A session's tree as lines for people, or as a graph for Graphviz.
//
//   [user] Hello, how are you?
//   [assistant] I am doing well, thank you!
//   ├─ [user] Can you help me with a task?
//   │  [assistant] Of course! What do you need?
//   └─ [user] Tell me a joke instead
//      [assistant] Why did the chicken cross the road?   ← head
//
// Lines move to the right only where branches part. One line an entry; long stretches fold into one line, except for
// what the user said. Entries are read in parts, so the first lines come at once. Nothing recurses, and a line stays as
// short as the width asks for, however deep its entry is.

/// What a line is made of, for colours.
enum class TreePart : std::uint8_t { Lines, Speaker, Text, Mark, Fold, Id };

struct DrawOptions {
  std::size_t width = 0;  ///< Columns a line may have; 0: as many as an entry's text needs.
  bool all = false;       ///< Fold nothing, and show bookkeeping entries too.
  bool ids = false;       ///< Add the id of each entry.
  /// What to show of an id, before the speaker; when empty, ids are shown whole, at the end of the line.
  std::function<std::string(const std::string& id)> shortId = {};
  /// What to show of an entry's timestamp; when empty, lines have no times.
  std::function<std::string(const std::string& timestamp)> time = {};
  /// Colours a part of a line; nothing is coloured when it is empty. A speaker comes with its brackets.
  std::function<std::string(TreePart part, std::string_view text)> paint = {};
};

/// Returns summaries of these entries, in this order. Called with at most 256 at a time; an error of it is the error of
/// the drawing.
using DescribeEntries = std::function<Result<std::vector<EntrySummary>>(const std::vector<Sequence>& nodes)>;

/// Gives the lines to `line`, without line ends, until it returns false. Text from entries is printable. Memory is that
/// of some hundred lines, whatever the tree has. Fails with `describe` alone, after the lines before.
[[nodiscard]] Result<void> drawTree(const SessionTree& tree, const DescribeEntries& describe,
                                    const DrawOptions& options, const std::function<bool(std::string_view)>& line);

/// The same as a graph in the language of Graphviz, by its lines; of the options `all` and `ids` count.
[[nodiscard]] Result<void> drawTreeAsDot(const SessionTree& tree, const DescribeEntries& describe,
                                         const DrawOptions& options, const std::function<bool(std::string_view)>& line);

// The branches of a session as people list them: how long, how old, and what was said last.

struct BranchListing {
  std::string leafId = {};              ///< The branch's last entry: what names it, for switch and fork.
  std::string firstOwnId = {};          ///< The first entry that no other branch has.
  std::size_t length = 0;               ///< Entries from the root to the leaf.
  std::size_t ownLength = 0;            ///< Entries from the first own one to the leaf.
  std::string timestamp = {};           ///< Of the last entry.
  std::string speaker = {};             ///< Of the last message; empty when the branch has none.
  std::string lastMessage = {};         ///< At most 50 graphemes, on one line, printable.
  std::vector<std::string> names = {};  ///< Labels of the leaf.
  bool isHead = false;
  bool isOrphan = false;  ///< It begins with an entry whose parent is missing.
};

inline constexpr std::size_t kLastMessageGraphemes = 50;

/// All branches, in log order of their leaves. Reads at most three entries of each, and the tree. Fails as
/// Session::tree and Session::entriesAt do.
[[nodiscard]] Result<std::vector<BranchListing>> listBranches(SessionStore& store, const std::string& sessionId);
/// The same for a tree that is there already.
[[nodiscard]] Result<std::vector<BranchListing>> listBranches(SessionStore& store, const std::string& sessionId,
                                                              const SessionTree& tree);

/// Makes what drawTree asks for: summaries of a session's entries of at most so many graphemes. Reads the entries when
/// it is called. Must not outlive the store.
DescribeEntries describeEntries(SessionStore& store, const std::string& sessionId, std::size_t graphemes = 72);

// Goes through a branch entry by entry, with the time that passed, and tells where a tool failed: to see what an agent
// did, and to continue or fork from the place where it went wrong.

/// One entry of the branch, and how it came.
struct ReplayStep {
  Entry entry = {};
  std::size_t place = 0;              ///< In the branch, from 1.
  std::uint64_t sinceStartMs = 0;     ///< Time since the branch's first entry; times that cannot be read count as 0.
  std::uint64_t sincePreviousMs = 0;  ///< Time since the entry before; with ReplayOptions::after since that one.
  bool failed = false;                ///< The result of a tool that failed.
};

struct ReplayOptions {
  std::string to = {};     ///< The branch that ends in this entry; empty: the head.
  std::string after = {};  ///< Begin after this entry of it; empty: at the root.
};

/// Made by open; must not outlive its store. What is appended meanwhile is not part of it. One thread. Keeps the
/// sequences of the branch and up to 65 entries.
class SessionReplay {
 public:
  /// Loads the tree. NotFound when the session has no such entry; InvalidArgument when `after` is not on the branch, or
  /// `to` is not part of the conversation.
  [[nodiscard]] static Result<SessionReplay> open(SessionStore& store, const std::string& sessionId,
                                                  const ReplayOptions& options = {});

  /// Entries of the branch, those before `after` included.
  [[nodiscard]] std::size_t size() const { return path_.size(); }
  /// The next entry; none at the end. Damaged, retryable from the start, when the session was replaced meanwhile.
  [[nodiscard]] Result<std::optional<ReplayStep>> next();
  /// All steps up to the first failed tool result, that one included, or to the end; none at the end. All are in
  /// memory.
  [[nodiscard]] Result<std::vector<ReplayStep>> nextFailure();

 private:
  SessionReplay(SessionStore& store, std::string sessionId, std::vector<Sequence> path);
  [[nodiscard]] Result<void> load();

  SessionStore* store_;
  std::string sessionId_;
  std::vector<Sequence> path_;
  std::size_t place_ = 0;
  std::vector<Entry> loaded_;  // from loadedFrom_ on
  std::size_t loadedFrom_ = 0;
  std::string previousId_;
  std::optional<std::uint64_t> startMs_;
  std::optional<std::uint64_t> previousMs_;
};

}  // namespace BOUGH_PUBLIC bough
