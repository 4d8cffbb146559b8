// Finds rows by what is typed of them: every word must be in the row, its letters in order.
//
// A row is a text of one or more lines; the letters of a word must be in one of them. It is kept in lower case and
// without accents, with a bit for each letter that it has, so that most rows that do not match are passed over without
// a look at their text. When letters are added to what is typed, only the rows that matched before are looked at again.
//
// What follows kIds are ids, in which nearly every letter occurs: a word must be in one of them as it is typed, and
// have at least four letters.
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

  /// Adds a row; its number is how many there were before.
  void add(std::string_view text);
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  void clear();

  /// The rows that match, best first; among equals in the order of their numbers. All rows when nothing is typed.
  /// Only the first `sorted` are in order. Valid until the next call.
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
  std::size_t rowsSeen_ = 0;  ///< How many rows there were at the last call.
};

}  // namespace bough::cli
