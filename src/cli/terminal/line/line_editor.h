// A line of input on a terminal, edited: history, completion, wide characters, several lines (libedit).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bough::cli {

/// What may be at the end of a line, and how much of the line each would replace.
struct Completion {
  std::size_t replacedBytes = 0;
  std::vector<std::string> candidates;
  std::vector<std::string> notes{};  ///< What each candidate is, where that helps; as many, or none.
};
/// What Tab does: so many bytes at the end of the line are replaced. Nothing when there are several candidates whose
/// common beginning is there already.
struct CompletionStep {
  std::size_t replacedBytes = 0;
  std::string inserted{};
};
CompletionStep completionStep(const Completion& found, std::string_view line);

/// Given the line up to the cursor.
using Complete = std::function<Completion(std::string_view line)>;

/// One at a time in a program: it holds the terminal while it reads.
class LineEditor {
 public:
  /// What is kept of a line in the history.
  using Keep = std::function<std::string(const std::string& line)>;

  /// `historyFile` keeps what was typed between runs; empty: it is forgotten.
  LineEditor(std::string historyFile, Complete complete, Keep keep);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  enum class Outcome { Line, Interrupted, End };
  struct Input {
    Outcome outcome = Outcome::End;
    std::string text;  ///< Without the line end. Holds line ends when several lines were typed.
  };
  /// A line that ends in a backslash goes on in the next one; so does Alt-Enter. What is pasted is one text, however
  /// many lines it has. Ctrl-C: Interrupted, Ctrl-D: End.
  /// The line begins with `draft`.
  Input read(const std::string& prompt, const std::string& draft = {});
  /// Adds a line to the history that was not read here.
  void remember(const std::string& line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bough::cli
