// A session as a tree: its branches, the points where they part, and the path from a root to any entry.
//
// A node is an entry of the conversation. Its name is its sequence, the place of the entry in the session: the header
// is 0, then come the entries that a fork shares, then its own entries in log order. Control entries and headers are
// not nodes. The tree holds no ids and no texts; SessionStore::loadEntriesAt loads the few entries that are shown.
//
// Nothing here recurses, and damaged files cannot cause endless loops: an entry whose parent is unknown, or is its own
// descendant, becomes a root and is listed in problems().
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
  Sequence firstOwn = kNoSequence;  ///< The first entry that is on no other branch.
  std::size_t length = 0;           ///< Entries from the root to the leaf.
  std::size_t ownLength = 0;        ///< Entries from firstOwn to the leaf.
  bool isHead = false;              ///< The head is the leaf.
  bool isOrphan = false;            ///< The parent of its first entry is missing.
};

enum class TreeProblemKind : std::uint8_t {
  Orphan,  ///< The parent is not an entry of the session, or is a later entry.
  Cycle,   ///< The parent is a descendant of the entry, or the entry itself.
};
/// Returns "orphan" or "cycle".
std::string_view toString(TreeProblemKind kind);

struct TreeProblem {
  TreeProblemKind kind = TreeProblemKind::Orphan;
  Sequence node = kNoSequence;
};

/// The tree of one session at one moment (Session::tree). It is a value; any thread may make const calls, and they
/// never fail. An argument called `node` must be a node: isNode() tells, and nothing else is checked.
///
/// Costs: about one byte per entry, and a little for each point where branches part. A question about one node is a
/// search among these points; a call that returns a list costs the length of the list.
class SessionTree {
 public:
  SessionTree() = default;
  /// Builds the tree from any outline whose jumps are in order. Labels of entries that are not nodes are dropped. If
  /// the head is not a node, the nearest node above it becomes the head.
  explicit SessionTree(SessionOutline outline, std::vector<TreeLabel> labels = {});

  /// Returns the number of entries, nodes or not; all sequences are smaller.
  [[nodiscard]] std::size_t entryCount() const { return kinds_.size(); }
  [[nodiscard]] std::size_t nodeCount() const { return nodeCount_; }
  /// Accepts any number; returns false past the end.
  [[nodiscard]] bool isNode(Sequence entry) const { return entry < kinds_.size() && isConversation(kinds_[entry]); }
  /// Accepts any entry below entryCount().
  [[nodiscard]] EntryKind kind(Sequence node) const { return kinds_[node]; }

  /// Returns kNoSequence for a root, also for the root of an orphaned part.
  [[nodiscard]] Sequence parent(Sequence node) const;
  /// Children and roots are in log order; kNoSequence ends both lists.
  [[nodiscard]] Sequence firstChild(Sequence node) const;
  [[nodiscard]] Sequence nextSibling(Sequence node) const;
  [[nodiscard]] Sequence firstRoot() const;
  [[nodiscard]] std::vector<Sequence> children(Sequence node) const { return listFrom(firstChild(node)); }
  [[nodiscard]] std::vector<Sequence> roots() const { return listFrom(firstRoot()); }
  [[nodiscard]] bool isLeaf(Sequence node) const { return firstChild(node) == kNoSequence; }
  /// Returns true when the node has more than one child.
  [[nodiscard]] bool isBranchPoint(Sequence node) const;
  /// Returns the number of entries above the node; 0 for a root.
  [[nodiscard]] std::size_t depth(Sequence node) const;

  /// Returns the path from the root to the node, both included.
  [[nodiscard]] std::vector<Sequence> path(Sequence node) const;
  /// Returns the entry this many parents above the node; kNoSequence past the root.
  [[nodiscard]] Sequence ancestor(Sequence node, std::size_t steps) const;
  /// Returns the root of the node's path; the node itself for a root.
  [[nodiscard]] Sequence root(Sequence node) const;
  /// Returns the last entry that both paths have; kNoSequence when they share none.
  [[nodiscard]] Sequence commonAncestor(Sequence left, Sequence right) const;

