// Walks through the typed history with Up and Down while a line is edited.
#pragma once

#include <histedit.h>

#include <map>
#include <string>

#include "cli/terminal/line/typed_history.h"

namespace bough::cli {

/// libedit's own functions keep only the beginning of a draft, and no changes to a recalled line. Here every text stays
/// as the user left it until the line is sent.
class HistoryWalk {
 public:
  explicit HistoryWalk(std::string historyFile) : history_(std::move(historyFile)) {}

  /// For libedit's search.
  [[nodiscard]] History* lines() const { return history_.lines(); }
  /// Call before a line is read.
  void begin();
  /// Call after a line was read.
  void remember(const std::string& line) { history_.add(line); }
  /// Shows the older or newer text. Returns the result code of a key function.
  unsigned char go(EditLine* edit, bool older);
  /// Call when libedit is about to search: the walk continues from the line that it finds.
  void noteSearch() { isSearched_ = true; }

 private:
  TypedHistory history_;
  std::size_t at_ = 0;  ///< The place in the history, from 1; 0: at the draft.
  std::map<std::size_t, std::string> left_{};
  bool isSearched_ = false;
};

}  // namespace bough::cli
