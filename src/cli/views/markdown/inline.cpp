// Emphasis, code and links of one line. Each mark is looked at a fixed number of times, whatever the text is.

#include <algorithm>
#include <map>

#include "cli/views/markdown/blocks.h"

namespace bough::cli {
namespace {

bool isWordCharacter(char character) {
  return static_cast<unsigned char>(character) >= 0x80 || (character >= '0' && character <= '9') ||
         ((character | 0x20) >= 'a' && (character | 0x20) <= 'z');
}

bool isPunctuation(char character) {
  return static_cast<unsigned char>(character) > ' ' && static_cast<unsigned char>(character) < 0x7F &&
         !isWordCharacter(character);
}

std::size_t runLength(std::string_view text, std::size_t at) {
  std::size_t size = 1;
  while (at + size < text.size() && text[at + size] == text[at]) ++size;
  return size;
}

struct InlinePart {
  Span span;
  std::string mark = {};  // of emphasis: "*", "**", "***", "_", "__", "___" or "~~"
  bool active = false;    // it has a partner
};

// Where one of some characters comes next. Places that are asked for only grow, so the text is searched once.
class NextOf {
 public:
  NextOf(std::string_view text, std::string_view characters) : text_(text), characters_(characters) {}

  std::size_t from(std::size_t at) {
    if (!known_ || (next_ != std::string_view::npos && next_ < at)) next_ = text_.find_first_of(characters_, at);
    known_ = true;
    return next_;
  }

 private:
  std::string_view text_;
  std::string_view characters_;
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

  // Where the first mark is that waits for a partner.
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
    if (c == '\\' && at_ + 1 < text_.size() && isPunctuation(text_[at_ + 1])) {
      plain_ += text_[at_ + 1];
      at_ += 2;
    } else if (c == '`') {
      code();
    } else if (c == '*' || c == '_' || c == '~') {
      mark();
    } else if ((c == '[' && link(at_)) ||
               (c == '!' && at_ + 1 < text_.size() && text_[at_ + 1] == '[' && link(at_ + 1)) ||
               (c == '<' && address())) {
    } else {
      plain_ += c;
      ++at_;
    }
  }

  void flush() {
    if (!plain_.empty()) parts_.push_back({.span = {std::move(plain_)}});
    plain_.clear();
  }

  // Code ends with as many backticks as it began with.
  void code() {
    const std::size_t size = runLength(text_, at_);
    if (!ticksRead_) readTicks();
    auto& places = ticks_[size];
    const auto end = std::upper_bound(places.begin(), places.end(), at_);
    if (end == places.end()) {
      waits_ = std::min(waits_, at_);
      plain_.append(size, '`');
      at_ += size;
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
    const char after = at_ + size < text_.size() ? text_[at_ + size] : ' ';
    const bool inWord = c == '_' && isWordCharacter(before) && isWordCharacter(after);
    const std::string_view run = text_.substr(at_, size);
    at_ += size;
    if (size > 3 || inWord || (c == '~' && size != 2) || (before == ' ' && after == ' ')) {
      plain_ += run;
      return;
    }
    flush();
    const std::string name(run);
    const auto open = open_.find(name);
    InlinePart part{.span = {name}, .mark = name};
    if (before != ' ' && open != open_.end()) {
      part.active = parts_[open->second.part].active = true;
      open_.erase(open);
    } else if (after != ' ') {
      open_[name] = {.part = parts_.size(), .at = at_ - size};
    }
    parts_.push_back(std::move(part));
  }

  // [text](target), at the bracket. There is no bracket in the text.
  bool link(std::size_t bracket) {
    const std::size_t close = brackets_.from(bracket + 1);
    if (close == std::string_view::npos || close + 1 == text_.size()) return waitsFrom(at_);
    if (text_[close] != ']' || text_[close + 1] != '(' || close - bracket > kLongestLink) return false;
    const std::size_t begin = close + 2;
    const std::size_t end = targetEnds_.from(begin);
    if (end == std::string_view::npos) return waitsFrom(at_);
    if (end - begin >= kLongestLink || text_[end] != ')') return false;
    flush();
    const std::string_view said = text_.substr(bracket + 1, close - bracket - 1);
    parts_.push_back({.span = {std::string(said), kLink, std::string(text_.substr(begin, end - begin))}});
    at_ = end + 1;
    return true;
  }

  // What is there may become a link when the text goes on.
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
  std::map<std::string, OpenMark> open_;                   // marks that wait for a partner
  std::map<std::size_t, std::vector<std::size_t>> ticks_;  // where runs of so many backticks are
  bool ticksRead_ = false;
  std::size_t waits_ = std::string_view::npos;  // where code or a link may have begun
  NextOf brackets_{text_, "[]"};
  NextOf targetEnds_{text_, ") "};
  NextOf addressEnds_{text_, "> "};
};

}  // namespace

std::vector<Span> parseInline(std::string_view text) {
  return InlineReader(text).read();
}

std::size_t settledInline(std::string_view text) {
  return InlineReader(text).settled();
}

}  // namespace bough::cli
