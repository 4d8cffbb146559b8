// Tests whether a text matches a query, without an index of all texts: builds an index of that single text and queries
// it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "catalog/database/database.h"

namespace bough::catalog {

/// Not thread-safe.
class WordQuery {
 public:
  /// Returns InvalidArgument when there is nothing to search for. `excerptTokens` is the number of words in an excerpt.
  static Result<WordQuery> open(std::string_view query, std::size_t excerptTokens = 24);

  /// Returns the same excerpt as the index (SearchHit::excerpt); std::nullopt when the text does not match.
  Result<std::optional<std::string>> excerptOf(std::string_view text);

 private:
  WordQuery(std::unique_ptr<Database> database, std::string match, std::size_t excerptTokens);

  std::unique_ptr<Database> database_;
  std::string match_;
  std::size_t excerptTokens_;
};

}  // namespace bough::catalog
