#include "cli/repl/chat_listener.h"

#include <fmt/format.h>

#include <utility>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/model/payloads.h"
#include "base/model/usage_counts.h"
#include "base/text/text.h"
#include "cli/definition/settings.h"
#include "cli/terminal/line/edit_input.h"
#include "cli/terminal/output.h"
#include "cli/terminal/screen.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/wrapped_text.h"

namespace bough::cli {
namespace {

using agent::AgentEvent;
using agent::EventKind;

constexpr std::size_t kResultLines = 8;

// Returns the tool and its most important argument: "bash  echo hi", "read  src/main.cpp".
std::string callLine(const AgentEvent& event) {
  std::string what;
  for (const char* name : {"command", "path", "pattern"}) {
    if (what.empty()) what = json::findString(event.text, name).value_or("");
  }
  const std::size_t width = std::max<std::size_t>(terminalWidth(), 30) - 10;
  return fmt::format("{}  {}", text::printable(event.name),
                     text::excerptToWidth(what.empty() ? event.text : what, width));
}

std::string resultExcerpt(const std::string& text) {
  std::string out;
  std::string_view rest = text;
  std::size_t count = 0;
  while (!rest.empty() && count < kResultLines) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line.empty()) continue;
    out += "  " + text::excerptToWidth(line, std::max<std::size_t>(terminalWidth(), 20) - 4) + "\n";
    ++count;
  }
  std::size_t more = 0;
  for (const char c : rest) more += c == '\n' ? 1 : 0;
  if (!rest.empty()) out += fmt::format("  … {} more lines\n", more + 1);
  return out;
}

// Colors the lines of a diff.
std::string styledDiff(std::string_view text) {
  Highlighter colors("diff");
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    for (const Span& span : colors.line(text.substr(0, end))) out += paintSpan(span);
    out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// Repeats the beginning of a question that is too long for the screen, so that the user sees it together with the
// choices.
std::string reminder(const std::string& question, const std::string& diff) {
  constexpr std::size_t kChoices = 4;  // rows for the choices
  const Screen::Size size = Screen::size();
  const std::string all = text::withoutTabs(question + "\n" + diff);
  if (rowsBeforeEnd(all, size.width) + kChoices < size.height) return {};
  const std::string_view first = std::string_view(question).substr(0, question.find('\n'));
  return wrappedText("  This begins with: " + text::excerptToWidth(first, size.width * 2), size.width) + "\n";
}

}  // namespace

void TextListener::printEvent(const std::string& line) {
  stdoutIsTerminal() ? printWrapped(line) : printMessage(line);
}

void TextListener::endText() {
  if (inText_) printText(stdoutIsTerminal() ? markdown_.rest() : std::exchange(held_, {}) + "\n");
  if (inThinking_) printText(styled(Style::Dim, thinking_.rest()) + "\n");
  inText_ = inThinking_ = false;
}

void TextListener::showResult(const AgentEvent& event) {
  if (!stdoutIsTerminal()) {
    if (event.isError) printEvent(fmt::format("  {} failed: {}", event.name, text::excerpt(event.text, 400)));
    return;
  }
  const std::size_t diff = event.text.find("\n@@ ");
  if (!event.isError && diff != std::string::npos && diffsShown_.contains(event.toolCallId)) {
    printText(styled(Style::Dim, resultExcerpt(event.text.substr(0, event.text.find('\n')))));
    return;
  }
  if (!event.isError && diff != std::string::npos) {
    std::string indented;
    // Skip the first line, which repeats the call; notes may come before the diff.
    const std::size_t begin = event.text.find('\n') + 1;
    for (const char c : text::printableLines(std::string_view(event.text).substr(begin))) indented += c;
    printText(styledDiff(indented));
    return;
  }
  printText(styled(event.isError ? Style::Red : Style::Dim, resultExcerpt(event.text)));
}

void TextListener::onEvent(const AgentEvent& event) {
  if (event.kind == EventKind::Text) {
    if (inThinking_) endText();
    inText_ = true;
    if (stdoutIsTerminal()) {
      printText(markdown_.feed(event.text));
    } else {
      held_ += event.text;
    }
    return;
  }
  if (event.kind == EventKind::Thinking) {
    if (!stdoutIsTerminal()) return;
    inThinking_ = true;
    printText(styled(Style::Dim, thinking_.feed(text::printableLines(event.text))));
    return;
  }
  if (event.kind == EventKind::ToolCall || event.kind == EventKind::UserMessage) return;
  if (event.kind == EventKind::Retry && !held_.empty()) {
    held_.clear();
    inText_ = false;
  }
  endText();
  switch (event.kind) {
    case EventKind::ToolStart: printEvent(styled(Style::Yellow, "● ") + callLine(event)); break;
    case EventKind::ToolResult: showResult(event); break;
    case EventKind::Retry:
      printEvent(styled(Style::Dim, fmt::format("{}; trying again in {:.1f} s", text::excerpt(event.text, 200),
                                                static_cast<double>(event.waitMs) / 1000)));
      break;
    case EventKind::Notice:
      printEvent(styled(event.isError ? Style::Red : Style::Dim, text::printable(event.text)));
      break;
    case EventKind::Aborted:
      if (!event.isError) printEvent(styled(Style::Red, text::excerpt(event.text, 300)));
      break;
    default: break;
  }
}

