// What libedit reads from the terminal, and what it draws again when the terminal has changed under it.
#pragma once

#include <histedit.h>

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace bough::cli {

/// While it lives, a line that is being edited is drawn again after the terminal was resized, and after the program was
/// stopped (Ctrl-Z) and goes on. One at a time.
class EditInput {
 public:
  /// `redrawn` is printed before the line is drawn after a stop: what the shell may have turned off.
  EditInput(EditLine* edit, std::string_view redrawn);
  ~EditInput();
  EditInput(const EditInput&) = delete;
  EditInput& operator=(const EditInput&) = delete;

  /// For EL_GETCFN: the next character. -1 with EINTR when another signal came.
  static int next(EditLine* edit, wchar_t* character);

 private:
  void redraw();
  void joinRows();
  [[nodiscard]] std::string drawnUntil(const char* end) const;

  EditLine* edit_;
  std::string_view redrawn_;
  std::size_t width_;  ///< For which the line was drawn last.
  struct sigaction beforeResize_ = {};
  struct sigaction beforeStop_ = {};
};

/// Without the signs that join emoji and choose their form. libedit counts the columns of each emoji by itself, so each
/// is shown by itself: a terminal that joins them would have the cursor elsewhere.
std::string unjoined(std::string_view utf8);
/// Stdout for libedit: what is written there is shown unjoined.
std::FILE* openEditOutput();

/// How many rows of `width` columns are above the end of `text`, which may hold line ends.
std::size_t rowsBeforeEnd(std::string_view text, std::size_t width);

/// Whether a row of `width` columns that goes on in the next one ends in a blank.
bool hasRowEndingInBlank(std::string_view text, std::size_t width);

}  // namespace bough::cli
