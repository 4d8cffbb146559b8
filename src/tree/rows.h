// The tree as rows, in drawing order: one row per entry that is shown. Rows are indented only where branches part, so a
// conversation without branches is a straight list of any length.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bough/tree.h"

namespace bough::tree {

struct Row {
  Sequence node = kNoSequence;        ///< The entry; for a fold, the last entry in it.
  Sequence last = kNoSequence;        ///< The last bookkeeping entry that belongs to this row, or `node` itself.
  std::size_t folded = 0;             ///< How many entries are folded; 0 for a row of one entry.
  Sequence parentNode = kNoSequence;  ///< The node of the parent row; kNoSequence for roots.
  bool isParentFolded = false;        ///< The parent row is a fold.
  bool isHead = false;                ///< The head, or only bookkeeping entries are between this entry and the head.
  bool isPlain = false;               ///< May be folded: not a branch point, leaf, summary or head, and without a mark.
  std::string prefix = {};            ///< The tree lines drawn before the row.
};

/// Returns the labels that a row shows, each with its entry: labels of the row's entry and of its bookkeeping entries.
std::vector<std::pair<Sequence, std::string_view>> labelsOf(const SessionTree& tree, const Row& row);

/// Walks a tree row by row, children before siblings.
class RowWalk {
 public:
  /// Unless `all` is set, bookkeeping entries (changes of model, tool starts, turn totals, …) are left out. If the head
  /// is a bookkeeping entry, or branches part at one, the entry before it takes its place. The tree lines before a row
  /// take at most `prefixColumns`.
  RowWalk(const SessionTree& tree, bool all, std::size_t prefixColumns);

  /// Returns the next row; false at the end.
  bool next(Row& row);

 private:
  // An entry with siblings, on the path from the root to the current entry.
  struct OpenBranch {
    Sequence node = kNoSequence;
    Sequence parentNode = kNoSequence;  // its parent row
    bool drawn = false;                 // a row has drawn its corner
  };

  Sequence nextNode();
  [[nodiscard]] bool hasSiblings(Sequence node) const;
  [[nodiscard]] bool isBookkeeping(Sequence node) const;
  [[nodiscard]] bool isContent(Sequence node) const;
  [[nodiscard]] bool followsContent(Sequence node) const;
  [[nodiscard]] Sequence lastOfRow(Sequence node) const;
  [[nodiscard]] bool isMarked(Sequence node) const;
  [[nodiscard]] bool isHidden(Sequence node) const;
  std::string prefix();

  const SessionTree& tree_;
  const bool all_;
  const std::size_t prefixColumns_;
  Sequence head_;  // the entry whose row shows the head
  Sequence at_ = kNoSequence;
  Sequence lastShown_ = kNoSequence;  // the last entry that had a row
  bool started_ = false;
  std::vector<OpenBranch> openBranches_;
};

/// Passes the rows of a tree and the summaries of their entries to `use`, until `use` returns false. Folds long
/// stretches of plain entries, but never messages of the user. Reads a limited number of entries at a time.
class FoldedRows {
 public:
  using Use = std::function<bool(const Row&, const EntrySummary&)>;
  FoldedRows(const SessionTree& tree, const DescribeEntries& describe, bool all, std::size_t prefixColumns, Use use)
      : walk_(tree, all, prefixColumns), describe_(describe), showAll_(all), use_(std::move(use)) {}

  Result<void> run();

 private:
  struct DescribedRow {
    Row row;
    EntrySummary summary;
  };

  void add(DescribedRow described);
  void endPlainRows();
  void foldRow(DescribedRow described);
  void endFold();
  void emit(DescribedRow& described);

  RowWalk walk_;
  const DescribeEntries& describe_;
  const bool showAll_;
  Use use_;
  bool wantsMore_ = true;
  std::vector<DescribedRow> plainRows_;  // consecutive plain rows that were not passed on yet
  bool folding_ = false;                 // the stretch is long enough to fold
  std::optional<DescribedRow> folded_;
  std::optional<Sequence> previousFold_;  // the fold that is the parent of the next row
};

}  // namespace bough::tree
