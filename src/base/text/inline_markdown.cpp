// Runs in linear time: each mark is examined a fixed number of times, whatever the text is.

#include "base/text/inline_markdown.h"

#include <utf8proc.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>

#include "base/bytes/byte_set.h"
#include "base/text/text.h"

namespace bough::text {
namespace {

bool isAsciiWord(char character) {
  return (character >= '0' && character <= '9') || ((character | 0x20) >= 'a' && (character | 0x20) <= 'z');
}

bool isWordCharacter(char character) {
  return static_cast<unsigned char>(character) >= 0x80 || isAsciiWord(character);
}

bool isPunctuation(char character) {
  return character > ' ' && character < 0x7F && !isAsciiWord(character);
}

// Other punctuation keeps its backslash: \d, \. and \( occur in regular expressions, paths and mathematics.
bool isEscapable(char character) {
  return std::string_view("*_`~[]<>#&|$!").contains(character);
}

std::size_t runLength(std::string_view text, std::size_t at) {
  std::size_t size = 1;
  while (at + size < text.size() && text[at + size] == text[at]) ++size;
  return size;
}

struct Entity {
  std::string_view name;
  std::string_view text;
};

// The entities that models write; others are left as they are.
constexpr Entity kEntities[] = {
    {"lt", "<"},     {"gt", ">"},     {"amp", "&"},    {"quot", "\""},  {"apos", "'"},   {"nbsp", "\u00A0"},
    {"mdash", "—"},  {"ndash", "–"},  {"hellip", "…"}, {"bull", "•"},   {"middot", "·"}, {"copy", "©"},
    {"reg", "®"},    {"trade", "™"},  {"deg", "°"},    {"times", "×"},  {"divide", "÷"}, {"plusmn", "±"},
    {"le", "≤"},     {"ge", "≥"},     {"ne", "≠"},     {"asymp", "≈"},  {"infin", "∞"},  {"larr", "←"},
    {"rarr", "→"},   {"uarr", "↑"},   {"darr", "↓"},   {"harr", "↔"},   {"rArr", "⇒"},   {"lsquo", "‘"},
    {"rsquo", "’"},  {"ldquo", "“"},  {"rdquo", "”"},  {"laquo", "«"},  {"raquo", "»"},  {"para", "¶"},
    {"sect", "§"},   {"euro", "€"},   {"pound", "£"},  {"yen", "¥"},    {"check", "✓"},  {"micro", "µ"},
    {"lbrace", "{"}, {"rbrace", "}"}, {"lbrack", "["}, {"rbrack", "]"}, {"lpar", "("},   {"rpar", ")"},
    {"num", "#"},    {"ast", "*"},    {"lowbar", "_"}, {"vert", "|"},   {"verbar", "|"}, {"grave", "`"},
    {"bsol", "\\"},  {"dollar", "$"}, {"percnt", "%"}, {"commat", "@"}, {"colon", ":"},  {"semi", ";"},
};

// Returns the character for "lt", "#39" or "#x27". Returns std::nullopt for one that is unknown or not safe for a
// terminal.
std::optional<std::string> entityText(std::string_view name) {
  if (!name.starts_with('#')) {
    const auto* const found = std::ranges::find(kEntities, name, &Entity::name);
    return found == std::end(kEntities) ? std::nullopt : std::optional<std::string>(found->text);
  }
  name.remove_prefix(1);
  const bool hex = name.starts_with('x') || name.starts_with('X');
  if (hex) name.remove_prefix(1);
  std::uint32_t value = 0;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), value, hex ? 16 : 10);
  if (read.ec != std::errc() || read.ptr != name.data() + name.size()) return std::nullopt;
  if (value == 0 || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return std::nullopt;
  std::string out(4, '\0');
  out.resize(static_cast<std::size_t>(
      utf8proc_encode_char(static_cast<utf8proc_int32_t>(value), reinterpret_cast<utf8proc_uint8_t*>(out.data()))));
  return printable(out) == out ? std::optional(out) : std::nullopt;
}

struct InlinePart {
  Span span;
  std::string mark = {};  // of emphasis: "*", "**", "***", "_", "__", "___" or "~~"
  bool active = false;    // it has a matching mark
};

constexpr ByteSet kBrackets("[]");
constexpr ByteSet kCloses(")");
constexpr ByteSet kAddressEnds("> ");

// Finds the next of some characters. The positions passed to from() only grow, so the text is searched only once.
class NextOf {
 public:
  NextOf(std::string_view text, const ByteSet& characters) : text_(text), characters_(characters) {}

  std::size_t from(std::size_t at) {
    if (!known_ || (next_ != std::string_view::npos && next_ < at)) next_ = characters_.findIn(text_, at);
    known_ = true;
    return next_;
  }

