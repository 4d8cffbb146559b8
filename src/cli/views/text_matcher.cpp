#include "cli/views/text_matcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text/text.h"

namespace bough::cli {
namespace {

constexpr std::size_t kAround = 60;  // bytes of text before and after what was found

char lowerLetter(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

// The beginning of a character at or before a place.
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

}  // namespace

TextMatcher TextMatcher::fixed(std::string text, bool ignoreCase) {
  TextMatcher made;
  made.ignoreCase_ = ignoreCase;
  if (ignoreCase) std::ranges::transform(text, text.begin(), lowerLetter);
  made.anchor_ = catalog::anchorOfText(text);
  made.fixed_ = std::move(text);
  return made;
}

Result<TextMatcher> TextMatcher::regex(const std::string& pattern, bool ignoreCase) {
  auto compiled = std::make_unique<regex_t>();
  const int problem =
      ::regcomp(compiled.get(), pattern.c_str(), REG_EXTENDED | REG_NEWLINE | (ignoreCase ? REG_ICASE : 0));
  if (problem != 0) {
    std::array<char, 200> said{};
    ::regerror(problem, compiled.get(), said.data(), said.size());
    return fail(ErrorCode::InvalidArgument,
                fmt::format("\"{}\" is not a regular expression: {}", text::excerpt(pattern, 60), said.data()),
                "--fixed looks for the text as it is");
  }
  TextMatcher made;
  made.ignoreCase_ = ignoreCase;
  made.anchor_ = catalog::anchorOfPattern(pattern);
  if (ignoreCase) std::ranges::transform(made.anchor_, made.anchor_.begin(), lowerLetter);
  made.pattern_ = std::shared_ptr<regex_t>(compiled.release(), [](regex_t* each) {
    ::regfree(each);
    delete each;
  });
  return made;
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

// Line by line: what a match needs grows with what it looks at.
std::optional<TextMatcher::Place> TextMatcher::findPattern(std::string_view text, std::size_t from) const {
  while (from < text.size()) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const bool lineStart = from == 0 || text[from - 1] == '\n';
    regmatch_t match{.rm_so = 0, .rm_eo = static_cast<regoff_t>(end - from)};
    const int flags = REG_STARTEND | (lineStart ? 0 : REG_NOTBOL);
    if (::regexec(pattern_.get(), text.data() + from, 1, &match, flags) == 0 && match.rm_eo > match.rm_so) {
      return Place{from + static_cast<std::size_t>(match.rm_so), from + static_cast<std::size_t>(match.rm_eo)};
    }
    from = end + 1;
  }
  return {};
}

catalog::ScanQuery TextMatcher::scan() const {
  catalog::ScanQuery query{.form = ignoreCase_ ? catalog::AnchorForm::AnyCase : catalog::AnchorForm::Bytes};
  if (!anchor_.empty()) query.anchors.push_back(anchor_);
  query.matcher = [matcher = *this] {
    return Result<catalog::ExcerptOf>([matcher](std::string_view text) -> Result<std::optional<std::string>> {
      const auto place = matcher.find(text);
      return place ? std::optional(excerptOf(text, matcher, *place)) : std::nullopt;
    });
  };
  return query;
}

}  // namespace bough::cli
