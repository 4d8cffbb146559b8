// What --fixed and --regex look for: a text as it is typed, or a regular expression.
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

/// Finds one pattern in texts. May be used by several threads.
class TextMatcher {
 public:
  struct Place {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  static TextMatcher fixed(std::string text, bool ignoreCase);
  /// A regular expression as RE2 takes it: that of `grep -E` with the classes of Perl, without back references. Matches
  /// are inside a line, and not empty. The time that one takes grows with the text alone. InvalidArgument when it is
  /// not one.
  static Result<TextMatcher> regex(const std::string& pattern, bool ignoreCase);
  /// Words that differ from `word` by one typing error after their first character: another character, one more, one
  /// less, two in the wrong order. Of Chinese characters: one that is another, anywhere. None for a word that is too
  /// short.
  static std::optional<TextMatcher> misspelled(std::string_view word);

  /// The first match at or after `from`.
  [[nodiscard]] std::optional<Place> find(std::string_view text, std::size_t from = 0) const;
  /// What scans sessions for it.
  [[nodiscard]] catalog::ScanQuery scan() const;

 private:
  [[nodiscard]] std::optional<Place> findPattern(std::string_view text, std::size_t from) const;

  std::string fixed_;
  std::vector<std::string> anchors_;  // every text that matches holds one of them; none: nothing is known
  catalog::AnchorForm form_ = catalog::AnchorForm::Bytes;
  bool ignoreCase_ = false;
  std::shared_ptr<const re2::RE2> pattern_;
};

}  // namespace bough::cli
