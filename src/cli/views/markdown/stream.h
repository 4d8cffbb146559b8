// Markdown for a terminal while it comes in, as an answer of a model does. What it shows in the end is what
// markdownForTerminal shows, except that code keeps its fences and its lines as they are, so that it can be copied, and
// that a heading which only the line under it makes one is shown before that line.
//
// A line is shown word by word, as far as its words cannot change their meaning: after a `**` that is still open the
// line waits for its partner or its end. A line of code waits for its end, a table for its last row, a block quote for
// its last line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/views/markdown/blocks.h"
#include "cli/views/markdown/highlight.h"

namespace bough::cli {

class MarkdownStream {
 public:
  /// Takes text in pieces, cut anywhere between characters, and returns what can be shown already. Characters that are
  /// not safe for a terminal are replaced.
  std::string feed(std::string_view text);
  /// The text is over: what was held back. Everything that was shown ends with one line end; nothing, if nothing was.
  std::string rest();

 private:
  struct Code {
    text::MarkdownFence fence;
    Highlighter colors;
  };

  void showPart(std::string& out);
  void followWidth(std::string& out);
  void endLine(std::string& out);
  void showLine(std::string_view line, std::string& out);
  void showCode(std::string_view line, std::string& out);
  bool isHeld(std::string_view line) const;
  void showHeld(std::string& out);
  void put(std::string_view lines, std::string& out);
  std::string rendered(std::string_view text, bool& inList);

  std::string line_;            ///< The line that is coming in.
  std::string shown_;           ///< What was shown of it.
  std::size_t partBytes_ = 0;   ///< How many bytes of it those are.
  std::size_t looked_ = 0;      ///< The size of the line when it was last looked at.
  std::size_t width_ = 0;       ///< Of the terminal when the line began.
  std::size_t blankLines_ = 0;  ///< Held back: a text does not end with them.
  bool something_ = false;      ///< Something was shown.
  bool inList_ = false;
  std::optional<Code> code_;
  std::vector<std::string> held_;  ///< Lines of a quote or a table until it ends, or turns out to be none.
};

}  // namespace bough::cli
