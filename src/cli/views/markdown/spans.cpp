#include "cli/views/markdown/spans.h"

#include <algorithm>

#include "base/text/text.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {
namespace {

bool isAscii(char character) {
  return static_cast<unsigned char>(character) < 0x80;
}

// Returns the next unit that is not broken: a character, or a run of ASCII without blanks.
std::string_view nextPiece(std::string_view text, bool hard) {
  std::size_t size = 0;
  while (size < text.size() && isAscii(text[size]) && text[size] != ' ' && !(hard && size > 0)) ++size;
  // The last letter may carry a combining mark that follows it.
  if (size > 1 && size < text.size() && !isAscii(text[size])) --size;
  if (size > 1 || (size == 1 && (text.size() == 1 || isAscii(text[1])))) return text.substr(0, size);
  const std::string_view whole = text::cutToGraphemes(text, 1);
  return whole.empty() ? text.substr(0, 1) : whole;
}

class LineWrap {
 public:
  LineWrap(std::size_t first, std::size_t rest, bool hard)
      : room_(std::max<std::size_t>(first, 1)), rest_(std::max<std::size_t>(rest, 1)), hard_(hard) {}

  void add(const Span& span) {
    std::string_view text = span.text;
    while (!text.empty()) {
      const std::string_view piece = nextPiece(text, hard_);
      text.remove_prefix(piece.size());
      if (piece == " " && !hard_) {
        endWord();
        blanks_.push_back({" ", span.style});
        continue;
      }
      const std::size_t columns = text::displayWidth(piece);
      // A line may be broken before and after a character of two columns.
      const bool apart = hard_ || (columns == 2 && !isAscii(piece.front()));
      if (apart) endWord();
      addToWord(piece, span.style, columns);
      if (apart) endWord();
    }
  }

  std::vector<std::string> lines() {
    endWord();
    endLine();
    return std::move(lines_);
  }

 private:
  void addToWord(std::string_view piece, unsigned style, std::size_t columns) {
    if (!word_.empty() && word_.back().style == style) {
      word_.back().text += piece;
    } else {
      word_.push_back({std::string(piece), style});
    }
    wordColumns_ += columns;
  }

  void endWord() {
    if (word_.empty()) return;
    if (used_ > 0 && used_ + blanks_.size() + wordColumns_ > room_) endLine();
    if (used_ > 0 || lines_.empty()) {
      for (const Span& blank : blanks_) put(blank, 1);
    }
    blanks_.clear();
    for (Span& span : word_) putLong(std::move(span));
    word_.clear();
    wordColumns_ = 0;
  }

  // Breaks a word that is longer than a line into several lines.
  void putLong(Span span) {
    std::string_view text = span.text;
    while (!text.empty()) {
      std::string_view fits = text::cutToWidth(text, room_ > used_ ? room_ - used_ : 0);
      if (fits.empty() && used_ > 0) {
        endLine();
        continue;
      }
      if (fits.empty()) fits = nextPiece(text, true);  // wider than the terminal
      put({std::string(fits), span.style}, text::displayWidth(fits));
      text.remove_prefix(fits.size());
    }
  }

  void put(Span span, std::size_t columns) {
    if (!line_.empty() && line_.back().style == span.style) {
      line_.back().text += span.text;
    } else {
      line_.push_back(std::move(span));
    }
    used_ += columns;
  }

  void endLine() {
    std::string painted;
    for (const Span& span : line_) painted += paintSpan(span);
    lines_.push_back(std::move(painted));
    line_.clear();
    used_ = 0;
    blanks_.clear();
    room_ = rest_;
  }

  std::size_t room_;
  const std::size_t rest_;
  const bool hard_;
  std::vector<std::string> lines_;
  std::vector<Span> line_;
  std::vector<Span> blanks_;  // after the last word; dropped when the line ends there
  std::vector<Span> word_;
  std::size_t used_ = 0;
  std::size_t wordColumns_ = 0;
};

}  // namespace

std::string paintSpan(const Span& span) {
  std::string out = span.text;
  const auto paint = [&](unsigned styles, Style style) {
    if ((span.style & styles) != 0) out = styled(style, out);
  };
  paint(kBold, Style::Bold);
  paint(kItalic, Style::Italic);
  paint(kLink, Style::Underline);
  paint(kStrike, Style::Strike);
  paint(kFaint | kComment, Style::Dim);
  paint(kCodeSpan | kPlace | kNumber, Style::Cyan);
  paint(kKeyword, Style::Magenta);
  paint(kString | kAdded, Style::Green);
  paint(kRemoved, Style::Red);
  paint(kFound, Style::Yellow);
  return out;
}

std::vector<std::string> wrapSpans(const std::vector<Span>& spans, std::size_t firstColumns, std::size_t columns,
                                   bool hard) {
  LineWrap wrap(firstColumns, columns, hard);
  for (const Span& span : spans) wrap.add(span);
  return wrap.lines();
}

std::size_t spansWidth(const std::vector<Span>& spans) {
  std::size_t sum = 0;
  for (const Span& span : spans) sum += text::displayWidth(span.text);
  return sum;
}

}  // namespace bough::cli
