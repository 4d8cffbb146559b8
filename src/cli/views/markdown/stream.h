// Renders Markdown on a terminal while it arrives, such as a model's answer. The final result equals that of
// markdownForTerminal, with two exceptions: code keeps its fences and its line breaks, so that it can be copied, and a
// heading marked only by the line under it is shown before that line.
//
// A line is shown word by word, as long as later words cannot change how the shown ones look: after an open `**`, the
// line waits for the closing one or for its end. A line of code waits for its end, a table for its last row, a block
// quote for its last line.
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
  /// Takes text in pieces, split anywhere between characters, and returns the part that can be shown already. Replaces
  /// characters that are not safe for a terminal.
  std::string feed(std::string_view text);
  /// Ends the text and returns the part that was held back. All that was shown then ends in exactly one line end, or is
  /// empty.
  std::string rest();

 private:
  struct Code {
    text::MarkdownFence fence;
    Highlighter colors;
  };

  void showPart(std::string& out);
  void adaptToWidth(std::string& out);
  void endLine(std::string& out);
  void showLine(std::string_view line, std::string& out);
  void showCode(std::string_view line, std::string& out);
  bool continuesHeldLines(std::string_view line) const;
  void showHeldLines(std::string& out);
  void put(std::string_view lines, std::string& out);
  std::string rendered(std::string_view text, bool& inList);

  std::string line_;               ///< The incoming line.
  std::string shown_;              ///< The output shown for it.
  std::size_t partBytes_ = 0;      ///< How many bytes of the line that output covers.
  std::size_t examinedBytes_ = 0;  ///< The size of the line when it was last examined.
  std::size_t width_ = 0;          ///< The width of the terminal when the line began.
  std::size_t blankLines_ = 0;     ///< Held back, because a text does not end in blank lines.
  bool hasOutput_ = false;         ///< Whether anything was shown.
  bool inList_ = false;
  std::optional<Code> code_;
  std::vector<std::string> heldLines_;  ///< Lines of a possible quote or table, until it ends or turns out to be
                                        ///< something else.
};

}  // namespace bough::cli
