#include "catalog/search/line_filter.h"

#include <algorithm>
#include <cstring>

namespace bough::catalog {
namespace {

char lowerLetter(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

// Returns the code of \uXXXX. Anything but four hexadecimal digits returns UINT32_MAX, which may be any character.
std::uint32_t escapedCode(std::string_view lines, std::size_t at) {
  std::uint32_t code = 0;
  for (std::size_t i = at + 2; i < at + 6; ++i) {
    const char c = i < lines.size() ? lowerLetter(lines[i]) : '?';
    const bool digit = c >= '0' && c <= '9';
    if (!digit && (c < 'a' || c > 'f')) return UINT32_MAX;
    code = code * 16 + static_cast<std::uint32_t>(digit ? c - '0' : c - 'a' + 10);
  }
  return code;
}

// Returns true when the text is ASCII or consists of characters from U+4000 to U+9FFF. A match then has the same bytes,
// or letters for which mayFold is true.
bool isPlain(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    if (first >= 0x80 && (first < 0xE4 || first > 0xE9)) return false;
    at += first < 0x80 ? 1 : 3;
  }
  return true;
}

ByteSieve sieveOf(const std::vector<std::string>& anchors, AnchorForm form) {
  const bool words = form == AnchorForm::Word;
  const LetterBytes ofWords = std::ranges::all_of(anchors, isPlain) ? LetterBytes::Folding : LetterBytes::All;
  ByteSieve sieve(form == AnchorForm::Bytes ? 0 : 0x20, words ? ofWords : LetterBytes::None);
  for (const std::string& anchor : anchors) {
    // Words with other letters begin with a byte that is of interest anyway.
    if (!anchor.empty() && (!words || isPlain(anchor))) sieve.addAnchor(anchor);
  }
  return sieve;
}

}  // namespace

LineFilter::LineFilter(const std::vector<std::string>& anchors, AnchorForm form)
    : form_(form), onlyPlain_(std::ranges::all_of(anchors, isPlain)), sieve_(sieveOf(anchors, form)) {
  if (std::ranges::any_of(anchors, [](const std::string& text) { return text.empty(); })) return;
  for (const std::string& text : anchors) anchors_.push_back({.text = text, .isPlain = isPlain(text)});
}

bool LineFilter::isAnchor(const Anchor& anchor, std::string_view lines, std::size_t at) const {
  if (lines.size() - at < anchor.text.size()) return false;
  if (form_ == AnchorForm::Bytes) return std::memcmp(lines.data() + at, anchor.text.data(), anchor.text.size()) == 0;
  return std::equal(anchor.text.begin(), anchor.text.end(), lines.begin() + static_cast<std::ptrdiff_t>(at),
                    [](char wanted, char c) { return wanted == lowerLetter(c); });
}

// Compares character by character, folded like the index.
bool LineFilter::isFoldedAnchor(const Anchor& anchor, std::string_view lines, std::size_t at) {
  std::string_view rest = anchor.text;
  while (!rest.empty() && at < lines.size()) {
    const Folding::Character character = folding_.at(lines, at);
    if (!character.isMark) {
      const std::size_t common = std::min(rest.size(), character.folded.size());
      if (common == 0 || rest.substr(0, common) != character.folded.substr(0, common)) return false;
      rest.remove_prefix(common);
    }
    at += character.bytes;
  }
  return rest.empty();
}

// A letter or mark that is encoded with bytes other than those of an anchor: returns true when an anchor matches around
// it.
bool LineFilter::isNearUnusualLetter(std::string_view lines, std::size_t at) {
  const Folding::Character character = folding_.at(lines, at);
  for (const Anchor& anchor : anchors_) {
    const bool mayBelong = character.isMark || anchor.text.find(character.folded.substr(0, 1)) != std::string::npos;
    if (character.folded.empty() && !character.isMark) continue;
    if (!mayBelong) continue;
    // A character has at most 4 bytes, and each byte of an anchor matches at most one character and a mark.
    const std::size_t before = std::min(at, anchor.text.size() * 8);
    for (std::size_t begin = at - before; begin <= at; ++begin) {
      if (isFoldedAnchor(anchor, lines, begin)) return true;
    }
  }
  return false;
}

bool LineFilter::isCandidate(std::string_view lines, std::size_t at) {
  const char c = lines[at];
  if (c == '\\' && lines.substr(at + 1, 1) == "u") {
    const std::uint32_t code = escapedCode(lines, at);
    if (code >= (form_ == AnchorForm::Word ? std::uint32_t{'0'} : std::uint32_t{' '})) return true;
  }
  if (c == '$' && lines.substr(at, 13) == "$attachment\":") return true;
  for (const Anchor& anchor : anchors_) {
    if ((anchor.isPlain || form_ != AnchorForm::Word) && isAnchor(anchor, lines, at)) return true;
  }
  const auto first = static_cast<unsigned char>(c);
  if (form_ != AnchorForm::Word || first < 0xC2) return false;
  if (onlyPlain_) return mayFold(first) && isNearUnusualLetter(lines, at);
  for (const Anchor& anchor : anchors_) {
    if (!anchor.isPlain && isFoldedAnchor(anchor, lines, at)) return true;
  }
  return (first < 0xE4 || first > 0xE9) && isNearUnusualLetter(lines, at);
}

std::size_t LineFilter::find(std::string_view lines, std::size_t from) {
  if (anchors_.empty()) return from < lines.size() ? from : std::string_view::npos;
  const std::size_t end = lines.size() < sieve_.reach() ? 0 : lines.size() - sieve_.reach();
  for (std::size_t at = from; at < lines.size(); ++at) {
    if (at < end) at = sieve_.find(lines.data(), at, end);
    if (isCandidate(lines, at)) return at;
  }
  return std::string_view::npos;
}

std::string anchorOfText(std::string_view text) {
  std::string_view best;
  // Besides what JSON must escape, / may be escaped. Non-ASCII characters may be written as \uXXXX, which makes the
  // line a candidate anyway.
  while (!text.empty()) {
    const auto end = std::ranges::find_if(text, [](char c) {
      return (static_cast<unsigned char>(c) < ' ') || c == '"' || c == '\\' || c == '/' || c == 0x7F;
    });
    const auto length = static_cast<std::size_t>(end - text.begin());
    if (length > best.size()) best = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return std::string(best);
}

}  // namespace bough::catalog
