// Edits a line of input on a terminal: history, completion, wide characters, several lines (libedit).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bough::cli {

/// The candidates for the end of a line, and how much of the line each would replace.
struct Completion {
  std::size_t replacedBytes = 0;
  std::vector<std::string> candidates;
  std::vector<std::string> notes{};  ///< A description of each candidate, where that helps; as many as candidates, or
                                     ///< empty.
};
/// What Tab does: replaces this many bytes at the end of the line. Does nothing when several candidates remain and
/// their common prefix is already typed.
struct CompletionStep {
  std::size_t replacedBytes = 0;
  std::string inserted{};
};
CompletionStep completionStep(const Completion& found, std::string_view line);

/// Gets the line up to the cursor.
using Complete = std::function<Completion(std::string_view line)>;

/// Only one may exist in a program at a time: it holds the terminal while it reads.
class LineEditor {
 public:
  /// Returns the form of a line that the history keeps.
  using Keep = std::function<std::string(const std::string& line)>;

  /// `historyFile` keeps the typed lines between runs; empty: they are forgotten.
  LineEditor(std::string historyFile, Complete complete, Keep keep);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  enum class Outcome { Line, Interrupted, End };
  struct Input {
    Outcome outcome = Outcome::End;
    std::string text;  ///< Without the final line end. Contains line ends when several lines were typed.
  };
  /// Reads a line, which begins with `draft`. A backslash at the end of a line or Alt-Enter continues on the next line.
  /// Pasted text is one text, however many lines it has. Ctrl-C returns Interrupted, Ctrl-D returns End.
  Input read(const std::string& prompt, const std::string& draft = {});
  /// Adds to the history a line that was not read here.
  void remember(const std::string& line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bough::cli
