#include "base/text/text.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>

namespace bough::text {
namespace {

constexpr std::int32_t kReplacement = 0xFFFD;
constexpr std::string_view kReplacementText = "\uFFFD";
constexpr std::string_view kCut = "…";

struct CodePoint {
  std::int32_t value = kReplacement;
  std::size_t bytes = 1;
};

// Returns the code point at the start of `utf8`, which is not empty. Each byte that begins no code point becomes one
// replacement character.
CodePoint codePoint(std::string_view utf8) {
  CodePoint point;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(utf8.data());
  const utf8proc_ssize_t used = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(utf8.size()), &point.value);
  if (used <= 0) return {};
  point.bytes = static_cast<std::size_t>(used);
  return point;
}

bool isRegionalIndicator(std::int32_t value) {
  return value >= 0x1F1E6 && value <= 0x1F1FF;
}

// utf8proc assigns no column to spacing marks (most vowels of Hindi, Tamil or Khmer), but terminals give them one. A
// width that is too large cuts a line early; a width that is too small breaks the table that contains the line.
std::size_t columnsOf(std::int32_t value) {
  const auto columns = static_cast<std::size_t>(std::max(utf8proc_charwidth(value), 0));
  return columns == 0 && utf8proc_category(value) == UTF8PROC_CATEGORY_MC ? 1 : columns;
}

// Finds where graphemes begin and how wide each is.
class GraphemeWalk {
 public:
  // Takes the next code point. Returns true when a new grapheme begins with it. A grapheme with more marks than any
  // writing system uses is split, because otherwise a single character could fill memory and screen (UAX #15 limits
  // stream-safe text to 30).
  bool begins(std::int32_t value) {
    constexpr std::size_t kMaxPoints = 32;
    const bool apart = points_ == 0 || utf8proc_grapheme_break_stateful(last_, value, &state_) != 0;
    const bool fresh = apart || points_ == kMaxPoints;
    if (fresh) {
      points_ = 0;
      width_ = 0;
      widest_ = 0;
      if (!apart) state_ = 0;
    }
    add(value);
    return fresh;
  }

  /// The width of the current grapheme so far.
  [[nodiscard]] std::size_t width() const { return width_; }
  /// The width on a terminal that shows the parts of a joined emoji, or its skin color, separately.
  [[nodiscard]] std::size_t widest() const { return std::max(width_, widest_); }

 private:
  void add(std::int32_t value) {
    constexpr std::int32_t kEmojiForm = 0xFE0F;
    const std::size_t own = columnsOf(value);
    if (!isRegionalIndicator(value)) widest_ += own;
    if (points_ == 0) {
      width_ = own;
      const auto kind = utf8proc_get_property(value)->boundclass;
      // An emoji or a Korean syllable keeps the width of its first code point, whatever joins it.
      joined_ = kind == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC || kind == UTF8PROC_BOUNDCLASS_L ||
                isRegionalIndicator(value);
    } else if (!joined_ && value != kEmojiForm) {
      width_ += own;
    } else if (value == kEmojiForm || isRegionalIndicator(value)) {
      width_ = 2;  // a text symbol turned into an emoji, or a flag
    }
    last_ = value;
    ++points_;
  }