 private:
  std::string_view text_;
  const ByteSet& characters_;
  std::size_t next_ = 0;
  bool known_ = false;
};

class InlineReader {
 public:
  explicit InlineReader(std::string_view text) : text_(text) {}

  std::vector<Span> read() {
    while (at_ < text_.size()) step();
    flush();
    return spans();
  }

  // Returns the position of the first mark that may still find its match.
  std::size_t settled() {
    while (at_ < text_.size()) step();
    std::size_t end = std::min(waits_, text_.size());
    for (const auto& [mark, open] : open_) end = std::min(end, open.at);
    return end;
  }

 private:
  struct OpenMark {
    std::size_t part = 0;
    std::size_t at = 0;  // in the text
  };

  void step() {
    const char c = text_[at_];
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : ' ';
    if (c == '\\' && (mathematics("\\[", "\\]") || mathematics("\\(", "\\)"))) return;
    if (c == '\\' && isEscapable(next)) {
      plain_ += next;
      at_ += 2;
    } else if (c == '\\' && next == '\\') {
      keep(2);
    } else if (c == '`') {
      code();
    } else if (c == '*' || c == '_' || c == '~') {
      mark();
    } else if ((c == '[' && link(at_)) || (c == '!' && next == '[' && link(at_ + 1)) || (c == '<' && address()) ||
               (c == '&' && entity()) || (c == '$' && (mathematics("$$", "$$") || mathematics("$", "$"))) ||
               (c == 'h' && bareAddress())) {
    } else {
      keep(1);
    }
  }

  void keep(std::size_t bytes) {
    plain_ += text_.substr(at_, bytes);
    at_ += bytes;
  }

  void flush() {
    if (!plain_.empty()) parts_.push_back({.span = {std::move(plain_)}});
    plain_.clear();
  }

  // A code span ends with as many backticks as it began with.
  void code() {
    const std::size_t size = runLength(text_, at_);
    if (!ticksRead_) readTicks();
    auto& places = ticks_[size];
    const auto end = std::upper_bound(places.begin(), places.end(), at_);
    if (end == places.end()) {
      waits_ = std::min(waits_, at_);
      keep(size);
      return;
    }
    flush();
    std::string_view inside = text_.substr(at_ + size, *end - at_ - size);
    if (inside.size() > 2 && inside.front() == ' ' && inside.back() == ' ')
      inside = inside.substr(1, inside.size() - 2);
    parts_.push_back({.span = {std::string(inside), kCodeSpan}});
    at_ = *end + size;
  }

  void readTicks() {
    ticksRead_ = true;
    for (std::size_t at = text_.find('`', at_); at != std::string_view::npos;) {
      const std::size_t size = runLength(text_, at);
      ticks_[size].push_back(at);
      at = text_.find('`', at + size);
    }
  }

  void mark() {
    const char c = text_[at_];
    const std::size_t size = runLength(text_, at_);
    const char before = at_ == 0 ? ' ' : text_[at_ - 1];
    const std::size_t end = at_ + size;
    const char after = end < text_.size() ? text_[end] : ' ';
    const bool inWord = c == '_' && isWordCharacter(before) && isWordCharacter(after);
    const bool isPattern =
        c == '*' && size == 1 && after == '.' && end + 1 < text_.size() && isAsciiWord(text_[end + 1]);
    if (size > 3 || inWord || isPattern || (c == '~' && size != 2) || (before == ' ' && after == ' ')) {
      keep(size);
      return;
    }
    if (c == '_' && size == 2 && doubleUnderscores()) return;
    const std::string name(text_.substr(at_, size));
    const auto open = open_.find(name);
    const bool closes =
        open != open_.end() && before != ' ' && !(std::string_view("([{\"'/=").contains(before) && isAsciiWord(after));
    // Not an opening mark in a product, a path or a call: 2*3*4, 2*(3+4)*5, /**/, f(*).
    const bool opens = after != ' ' && before != '/' && !std::string_view(")]},;:").contains(after) &&
                       !(isAsciiWord(before) && (isAsciiWord(after) || isPunctuation(after)));
    if (!closes && !opens) {
      keep(size);
      return;
    }
    flush();
    InlinePart part{.span = {name}, .mark = name};
    if (closes) {
      part.active = parts_[open->second.part].active = true;
      open_.erase(open);
    } else {
      open_[name] = {.part = parts_.size(), .at = at_};
    }
    at_ += size;
    parts_.push_back(std::move(part));
  }

  // Keeps a name such as __init__ unchanged.
  bool doubleUnderscores() {
    std::size_t end = at_;
    while (end < text_.size() && (text_[end] == '_' || isAsciiWord(text_[end]))) ++end;
    const std::string_view name = text_.substr(at_, end - at_);
    if (name.size() < 5 || !name.ends_with("__")) return false;
    keep(name.size());
    return true;
  }

