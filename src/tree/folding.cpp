#include "base/model/unreadable.h"
#include "base/try.h"
#include "tree/rows.h"

namespace bough::tree {
namespace {

constexpr std::size_t kRowsAtATime = 256;
// A stretch of more than kLongest plain entries is folded, except for kEnds entries at each end, entries of the user,
// and unreadable entries.
constexpr std::size_t kLongest = 10;
constexpr std::size_t kEnds = 2;

}  // namespace

Result<void> FoldedRows::run() {
  bool more = true;
  while (more && open_) {
    std::vector<Said> rows;
    std::vector<Sequence> nodes;
    for (Row row; rows.size() < kRowsAtATime && (more = walk_.next(row));) {
      nodes.push_back(row.node);
      rows.push_back({std::move(row), {}});
    }
    if (rows.empty()) break;
    BOUGH_TRY(auto summaries, describe_(nodes));
    summaries.resize(nodes.size());
    for (std::size_t i = 0; i < rows.size() && open_; ++i) {
      rows[i].summary = std::move(summaries[i]);
      take(std::move(rows[i]));
    }
  }
  endStretch();
  return {};
}

void FoldedRows::take(Said said) {
  const bool plain = said.row.isPlain && !foldNothing_;
  // The tree lines change where a branch starts, so a stretch ends there.
  if (!stretch_.empty() && (!plain || said.row.lead != stretch_.back().row.lead)) endStretch();
  if (!plain) {
    give(said);
    return;
  }
  stretch_.push_back(std::move(said));
  if (!folding_ && stretch_.size() > kLongest) {
    folding_ = true;
    for (std::size_t i = 0; i < kEnds; ++i) give(stretch_[i]);
    stretch_.erase(stretch_.begin(), stretch_.begin() + kEnds);
  }
  if (!folding_) return;
  const std::size_t passed = stretch_.size() - kEnds;
  for (std::size_t i = 0; i < passed; ++i) foldOne(std::move(stretch_[i]));
  stretch_.erase(stretch_.begin(), stretch_.end() - kEnds);
}

void FoldedRows::foldOne(Said said) {
  if (said.summary.speaker == "user" || said.summary.speaker == kUnreadableType) {
    endFold();
    give(said);
    return;
  }
  const std::size_t count = folded_ ? folded_->row.folded : 0;
  const Sequence above = folded_ ? folded_->row.above : said.row.above;
  folded_ = std::move(said);
  folded_->row.folded = count + 1;
  folded_->row.above = above;
}

// A fold of a single entry would need as much space as the entry, so the entry itself is shown.
void FoldedRows::endFold() {
  if (!folded_) return;
  const bool single = folded_->row.folded == 1;
  if (single) folded_->row.folded = 0;
  give(*folded_);
  if (!single) afterFold_ = folded_->row.node;
  folded_.reset();
}

void FoldedRows::endStretch() {
  endFold();
  for (Said& said : stretch_) give(said);
  stretch_.clear();
  folding_ = false;
}

void FoldedRows::give(Said& said) {
  if (said.row.folded == 0 && afterFold_ == said.row.above) said.row.aboveFolded = true;
  afterFold_.reset();
  open_ = open_ && use_(said.row, said.row.folded > 0 ? EntrySummary{} : said.summary);
}

}  // namespace bough::tree
