// Markdown for a terminal, styled as it comes in: headings, emphasis, code, lists, fenced code and diffs.
#pragma once

#include <string>
#include <string_view>

namespace bough::cli {

/// Takes text in pieces, cut anywhere between characters, and gives back what can be shown already. What is safe for a
/// terminal stays as it is; everything else is made so.
class MarkdownPrinter {
 public:
  std::string feed(std::string_view text);
  /// The text is over: what was held back, and the end of all styles.
  std::string finish();

 private:
  void take(char c, std::string& out);
  void beginLine(std::string& out);
  void endLine(std::string& out);
  void applyStyle(std::string& out) const;

  std::string pending_;  ///< The beginning of a line, or a mark that may go on.
  bool lineStart_ = true;
  bool fenced_ = false;
  bool diff_ = false;  ///< The fence is one of a diff.
  bool fenceLine_ = false;
  bool bold_ = false;
  bool code_ = false;
  bool heading_ = false;
  char diffMark_ = ' ';
};

/// Lines of a diff in colours; other lines as they are.
std::string styledDiff(std::string_view text);

}  // namespace bough::cli
