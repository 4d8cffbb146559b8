#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "base/model/shown.h"
#include "base/model/typed_text.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "cli/repl/chat_session.h"
#include "cli/terminal/terminal.h"
#include "cli/views/markdown/blocks.h"

namespace bough::cli {
namespace {

constexpr std::size_t kQuestionLines = 4;
constexpr std::size_t kAnswerLines = 12;

// Returns the texts of a message, for the user's messages the typed text; empty for tool calls, results and thinking.
std::string textOf(const Entry& entry, std::string_view speaker) {
  const EntryView view = viewEntry(entry);
  if (!view.isMessage || view.speaker != speaker) return {};
  std::string out;
  for (const EntryPart& part : view.parts) {
    const bool isTyped = out.empty() ? !isChatReport(entry, part.text) : !isAttachedBlock(part.text);
    if (part.kind == BlockKind::Text && isTyped) out += (out.empty() ? "" : "\n") + part.text;
  }
  return out;
}

// Returns the end of an answer, formatted as in the chat, because the conversation continues from there.
std::string endOfAnswer(std::string_view answer) {
  std::string shown = markdownForTerminal(text::printableLines(answer), terminalWidth(), 2);
  while (shown.starts_with('\n')) shown.erase(0, 1);
  while (shown.ends_with("\n\n")) shown.pop_back();
  std::size_t begin = shown.size();
  for (std::size_t lines = 0; lines <= kAnswerLines; ++lines) {
    if (begin == 0) return shown;
    begin = begin < 2 ? 0 : shown.rfind('\n', begin - 2) + 1;
  }
  begin = shown.find('\n', begin) + 1;
  const auto left = static_cast<std::uint64_t>(std::ranges::count(std::string_view(shown).substr(0, begin), '\n'));
  return styled(Style::Dim, fmt::format("  … {} before this (/history shows all)", counted(left, "line"))) + "\n" +
         shown.substr(begin);
}

// Returns the first lines of a text, each cut to the width, after a mark.
std::string markedLines(std::string_view text, std::size_t most, std::string_view mark) {
  std::string out;
  const std::size_t width = std::max<std::size_t>(terminalWidth(), 20) - 4;
  std::size_t shown = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line = text::excerptToWidth(text.substr(0, end), width);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (shown == most) return out + "  …\n";
    out.append(shown++ == 0 ? mark : "  ").append(line).append("\n");
  }
  return out;
}

std::string earlyEndLine(std::string_view reason) {
  const std::string said = fmt::format("  the turn ended early: {}", text::printable(reason));
  return styled(Style::Dim, text::excerptToWidth(said, terminalWidth())) + "\n";
}

}  // namespace

std::string lastExchange(const OpenedChat& opened) {
  const agent::StartingPoint& at = opened.chat->place();
  if (at.headId.empty()) return {};
  // The last few entries nearly always contain it; a turn with many tool calls needs more.
  for (const std::size_t count : {50U, 1'000U}) {
    const auto entries = opened.chat->store().loadSessionEntries(at.sessionId, {.last = count, .branch = at.headId});
    if (!entries) return {};
    std::string answer;
    std::string end;
    for (const Entry& entry : std::views::reverse(*entries)) {
      if (const auto reason = answer.empty() ? turnAbortReason(entry) : std::nullopt) end = earlyEndLine(*reason);
      if (answer.empty()) answer = textOf(entry, "assistant");
      const std::string said = textOf(entry, "user");
      if (said.empty()) continue;
      return styled(Style::Bold, markedLines(said, kQuestionLines, "› ")) + endOfAnswer(answer) + end;
    }
    if (entries->size() < count) return {};
  }
  return {};
}

}  // namespace bough::cli