  // Text between the marks of mathematics contains no Markdown. A price is not mathematics: "$5 or $6".
  bool mathematics(std::string_view open, std::string_view close) {
    if (!text_.substr(at_).starts_with(open)) return false;
    constexpr std::size_t kLongest = 400;
    const std::size_t begin = at_ + open.size();
    const std::string_view rest = text_.substr(begin, kLongest);
    if (open == "$" && (rest.empty() || rest.front() == ' ')) return false;
    const std::size_t end = rest.find(close);
    if (end == std::string_view::npos) return rest.size() < kLongest && waitsFrom(at_);
    const std::size_t after = begin + end + close.size();
    if (end == 0) return false;
    if (open == "$" && (rest[end - 1] == ' ' || (after < text_.size() && isAsciiWord(text_[after])))) return false;
    keep(after - at_);
    return true;
  }

  // &lt; and &#60;
  bool entity() {
    constexpr std::size_t kLongest = 10;
    const std::string_view rest = text_.substr(at_ + 1, kLongest);
    const auto* const end = std::ranges::find_if(rest, [](char c) { return c != '#' && !isAsciiWord(c); });
    if (end == rest.end()) return rest.size() < kLongest && waitsFrom(at_);
    const auto said = *end == ';' ? entityText({rest.begin(), end}) : std::nullopt;
    if (!said) return false;
    plain_ += *said;
    at_ += static_cast<std::size_t>(end - rest.begin()) + 2;
    return true;
  }

  // [text](target "title"); `bracket` is the position of the bracket. The text contains no other bracket.
  bool link(std::size_t bracket) {
    const std::size_t close = brackets_.from(bracket + 1);
    if (close == std::string_view::npos || close + 1 == text_.size()) return waitsFrom(at_);
    if (text_[close] != ']' || text_[close + 1] != '(' || close - bracket > kLongestLink) return false;
    Span to{.text = {}, .style = kLink};
    const auto end = linkEnd(close + 2, to);
    if (!end) return false;
    flush();
    // Without brackets the text contains no link, so this recursion is only one level deep.
    std::vector<Span> said = InlineReader(text_.substr(bracket + 1, close - bracket - 1)).read();
    if (said.empty()) said.push_back({to.target});
    for (Span& span : said) parts_.push_back({.span = {std::move(span.text), span.style | kLink, to.target, to.title}});
    at_ = *end;
    return true;
  }

  // Returns the end of a link whose target begins at `begin`.
  std::optional<std::size_t> linkEnd(std::size_t begin, Span& to) {
    constexpr std::size_t kDeepest = 32;  // bounds the work for each link
    const std::string_view rest = text_.substr(begin, kLongestLink);
    const std::size_t close = closes_.from(begin);
    if (close == std::string_view::npos) waitsFrom(at_);
    if (close == std::string_view::npos || close - begin >= kLongestLink) return std::nullopt;
    std::size_t at = 0;
    for (std::size_t open = 0; at < rest.size() && rest[at] != ' '; ++at) {
      if (rest[at] == '(' && ++open > kDeepest) return std::nullopt;
      if (rest[at] == ')' && open-- == 0) break;
    }
    to.target = rest.substr(0, at);
    while (at < rest.size() && rest[at] == ' ') ++at;
    if (at < rest.size() && (rest[at] == '"' || rest[at] == '\'')) {
      const std::size_t quote = rest.find(rest[at], at + 1);
      if (quote != std::string_view::npos) to.title = rest.substr(at + 1, quote - at - 1);
      at = std::min(quote, rest.size() - 1) + 1;
      while (at < rest.size() && rest[at] == ' ') ++at;
    }
    if (at < rest.size() && rest[at] == ')' && !to.target.empty()) return begin + at + 1;
    if (at >= rest.size() && rest.size() < kLongestLink) waitsFrom(at_);
    return std::nullopt;
  }

  // Notes that the text at this position may become something else when more text follows. Returns false.
  bool waitsFrom(std::size_t at) {
    waits_ = std::min(waits_, at);
    return false;
  }

  // <https://…>
  bool address() {
    const std::string_view rest = text_.substr(at_ + 1, kLongestLink);
    if (!rest.starts_with("http://") && !rest.starts_with("https://") && !rest.starts_with("mailto:")) return false;
    const std::size_t end = addressEnds_.from(at_ + 1);
    if (end == std::string_view::npos) return waitsFrom(at_);
    if (end - at_ > kLongestLink || text_[end] != '>') return false;
    flush();
    const std::string target(text_.substr(at_ + 1, end - at_ - 1));
    parts_.push_back({.span = {target, kLink, target}});
    at_ = end + 1;
    return true;
  }

