#include "catalog/search/search_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/try.h"
#include "catalog/search/tokenizer.h"

namespace bough::catalog {
namespace {

constexpr std::size_t kMaxQueryBytes = 2000;
constexpr std::size_t kMaxTerms = 64;
constexpr const char* kHint = "words, \"a phrase\", begin*, -without, one OR other";

struct Term {
  std::string text;
  bool prefix = false;
  bool without = false;
  bool quoted = false;
};

bool isBlank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

Result<std::vector<Term>> splitTerms(std::string_view query) {
  std::vector<Term> terms;
  for (std::size_t at = 0; at < query.size();) {
    if (isBlank(query[at])) {
      ++at;
      continue;
    }
    Term term;
    if (query[at] == '-' && at + 1 < query.size() && !isBlank(query[at + 1])) {
      term.without = true;
      ++at;
    }
    if (query[at] == '"') {
      const std::size_t end = query.find('"', at + 1);
      if (end == std::string_view::npos) {
        const std::string_view rest = query.substr(at + 1);
        return fail(ErrorCode::InvalidArgument,
                    rest.empty() ? "the quotation mark at the end is never closed"
                                 : fmt::format("the quotation mark before {} is never closed", rest),
                    kHint);
      }
      term.text = query.substr(at + 1, end - at - 1);
      term.quoted = true;
      at = end + 1;
      if (at < query.size() && query[at] == '*') {
        term.prefix = true;
        ++at;
      }
    } else {
      std::size_t end = at;
      while (end < query.size() && !isBlank(query[end]) && query[end] != '"') ++end;
      term.text = query.substr(at, end - at);
      at = end;
      while (term.text.ends_with('*')) {
        term.prefix = true;
        term.text.pop_back();
      }
    }
    terms.push_back(std::move(term));
    if (terms.size() > kMaxTerms) {
      return fail(ErrorCode::InvalidArgument, fmt::format("more than {} words to look for", kMaxTerms), kHint);
    }
  }
  return terms;
}

std::string written(const Term& term) {
  std::string text = "\"";
  for (const char c : term.text)
    text += c == '"' ? std::string("\"\"") : c == '\0' ? std::string(" ") : std::string(1, c);
  text += term.prefix ? "\" *" : "\"";
  return text;
}

SearchWords::Term wordsOf(const Term& term) {
  SearchWords::Term words{.words = {}, .isBeginning = term.prefix};
  eachWord(term.text, [&](std::string_view word) { words.words.emplace_back(word); });
  return words;
}

}  // namespace

Result<ParsedSearch> parseSearch(std::string_view query) {
  if (query.size() > kMaxQueryBytes) {
    return fail(ErrorCode::InvalidArgument, fmt::format("the query is longer than {} bytes", kMaxQueryBytes), kHint);
  }
  BOUGH_TRY(auto terms, splitTerms(query));
  // Groups of alternatives; every group must match.
  SearchWords words;
  std::string wanted;
  std::string unwanted;
  bool alternative = false;
  bool groupOpen = false;
  for (const Term& term : terms) {
    if (term.text == "OR" && !term.quoted && !term.without && !term.prefix) {
      alternative = groupOpen;
      continue;
    }
    if (!hasWord(term.text)) continue;
    if (term.without) {
      unwanted += (unwanted.empty() ? "" : " OR ") + written(term);
      words.without.push_back(wordsOf(term));
      alternative = groupOpen = false;
      continue;
    }
    if (alternative) {
      wanted += " OR " + written(term);
    } else {
      wanted += (wanted.empty() ? "(" : ") AND (") + written(term);
      words.groups.emplace_back();
    }
    words.groups.back().push_back(wordsOf(term));
    groupOpen = true;
    alternative = false;
  }
  if (wanted.empty()) {
    const bool onlyWithout = !unwanted.empty();
    return fail(ErrorCode::InvalidArgument,
                onlyWithout ? "the query excludes words, but has no word to look for" : "there is no word to look for",
                kHint);
  }
  wanted += ")";
  if (!unwanted.empty()) wanted = fmt::format("({}) NOT ({})", wanted, unwanted);
  return ParsedSearch{.match = std::move(wanted), .words = std::move(words)};
}

// Chooses the group whose shortest anchor is the longest.
std::vector<std::string> anchorsOf(const SearchWords& words) {
  std::vector<std::string> best;
  std::size_t bestBytes = 0;
  for (const auto& group : words.groups) {
    std::vector<std::string> anchors;
    std::size_t shortest = SIZE_MAX;
    for (const SearchWords::Term& term : group) {
      anchors.push_back(*std::ranges::max_element(term.words, {}, &std::string::size));
      shortest = std::min(shortest, anchors.back().size());
    }
    if (shortest <= bestBytes) continue;
    bestBytes = shortest;
    best = std::move(anchors);
  }
  return best;
}

}  // namespace bough::catalog
