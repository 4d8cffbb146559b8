#include "cli/markdown.h"

#include <utility>

#include "base/text.h"
#include "cli/terminal.h"

namespace bough::cli {
namespace {

// `styled` gives whole pieces; here styles begin and end apart from one another.
std::string codeOf(Style style) {
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

}  // namespace

std::string MarkdownPrinter::feed(std::string_view text) {
  std::string out;
  const std::string safe = text::printableLines(text);
  for (const char c : safe) take(c, out);
  return out;
}

std::string MarkdownPrinter::finish() {
  std::string out;
  if (lineStart_ && !pending_.empty()) beginLine(out);
  out += std::exchange(pending_, {});
  if (bold_ || code_ || heading_ || diffMark_ != ' ') out += resetCode();
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
  out += std::exchange(pending_, {});
  if (c == '`') {
    code_ = !code_;
    applyStyle(out);
    return;
  }
  out += c;
}

// The beginning of a line is known now: a fence, a heading, an item, or nothing special.
void MarkdownPrinter::beginLine(std::string& out) {
  lineStart_ = false;
  const std::string start = std::exchange(pending_, {});
  if (start.starts_with("```")) {
    fenced_ = !fenced_;
    diff_ = false;
    fenceLine_ = true;
    out += codeOf(Style::Dim) + start;
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
    out += start.substr(marks + 1);
    return;
  }
  if (start == "- " || start == "* " || start == "+ ") {
    out += "• ";
    return;
  }
  for (const char c : start) take(c, out);
}

void MarkdownPrinter::endLine(std::string& out) {
  if (lineStart_) beginLine(out);
  if (fenceLine_ && fenced_) diff_ = out.ends_with("diff");
  out += std::exchange(pending_, {});
  if (fenceLine_ || heading_ || diffMark_ != ' ') out += resetCode();
  fenceLine_ = heading_ = false;
  diffMark_ = ' ';
  code_ = false;  // code and emphasis do not go on over lines: a stray mark must not colour all that follows
  if (bold_) out += resetCode();
  bold_ = false;
  lineStart_ = true;
  out += '\n';
}

void MarkdownPrinter::applyStyle(std::string& out) const {
  out += resetCode();
  if (bold_ || heading_) out += codeOf(Style::Bold);
  if (code_) out += codeOf(Style::Cyan);
  if (diffMark_ == '+') out += codeOf(Style::Green);
  if (diffMark_ == '-') out += codeOf(Style::Red);
  if (diffMark_ == '@') out += codeOf(Style::Cyan);
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
