#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text/text.h"
#include "cli/views/text_scan.h"

namespace bough::cli {
namespace {

char lowerLetter(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

}  // namespace

TextMatcher TextMatcher::fixed(std::string text, bool ignoreCase) {
  TextMatcher made;
  made.ignoreCase_ = ignoreCase;
  if (ignoreCase) std::ranges::transform(text, text.begin(), lowerLetter);
  made.plain_ = !ignoreCase && std::ranges::all_of(text, [](char c) {
    return c >= ' ' && c < 0x7F && c != '"' && c != '\\' && c != '/';
  });
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

bool TextMatcher::mayBeIn(std::string_view line) const {
  if (!plain_) return true;
  return line.find(fixed_) != std::string_view::npos || line.find("\\u00") != std::string_view::npos ||
         line.find("{\"$attachment\":") != std::string_view::npos;
}

}  // namespace bough::cli
