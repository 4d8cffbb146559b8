#include "catalog/search/similar_query.h"

#include <algorithm>
#include <vector>

#include "base/text/spelling.h"
#include "base/try.h"
#include "catalog/database/database.h"
#include "catalog/search/search_index.h"
#include "catalog/search/tokenizer.h"

namespace bough::catalog {
namespace {

constexpr std::size_t kShortest = 4;         // bytes; any two shorter words are similar
constexpr std::size_t kLongest = 64;         // bytes
constexpr std::int64_t kMaxWords = 100'000;  // limit of the comparisons

// Returns the first word of the index, in alphabetical order, that is not before `word`.
std::string firstFrom(Database& database, std::string_view word) {
  Query query(database, "SELECT term FROM temp.words WHERE term >= ? ORDER BY term LIMIT 1", word);
  return query.next() ? query.text(0) : "";
}

// Returns the word most similar to `word` among those that begin with `beginning`; of several equally similar words,
// the one in the most entries.
std::string nearestWith(Database& database, std::string_view word, std::string_view beginning) {
  std::string after(beginning);
  ++after.back();  // 0xFF never occurs in UTF-8, so this cannot overflow
  Query query(database, "SELECT term, doc FROM temp.words WHERE term >= ? AND term < ? LIMIT ?", beginning, after,
              kMaxWords);
  std::string best;
  std::size_t least = word.size() < 6 ? 2 : 3;
  std::uint64_t entries = 0;
  while (query.next()) {
    const std::string_view term = query.view(0);
    if (std::max(term.size(), word.size()) - std::min(term.size(), word.size()) >= 3) continue;
    const std::size_t errors = text::typingErrors(word, term);
    if (errors > least || (errors == least && (best.empty() || query.number(1) <= entries))) continue;
    least = errors;
    entries = query.number(1);
    best = term;
  }
  return best;
}

// Compares with words that share the first characters: these are rarely wrong, and few words share two of them.
std::string nearest(Database& database, std::string_view word) {
  const auto characterEnd = [&](std::size_t at) {
    do ++at;
    while (at < word.size() && (static_cast<unsigned char>(word[at]) & 0xC0) == 0x80);
    return std::min(at, word.size());
  };
  const std::size_t first = characterEnd(0);
  const std::size_t second = characterEnd(first);
  std::string found = nearestWith(database, word, word.substr(0, second));
  return found.empty() ? nearestWith(database, word, word.substr(0, first)) : found;
}

// Returns the replacement for a word. A word that is in the index stays as it is.
std::string replaced(Database& database, const std::string& typed, bool inPhrase) {
  std::vector<std::string> words;
  eachWord(typed, [&](std::string_view word) { words.emplace_back(word); });
  if (words.size() != 1) return typed;
  const std::string& word = words.front();
  const bool isNumber = std::ranges::any_of(word, [](char c) { return c >= '0' && c <= '9'; });
  if (word.size() < kShortest || word.size() > kLongest || isNumber) return typed;
  const std::string next = firstFrom(database, word);
  if (next == word) return typed;
  if (next.starts_with(word) && !inPhrase) return typed + "*";
  const std::string meant = nearest(database, word);
  return meant.empty() ? typed : meant;
}

}  // namespace

Result<std::string> similarQuery(const std::string& folder, std::string_view query) {
  BOUGH_TRY(const auto opened, Database::open(folder + "/catalog.db", OpenAs::ReadOnly, 0));
  Database& database = *opened;
  BOUGH_TRY(prepareSearch(database));
  database.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.words USING fts5vocab(main, search, row)");
  std::string out;
  bool inPhrase = false;
  bool isWithout = false;  // inside of -"a phrase"
  for (std::size_t at = 0; at < query.size() && !database.failed();) {
    const char c = query[at];
    if (c == '"' || c == ' ') {
      if (c == '"') inPhrase = !inPhrase;
      if (c == '"' && inPhrase) isWithout = out.ends_with('-');
      out += c;
      ++at;
      continue;
    }
    const std::size_t end = std::min(query.find_first_of(" \"", at), query.size());
    const std::string typed(query.substr(at, end - at));
    const bool isWord = inPhrase ? !isWithout : !typed.starts_with('-') && !typed.ends_with('*') && typed != "OR";
    out += isWord ? replaced(database, typed, inPhrase) : typed;
    at = end;
  }
  BOUGH_TRY(database.takeFailure());
  return out == query ? "" : out;
}

}  // namespace bough::catalog
