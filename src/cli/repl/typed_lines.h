// Reads lines that the user types while the model answers.
//
// The terminal does not echo them. Typed text is shown on a separate line below the growing answer, so the two never
// mix.
#pragma once

#include <termios.h>

#include <functional>
#include <optional>
#include <string>

#include "cli/terminal/line/line_editor.h"

namespace bough::cli {

/// While this object lives, stdin is read key by key.
class TypedLines {
 public:
  /// `asked` returns true when typed text answers a question that is already on the screen. The line begins with
  /// `draft`: text that was typed before and not sent. `complete` is for Tab.
  TypedLines(std::function<bool()> asked, Complete complete, std::string draft = {});
  ~TypedLines();
  TypedLines(const TypedLines&) = delete;
  TypedLines& operator=(const TypedLines&) = delete;

  /// Waits a moment and returns the next complete line, if there is one. The line contains line ends when several lines
  /// were pasted.
  std::optional<std::string> next();
  /// While nothing is typed, shows the message that will be sent after this turn.
  void showNext(std::string line);
  /// Returns true when a question was open as the line that next() returned was begun.
  [[nodiscard]] bool isAnswer() const { return isAnswer_; }
  /// Returns the text that was typed and not sent; the line editor continues with it.
  [[nodiscard]] std::string rest() const { return isAnswer_ ? setAsideLine_ : line_; }

 private:
  void listen();
  void switchMode(bool asked);
  bool receive(int waitMs);
  bool takeKey();
  bool takeAlt(char byte);
  void takePaste();
  bool take(char byte);
  bool completeLine();
  void show();
  void showNextLine();

  std::function<bool()> asked_;
  Complete complete_;
  termios before_{};
  bool isTerminal_ = false;
  std::string bytes_;  ///< Bytes read but not processed yet.
  std::string line_;
  std::string setAsideLine_;       ///< The text that was being typed when a question came.
  std::string candidates_;         ///< The candidates shown after Tab, until the next key.
  std::string next_;               ///< See showNext.
  std::size_t answerColumns_ = 0;  ///< The width of the answer shown on the question's line.
  bool isAnswer_ = false;          ///< Typed text answers a question.
  bool isAnswered_ = false;        ///< The question was answered.
  bool shown_ = false;             ///< The line is on the screen.
  bool nextShown_ = false;         ///< The next message is on the screen.
};

}  // namespace bough::cli
