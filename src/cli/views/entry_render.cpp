// Renders an entry for a terminal and as plain text.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/json/json_scan.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/text/timestamp.h"
#include "cli/names/session_name.h"
#include "cli/names/when.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/wrapped_text.h"
#include "cli/views/entry_view.h"
#include "cli/views/markdown/blocks.h"

namespace bough::cli {
namespace {

Style styleOf(std::string_view speaker) {
  if (speaker == "user") return Style::Green;
  if (speaker == "assistant") return Style::Cyan;
  if (speaker == "tool") return Style::Yellow;
  return Style::Magenta;
}

// Puts two blanks before each line, and styles each line separately, because pagers reset styles at line ends.
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

// Returns text such as "first line (+11 lines)".
std::string resultLine(const EntryPart& result, std::size_t columns) {
  const std::string_view text = result.text;
  const std::size_t begin = std::min(text.find_first_not_of(" \n\r\t"), text.size());
  const std::string_view rest = text.substr(begin);
  const auto more =
      std::ranges::count(rest.substr(std::min(rest.find('\n'), rest.size())), '\n') - (rest.ends_with('\n') ? 1 : 0);
  const std::string count = more > 0 ? fmt::format(" (+{})", counted(static_cast<std::uint64_t>(more), "line")) : "";
  // If there is little room, the text matters more than the count.
  const bool counts = columns >= count.size() + 8;
  const std::size_t room = counts ? columns - count.size() : columns;
  const std::string first = rest.empty() ? "(nothing)" : text::excerptToWidth(rest.substr(0, rest.find('\n')), room);
  return first + (counts ? count : "");
}

// Returns a call and its result on one line.
std::string foldedCall(const EntryPart& call, const PrintStyle& style, std::size_t columns) {
  const auto result = style.results->find(call.callId);
  const std::string name = text::excerptToWidth(call.name, columns / 3);
  const std::size_t taken = text::displayWidth(name) + 3;
  const std::size_t room = columns > taken + 16 ? columns - taken : 16;
  const std::string all = briefArguments(call.text);
  // The arguments may use room that the result does not need, and vice versa.
  const std::string arguments = text::excerptToWidth(all, room * 3 / 5);
  const std::size_t left = room - std::min(room, text::displayWidth(arguments) + 3);
  const std::string lead = styled(Style::Yellow, "→ " + name) + (arguments.empty() ? "" : " " + arguments);
  if (result == style.results->end()) return fmt::format("{} {}", lead, styled(Style::Dim, "(no result here)"));
  const std::string said = resultLine(*result->second, left);
  if (result->second->isError) return fmt::format("{} {}", lead, styled(Style::Red, "✗ " + said));
  return fmt::format("{} {}", lead, styled(Style::Dim, "⇒ " + said));
}

std::string renderPart(const EntryPart& part, const PrintStyle& style) {
  const std::size_t columns = std::max<std::size_t>(style.width, 24) - 6;
  const bool rendered = style.format == EntryFormat::Terminal;
  const auto lines = [&] {
    std::string safe = text::printableLines(part.text);
    return rendered ? text::withoutTabs(safe) : safe;
  };
  switch (part.kind) {
    case BlockKind::Thinking:
    case BlockKind::RedactedThinking: {
      const std::string said = style.full ? lines() : text::excerptToWidth(part.text, columns);
      return indented("💭 " + said, Style::Dim);
    }
    case BlockKind::ToolCall: {
      if (style.results != nullptr && !part.callId.empty()) return indented(foldedCall(part, style, columns));
      const std::string arguments = style.full ? lines() : text::excerptToWidth(part.text, columns);
      return indented(styled(Style::Yellow, "→ " + text::printable(part.name)) + " " + arguments);
    }
    case BlockKind::ToolResult: {
      const std::string all = lines();
      const std::string shown = style.full ? all : cutLines(firstLines(all, kResultLines), columns);
      const std::string mark = part.isError ? styled(Style::Red, "✗ failed") : "←";
      return indented(fmt::format("{} {}\n{}", mark, text::printable(part.name), shown));
    }
    case BlockKind::Unknown: return indented(style.full ? lines() : text::excerptToWidth(part.text, columns));
    default: {
      const std::string said = lines();
      return rendered ? markdownForTerminal(said, style.width, 2) : indented(said);
    }
  }
}

}  // namespace

EntryFormat usualFormat() {
  return stdoutIsTerminal() ? EntryFormat::Terminal : EntryFormat::Text;
}

std::string firstLines(std::string_view text, std::size_t lines) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < lines && end < text.size(); ++i) {
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  }
  if (end >= text.size()) return std::string(text);
  const auto more = std::ranges::count(text.substr(end), '\n') + (text.ends_with('\n') ? 0 : 1);
  return fmt::format("{}… {} (--full shows all)", text.substr(0, end),
                     counted(static_cast<std::uint64_t>(more), "more line"));
}

std::string briefArguments(std::string_view arguments) {
  for (const std::string_view name : {"command", "file_path", "path", "pattern", "query", "url", "prompt"}) {
    if (const auto said = json::findString(arguments, name); said && !said->empty()) return text::printable(*said);
  }
  return text::printable(arguments);
}

std::string renderEntry(const Entry& entry, const EntryView& view, const PrintStyle& style) {
  if (style.format == EntryFormat::Markdown) return entryAsMarkdown(view, style.full);
  if (style.format == EntryFormat::Html) return entryAsHtml(entry, view, style.full);
  const std::string id = style.format == EntryFormat::Terminal ? shortId(entry.id) : entry.id;
  const bool isPainted = style.paintId != nullptr && *style.paintId;
  std::string out = fmt::format("{}  {}{}", styled(styleOf(view.speaker), text::printable(view.speaker)),
                                styled(Style::Dim, formatLocalTime(entry.timestamp) + "  "),
                                isPainted ? (*style.paintId)(id) : styled(Style::Dim, id));
  if (style.format == EntryFormat::Terminal) out = wrappedText(out, style.width, 2);
  out += '\n';
  for (const EntryPart& part : view.parts) out += renderPart(part, style);
  return out + "\n";
}

}  // namespace bough::cli
