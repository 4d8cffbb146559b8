// Finds rows by typed words: a row must contain every word, with the letters of the word in order.
//
// A row is a text of one or more lines; all letters of a word must be in one line. Rows are kept in lower case and
// without accents, with one bit for each letter that they contain, so that most rows can be rejected without looking at
// their text. When letters are added to the typed text, only the rows that matched before are checked again.
//
// The text after kIds holds ids, which contain nearly every letter. So a word matches an id only as a whole substring
// of at least four letters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bough::cli {

class FuzzyFilter {
 public:
  static constexpr char kIds = '\x1f';

  /// Adds a row. Its number is the number of rows before it.
  void add(std::string_view text);
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  void clear();

  /// Returns the rows that match, best first, and equal ones in the order of their numbers; all rows when nothing is
  /// typed. Only the first `sorted` rows are in order. Valid until the next call.
  const std::vector<std::uint32_t>& match(std::string_view typed, std::size_t sorted = 1'000);

 private:
  struct Row {
    std::string text;
    std::uint64_t letters = 0;
    std::size_t idsBegin = 0;
  };
  struct Match {
    std::int32_t score = 0;
    std::uint32_t row = 0;
  };

  std::vector<Row> rows_;
  std::string typed_;
  std::vector<Match> matches_;
  std::vector<std::uint32_t> found_;
  std::size_t rowsSeen_ = 0;  ///< The number of rows at the last call.
};

}  // namespace bough::cli
