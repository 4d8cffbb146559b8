// The whole terminal for one program: keys one by one, and a picture that is drawn again after each. What was on the
// screen before comes back at the end, and also while the program is stopped by Ctrl-Z.
#pragma once

#include <termios.h>

#include <csignal>
#include <cstddef>
#include <string>
#include <vector>

namespace bough::cli {

struct Key {
  enum class Kind : unsigned char {
    Text,     ///< `text`: one character.
    Control,  ///< `text`: the letter, as "n" of Ctrl-N.
    Paste,    ///< `text`: what was pasted, as one line.
    Alt,      ///< `text`: the character that was typed with Alt.
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    Enter,
    Tab,
    Escape,
    Backspace,
    Delete,
    Resize,  ///< No key: the picture must be drawn again.
    Idle,    ///< No key came within the time.
    Closed,  ///< The terminal is gone, or the program was asked to end.
  };
  Kind kind = Kind::Closed;
  std::string text{};
};

/// One at a time in a program.
class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Waits for the next key; with `idleMs` of 0 or more at most so long.
  Key next(int idleMs = -1);
  /// Whether a key waits.
  [[nodiscard]] static bool hasInput();

  struct Size {
    std::size_t width = 80;
    std::size_t height = 24;
  };
  [[nodiscard]] static Size size();

  /// Shows these lines from the top; each must fit the width. The cursor is shown at a row and column from 0.
  static void draw(const std::vector<std::string>& lines, std::size_t cursorRow, std::size_t cursorColumn);

 private:
  void enter();
  void leave() const;
  void stop();
  Key decodeEscape();
  Key readPaste();
  int readByte(int waitMs);

  termios before_{};
  int kept_ = -1;  // the first byte of the next key; -1: none
  struct Handler {
    int signal = 0;
    struct sigaction before = {};
  };
  std::vector<Handler> handlers_;
};

}  // namespace bough::cli
