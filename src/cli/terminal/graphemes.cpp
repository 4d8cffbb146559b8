#include "cli/terminal/graphemes.h"

#include <algorithm>
#include <cwchar>
#include <cwctype>

#include "base/text/text.h"

namespace bough::cli {
namespace {

std::string_view firstGrapheme(std::string_view utf8) {
  return utf8.substr(0, std::max<std::size_t>(text::cutToGraphemes(utf8, 1).size(), 1));
}

bool isInWord(std::string_view grapheme) {
  constexpr std::string_view kSigns = "*?_-.[]~=";
  if (kSigns.find(grapheme.front()) != std::string_view::npos) return true;
  std::mbstate_t state{};
  wchar_t first = 0;
  const std::size_t bytes = std::mbrtowc(&first, grapheme.data(), grapheme.size(), &state);
  // Characters that the locale does not know count as part of a word.
  return bytes > grapheme.size() || std::iswalnum(static_cast<std::wint_t>(first)) != 0;
}

}  // namespace

std::string_view lastGrapheme(std::string_view utf8) {
  std::string_view last;
  while (!utf8.empty()) {
    last = firstGrapheme(utf8);
    utf8.remove_prefix(last.size());
  }
  return last;
}

std::string_view endToWidth(std::string_view utf8, std::size_t columns) {
  while (text::displayWidth(utf8) > columns) utf8.remove_prefix(firstGrapheme(utf8).size());
  return utf8;
}

void eraseLastGrapheme(std::string& utf8) {
  utf8.resize(utf8.size() - lastGrapheme(utf8).size());
}

std::size_t lastWordBegin(std::string_view utf8) {
  std::size_t begin = 0;
  bool wasInWord = false;
  for (std::size_t at = 0; at < utf8.size();) {
    const std::string_view next = firstGrapheme(utf8.substr(at));
    const bool inWord = isInWord(next);
    if (inWord && !wasInWord) begin = at;
    wasInWord = inWord;
    at += next.size();
  }
  return begin;
}

std::size_t firstWordEnd(std::string_view utf8) {
  bool wasInWord = false;
  for (std::size_t at = 0; at < utf8.size();) {
    const std::string_view next = firstGrapheme(utf8.substr(at));
    const bool inWord = isInWord(next);
    if (wasInWord && !inWord) return at;
    wasInWord = inWord;
    at += next.size();
  }
  return utf8.size();
}

void eraseLastWord(std::string& utf8) {
  utf8.resize(lastWordBegin(utf8));
}

}  // namespace bough::cli
