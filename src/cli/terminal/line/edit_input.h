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

  /// What no key sends: next() gives it in the place of a mark that takes no column. Bind it to insertMark.
  static constexpr std::string_view kMarkKey = "\033[998~";
  static unsigned char insertMark(EditLine* edit, int);
  /// Inside a paste marks are characters like all others.
  static void setPasting(bool isPasting);

 private:
  static int asKeys(EditLine* edit, wchar_t* character);
  void redraw();
  void drawOver();
  [[nodiscard]] std::string drawnUntil(const char* end) const;

  EditLine* edit_;
  std::string_view redrawn_;
  std::size_t width_;    ///< For which the line was drawn last.
  std::string ended_{};  ///< The line when the cursor was last at its end; empty: it is elsewhere.
  wchar_t mark_ = 0;     ///< To be inserted.
  bool isPasting_ = false;
  struct sigaction beforeResize_ = {};
  struct sigaction beforeStop_ = {};
};

/// Without the signs that join emoji and choose their form, and with a square for a color of skin. libedit counts the
/// columns of each emoji by itself, so each is shown by itself: a terminal that joins them would have the cursor
/// elsewhere.
std::string unjoined(std::string_view utf8);
/// Stdout for libedit: what is written there is shown unjoined.
std::FILE* openEditOutput();

/// How many rows of `width` columns are above the end of `text`, which may hold line ends.
std::size_t rowsBeforeEnd(std::string_view text, std::size_t width);

/// Whether a row of `width` columns that goes on in the next one ends in a blank.
bool hasRowEndingInBlank(std::string_view text, std::size_t width);

}  // namespace bough::cli
