// Whether a text matches a query, without an index over it: the query is asked of an index of that one text.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "catalog/database/database.h"

namespace bough::catalog {

/// One thread at a time.
class WordQuery {
 public:
  /// InvalidArgument when there is nothing to look for. `excerptTokens`: how many words of an excerpt.
  static Result<WordQuery> open(std::string_view query, std::size_t excerptTokens = 24);

  /// As the index gives it (SearchHit::excerpt); none when the text does not match.
  Result<std::optional<std::string>> excerptOf(std::string_view text);

 private:
  WordQuery(std::unique_ptr<Database> database, std::string match, std::size_t excerptTokens);

  std::unique_ptr<Database> database_;
  std::string match_;
  std::size_t excerptTokens_;
};

}  // namespace bough::catalog
