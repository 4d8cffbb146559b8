// Lines that are typed while the model answers.
//
// The terminal does not echo them. What is typed is shown on a line of its own below the answer, which goes on: the two
// never mix.
#pragma once

#include <termios.h>

#include <functional>
#include <optional>
#include <string>

#include "cli/terminal/line/line_editor.h"

namespace bough::cli {

/// While it lives, stdin is read key by key.
class TypedLines {
 public:
  /// `asked` says whether what is typed answers a question, which is on the screen already. The line begins with
  /// `draft`: what was typed before, and not sent. `complete` is for Tab.
  TypedLines(std::function<bool()> asked, Complete complete, std::string draft = {});
  ~TypedLines();
  TypedLines(const TypedLines&) = delete;
  TypedLines& operator=(const TypedLines&) = delete;

  /// Waits a moment; gives the next complete line, if there is one. It holds line ends when several were pasted.
  std::optional<std::string> next();
  /// Shows, while nothing is typed, what will be said after this turn.
  void showNext(std::string line);
  /// Whether a question was open when the line began that next() has given.
  [[nodiscard]] bool isAnswer() const { return isAnswer_; }
  /// What was typed and not sent; the line editor goes on with it.
  [[nodiscard]] std::string rest() const { return isAnswer_ ? aside_ : line_; }

 private:
  void listen();
  void takeTurns(bool asked);
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
  std::string bytes_;  ///< Read, not looked at yet.
  std::string line_;
  std::string aside_;              ///< What was being typed when a question came.
  std::string candidates_;         ///< What the end of the line may be, after Tab; until the next key.
  std::string next_;               ///< See showNext.
  std::size_t answerColumns_ = 0;  ///< What is shown of an answer to a question.
  bool isAnswer_ = false;          ///< What is typed answers a question.
  bool isAnswered_ = false;        ///< An answer to it was given.
  bool shown_ = false;             ///< The line is on the screen.
  bool nextShown_ = false;         ///< What comes next is.
};

}  // namespace bough::cli
