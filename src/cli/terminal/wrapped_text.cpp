#include "cli/terminal/wrapped_text.h"

#include <algorithm>

#include "base/text/text.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {
namespace {

// Returns the indentation of the continuation lines.
std::size_t hangingIndent(std::string_view line) {
  const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
  line.remove_prefix(blanks);
  for (const std::string_view mark : {"→ ", "✓ ", "✗ ", "! ", "• "}) {
    if (line.starts_with(mark)) return blanks + text::displayWidth(mark);
  }
  return blanks;
}

void addLine(std::string_view line, std::size_t columns, std::size_t indent, std::string& out) {
  std::size_t used = 0;
  std::size_t blanks = 0;
  bool isFirst = true;  // the first word in its line
  while (!line.empty()) {
    const std::size_t gap = std::min(line.find_first_not_of(' '), line.size());
    blanks += gap;
    line.remove_prefix(gap);
    if (line.empty()) break;
    const std::string_view word = line.substr(0, std::min(line.find(' '), line.size()));
    line.remove_prefix(word.size());
    const std::size_t width = shownWidth(word);
    if (!isFirst && used + blanks + width > columns) {
      out += "\n" + std::string(indent, ' ');
      used = indent;
      blanks = 0;
    }
    out.append(blanks, ' ');
    out += word;
    used += blanks + width;
    blanks = 0;
    isFirst = false;
  }
}

}  // namespace

std::string withoutEscapes(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const std::size_t escape = std::min(text.find('\033'), text.size());
    plain += text.substr(0, escape);
    text.remove_prefix(escape);
    if (text.empty()) break;
    std::size_t end = 1;
    if (end < text.size() && text[end] == '[') ++end;
    while (end < text.size() && (text[end] < '@' || text[end] > '~')) ++end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return plain;
}

std::size_t shownWidth(std::string_view text) {
  return text::displayWidth(withoutEscapes(text));
}

std::string wrappedText(std::string_view given, std::size_t columns, std::size_t hang) {
  std::string out;
  const std::string withBlanks = text::withoutTabs(given);
  std::string_view text = withBlanks;
  for (;;) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    addLine(line, columns, std::min(hang == 0 ? hangingIndent(line) : hang, columns / 2), out);
    if (end == text.size()) return out;
    out += '\n';
    text.remove_prefix(end + 1);
  }
}

void printWrapped(std::string_view line, std::size_t hang) {
  printLine(stdoutIsTerminal() ? wrappedText(line, terminalWidth(), hang) : std::string(line));
}

}  // namespace bough::cli
