// Uses the whole terminal for one program: reads keys one by one, and redraws the picture after each. The earlier
// screen content returns at the end, and also while the program is stopped by Ctrl-Z.
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
    Control,  ///< `text`: the letter, such as "n" for Ctrl-N.
    Paste,    ///< `text`: the pasted text, as one line.
    Alt,      ///< `text`: the character typed with Alt.
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
    Resize,  ///< Not a key: the picture must be redrawn.
    Idle,    ///< No key arrived in time.
    Closed,  ///< The terminal is gone, or the program was asked to end.
  };
  Kind kind = Kind::Closed;
  std::string text{};
};

/// Only one may exist in a program at a time.
class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Waits for the next key, for at most `idleMs` unless that is negative.
  Key next(int idleMs = -1);
  /// Returns true when a key is waiting.
  [[nodiscard]] static bool hasInput();

  struct Size {
    std::size_t width = 80;
    std::size_t height = 24;
  };
  [[nodiscard]] static Size size();

  /// Draws these lines from the top; each must fit the width. Shows the cursor at a row and column counted from 0.
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
