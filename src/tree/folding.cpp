#include "base/model/unreadable.h"
#include "base/try.h"
#include "tree/rows.h"

namespace bough::tree {
namespace {

constexpr std::size_t kRowsAtATime = 256;
// A stretch of more than kMaxPlainRows plain entries is folded, except for kShownAtEachEnd entries at each end, entries
// of the user, and unreadable entries.
constexpr std::size_t kMaxPlainRows = 10;
constexpr std::size_t kShownAtEachEnd = 2;

}  // namespace

Result<void> FoldedRows::run() {
  bool more = true;
  while (more && wantsMore_) {
    std::vector<DescribedRow> rows;
    std::vector<Sequence> nodes;
    for (Row row; rows.size() < kRowsAtATime && (more = walk_.next(row));) {
      nodes.push_back(row.node);
      rows.push_back({std::move(row), {}});
    }
    if (rows.empty()) break;
    BOUGH_TRY(auto summaries, describe_(nodes));
    summaries.resize(nodes.size());
    for (std::size_t i = 0; i < rows.size() && wantsMore_; ++i) {
      rows[i].summary = std::move(summaries[i]);
      add(std::move(rows[i]));
    }
  }
  endPlainRows();
  return {};
}

void FoldedRows::add(DescribedRow described) {
  const bool plain = described.row.isPlain && !showAll_;
  // The tree lines change where a branch starts, so a stretch ends there.
  if (!plainRows_.empty() && (!plain || described.row.prefix != plainRows_.back().row.prefix)) endPlainRows();
  if (!plain) {
    emit(described);
    return;
  }
  plainRows_.push_back(std::move(described));
  if (!folding_ && plainRows_.size() > kMaxPlainRows) {
    folding_ = true;
    for (std::size_t i = 0; i < kShownAtEachEnd; ++i) emit(plainRows_[i]);
    plainRows_.erase(plainRows_.begin(), plainRows_.begin() + kShownAtEachEnd);
  }
  if (!folding_) return;
  const std::size_t passed = plainRows_.size() - kShownAtEachEnd;
  for (std::size_t i = 0; i < passed; ++i) foldRow(std::move(plainRows_[i]));
  plainRows_.erase(plainRows_.begin(), plainRows_.end() - kShownAtEachEnd);
}

void FoldedRows::foldRow(DescribedRow described) {
  if (described.summary.speaker == "user" || described.summary.speaker == kUnreadableType) {
    endFold();
    emit(described);
    return;
  }
  const std::size_t count = folded_ ? folded_->row.folded : 0;
  const Sequence parentNode = folded_ ? folded_->row.parentNode : described.row.parentNode;
  folded_ = std::move(described);
  folded_->row.folded = count + 1;
  folded_->row.parentNode = parentNode;
}

// A fold of a single entry would need as much space as the entry, so the entry itself is shown.
void FoldedRows::endFold() {
  if (!folded_) return;
  const bool single = folded_->row.folded == 1;
  if (single) folded_->row.folded = 0;
  emit(*folded_);
  if (!single) previousFold_ = folded_->row.node;
  folded_.reset();
}

void FoldedRows::endPlainRows() {
  endFold();
  for (DescribedRow& described : plainRows_) emit(described);
  plainRows_.clear();
  folding_ = false;
}

void FoldedRows::emit(DescribedRow& described) {
  if (described.row.folded == 0 && previousFold_ == described.row.parentNode) described.row.isParentFolded = true;
  previousFold_.reset();
  wantsMore_ = wantsMore_ && use_(described.row, described.row.folded > 0 ? EntrySummary{} : described.summary);
}

}  // namespace bough::tree