std::optional<bool> TextListener::allow(const agent::ToolCall& call, const std::string& question) {
  return allowPrepared(call, {.question = question, .permission = question, .allows = "exactly this", .run = {}});
}

std::optional<bool> TextListener::allowPrepared(const agent::ToolCall& call, const agent::PreparedCall& prepared) {
  if (allowed_.contains(prepared.permission)) return true;
  endText();
  std::string question = styled(Style::Bold, text::printableLines(*prepared.question)) + "\n";
  if (!prepared.diff.empty()) {
    question += styledDiff(text::printableLines(prepared.diff));
    diffsShown_.insert(call.id);
  }
  const bool isCut = !prepared.wholeDiff.empty();
  const std::string choices = fmt::format(
      "  allow it? [y]es once, [n]o{}\n  {}: [s] until the chat ends{}:", isCut ? ", [d] the whole diff" : "",
      prepared.allows, folder_.empty() ? "" : ", [a]lways here");
  std::vector<std::string_view> words = {"yes", "no", "session"};
  if (!folder_.empty()) words.emplace_back("always");
  if (isCut) words.emplace_back("diff");
  const auto choosing = [&](const std::string& diff) {
    return choose(question + reminder(*prepared.question, diff) + wrappedText(choices, terminalWidth()) + " ", words);
  };
  auto answer = choosing(prepared.diff);
  while (answer == 'd') {
    question = styledDiff(text::printableLines(prepared.wholeDiff));
    answer = choosing(prepared.wholeDiff);
  }
  if (!answer) return std::nullopt;
  if (*answer == 'a' || *answer == 's') allowed_.insert(prepared.permission);
  if (*answer == 'a') {
    const auto saved = allowInFolder(folder_, prepared.permission);
    if (!saved) printError(saved.error(), false);
    if (saved) {
      const std::string kept = fmt::format("  saved in {}; remove it there to be asked again", settingsPath());
      printText(styled(Style::Dim, wrappedText(text::printable(kept), terminalWidth(), 2)) + "\n");
    }
  }
  return *answer != 'n';
}

// Returns the first letter of one of `words`. Any other line decides nothing: it may have been typed for something else
// before the question appeared.
std::optional<char> TextListener::choose(const std::string& question, const std::vector<std::string_view>& words) {
  std::string letters;
  for (const std::string_view word : words) letters += fmt::format("{}{}", letters.empty() ? "" : ", ", word.front());
  for (auto answer = ask_(question); answer; answer = ask_(fmt::format("  please answer {}: ", letters))) {
    std::string typed;
    for (const char c : *answer) {
      if (c != ' ' && c != '\t') typed += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    }
    for (const std::string_view word : words) {
      if (typed == word || typed == word.substr(0, 1)) return word.front();
    }
  }
  return std::nullopt;
}

agent::RecoveryChoice TextListener::recover(const UnfinishedToolCall& call) {
  using Action = agent::RecoveryChoice::Action;
  endText();
  const auto answer =
      choose(fmt::format("{} {}\n  was running when the program ended; it may have taken effect.\n"
                         "  [r]un it again, [s]kip it, [g]ive its result, or leave it [u]nknown: ",
                         styled(Style::Bold, text::printable(call.name)), text::excerpt(call.input, 300)),
             {"run", "skip", "give", "unknown"});
  if (!answer || *answer == 'u') return {};
  if (*answer == 'r') return {.action = Action::RunAgain};
  if (*answer == 's') return {.action = Action::Skip};
  const auto result = ask_("  its result: ");
  return result ? agent::RecoveryChoice{.action = Action::GiveResult, .text = *result} : agent::RecoveryChoice{};
}

void JsonListener::onEvent(const AgentEvent& event) {
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("event", toString(event.kind));
  if (!event.entryId.empty()) writer.member("entryId", event.entryId);
  if (!event.toolCallId.empty()) writer.member("toolCallId", event.toolCallId);
  if (!event.name.empty()) writer.member("name", event.name);
  if (event.kind != EventKind::TurnEnd && event.kind != EventKind::ToolCall) writer.member("text", event.text);
  if (event.kind == EventKind::ToolResult) writer.member("isError", event.isError);
  if (event.kind == EventKind::Retry) writer.member("waitMs", event.waitMs);
  if (event.kind == EventKind::AssistantMessage || event.kind == EventKind::TurnEnd) {
    writer.member("durationMs", event.durationMs);
    // Zeros would mean that no tokens were used.
    const bool isUnknown = event.withoutUsage > 0 && isUsageUnknown(event.usage);
    if (isUnknown) writer.key("usage").raw("null");
    if (!isUnknown) writeUsage(writer, event.usage);
    if (event.withoutUsage > 0) writer.member("withoutUsage", event.withoutUsage);
  }
  if (event.kind == EventKind::TurnEnd) {
    writer.member("toolCount", event.toolCount).member("contextTokens", event.contextTokens);
  }
  printJsonLine(writer.endObject().text());
}

}  // namespace bough::cli
