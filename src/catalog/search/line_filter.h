// Which lines of a log may hold what is looked for: a quick look at the bytes of a file, at the speed of its reading.
//
// A line is a candidate when it holds one of the anchors as it is written, or something that may be an anchor in
// another form: an escape (\u0041), an accent or a letter of another width where words are looked for, an attachment.
// What is not a candidate cannot match. Whether a candidate does, only its text shows.
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
  Bytes,    ///< As they are.
  AnyCase,  ///< A to Z in upper or lower case; the anchors are in lower case.
  Word,     ///< As the index folds words.
};

/// One thread at a time.
class LineFilter {
 public:
  /// Without anchors every line is a candidate.
  LineFilter(const std::vector<std::string>& anchors, AnchorForm form);

  /// A place in the next candidate, at or after `from`; npos when there is none.
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
  bool onlyPlain_;  // all anchors are
  ByteSieve sieve_;
  Folding folding_;
};

/// The longest stretch of a fixed text that is written in a log as it is; empty when there is none.
std::string anchorOfText(std::string_view text);

}  // namespace bough::catalog
