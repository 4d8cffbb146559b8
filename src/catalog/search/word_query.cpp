#include "catalog/search/word_query.h"

#include <algorithm>

#include "base/try.h"
#include "catalog/search/search_index.h"
#include "catalog/search/search_query.h"

namespace bough::catalog {

WordQuery::WordQuery(std::unique_ptr<Database> database, std::string match, std::size_t excerptTokens)
    : database_(std::move(database)), match_(std::move(match)), excerptTokens_(excerptTokens) {}

Result<WordQuery> WordQuery::open(std::string_view query, std::size_t excerptTokens) {
  BOUGH_TRY(auto parsed, parseSearch(query));
  BOUGH_TRY(auto database, Database::open("in memory", OpenAs::Memory, 0));
  BOUGH_TRY(prepareSearch(*database));
  database->execute("CREATE VIRTUAL TABLE search USING fts5(body, tokenize='bough')");
  BOUGH_TRY(database->takeFailure());
  return WordQuery(std::move(database), std::move(parsed.match), std::clamp<std::size_t>(excerptTokens, 1, 64));
}

Result<std::optional<std::string>> WordQuery::excerptOf(std::string_view text) {
  Database& database = *database_;
  std::optional<std::string> found;
  Query(database, "SAVEPOINT one").run();
  Query(database, "INSERT INTO search(rowid, body) VALUES(1, ?)", text).run();
  {
    Query query(database, "SELECT excerpt(search, ?) FROM search WHERE search MATCH ?", std::uint64_t{excerptTokens_},
                match_);
    if (query.next()) found = query.text(0);
  }
  // Cheaper than deleting the row.
  database.execute("ROLLBACK TO one; RELEASE one");
  BOUGH_TRY(database.takeFailure());
  return found;
}

}  // namespace bough::catalog
