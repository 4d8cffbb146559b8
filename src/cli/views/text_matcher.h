// What --fixed and --regex look for: a text as it is typed, or a regular expression.
#pragma once

#include <regex.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "catalog/session_scan.h"

namespace bough::cli {

/// Finds one pattern in texts. May be used by several threads.
class TextMatcher {
 public:
  struct Place {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  static TextMatcher fixed(std::string text, bool ignoreCase);
  /// A POSIX extended regular expression; matches are inside a line. InvalidArgument when it is not one.
  static Result<TextMatcher> regex(const std::string& pattern, bool ignoreCase);

  /// The first match at or after `from`.
  [[nodiscard]] std::optional<Place> find(std::string_view text, std::size_t from = 0) const;
  /// What scans sessions for it.
  [[nodiscard]] catalog::ScanQuery scan() const;

 private:
  [[nodiscard]] std::optional<Place> findPattern(std::string_view text, std::size_t from) const;

  std::string fixed_;
  std::string anchor_;  // every text that matches holds it
  bool ignoreCase_ = false;
  std::shared_ptr<regex_t> pattern_;
};

}  // namespace bough::cli
