// Exports an entry as Markdown, and as part of an HTML page.

#include <fmt/format.h>

#include <algorithm>

#include "base/text/text.h"
#include "cli/names/when.h"
#include "cli/views/entry_view.h"
#include "cli/views/markdown/blocks.h"

namespace bough::cli {
namespace {

// Returns a code block whose fence is longer than any run of backticks in the text.
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

std::string asQuote(std::string_view text) {
  std::string out = "> ";
  for (const char character : text) {
    out += character;
    if (character == '\n') out += "> ";
  }
  return out + "\n";
}

std::string partAsMarkdown(const EntryPart& part, bool full) {
  const std::string said = text::printableLines(part.text);
  switch (part.kind) {
    case BlockKind::Thinking:
    case BlockKind::RedactedThinking: return asQuote(said);
    case BlockKind::ToolCall:
      return fmt::format("Tool call `{}`\n\n{}", text::printable(part.name), fenced(said, "json"));
    case BlockKind::ToolResult:
      return fmt::format("Tool result `{}`{}\n\n{}", text::printable(part.name), part.isError ? " (failed)" : "",
                         fenced(full ? said : firstLines(said, kResultLines), ""));
    case BlockKind::Unknown: return fenced(said, "json");
    default: return said + "\n";
  }
}

std::string foldedHtml(std::string_view kind, std::string_view title, std::string_view text) {
  return fmt::format("<details class=\"{}\"><summary>{}</summary>\n<pre>{}</pre></details>\n", kind, escapeHtml(title),
                     escapeHtml(text));
}

std::string partAsHtml(const EntryPart& part, bool full) {
  constexpr std::size_t kTitle = 80;
  const std::string said = text::printableLines(part.text);
  const std::string shown = full ? said : firstLines(said, 200);
  switch (part.kind) {
    case BlockKind::Thinking:
    case BlockKind::RedactedThinking: return foldedHtml("thinking", "Thinking", shown);
    case BlockKind::ToolCall:
      return foldedHtml("call", text::excerpt(part.name + " " + briefArguments(part.text), kTitle), shown);
    case BlockKind::ToolResult:
      return foldedHtml(part.isError ? "result failed" : "result", text::excerpt(part.text, kTitle), shown);
    case BlockKind::Unknown: return foldedHtml("data", text::excerpt(part.text, kTitle), shown);
    default: return markdownAsHtml(said);
  }
}

}  // namespace

std::string entryAsMarkdown(const EntryView& view, bool full) {
  std::string out = fmt::format("## {}\n\n", text::printable(view.speaker));
  for (const EntryPart& part : view.parts) out += partAsMarkdown(part, full) + "\n";
  return out;
}

std::string entryAsHtml(const Entry& entry, const EntryView& view, bool full) {
  const std::string speaker = escapeHtml(text::printable(view.speaker));
  std::string out =
      fmt::format("<section class=\"{}\" id=\"{}\">\n<h2>{} <time datetime=\"{}\">{}</time></h2>\n",
                  view.speaker == "user" || view.speaker == "assistant" || view.speaker == "tool" ? speaker : "other",
                  escapeHtml(text::printable(entry.id)), speaker, escapeHtml(text::printable(entry.timestamp)),
                  escapeHtml(formatLocalTime(entry.timestamp)));
  for (const EntryPart& part : view.parts) out += partAsHtml(part, full);
  return out + "</section>\n";
}

}  // namespace bough::cli