  std::int32_t last_ = 0;
  utf8proc_int32_t state_ = 0;
  std::size_t points_ = 0;  // in the current grapheme
  std::size_t width_ = 0;
  std::size_t widest_ = 0;
  bool joined_ = false;
};

bool turnsDirection(std::int32_t value) {
  return (value >= 0x202A && value <= 0x202E) || (value >= 0x2066 && value <= 0x2069);
}

bool isBlank(std::int32_t value) {
  return value == ' ' || (value >= '\t' && value <= '\r') || value == 0x85 || value == 0xA0 || value == 0x2028 ||
         value == 0x2029 || value == 0x3000;
}

// Appends the code point at the start of `utf8` in a form that is safe for a terminal.
void appendSafe(std::string& out, CodePoint point, std::string_view utf8) {
  const std::int32_t value = point.value;
  if (value < 0x20) {
    // The Control Pictures block has a visible character for each control character.
    out += "\xE2\x90";
    out += static_cast<char>(0x80 + value);
  } else if (value == 0x7F) {
    out += "\u2421";
  } else if (value < 0x80) {
    out += static_cast<char>(value);
  } else if (value == kReplacement || (value >= 0x80 && value < 0xA0) || turnsDirection(value)) {
    out += kReplacementText;
  } else {
    out.append(utf8.substr(0, point.bytes));
  }
}

std::string makePrintable(std::string_view utf8, bool keepLines) {
  std::string out;
  out.reserve(utf8.size());
  while (!utf8.empty()) {
    const CodePoint point = codePoint(utf8);
    const bool lineEnd = point.value == '\n' || point.value == 0x2028 || point.value == 0x2029;
    if (lineEnd || point.value == '\t') {
      out += !keepLines ? ' ' : lineEnd ? '\n' : '\t';
    } else if (point.value == '\r' && utf8.substr(1).starts_with('\n')) {
      // The first half of a line end.
    } else {
      appendSafe(out, point, utf8);
    }
    utf8.remove_prefix(point.bytes);
  }
  return out;
}

// Copies safe text to a line until `isFull` returns true for the number of graphemes and their width so far.
template <typename IsFull>
std::string makeExcerpt(std::string_view utf8, IsFull isFull) {
  std::string out;
  GraphemeWalk walk;
  std::size_t count = 0;
  std::size_t doneWidth = 0;   // of all graphemes before the current one
  std::size_t roomForCut = 0;  // length of the prefix of `out` that leaves room for the ellipsis
  bool blank = false;
  // Takes one code point, which is in `out` from `begin` to the end. Returns false when it does not fit.
  const auto take = [&](std::size_t begin) {
    const std::size_t before = walk.widest();
    if (walk.begins(codePoint(std::string_view(out).substr(begin)).value)) {
      doneWidth += count == 0 ? 0 : before;
      ++count;
      if (!isFull(count, doneWidth + 1)) roomForCut = begin;
    }
    return !isFull(count, doneWidth + walk.widest());
  };
  while (!utf8.empty()) {
    const CodePoint point = codePoint(utf8);
    const std::string_view here = utf8;
    utf8.remove_prefix(point.bytes);
    if (isBlank(point.value)) {
      blank = !out.empty();
      continue;
    }
    const std::size_t begin = out.size();
    bool fits = true;
    if (blank) {
      out += ' ';
      fits = take(begin);
      blank = false;
    }
    const std::size_t at = out.size();
    appendSafe(out, point, here);
    if (fits && take(at)) continue;
    out.resize(roomForCut);
    while (out.ends_with(' ')) out.pop_back();
    if (!isFull(1, 1)) out += kCut;
    return out;
  }
  return out;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::size_t displayWidth(std::string_view utf8) {
  // Fast path for printable ASCII, one column each. The next character may combine with the last of these.
  const auto other = std::ranges::find_if(utf8, [](char c) { return c < ' ' || c > '~'; });
  std::size_t width = static_cast<std::size_t>(other - utf8.begin());
  if (width == utf8.size()) return width;
  if (width > 0) --width;
  utf8.remove_prefix(width);
  GraphemeWalk walk;
  for (bool first = true; !utf8.empty(); first = false) {
    const CodePoint point = codePoint(utf8);
    const std::size_t before = walk.width();
    if (walk.begins(point.value) && !first) width += before;
    utf8.remove_prefix(point.bytes);
  }
  return width + walk.width();
}

std::size_t widestDisplay(std::string_view utf8) {
  GraphemeWalk walk;
  std::size_t width = 0;
  while (!utf8.empty()) {
    const CodePoint point = codePoint(utf8);
    const std::size_t before = walk.widest();
    if (walk.begins(point.value)) width += before;
    utf8.remove_prefix(point.bytes);
  }
  return width + walk.widest();
}

std::string_view cutToGraphemes(std::string_view utf8, std::size_t count) {
  GraphemeWalk walk;
  std::size_t graphemes = 0;
  for (std::size_t at = 0; at < utf8.size();) {
    const CodePoint point = codePoint(utf8.substr(at));
    if (walk.begins(point.value) && ++graphemes > count) return utf8.substr(0, at);
    at += point.bytes;
  }
  return utf8;
}

std::string_view cutToWidth(std::string_view utf8, std::size_t columns) {
  GraphemeWalk walk;
  std::size_t doneWidth = 0;
  std::size_t begin = 0;  // of the current grapheme
  for (std::size_t at = 0; at < utf8.size();) {
    const CodePoint point = codePoint(utf8.substr(at));
    const std::size_t before = walk.width();
    if (walk.begins(point.value)) {
      doneWidth += at == 0 ? 0 : before;
      begin = at;
    }
    if (doneWidth + walk.width() > columns) return utf8.substr(0, begin);
    at += point.bytes;
  }
  return utf8;
}

std::string printable(std::string_view utf8) {
  return makePrintable(utf8, false);
}

std::string printableLines(std::string_view utf8) {
  return makePrintable(utf8, true);
}

std::string withoutTabs(std::string_view utf8) {
  constexpr std::size_t kStop = 4;
  std::string out;
  std::size_t column = 0;
  while (!utf8.empty()) {
    const std::size_t end = std::min(utf8.find_first_of("\t\n"), utf8.size());
    out += utf8.substr(0, end);
    if (end == utf8.size()) break;
    column += displayWidth(utf8.substr(0, end));
    if (utf8[end] == '\n') {
      out += '\n';
      column = 0;
    } else {
      const std::size_t blanks = kStop - column % kStop;
      out.append(blanks, ' ');
      column += blanks;
    }
    utf8.remove_prefix(end + 1);
  }
  return out;
}

std::string excerpt(std::string_view utf8, std::size_t graphemes) {
  return makeExcerpt(utf8, [=](std::size_t count, std::size_t) { return count > graphemes; });
}

std::string excerptToWidth(std::string_view utf8, std::size_t columns) {
  return makeExcerpt(utf8, [=](std::size_t, std::size_t width) { return width > columns; });
}

}  // namespace bough::text
