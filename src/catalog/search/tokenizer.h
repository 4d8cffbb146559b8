// Splits text into words: the tokenizer `bough` of the search index.
//
// A word is a run of letters and digits. Letter case, accents and the width of letters are ignored. Scripts without
// blanks between words (Chinese, Japanese, Korean, Thai …) have no such runs: there, every character is a word, and a
// search becomes a phrase of characters, so that words of any length are found.
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace bough::catalog {

/// Returns false when FTS5 rejects the tokenizer.
bool registerTokenizer(fts5_api& api);

/// Returns the words of a text, split and folded, in a form that the tokenizer only has to split at its separators. It
/// is indexed instead of the text, so that the folding, the slowest part, can run on another thread.
std::string cutWords(std::string_view text);

/// Calls `use` for each word of a text, in order.
void eachWord(std::string_view text, const std::function<void(std::string_view)>& use);

/// Returns true when `text` contains anything that can be searched for.
bool hasWord(std::string_view text);

/// The folded form of single characters, for searching bytes that are not split into words. Not thread-safe.
class Folding {
 public:
  struct Character {
    std::string_view folded;  ///< Empty for a separator or a mark.
    bool isMark = false;      ///< Ignored inside a word.
    std::size_t bytes = 1;
  };
  Folding();
  ~Folding();
  /// Returns the character that begins at `at`.
  Character at(std::string_view text, std::size_t at);

 private:
  struct Known;
  std::unique_ptr<Known> known_;
};

}  // namespace bough::catalog
