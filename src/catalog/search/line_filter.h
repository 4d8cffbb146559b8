// Finds the lines of a log that may match a search: a quick test of the bytes of a file, as fast as they can be read.
//
// Every match contains one of the anchors: for the search `apple OR pear`, the anchors are "apple" and "pear". A line
// is a candidate when it contains an anchor literally, or something that may be an anchor in another form: an escape
// (\u0041), an attachment, or, in a search for words, an accent or a letter of another width. Other lines cannot match.
// Whether a candidate matches is decided by its text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/search/byte_sieve.h"
#include "catalog/search/tokenizer.h"

namespace bough::catalog {

enum class AnchorForm : std::uint8_t {
  Bytes,    ///< Exactly these bytes.
  AnyCase,  ///< A to Z in either case; the anchors are in lower case.
  Word,     ///< Folded as the index folds words.
};

/// Not thread-safe.
class LineFilter {
 public:
  /// Without anchors every line is a candidate.
  LineFilter(const std::vector<std::string>& anchors, AnchorForm form);

  /// Returns a position in the next candidate at or after `from`; npos when there is none.
  [[nodiscard]] std::size_t find(std::string_view lines, std::size_t from);

 private:
  struct Anchor {
    std::string text;
    bool isPlain = true;
  };

  [[nodiscard]] bool isCandidate(std::string_view lines, std::size_t at);
  [[nodiscard]] bool isAnchor(const Anchor& anchor, std::string_view lines, std::size_t at) const;
  [[nodiscard]] bool isFoldedAnchor(const Anchor& anchor, std::string_view lines, std::size_t at);
  [[nodiscard]] bool isNearUnusualLetter(std::string_view lines, std::size_t at);

  std::vector<Anchor> anchors_;
  AnchorForm form_;
  bool onlyPlain_;  // all anchors are plain
  ByteSieve sieve_;
  Folding folding_;
};

/// Returns the longest part of a fixed text that a log contains literally; empty when there is none.
std::string anchorOfText(std::string_view text);

}  // namespace bough::catalog
