// Reads the terminal for libedit, and redraws its line when the terminal has changed.
#pragma once

#include <histedit.h>

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace bough::cli {

/// While this object lives, the line being edited is redrawn after the terminal was resized, and after the program was
/// stopped (Ctrl-Z) and continues. Only one may exist at a time.
class EditInput {
 public:
  /// `redrawn` is printed before the line is drawn after a stop: modes that the shell may have turned off.
  EditInput(EditLine* edit, std::string_view redrawn);
  ~EditInput();
  EditInput(const EditInput&) = delete;
  EditInput& operator=(const EditInput&) = delete;

  /// For EL_GETCFN: reads the next character. Returns -1 with EINTR when another signal arrived.
  static int next(EditLine* edit, wchar_t* character);

  /// A sequence that no key sends. next() returns it in place of a combining mark (a character without a column). Bind
  /// it to insertMark.
  static constexpr std::string_view kMarkKey = "\033[998~";
  static unsigned char insertMark(EditLine* edit, int);
  /// Inside a paste, combining marks are treated like all other characters.
  static void setPasting(bool isPasting);

 private:
  static int markAsKey(EditLine* edit, wchar_t* character);
  void redraw();
  void redrawOver();
  [[nodiscard]] std::string drawnUntil(const char* end) const;

  EditLine* edit_;
  std::string_view redrawn_;
  std::size_t width_;        ///< The width for which the line was last drawn.
  std::string lineAtEnd_{};  ///< The line as it was when the cursor was last at its end; empty when the cursor is
                             ///< elsewhere.
  wchar_t mark_ = 0;         ///< The mark to insert.
  bool isPasting_ = false;
  struct sigaction beforeResize_ = {};
  struct sigaction beforeStop_ = {};
};

/// Returns the text without the characters that join emoji and select their form, and with a square for each skin
/// color. libedit counts the columns of each emoji separately, so each is shown separately; otherwise a terminal that
/// joins them would put the cursor in another place.
std::string unjoined(std::string_view utf8);
/// Opens stdout for libedit; text written there is shown unjoined.
std::FILE* openEditOutput();

/// Returns how many rows of `width` columns are above the end of `text`, which may hold line ends.
std::size_t rowsBeforeEnd(std::string_view text, std::size_t width);

/// Returns true when a full row of `width` columns, which continues in the next row, ends in a blank.
bool hasRowEndingInBlank(std::string_view text, std::size_t width);

}  // namespace bough::cli
