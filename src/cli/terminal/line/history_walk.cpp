#include "cli/terminal/line/history_walk.h"

#include <utility>

namespace bough::cli {

void HistoryWalk::begin() {
  history_.refresh();
  at_ = 0;
  left_.clear();
  isSearched_ = false;
}

unsigned char HistoryWalk::go(EditLine* edit, bool older) {
  const LineInfo* line = el_line(edit);
  const std::string now(line->buffer, line->lastchar);
  if (std::exchange(isSearched_, false) && at_ == 0) at_ = history_.numberOf(now).value_or(0);
  if (!older && at_ == 0) return CC_ERROR;
  const std::size_t to = older ? at_ + 1 : at_ - 1;
  const auto known = left_.find(to);
  const auto wanted = known != left_.end() ? std::optional(known->second) : history_.at(to);
  if (!wanted && to > 0) return CC_ERROR;
  left_[at_] = now;
  at_ = to;
  const LineInfoW* wide = el_wline(edit);
  const auto all = static_cast<int>(wide->lastchar - wide->buffer);
  el_cursor(edit, static_cast<int>(wide->lastchar - wide->cursor));
  el_deletestr(edit, all);
  (void)el_insertstr(edit, wanted.value_or("").c_str());  // fails when the text is empty
  return CC_REFRESH;
}

}  // namespace bough::cli
