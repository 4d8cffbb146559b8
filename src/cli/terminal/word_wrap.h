// Breaks text that arrives in pieces into lines of the terminal.
#pragma once

#include <string>
#include <string_view>

namespace bough::cli {

/// Breaks lines between words or after a character of two columns, where the terminal would break them anywhere.
class WordWrap {
 public:
  /// Takes printable text, split anywhere between characters, and returns the part that can be shown already.
  std::string feed(std::string_view text);
  /// Ends the text and returns the word that was held back.
  std::string rest();

 private:
  void take(char c, std::string& out);
  void flush(std::string& out);

  std::string word_;  ///< Held back until its length is known.
  std::size_t column_ = 0;
};

}  // namespace bough::cli
