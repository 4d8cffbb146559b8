#include "catalog/search/line_filter.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

namespace bough::catalog {
namespace {

constexpr std::size_t kBlock = 16;
using Block = unsigned char __attribute__((vector_size(kBlock)));

[[gnu::always_inline]] inline Block load(const char* at) {
  Block block;
  std::memcpy(&block, at, sizeof block);
  return block;
}

[[gnu::always_inline]] inline Block allOf(char c) {
  return Block{} + static_cast<unsigned char>(c);
}

using Mask = decltype(std::declval<Block>() == std::declval<Block>());  // 0xFF where it holds

// The first place where the mask holds; kBlock when it holds nowhere.
[[gnu::always_inline]] inline std::size_t firstOf(Mask mask) {
  static_assert(std::endian::native == std::endian::little);
  std::array<std::uint64_t, 2> halves{};
  std::memcpy(halves.data(), &mask, sizeof halves);
  if (halves[0] != 0) return static_cast<std::size_t>(std::countr_zero(halves[0])) / 8;
  return 8 + static_cast<std::size_t>(std::countr_zero(halves[1])) / 8;
}

[[gnu::always_inline]] inline bool any(Mask mask) {
  std::array<std::uint64_t, 2> halves{};
  std::memcpy(halves.data(), &mask, sizeof halves);
  return (halves[0] | halves[1]) != 0;
}

// The rarer a byte is in English text and JSON, the earlier it is here; what is missing is rarer still.
constexpr std::string_view kFrequent = "zjqxkvwybgpfmuclhdrniosate\" ";

std::size_t frequencyOf(char c) {
  const std::size_t at = kFrequent.find(c);
  return at == std::string_view::npos ? 0 : at + 1;
}

char lowerLetter(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

// The code of \uXXXX; what is not four digits counts as one that may be anything.
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

// Characters from U+4000 to U+9FFF are whole words, and none of them is a form of another.
bool mayFoldToAscii(unsigned char first) {
  return first >= 0xC2 && (first < 0xE4 || first > 0xE9);
}

}  // namespace

LineFilter::LineFilter(const std::vector<std::string>& anchors, AnchorForm form)
    : form_(form), caseBit_(form == AnchorForm::Bytes ? 0 : 0x20) {
  for (const std::string& text : anchors) {
    if (text.empty()) {
      anchors_.clear();
      return;
    }
    Anchor anchor{.text = text};
    anchor.isAscii = std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    std::vector<std::size_t> places(text.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::ranges::sort(places, {},
                      [&](std::size_t place) { return std::pair(frequencyOf(lowerLetter(text[place])), place); });
    for (std::size_t i = 0; i < anchor.places.size(); ++i) anchor.places[i] = places[std::min(i, places.size() - 1)];
    onlyAscii_ = onlyAscii_ && anchor.isAscii;
    longest_ = std::max(longest_, text.size());
    anchors_.push_back(std::move(anchor));
  }
}

// What may be a candidate in one block: an escape, an attachment, an unusual letter, or the three bytes of an anchor.
// What is looked at reaches longest_ bytes beyond it. This sees every byte of every file.
template <bool kWords>
[[gnu::always_inline]] inline auto LineFilter::maskOf(const char* block) const {
  const Block here = load(block);
  const Block next = load(block + 1);
  Mask found = ((here == allOf('\\')) & (next == allOf('u'))) | ((here == allOf('$')) & (next == allOf('a')));
  if constexpr (kWords) {
    const Mask isLetter = here >= allOf(onlyAscii_ ? '\xC2' : '\x80');
    const Mask isAlone = (here >= allOf('\xE4')) & (here <= allOf(onlyAscii_ ? '\xE9' : '\x00'));
    found |= isLetter & ~isAlone;
  }
  const Block caseBit = allOf(caseBit_);
  for (const Anchor& anchor : anchors_) {
    if (kWords && !anchor.isAscii) continue;
    Mask held = ~Mask{};
    for (const std::size_t place : anchor.places) {
      held &= (load(block + place) | caseBit) == (allOf(anchor.text[place]) | caseBit);
    }
    found |= held;
  }
  return found;
}

template <bool kWords>
std::size_t LineFilter::passOver(const char* bytes, std::size_t at, std::size_t end) const {
  for (; at < end; at += 4 * kBlock) {
    const std::array<Mask, 4> masks = {maskOf<kWords>(bytes + at), maskOf<kWords>(bytes + at + kBlock),
                                       maskOf<kWords>(bytes + at + 2 * kBlock),
                                       maskOf<kWords>(bytes + at + 3 * kBlock)};
    if (!any(masks[0] | masks[1] | masks[2] | masks[3])) continue;
    for (const Mask& mask : masks) {
      if (any(mask)) return at + firstOf(mask);
      at += kBlock;
    }
  }
  return at;
}

bool LineFilter::isAnchor(const Anchor& anchor, std::string_view lines, std::size_t at) const {
  if (lines.size() - at < anchor.text.size()) return false;
  if (form_ == AnchorForm::Bytes) return std::memcmp(lines.data() + at, anchor.text.data(), anchor.text.size()) == 0;
  return std::equal(anchor.text.begin(), anchor.text.end(), lines.begin() + static_cast<std::ptrdiff_t>(at),
                    [](char wanted, char c) { return wanted == lowerLetter(c); });
}

// Character by character, as the index folds them.
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

// A letter or a mark that is written with other bytes than those of an anchor: does an anchor stand around it?
bool LineFilter::isNearUnusualLetter(std::string_view lines, std::size_t at) {
  const Folding::Character character = folding_.at(lines, at);
  for (const Anchor& anchor : anchors_) {
    const bool mayBelong = character.isMark || anchor.text.find(character.folded.substr(0, 1)) != std::string::npos;
    if (character.folded.empty() && !character.isMark) continue;
    if (!mayBelong) continue;
    // A character has at most 4 bytes, and each byte of an anchor at most one character with a mark.
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
    if ((anchor.isAscii || form_ != AnchorForm::Word) && isAnchor(anchor, lines, at)) return true;
  }
  if (form_ != AnchorForm::Word || static_cast<unsigned char>(c) < 0xC2) return false;
  if (!onlyAscii_) {
    for (const Anchor& anchor : anchors_) {
      if (!anchor.isAscii && isFoldedAnchor(anchor, lines, at)) return true;
    }
  }
  return mayFoldToAscii(static_cast<unsigned char>(c)) && isNearUnusualLetter(lines, at);
}

std::size_t LineFilter::find(std::string_view lines, std::size_t from) {
  if (anchors_.empty()) return from < lines.size() ? from : std::string_view::npos;
  // As far as a whole stretch, and what is looked at beyond it, is there.
  const std::size_t beyond = 4 * kBlock + longest_ + 1;
  const std::size_t end = lines.size() < beyond ? 0 : lines.size() - beyond;
  for (std::size_t at = from; at < lines.size(); ++at) {
    if (at < end) {
      at = form_ == AnchorForm::Word ? passOver<true>(lines.data(), at, end) : passOver<false>(lines.data(), at, end);
    }
    if (isCandidate(lines, at)) return at;
  }
  return std::string_view::npos;
}

std::string anchorOfText(std::string_view text) {
  std::string_view best;
  // Beside what JSON escapes, / may be escaped, and what is not ASCII may be written as \uXXXX, which is a candidate.
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

std::string anchorOfPattern(std::string_view pattern) {
  // Only what is plain to see: outside of groups and alternatives, letters that are not repeated.
  if (pattern.find_first_of("|()\\") != std::string_view::npos) return {};
  std::string best;
  std::string run;
  const auto endRun = [&] {
    if (run.size() > best.size()) best = run;
    run.clear();
  };
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '[') {
      endRun();
      // A ] that comes first belongs to the set.
      const std::size_t inside = pattern.find_first_not_of("^", i + 1);
      const std::size_t close = inside == std::string_view::npos ? inside : pattern.find(']', inside + 1);
      if (close == std::string_view::npos || pattern.find("[:", i) < close) return {};
      i = close;
    } else if (c == '{') {
      if (!run.empty()) run.pop_back();
      endRun();
      i = std::min(pattern.find('}', i), pattern.size());
    } else if (c == '*' || c == '?') {
      if (!run.empty()) run.pop_back();
      endRun();
    } else if (c == '.' || c == '^' || c == '$' || c == '+') {
      endRun();
    } else {
      run += c;
    }
  }
  endRun();
  // A set or a repetition may stand for bytes of a character; the anchor must not begin or end inside of one.
  return std::ranges::all_of(best, [](char c) { return static_cast<unsigned char>(c) < 0x80; }) ? anchorOfText(best)
                                                                                                : std::string();
}

}  // namespace bough::catalog