  /// Returns all leaves, in log order.
  [[nodiscard]] std::vector<Sequence> leaves() const;
  /// Returns one branch for each leaf, in the order of leaves().
  [[nodiscard]] std::vector<TreeBranch> branches() const;
  /// Returns all nodes with more than one child, in log order.
  [[nodiscard]] std::vector<Sequence> branchPoints() const;

  /// Returns the entry that the next turn continues from; kNoSequence before the first entry.
  [[nodiscard]] Sequence head() const { return head_; }
  /// Returns all labels, sorted by name.
  [[nodiscard]] const std::vector<TreeLabel>& labels() const { return labels_; }
  /// Returns the labels of one node, sorted by name.
  [[nodiscard]] std::vector<std::string_view> labelsOf(Sequence node) const;

  /// Returns all problems, in log order.
  [[nodiscard]] const std::vector<TreeProblem>& problems() const { return problems_; }
  /// Returns true when problems() lists the node as an orphan; false for its descendants.
  [[nodiscard]] bool isOrphan(Sequence node) const;

 private:
  // A run: entries that follow one another, each the child of the entry before it. Most sessions have few runs, so the
  // tree of a million entries is small, and each question is a search among the runs.
  struct Run {
    Sequence first = kNoSequence;
    Sequence last = kNoSequence;
    Sequence parent = kNoSequence;  // of `first`
    std::uint32_t above = 0;        // the run that `parent` is in
    std::uint32_t depth = 0;        // of `first`
    std::uint32_t place = 0;        // its place in byParent_
    bool isOrphan = false;          // the root above this run is an orphan
  };
  class Builder;

  [[nodiscard]] std::uint32_t runOf(Sequence node) const;
  [[nodiscard]] std::span<const std::uint32_t> runsUnder(Sequence node) const;
  [[nodiscard]] TreeBranch branchOf(const Run& leafRun) const;
  [[nodiscard]] std::vector<Sequence> listFrom(Sequence first) const;

  std::vector<EntryKind> kinds_;
  std::vector<Run> runs_;                // sorted by first entry
  std::vector<std::uint32_t> byParent_;  // run numbers by parent, then by first entry; roots last
  Sequence head_ = kNoSequence;
  std::size_t nodeCount_ = 0;
  std::vector<TreeLabel> labels_;
  std::vector<TreeLabel> labelsByNode_;
  std::vector<TreeProblem> problems_;
};

// The drawing of a session's tree: lines for people, or a graph for Graphviz.
//
//   [user] Hello, how are you?
//   [assistant] I am doing well, thank you!
//   ├─ [user] Can you help me with a task?
//   │  [assistant] Of course! What do you need?
//   └─ [user] Tell me a joke instead
//      [assistant] Why did the chicken cross the road?   ← head
//
// Lines are indented only where branches part. There is one line per entry; a long stretch of entries folds into one
// line, except for what the user said. Entries are read in parts, so the first lines appear immediately. Nothing
// recurses, and however deep an entry is, its line fits the requested width.

/// The parts of a line, for colours.
enum class TreePart : std::uint8_t { Lines, Speaker, Text, Mark, Fold, Id };

struct DrawOptions {
  std::size_t width = 0;  ///< Most columns of a line; 0: as many as the entry's text needs.
  bool all = false;       ///< Fold nothing, and also show bookkeeping entries.
  bool ids = false;       ///< Add the id of each entry.
  /// Shortens an id; the result is shown before the speaker. When empty, the whole id is shown at the end of the line.
  std::function<std::string(const std::string& id)> shortId = {};
  /// Formats an entry's timestamp. When empty, lines have no times.
  std::function<std::string(const std::string& timestamp)> time = {};
  /// Colours a part of a line. When empty, nothing is coloured. A speaker includes its brackets.
  std::function<std::string(TreePart part, std::string_view text)> paint = {};
};

/// Returns summaries of these entries, in this order. Receives at most 256 entries per call. If it fails, the drawing
/// fails with its error.
using DescribeEntries = std::function<Result<std::vector<EntrySummary>>(const std::vector<Sequence>& nodes)>;

