// Searching the text itself, without the index: a fixed text or a regular expression, over many sessions at once.
#pragma once

#include <regex.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bough/catalog.h"
#include "bough/store.h"

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
  /// False when an entry that is stored as this line cannot hold a match: saves reading it.
  [[nodiscard]] bool mayBeIn(std::string_view line) const;

 private:
  [[nodiscard]] std::optional<Place> findPattern(std::string_view text, std::size_t from) const;

  std::string fixed_;
  bool ignoreCase_ = false;
  bool plain_ = false;  // JSON stores it as it is
  std::shared_ptr<regex_t> pattern_;
};

struct ScanOptions {
  std::vector<std::string> roles = {};
  std::optional<std::uint64_t> sinceMs = {};
  std::optional<std::uint64_t> untilMs = {};
  std::size_t mostOfSession = SIZE_MAX;  ///< Only so many entries of a session, the newest.
};

/// Looks through sessions, several at a time, and gives what it finds in their order, the newest entry of each first.
/// Ends when `use` returns false. Sessions that cannot be read are named to `problem`.
void scanSessions(SessionStore& store, const std::vector<std::string>& sessions, const TextMatcher& matcher,
                  const ScanOptions& options, const std::function<bool(SearchHit&)>& use,
                  const std::function<void(const std::string& sessionId, const Error&)>& problem);

}  // namespace bough::cli
