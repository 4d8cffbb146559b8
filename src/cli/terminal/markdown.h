// Markdown for a terminal, styled as it comes in: headings, emphasis, code, lists, fenced code and diffs.
#pragma once

#include <string>
#include <string_view>

namespace bough::cli {

/// Breaks lines between words, or after a character of two columns, where the terminal would break them anywhere.
class WordWrap {
 public:
  /// One byte of the text, but no line end.
  void text(char c, std::string& out);
  /// Something that takes no columns.
  void code(std::string_view sequence, std::string& out) { (word_.empty() ? out : word_) += sequence; }
  /// What is held back comes now.
  void flush(std::string& out);
  void newLine() { column_ = 0; }

 private:
  std::string word_;   ///< Held back until it is known how long it is.
  std::string shown_;  ///< The same without what takes no columns.
  std::size_t column_ = 0;
};

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
  void applyStyle(std::string& out);
  void put(std::string_view text, std::string& out);

  WordWrap wrap_;
  std::string pending_;    ///< The beginning of a line, or a mark that may go on.
  std::string fenceName_;  ///< What follows the marks of a fence.
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
