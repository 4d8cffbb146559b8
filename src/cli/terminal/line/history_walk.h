// The way through what was typed, by Up and Down, while a line is edited.
#pragma once

#include <histedit.h>

#include <map>
#include <string>

#include "cli/terminal/line/typed_history.h"

namespace bough::cli {

/// libedit's own functions keep the beginning of a draft only, and nothing of a line that was recalled and changed.
/// Here every text is as it was left, until the line is sent.
class HistoryWalk {
 public:
  explicit HistoryWalk(std::string historyFile) : history_(std::move(historyFile)) {}

  /// For libedit, which searches in them.
  [[nodiscard]] History* lines() const { return history_.lines(); }
  /// Before a line is read.
  void begin();
  /// After it was.
  void remember(const std::string& line) { history_.add(line); }
  /// Puts the older or newer text there; what a function of a key returns.
  unsigned char go(EditLine* edit, bool older);
  /// libedit is about to search: the way goes on from what it finds.
  void noteSearch() { isSearched_ = true; }

 private:
  TypedHistory history_;
  std::size_t at_ = 0;  ///< In the history, from 1; 0: at the draft.
  std::map<std::size_t, std::string> left_{};
  bool isSearched_ = false;
};

}  // namespace bough::cli
