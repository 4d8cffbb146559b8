// How an entry looks: on a terminal, and as Markdown.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text/text.h"
#include "cli/terminal/terminal.h"
#include "cli/views/entry_view.h"

namespace bough::cli {
namespace {

constexpr std::size_t kResultLines = 6;  // of a tool result, unless all is wanted

Style styleOf(std::string_view speaker) {
  if (speaker == "user") return Style::Green;
  if (speaker == "assistant") return Style::Cyan;
  if (speaker == "tool") return Style::Yellow;
  return Style::Magenta;
}

// `text` with each line behind two blanks, and in a style of its own: pagers forget styles at a line's end.
std::string indented(std::string_view text, std::optional<Style> style = {}) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    out += line.empty() ? "\n" : fmt::format("  {}\n", style ? styled(*style, line) : line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// The first lines of a result, and how many more there are.
std::string firstLines(std::string_view text, std::size_t lines) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < lines && end < text.size(); ++i) {
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  }
  if (end >= text.size()) return std::string(text);
  const auto more = std::ranges::count(text.substr(end), '\n') + (text.ends_with('\n') ? 0 : 1);
  return fmt::format("{}… {} more line{} (--full shows all)", text.substr(0, end), more, more == 1 ? "" : "s");
}

std::string cutLines(std::string_view text, std::size_t columns) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::string_view cut = text::cutToWidth(line, columns);
    out += cut;
    if (cut.size() < line.size()) out += "…";
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string renderPart(const EntryPart& part, const PrintStyle& style) {
  const std::size_t columns = std::max<std::size_t>(style.width, 24) - 6;
  switch (part.kind) {
    case BlockKind::Thinking:
    case BlockKind::RedactedThinking: {
      const std::string said = style.full ? text::printableLines(part.text) : text::excerpt(part.text, columns);
      return indented("💭 " + said, Style::Dim);
    }
    case BlockKind::ToolCall: {
      const std::string arguments =
          style.full ? text::printableLines(part.text) : text::excerptToWidth(part.text, columns);
      return indented(styled(Style::Yellow, "→ " + text::printable(part.name)) + " " + arguments);
    }
    case BlockKind::ToolResult: {
      const std::string all = text::printableLines(part.text);
      const std::string shown = style.full ? all : cutLines(firstLines(all, kResultLines), columns);
      const std::string mark = part.isError ? styled(Style::Red, "✗ failed") : "←";
      return indented(fmt::format("{} {}\n{}", mark, text::printable(part.name), shown));
    }
    case BlockKind::Unknown:
      return indented(style.full ? text::printableLines(part.text) : text::excerptToWidth(part.text, columns));
    default: return indented(text::printableLines(part.text));
  }
}

// A fence that is longer than any run of backticks in the text.
std::string fenced(std::string_view text, std::string_view language) {
  std::size_t longest = 2;
  std::size_t run = 0;
  for (const char character : text) {
    run = character == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return fmt::format("{}{}\n{}{}{}\n", fence, language, text, text.ends_with('\n') ? "" : "\n", fence);
}

std::string quoted(std::string_view text) {
  std::string out = "> ";
  for (const char character : text) {
    out += character;
    if (character == '\n') out += "> ";
  }
  return out + "\n";
}

std::string markdownPart(const EntryPart& part, const PrintStyle& style) {
  const std::string said = text::printableLines(part.text);
  switch (part.kind) {
    case BlockKind::Thinking:
    case BlockKind::RedactedThinking: return quoted(said);
    case BlockKind::ToolCall:
      return fmt::format("Tool call `{}`\n\n{}", text::printable(part.name), fenced(said, "json"));
    case BlockKind::ToolResult:
      return fmt::format("Tool result `{}`{}\n\n{}", text::printable(part.name), part.isError ? " (failed)" : "",
                         fenced(style.full ? said : firstLines(said, kResultLines), ""));
    case BlockKind::Unknown: return fenced(said, "json");
    default: return said + "\n";
  }
}

}  // namespace

std::string renderEntry(const Entry& entry, const EntryView& view, const PrintStyle& style) {
  if (style.markdown) {
    std::string out = fmt::format("## {}\n\n", text::printable(view.speaker));
    for (const EntryPart& part : view.parts) out += markdownPart(part, style) + "\n";
    return out;
  }
  const std::string about = fmt::format("{}  {}", text::printable(entry.timestamp), entry.id);
  std::string out =
      fmt::format("{}  {}\n", styled(styleOf(view.speaker), text::printable(view.speaker)), styled(Style::Dim, about));
  for (const EntryPart& part : view.parts) out += renderPart(part, style);
  return out + "\n";
}

}  // namespace bough::cli