  // Marks inside an address are part of it.
  bool bareAddress() {
    const std::string_view rest = text_.substr(at_);
    if (!rest.starts_with("http://") && !rest.starts_with("https://")) return false;
    std::size_t size = 0;
    while (size < rest.size() && rest[size] > ' ' && rest[size] < 0x7F &&
           !std::string_view("<>\"`|[]\\").contains(rest[size]))
      ++size;
    while (size > 0 && std::string_view(".,;:!?'*_~").contains(rest[size - 1])) --size;
    keep(std::max<std::size_t>(size, 1));
    return true;
  }

  [[nodiscard]] std::vector<Span> spans() {
    std::vector<Span> out;
    unsigned style = kPlain;
    for (InlinePart& part : parts_) {
      if (part.active) {
        if (part.mark == "~~") style ^= kStrike;
        if (part.mark.front() != '~' && part.mark.size() != 1) style ^= kBold;
        if (part.mark.front() != '~' && part.mark.size() != 2) style ^= kItalic;
        continue;
      }
      part.span.style |= style;
      out.push_back(std::move(part.span));
    }
    return out;
  }

  static constexpr std::size_t kLongestLink = 4000;

  std::string_view text_;
  std::size_t at_ = 0;
  std::string plain_;
  std::vector<InlinePart> parts_;
  std::map<std::string, OpenMark> open_;                   // marks without a match yet
  std::map<std::size_t, std::vector<std::size_t>> ticks_;  // positions of runs of backticks, by length
  bool ticksRead_ = false;
  std::size_t waits_ = std::string_view::npos;  // where unfinished code, a link or mathematics may have begun
  NextOf brackets_{text_, kBrackets};
  NextOf closes_{text_, kCloses};
  NextOf addressEnds_{text_, kAddressEnds};
};

// A line without any of these is plain text.
constexpr ByteSet kMarks("*_~`[<&\\");

// Returns true for a rule, or for the line under a heading or under the head of a table: |:---|---:|
bool isRule(std::string_view said) {
  return said.size() >= 3 && said.find_first_not_of("-=*_ |:") == std::string_view::npos &&
         said.find_first_of("-=*_") != std::string_view::npos;
}

void addWords(std::string_view line, std::string& out) {
  std::string_view said = trimmed(line);
  if (isRule(said)) return;
  const std::size_t level = std::min(said.find_first_not_of('#'), said.size());
  if (level > 0 && level <= 6 && level < said.size() && said[level] == ' ') said = trimmed(said.substr(level));
  if (kMarks.findIn(said) == std::string_view::npos) {
    out += said;
    return;
  }
  for (const Span& span : parseInline(said)) {
    // Without its mark, text that is struck out would mean the opposite.
    out += (span.style & kStrike) != 0 ? "~~" + span.text + "~~" : span.text;
  }
}

}  // namespace

std::vector<Span> parseInline(std::string_view text) {
  return InlineReader(text).read();
}

std::size_t stablePrefixBytes(std::string_view text) {
  return InlineReader(text).settled();
}

std::optional<MarkdownFence> openedFence(std::string_view line) {
  const std::string_view said = trimmed(line);
  if (said == "$$") return MarkdownFence{.mark = "$", .size = 2};
  if (said == "\\[") return MarkdownFence{.mark = "\\]", .size = 1};
  if (!said.starts_with("```") && !said.starts_with("~~~")) return std::nullopt;
  const std::size_t size = std::min(said.find_first_not_of(said.front()), said.size());
  const std::string_view name = trimmed(said.substr(size));
  if (said.front() == '`' && name.find('`') != std::string_view::npos) return std::nullopt;
  return MarkdownFence{.mark = std::string(said.substr(0, 1)),
                       .size = size,
                       .language = std::string(name.substr(0, name.find_first_of(" \t{")))};
}

bool MarkdownFence::isClosedBy(std::string_view line) const {
  const std::string_view end = trimmed(line);
  if (mark.size() > 1) return end == mark;
  return end.size() >= size && end.find_first_not_of(mark) == std::string_view::npos;
}

std::string plainWords(std::string_view markdown, std::size_t maxBytes) {
  std::string out;
  std::optional<MarkdownFence> fence;
  for (std::string_view rest = markdown; !rest.empty() && out.size() < maxBytes;) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, std::min(end, maxBytes));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!fence) {
      fence = openedFence(line);
      if (!fence) addWords(line, out);
    } else if (fence->isClosedBy(line)) {
      fence.reset();
    } else {
      out += line;
    }
    out += '\n';
  }
  return trimmed(out).empty() ? std::string(markdown.substr(0, maxBytes)) : out;
}

}  // namespace bough::text
