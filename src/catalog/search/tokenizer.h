// How text becomes words: the tokenizer `bough` of the search index.
//
// A word is a run of letters and digits; letter case, accents and the width of letters do not count. Scripts that are
// written without blanks (Chinese, Japanese, Korean, Thai …) have no such runs: there every character is a word, and
// what is looked for becomes a phrase of them, so that words of one, two and more characters are found alike.
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace bough::catalog {

/// False when FTS5 does not take it.
bool registerTokenizer(fts5_api& api);

/// The words of a text, cut and folded, in a form that the tokenizer only has to take apart. The index takes it in the
/// place of the text, so that cutting, which takes longest, can be done by another thread.
std::string cutWords(std::string_view text);

/// Calls `use` for each word of a text, in their order.
void eachWord(std::string_view text, const std::function<void(std::string_view)>& use);

/// Whether there is anything in `text` that can be looked for.
bool hasWord(std::string_view text);

/// What single characters count as: for a look at bytes that are not cut into words. One thread at a time.
class Folding {
 public:
  struct Character {
    std::string_view folded;  ///< Empty when it separates words, or is a mark.
    bool isMark = false;      ///< Does not count inside a word.
    std::size_t bytes = 1;
  };
  Folding();
  ~Folding();
  /// The character that begins at `at`.
  Character at(std::string_view text, std::size_t at);

 private:
  struct Known;
  std::unique_ptr<Known> known_;
};

}  // namespace bough::catalog
