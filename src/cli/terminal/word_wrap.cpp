#include "cli/terminal/word_wrap.h"

#include <algorithm>

#include "base/text/text.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {
namespace {

// Returns the last character of a text; it may have several bytes.
std::string_view lastCharacter(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0) {
    --begin;
    if ((static_cast<unsigned char>(text[begin]) & 0xC0) != 0x80) break;
  }
  return text.substr(begin);
}

}  // namespace

std::string WordWrap::feed(std::string_view text) {
  std::string out;
  for (const char c : text) take(c, out);
  return out;
}

std::string WordWrap::rest() {
  std::string out;
  flush(out);
  column_ = 0;
  return out;
}

void WordWrap::take(char c, std::string& out) {
  if (c == '\n') {
    flush(out);
    column_ = 0;
    out += c;
    return;
  }
  const bool begins = (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  if (begins && text::displayWidth(lastCharacter(word_)) > 1) flush(out);
  if (c == '\t') {
    constexpr std::size_t kStop = 4;
    flush(out);
    for (std::size_t blanks = kStop - column_ % kStop; blanks > 0; --blanks) take(' ', out);
    return;
  }
  if (c != ' ') {
    word_ += c;
    return;
  }
  flush(out);
  if (column_ > 0 && column_ >= terminalWidth()) return;  // the line is full; the next word begins a new line
  out += ' ';
  ++column_;
}

void WordWrap::flush(std::string& out) {
  const std::size_t width = std::max<std::size_t>(terminalWidth(), 1);
  const std::size_t needed = text::displayWidth(word_);
  if (column_ > 0 && column_ + needed > width && needed <= width) {
    while (out.ends_with(' ')) out.pop_back();
    out += '\n';
    column_ = 0;
  }
  out += word_;
  column_ = column_ + needed > width ? (column_ + needed) % width : column_ + needed;
  word_.clear();
}

}  // namespace bough::cli