/// Passes the lines of the drawing to `line`, without line ends, until `line` returns false. Text from entries is made
/// printable. Memory is that of a few hundred lines, whatever the size of the tree. Fails only when `describe` fails,
/// after passing on the lines before the error.
[[nodiscard]] Result<void> drawTree(const SessionTree& tree, const DescribeEntries& describe,
                                    const DrawOptions& options, const std::function<bool(std::string_view)>& line);

/// Passes on the tree as a graph in the language of Graphviz, line by line. Uses only the options `all` and `ids`.
[[nodiscard]] Result<void> drawTreeAsDot(const SessionTree& tree, const DescribeEntries& describe,
                                         const DrawOptions& options, const std::function<bool(std::string_view)>& line);

// The branches of a session as a list for people: how long, how old, and the last message of each.

struct BranchListing {
  std::string leafId = {};              ///< The branch's last entry; it names the branch for switch and fork.
  std::string firstOwnId = {};          ///< The first entry that is on no other branch.
  std::size_t length = 0;               ///< Entries from the root to the leaf.
  std::size_t ownLength = 0;            ///< Entries from the first own one to the leaf.
  std::string timestamp = {};           ///< Of the branch's last entry.
  std::string speaker = {};             ///< Of the last message; empty when the branch has no message.
  std::string lastMessage = {};         ///< At most 50 graphemes, on one line, printable.
  std::vector<std::string> names = {};  ///< Labels of the leaf.
  bool isHead = false;
  bool isOrphan = false;  ///< The parent of its first entry is missing.
};

inline constexpr std::size_t kLastMessageGraphemes = 50;

/// Returns all branches, in log order of their leaves. Reads the tree and at most three entries per branch. Fails as
/// Session::tree and Session::entriesAt do.
[[nodiscard]] Result<std::vector<BranchListing>> listBranches(SessionStore& store, const std::string& sessionId);
/// Does the same for a tree that was already loaded.
[[nodiscard]] Result<std::vector<BranchListing>> listBranches(SessionStore& store, const std::string& sessionId,
                                                              const SessionTree& tree);

/// Returns the function that drawTree needs: it reads entries of the session and summarizes each with at most
/// `graphemes` graphemes. It reads the entries when it is called. Must not outlive the store.
DescribeEntries describeEntries(SessionStore& store, const std::string& sessionId, std::size_t graphemes = 72);

// Replay: steps through a branch entry by entry, with the elapsed time, and finds failed tools. Use it to see what an
// agent did, and to continue or fork from the place where it went wrong.

/// One entry of the branch, and when it came.
struct ReplayStep {
  Entry entry = {};
  std::size_t place = 0;              ///< In the branch, from 1.
  std::uint64_t sinceStartMs = 0;     ///< Time since the branch's first entry; unreadable times count as 0.
  std::uint64_t sincePreviousMs = 0;  ///< Time since the previous entry, which may be ReplayOptions::after.
  bool failed = false;                ///< The entry is the result of a failed tool.
};

struct ReplayOptions {
  std::string to = {};     ///< The branch that ends in this entry; empty: the head.
  std::string after = {};  ///< Start after this entry of the branch; empty: at the root.
};

/// Replays one branch. Made by open(); must not outlive its store. Does not see entries that are appended later. Use it
/// from one thread. It keeps the sequences of the branch and up to 65 entries in memory.
class SessionReplay {
 public:
  /// Loads the tree. NotFound when the session has no such entry; InvalidArgument when `after` is not on the branch, or
  /// when `to` is not part of the conversation.
  [[nodiscard]] static Result<SessionReplay> open(SessionStore& store, const std::string& sessionId,
                                                  const ReplayOptions& options = {});

  /// Returns the number of entries of the branch, including those before `after`.
  [[nodiscard]] std::size_t size() const { return path_.size(); }
  /// Returns the next step; std::nullopt at the end. Damaged when the session was replaced meanwhile; retry with a new
  /// replay.
  [[nodiscard]] Result<std::optional<ReplayStep>> next();
  /// Returns all steps up to and including the first failed tool result, or up to the end; empty at the end. All of
  /// them are in memory.
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
