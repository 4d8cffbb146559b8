#include "cli/terminal/fuzzy.h"

#include <algorithm>
#include <optional>

#include "base/text/accents.h"

namespace bough::cli {
namespace {

constexpr std::size_t kLeastOfId = 4;

char lowered(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

// Writes É, and E with a combining accent, as e.
std::string loweredText(std::string_view text) {
  std::string out = text::withoutAccents(text);
  std::ranges::transform(out, out.begin(), lowered);
  return out;
}

bool isWordByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80;
}

// One bit for each letter and digit; all other bytes share the remaining bits.
std::uint64_t bitOf(char c) {
  if (c >= 'a' && c <= 'z') return std::uint64_t{1} << static_cast<unsigned>(c - 'a');
  if (c >= '0' && c <= '9') return std::uint64_t{1} << static_cast<unsigned>(26 + c - '0');
  return std::uint64_t{1} << (36U + static_cast<unsigned char>(c) % 28U);
}

std::uint64_t lettersOf(std::string_view text) {
  std::uint64_t letters = 0;
  for (const char c : text) {
    if (c != ' ') letters |= bitOf(c);
  }
  return letters;
}

std::vector<std::string_view> wordsOf(std::string_view typed) {
  std::vector<std::string_view> words;
  while (!typed.empty()) {
    const std::size_t end = std::min(typed.find(' '), typed.size());
    if (end > 0) words.push_back(typed.substr(0, end));
    typed.remove_prefix(std::min(end + 1, typed.size()));
  }
  return words;
}

// Scores how well a word matches: a substring scores best, above all at the beginning of a word; otherwise letters in
// order, the closer together the better. Returns std::nullopt when the word does not match.
std::optional<std::int32_t> scoreOf(std::string_view text, std::string_view word) {
  constexpr std::int32_t kWhole = 1'000;
  constexpr std::int32_t kBeginning = 500;
  if (const std::size_t at = text.find(word); at != std::string_view::npos) {
    const bool begins = at == 0 || !isWordByte(text[at - 1]);
    return kWhole + (begins ? kBeginning : 0) - static_cast<std::int32_t>(std::min<std::size_t>(at, 200));
  }
  // Letters far apart mean nothing: they must be within a short distance in one line.
  constexpr std::size_t kReach = 32;
  for (std::size_t first = text.find(word.front()); first != std::string_view::npos;
       first = text.find(word.front(), first + 1)) {
    const std::size_t end = std::min(text.find('\n', first), first + kReach);
    std::size_t at = first;
    std::int32_t runs = 1;
    std::size_t next = 1;
    for (; next < word.size(); ++next) {
      const std::size_t found = text.find(word[next], at + 1);
      if (found == std::string_view::npos) return std::nullopt;  // no later start can match either
      if (found >= end) break;
      if (found != at + 1) ++runs;
      at = found;
    }
    if (next == word.size()) return 300 - runs * 20 - static_cast<std::int32_t>(at - first);
  }
  return std::nullopt;
}

}  // namespace

void FuzzyFilter::add(std::string_view text) {
  Row row{.text = loweredText(text)};
  row.letters = lettersOf(row.text);
  row.idsBegin = std::min(row.text.find(FuzzyFilter::kIds), row.text.size());
  rows_.push_back(std::move(row));
}

void FuzzyFilter::clear() {
  *this = FuzzyFilter();
}

const std::vector<std::uint32_t>& FuzzyFilter::match(std::string_view typed, std::size_t sorted) {
  const std::string wanted = loweredText(typed);
  const auto words = wordsOf(wanted);
  found_.clear();
  if (words.empty()) {
    typed_.clear();
    rowsSeen_ = 0;
    for (std::uint32_t i = 0; i < rows_.size(); ++i) found_.push_back(i);
    return found_;
  }
  const std::uint64_t letters = lettersOf(wanted);
  std::vector<Match> matches;
  const auto consider = [&](std::uint32_t number) {
    const Row& row = rows_[number];
    if ((row.letters & letters) != letters) return;
    std::int32_t sum = 0;
    for (const std::string_view word : words) {
      const std::string_view text = row.text;
      auto score = scoreOf(text.substr(0, row.idsBegin), word);
      if (!score && word.size() >= kLeastOfId && text.find(word, row.idsBegin) != std::string_view::npos) score = 0;
      if (!score) return;
      sum += *score;
    }
    matches.push_back({.score = sum, .row = number});
  };
  // Adding letters can only remove rows. The exception is the letter that makes a word long enough for an id: it can
  // add rows.
  const bool narrower = !typed_.empty() && wanted.starts_with(typed_) && rowsSeen_ > 0 &&
                        std::ranges::none_of(words, [](auto word) { return word.size() == kLeastOfId; });
  if (narrower) {
    for (const Match& each : matches_) consider(each.row);
  }
  for (std::size_t i = narrower ? rowsSeen_ : 0; i < rows_.size(); ++i) consider(static_cast<std::uint32_t>(i));
  typed_ = wanted;
  rowsSeen_ = rows_.size();
  const auto better = [](const Match& left, const Match& right) {
    return left.score != right.score ? left.score > right.score : left.row < right.row;
  };
  const auto end = matches.begin() + static_cast<std::ptrdiff_t>(std::min(sorted, matches.size()));
  std::ranges::partial_sort(matches, end, better);
  for (const Match& each : matches) found_.push_back(each.row);
  matches_ = std::move(matches);
  return found_;
}

}  // namespace bough::cli
