#include "cli/views/markdown/stream.h"

#include <algorithm>
#include <utility>

#include "base/text/text.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {
namespace {

// Returns the end of the last piece after which the line can be broken whatever follows: before a blank, or after a
// complete character of two columns.
std::size_t lastBreak(std::string_view line) {
  const std::size_t blank = line.rfind(' ');
  std::size_t end = blank == std::string_view::npos ? 0 : line.find_last_not_of(' ', blank) + 1;
  std::size_t at = blank == std::string_view::npos ? 0 : blank + 1;
  while (at < line.size()) {
    const std::string_view piece = text::cutToGraphemes(line.substr(at), 1);
    if (piece.empty() || at + piece.size() >= line.size()) break;
    at += piece.size();
    if (text::displayWidth(piece) == 2) end = at;
  }
  return end;
}

// Returns true when the kind of a line is certain: if it begins like an item, a quote or a rule, after its first
// letter.
bool hasCertainKind(std::string_view said) {
  const std::size_t digits = std::min(said.find_first_not_of("0123456789"), said.size());
  const bool mayBeMark = digits > 0 ? digits == said.size() || said[digits] == '.' || said[digits] == ')'
                                    : said.empty() || std::string_view("-*+_>=").contains(said.front());
  return !mayBeMark || std::ranges::any_of(said, [](char c) {
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || static_cast<unsigned char>(c) >= 0x80;
  });
}

bool isQuoted(std::string_view line) {
  return text::trimmed(line).starts_with('>');
}

// Returns the beginning of a line that will look the same when the line continues.
std::string_view settledPart(std::string_view line) {
  const std::string_view said = text::trimmed(line);
  // A heading has one style for the whole line, and a line with a bar may be the head of a table.
  for (const std::string_view mark : {"#", "``", "~~", ">", "$$", "\\["}) {
    if (said.starts_with(mark)) return {};
  }
  if (line.contains('|')) return {};
  std::string_view part = line.substr(0, lastBreak(line));
  if (const std::size_t settled = text::stablePrefixBytes(part); settled < part.size()) {
    part = part.substr(0, lastBreak(part.substr(0, settled)));
  }
  return hasCertainKind(text::trimmed(part)) ? part : std::string_view();
}

}  // namespace

std::string MarkdownStream::feed(std::string_view text) {
  std::string out;
  for (const char c : text::printableLines(text)) {
    if (c == '\n') {
      endLine(out);
    } else {
      line_ += c;
    }
  }
  showPart(out);
  return out;
}

std::string MarkdownStream::rest() {
  std::string out;
  if (!line_.empty()) endLine(out);
  if (!heldLines_.empty()) showHeldLines(out);
  *this = {};
  return out;
}

std::string MarkdownStream::rendered(std::string_view text, bool& inList) {
  if (width_ == 0) width_ = terminalWidth();
  return markdownForTerminal(parseMarkdown(text::withoutTabs(text), inList), width_, 0);
}

void MarkdownStream::put(std::string_view lines, std::string& out) {
  if (hasOutput_) out.append(blankLines_, '\n');
  blankLines_ = 0;
  hasOutput_ = true;
  out += lines;
}

// The shown part of a line was broken for another width; begins a new line for the rest.
void MarkdownStream::adaptToWidth(std::string& out) {
  if (shown_.empty() || terminalWidth() == width_) return;
  out += '\n';
  const std::size_t rest = std::min(line_.find_first_not_of(' ', partBytes_), line_.size());
  line_.erase(0, rest);
  shown_.clear();
  partBytes_ = examinedBytes_ = width_ = 0;
}

void MarkdownStream::showPart(std::string& out) {
  constexpr std::size_t kParts = 64;  // a line is examined this often before its size doubles
  if (code_ || !heldLines_.empty() || line_.size() < examinedBytes_ + 1 + examinedBytes_ / kParts) return;
  adaptToWidth(out);
  examinedBytes_ = line_.size();
  const std::string_view part = settledPart(line_);
  if (part.empty()) return;
  bool inList = inList_;
  std::string now = rendered(part, inList);
  now.pop_back();  // the line continues
  if (!now.starts_with(shown_) || now.size() == shown_.size()) return;
  put(std::string_view(now).substr(shown_.size()), out);
  shown_ = std::move(now);
  partBytes_ = part.size();
}

void MarkdownStream::endLine(std::string& out) {
  adaptToWidth(out);
  std::string line = std::exchange(line_, {});
  examinedBytes_ = 0;
  if (!heldLines_.empty()) {
    if (continuesHeldLines(line)) {
      heldLines_.push_back(std::move(line));
      return;
    }
    showHeldLines(out);
  }
  if (code_) {
    showCode(line, out);
  } else if (shown_.empty() && (line.contains('|') || isQuoted(line)) && !text::openedFence(line)) {
    heldLines_.push_back(std::move(line));
  } else {
    showLine(line, out);
  }
  width_ = 0;
}

void MarkdownStream::showLine(std::string_view line, std::string& out) {
  if (const auto fence = text::openedFence(line)) {
    code_.emplace(*fence, Highlighter(fence->language));
    put(styled(Style::Dim, line) + "\n", out);
    return;
  }
  if (text::trimmed(line).empty()) {
    ++blankLines_;
    return;
  }
  const std::string before = std::exchange(shown_, {});
  const std::string now = rendered(line, inList_);
  // A line that turned out to be something else is shown again as a whole.
  put(now.starts_with(before) ? now.substr(before.size()) : "\n" + now, out);
}

void MarkdownStream::showCode(std::string_view line, std::string& out) {
  if (code_->fence.isClosedBy(line)) {
    code_.reset();
    put(styled(Style::Dim, line) + "\n", out);
    return;
  }
  std::string painted;
  for (const Span& span : code_->colors.line(text::withoutTabs(line))) painted += paintSpan(span);
  put(painted + "\n", out);
}

// Returns true when a line continues the held lines.
bool MarkdownStream::continuesHeldLines(std::string_view line) const {
  if (isQuoted(heldLines_.front())) return isQuoted(line);
  return heldLines_.size() == 1 ? beginsTable(heldLines_.front(), line) : line.contains('|');
}

void MarkdownStream::showHeldLines(std::string& out) {
  std::string text;
  for (const std::string& line : std::exchange(heldLines_, {})) text += line + "\n";
  put(rendered(text, inList_), out);
  width_ = 0;
}

}  // namespace bough::cli
