#include "cli/terminal/markdown.h"

#include <algorithm>
#include <utility>

#include "base/text/text.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {
namespace {

// `styled` gives whole pieces; here styles begin and end apart from one another.
std::string codeBefore(Style style) {
  const std::string sample = styled(style, "x");
  return sample == "x" ? std::string() : sample.substr(0, sample.find('x'));
}

std::string resetCode() {
  const std::string sample = styled(Style::Bold, "x");
  return sample == "x" ? std::string() : sample.substr(sample.find('x') + 1);
}

// What may still become a mark at the beginning of a line.
bool mayBeMark(std::string_view start) {
  constexpr std::string_view kMarks[] = {"```", "###### ", "- ", "* ", "+ "};
  for (const std::string_view mark : kMarks) {
    if (mark.starts_with(start)) return true;
  }
  return start.size() <= 6 && start.find_first_not_of('#') == std::string_view::npos;
}

// The last character of a text; it may be several bytes.
std::string_view lastCharacter(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0) {
    --begin;
    if ((static_cast<unsigned char>(text[begin]) & 0xC0) != 0x80) break;
  }
  return text.substr(begin);
}

}  // namespace

void WordWrap::text(char c, std::string& out) {
  const bool begins = (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  if (begins && text::displayWidth(lastCharacter(shown_)) > 1) flush(out);
  if (c == '\t') {
    constexpr std::size_t kStop = 4;
    flush(out);
    for (std::size_t blanks = kStop - column_ % kStop; blanks > 0; --blanks) this->text(' ', out);
    return;
  }
  if (c != ' ') {
    word_ += c;
    shown_ += c;
    return;
  }
  flush(out);
  if (column_ > 0 && column_ >= terminalWidth()) return;  // the line is full; the next word begins another one
  out += ' ';
  ++column_;
}

void WordWrap::flush(std::string& out) {
  const std::size_t width = std::max<std::size_t>(terminalWidth(), 1);
  const std::size_t needed = text::displayWidth(shown_);
  if (column_ > 0 && column_ + needed > width && needed <= width) {
    while (out.ends_with(' ')) out.pop_back();
    out += '\n';
    column_ = 0;
  }
  out += word_;
  column_ = column_ + needed > width ? (column_ + needed) % width : column_ + needed;
  word_.clear();
  shown_.clear();
}

std::string MarkdownPrinter::feed(std::string_view text) {
  std::string out;
  const std::string safe = text::printableLines(text);
  for (const char c : safe) take(c, out);
  return out;
}

// Code keeps its lines as they are.
void MarkdownPrinter::put(std::string_view text, std::string& out) {
  if (fenced_ || fenceLine_) {
    out += text;
    return;
  }
  for (const char c : text) wrap_.text(c, out);
}

std::string MarkdownPrinter::finish() {
  std::string out;
  if (lineStart_ && !pending_.empty()) beginLine(out);
  put(std::exchange(pending_, {}), out);
  wrap_.flush(out);
  if (bold_ || code_ || heading_ || diffMark_ != ' ' || fenceLine_) out += resetCode();
  *this = {};
  return out;
}

void MarkdownPrinter::take(char c, std::string& out) {
  if (c == '\n') {
    endLine(out);
    return;
  }
  if (lineStart_) {
    pending_ += c;
    if (fenced_ ? !(std::string_view("```").starts_with(pending_)) : !mayBeMark(pending_)) beginLine(out);
    return;
  }
  if (fenceLine_ || fenced_) {
    if (fenceLine_) fenceName_ += c;
    out += c;
    return;
  }
  if (c == '*' && !code_) {
    if (pending_ == "*") {
      pending_.clear();
      bold_ = !bold_;
      applyStyle(out);
    } else {
      pending_ = "*";
    }
    return;
  }
  put(std::exchange(pending_, {}), out);
  if (c == '`') {
    code_ = !code_;
    applyStyle(out);
    return;
  }
  put({&c, 1}, out);
}

// The beginning of a line is known now: a fence, a heading, an item, or nothing special.
void MarkdownPrinter::beginLine(std::string& out) {
  lineStart_ = false;
  const std::string start = std::exchange(pending_, {});
  if (start.starts_with("```")) {
    fenced_ = !fenced_;
    diff_ = false;
    fenceLine_ = true;
    fenceName_ = start.substr(3);
    out += codeBefore(Style::Dim) + start;
    return;
  }
  if (fenced_) {
    diffMark_ = diff_ && !start.empty() && (start[0] == '+' || start[0] == '-' || start[0] == '@') ? start[0] : ' ';
    applyStyle(out);
    out += start;
    return;
  }
  const std::size_t marks = start.find_first_not_of('#');
  if (marks != std::string::npos && marks > 0 && start[marks] == ' ') {
    heading_ = true;
    applyStyle(out);
    put(start.substr(marks + 1), out);
    return;
  }
  std::string_view rest = start;
  if (rest.starts_with("- ") || rest.starts_with("* ") || rest.starts_with("+ ")) {
    put("• ", out);
    rest.remove_prefix(2);
  }
  for (const char c : rest) take(c, out);
}

void MarkdownPrinter::endLine(std::string& out) {
  if (lineStart_) beginLine(out);
  if (fenceLine_ && fenced_) diff_ = fenceName_ == "diff";
  put(std::exchange(pending_, {}), out);
  wrap_.flush(out);
  wrap_.newLine();
  if (fenceLine_ || heading_ || diffMark_ != ' ') out += resetCode();
  fenceLine_ = heading_ = false;
  diffMark_ = ' ';
  // Code and emphasis do not go on over lines: a stray mark must not colour all that follows.
  if (bold_ || code_) out += resetCode();
  bold_ = code_ = false;
  lineStart_ = true;
  out += '\n';
}

void MarkdownPrinter::applyStyle(std::string& out) {
  std::string codes = resetCode();
  if (bold_ || heading_) codes += codeBefore(Style::Bold);
  if (code_) codes += codeBefore(Style::Cyan);
  if (diffMark_ == '+') codes += codeBefore(Style::Green);
  if (diffMark_ == '-') codes += codeBefore(Style::Red);
  if (diffMark_ == '@') codes += codeBefore(Style::Cyan);
  wrap_.code(codes, out);
}

std::string styledDiff(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.starts_with('+')) {
      out += styled(Style::Green, line);
    } else if (line.starts_with('-')) {
      out += styled(Style::Red, line);
    } else if (line.starts_with("@@")) {
      out += styled(Style::Cyan, line);
    } else {
      out += line;
    }
    out += '\n';
  }
  return out;
}

}  // namespace bough::cli
