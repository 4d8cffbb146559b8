// Colors code with a small tokenizer for the most common languages. Leaves other code as it is.
#pragma once

#include <string_view>
#include <unordered_set>
#include <vector>

#include "cli/views/markdown/spans.h"

namespace bough::cli {

/// Colors the lines of one code block, in order.
class Highlighter {
 public:
  /// The language is named as in a fence, such as "cpp", "python" or "sh".
  explicit Highlighter(std::string_view language);

  std::vector<Span> line(std::string_view text);

  struct Language;

 private:
  void step(std::string_view text);
  bool comment(std::string_view rest);
  bool string(std::string_view rest);
  void word(std::string_view rest);
  void put(std::string_view text, unsigned style);

  const Language* language_ = nullptr;
  std::unordered_set<std::string_view> keywords_;
  std::string_view until_;  // what ends a comment or string that spans lines
  unsigned untilStyle_ = kPlain;
  std::size_t at_ = 0;
  char before_ = ' ';
  std::vector<Span> spans_;
};

}  // namespace bough::cli
