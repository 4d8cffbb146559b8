// The tree as rows, in the order in which they are drawn: one for each entry that is shown. Lines move to the right
// only where branches part, so a conversation without branches is a straight list, however long it is.
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
  Sequence node = kNoSequence;   ///< The entry; of a fold the last entry in it.
  Sequence last = kNoSequence;   ///< The last of the bookkeeping after the entry that its row stands for, or itself.
  std::size_t folded = 0;        ///< How many entries are folded; 0 for an entry.
  Sequence above = kNoSequence;  ///< The row that it hangs under, by its node; kNoSequence for roots.
  bool aboveFolded = false;      ///< That row is a fold.
  bool isHead = false;           ///< The head, or nothing but bookkeeping is between this entry and the head.
  bool isPlain = false;          ///< It may be folded: not a branch point, leaf, summary or head, and without a mark.
  std::string lead = {};         ///< The lines before it.
};

/// The labels that a row shows: of its entry, and of the bookkeeping that it stands for. Each with its entry.
std::vector<std::pair<Sequence, std::string_view>> labelsOf(const SessionTree& tree, const Row& row);

/// Walks a tree row by row, children before siblings.
class RowWalk {
 public:
  /// Without `all`, bookkeeping entries (changes of model, tool starts, sums of turns, …) are left out: where the head
  /// is one, or branches part at one, the entry before it has that place. The lines before a row take at most
  /// `leadColumns`.
  RowWalk(const SessionTree& tree, bool all, std::size_t leadColumns);

  /// False at the end.
  bool next(Row& row);

 private:
  // An entry with siblings on the way from the root to the current entry.
  struct Parting {
    Sequence node = kNoSequence;
    Sequence above = kNoSequence;  // the row it hangs under
    bool drawn = false;            // a row has shown its corner
  };

  Sequence following();
  [[nodiscard]] bool hasSiblings(Sequence node) const;
  [[nodiscard]] bool isBookkeeping(Sequence node) const;
  [[nodiscard]] bool isSaid(Sequence node) const;
  [[nodiscard]] bool followsSaid(Sequence node) const;
  [[nodiscard]] Sequence lastOfRow(Sequence node) const;
  [[nodiscard]] bool isMarked(Sequence node) const;
  [[nodiscard]] bool isHidden(Sequence node) const;
  std::string lead();

  const SessionTree& tree_;
  const bool all_;
  const std::size_t leadColumns_;
  Sequence head_;  // the entry whose row shows the head
  Sequence at_ = kNoSequence;
  Sequence shown_ = kNoSequence;  // the last entry that was a row
  bool started_ = false;
  std::vector<Parting> partings_;
};

/// Gives the rows of a tree together with what their entries say, and folds long stretches of plain entries; what the
/// user said is never folded. Reads a limited number of entries at a time, and ends when `use` returns false.
class FoldedRows {
 public:
  using Use = std::function<bool(const Row&, const EntrySummary&)>;
  FoldedRows(const SessionTree& tree, const DescribeEntries& describe, bool all, std::size_t leadColumns, Use use)
      : walk_(tree, all, leadColumns), describe_(describe), foldNothing_(all), use_(std::move(use)) {}

  Result<void> run();

 private:
  struct Said {
    Row row;
    EntrySummary summary;
  };

  void take(Said said);
  void endStretch();
  void foldOne(Said said);
  void endFold();
  void give(Said& said);

  RowWalk walk_;
  const DescribeEntries& describe_;
  const bool foldNothing_;
  Use use_;
  bool open_ = true;
  std::vector<Said> stretch_;  // plain rows in a row that were not given yet
  bool folding_ = false;       // the stretch is a long one
  std::optional<Said> folded_;
  std::optional<Sequence> afterFold_;  // the fold that the next row hangs under
};

}  // namespace bough::tree
