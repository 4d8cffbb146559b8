// Implements --fixed and --regex: matches a literal text or a regular expression.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/session_scan.h"

namespace re2 {
class RE2;
}

namespace bough::cli {

/// Finds one pattern in texts. Thread-safe.
class TextMatcher {
 public:
  struct Place {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  static TextMatcher fixed(std::string text, bool ignoreCase);
  /// Compiles a regular expression for RE2: the syntax of `grep -E` with Perl's character classes, without back
  /// references. Matches stay within a line and are not empty. Matching takes time linear in the text. Fails with
  /// InvalidArgument when the expression is invalid.
  static Result<TextMatcher> regex(const std::string& pattern, bool ignoreCase);
  /// Matches words that differ from `word` by one typing error after their first character: a wrong, additional,
  /// missing or swapped character. In Chinese words, one wrong character anywhere. Returns std::nullopt when the word
  /// is too short.
  static std::optional<TextMatcher> misspelled(std::string_view word);

  /// Returns the first match at or after `from`.
  [[nodiscard]] std::optional<Place> find(std::string_view text, std::size_t from = 0) const;
  /// Returns the query that scans sessions for the pattern.
  [[nodiscard]] catalog::ScanQuery scan() const;

 private:
  [[nodiscard]] std::optional<Place> findPattern(std::string_view text, std::size_t from) const;

  std::string fixed_;
  std::vector<std::string> anchors_;  // every matching text holds one of them; empty: nothing is known
  catalog::AnchorForm form_ = catalog::AnchorForm::Bytes;
  bool ignoreCase_ = false;
  std::shared_ptr<const re2::RE2> pattern_;
};

}  // namespace bough::cli
