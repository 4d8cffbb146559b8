// Text that comes in pieces, broken into lines of the terminal.
#pragma once

#include <string>
#include <string_view>

namespace bough::cli {

/// Breaks lines between words, or after a character of two columns, where the terminal would break them anywhere.
class WordWrap {
 public:
  /// Takes printable text, cut anywhere between characters, and returns what can be shown already.
  std::string feed(std::string_view text);
  /// The text is over: the word that was held back.
  std::string rest();

 private:
  void take(char c, std::string& out);
  void flush(std::string& out);

  std::string word_;  ///< Held back until it is known how long it is.
  std::size_t column_ = 0;
};

}  // namespace bough::cli
