#include "cli/views/text_matcher.h"

#include <fmt/format.h>
#include <re2/filtered_re2.h>
#include <re2/re2.h>

#include <algorithm>

#include "base/text/text.h"

namespace bough::cli {
namespace {

constexpr std::size_t kAround = 60;  // bytes of context before and after a match

char lowerLetter(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

// Returns the beginning of the character at or before a place.
std::size_t characterAt(std::string_view text, std::size_t at) {
  while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

std::string excerptOf(std::string_view text, const TextMatcher& matcher, TextMatcher::Place place) {
  const std::size_t before = text.rfind('\n', place.begin);
  std::size_t begin = before == std::string_view::npos || place.begin == 0 ? 0 : before + 1;
  if (begin > place.begin) begin = place.begin;
  const std::size_t lineBegin = begin;
  if (place.begin - begin > kAround) begin = characterAt(text, place.begin - kAround);
  std::size_t end = std::min({text.find('\n', place.end), place.end + 2 * kAround, text.size()});
  const bool cutAfter = end < text.size() && text[end] != '\n';
  end = characterAt(text, end);
  std::string out = begin > lineBegin ? "…" : "";
  std::size_t at = begin;
  for (std::optional<TextMatcher::Place> each = place; each && each->end <= end; each = matcher.find(text, each->end)) {
    out += text.substr(at, each->begin - at);
    out += kMarkBegin;
    out += text.substr(each->begin, each->end - each->begin);
    out += kMarkEnd;
    at = each->end;
  }
  out += text.substr(at, end > at ? end - at : 0);
  return out + (cutAfter ? "…" : "");
}

// Returns the longest ASCII part of a text that a log stores unescaped.
std::string plainPart(std::string_view text) {
  std::string best;
  while (!text.empty()) {
    const auto isOther = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
    const auto length = static_cast<std::size_t>(std::ranges::find_if(text, isOther) - text.begin());
    std::string part = catalog::anchorOfText(text.substr(0, length));
    if (part.size() > best.size()) best = std::move(part);
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return best;
}

// Returns texts, in lower case, of which every match contains at least one; empty when nothing is known. RE2 names the
// texts that decide whether a match is possible. The shortest of them are dropped as long as no match is possible
// without the others.
std::vector<std::string> anchorsOf(const std::string& pattern, const re2::RE2::Options& options) {
  constexpr std::size_t kMost = 64;
  re2::FilteredRE2 filter(/*min_atom_len=*/1);
  int number = 0;
  std::vector<std::string> atoms;
  if (filter.Add(pattern, options, &number) != re2::RE2::NoError) return {};
  filter.Compile(&atoms);
  if (atoms.empty() || atoms.size() > kMost) return {};
  std::vector<std::pair<std::string, int>> needed;
  for (std::size_t i = 0; i < atoms.size(); ++i) needed.emplace_back(plainPart(atoms[i]), static_cast<int>(i));
  std::ranges::sort(needed, {}, [](const auto& each) { return each.first.size(); });
  std::vector<int> others;
  std::erase_if(needed, [&](const auto& each) {
    others.push_back(each.second);
    std::vector<int> possible;
    filter.AllPotentials(others, &possible);
    if (!possible.empty()) others.pop_back();
    return possible.empty();
  });
  std::vector<std::string> anchors;
  for (auto& [anchor, atom] : needed) {
    if (anchor.empty()) return {};
    anchors.push_back(std::move(anchor));
  }
  return anchors;
}

}  // namespace

TextMatcher TextMatcher::fixed(std::string text, bool ignoreCase) {
  TextMatcher made;
  made.ignoreCase_ = ignoreCase;
  if (ignoreCase) std::ranges::transform(text, text.begin(), lowerLetter);
  if (auto anchor = catalog::anchorOfText(text); !anchor.empty()) made.anchors_.push_back(std::move(anchor));
  if (ignoreCase) made.form_ = catalog::AnchorForm::AnyCase;
  made.fixed_ = std::move(text);
  return made;
}

Result<TextMatcher> TextMatcher::regex(const std::string& pattern, bool ignoreCase) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(!ignoreCase);
  options.set_never_nl(true);
  constexpr std::string_view kLineByLine = "(?m)";
  const std::string wanted = std::string(kLineByLine) + pattern;
  auto compiled = std::make_shared<const re2::RE2>(wanted, options);
  if (!compiled->ok()) {
    std::string why = compiled->error();  // the message may include the whole compiled expression
    if (const std::size_t at = why.find(kLineByLine); at != std::string::npos) why.erase(at, kLineByLine.size());
    return fail(
        ErrorCode::InvalidArgument,
        fmt::format("\"{}\" is not a regular expression: {}", text::excerpt(pattern, 60), text::excerpt(why, 120)),
        "--fixed looks for the text as it is");
  }
  TextMatcher made;
  made.ignoreCase_ = ignoreCase;
  made.anchors_ = anchorsOf(wanted, options);
  made.form_ = catalog::AnchorForm::AnyCase;
  made.pattern_ = std::move(compiled);
  return made;
}

std::optional<TextMatcher> TextMatcher::misspelled(std::string_view word) {
  constexpr std::size_t kLongest = 40;
  std::vector<std::string> letters;
  for (std::string_view rest = word; !rest.empty();) {
    const std::string_view letter = text::cutToGraphemes(rest, 1);
    letters.push_back(re2::RE2::QuoteMeta({letter.data(), letter.size()}));
    rest.remove_prefix(letter.size());
  }
  const bool han = re2::RE2::FullMatch({word.data(), word.size()}, "\\p{Han}+");
  const bool letterWord = re2::RE2::FullMatch({word.data(), word.size()}, "[\\pL_]+");
  if (!letterWord || letters.size() < (han ? 3U : 4U) || letters.size() > kLongest) return std::nullopt;
  const auto joined = [&](std::size_t begin, std::size_t end) {
    std::string out;
    for (std::size_t i = begin; i < std::min(end, letters.size()); ++i) out += letters[i];
    return out;
  };
  const std::string any = han ? "\\p{Han}" : "[\\pL_]";
  std::string pattern;
  const auto add = [&](std::string other) { pattern += (pattern.empty() ? "" : "|") + std::move(other); };
  for (std::size_t i = han ? 0 : 1; i < letters.size(); ++i) {
    add(joined(0, i) + any + joined(i + 1, SIZE_MAX));
    if (i + 1 < letters.size()) add(joined(0, i) + letters[i + 1] + letters[i] + joined(i + 2, SIZE_MAX));
    if (han) continue;
    add(joined(0, i) + joined(i + 1, SIZE_MAX));
    add(joined(0, i) + any + joined(i, SIZE_MAX));
  }
  if (!han) pattern = "\\b(?:" + pattern + "|" + joined(0, SIZE_MAX) + any + ")\\b";
  auto made = regex(pattern, true);
  return made ? std::optional(std::move(*made)) : std::nullopt;
}

std::optional<TextMatcher::Place> TextMatcher::find(std::string_view text, std::size_t from) const {
  if (pattern_) return findPattern(text, from);
  if (fixed_.empty() || from >= text.size()) return {};
  std::size_t at = std::string_view::npos;
  if (ignoreCase_) {
    const auto found = std::ranges::search(text.substr(from), fixed_, {}, lowerLetter);
    if (!found.empty()) at = from + static_cast<std::size_t>(found.begin() - text.substr(from).begin());
  } else {
    at = text.find(fixed_, from);
  }
  if (at == std::string_view::npos) return {};
  return Place{at, at + fixed_.size()};
}

std::optional<TextMatcher::Place> TextMatcher::findPattern(std::string_view text, std::size_t from) const {
  re2::StringPiece match;
  while (from < text.size() &&
         pattern_->Match({text.data(), text.size()}, from, text.size(), re2::RE2::UNANCHORED, &match, 1)) {
    const auto begin = static_cast<std::size_t>(match.data() - text.data());
    if (!match.empty()) return Place{begin, begin + match.size()};
    from = begin + 1;
    while (from < text.size() && characterAt(text, from) != from) ++from;
  }
  return {};
}

catalog::ScanQuery TextMatcher::scan() const {
  catalog::ScanQuery query{.anchors = anchors_, .form = form_};
  query.matcher = [matcher = *this] {
    return Result<catalog::ExcerptOf>([matcher](std::string_view text) -> Result<std::optional<std::string>> {
      const auto place = matcher.find(text);
      return place ? std::optional(excerptOf(text, matcher, *place)) : std::nullopt;
    });
  };
  return query;
}

}  // namespace bough::cli
