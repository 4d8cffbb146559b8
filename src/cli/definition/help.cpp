#include "cli/definition/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/text/spelling.h"
#include "base/text/text.h"
#include "base/try.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {
namespace {

// Returns the column of the help text beside a name. On a narrow terminal the help text goes below the name instead.
std::size_t helpColumn(std::size_t column, std::size_t width) {
  return width < 60 ? 6 : column;
}

std::string lineBreak(std::size_t indent) {
  return "\n" + std::string(indent, ' ');
}

// Breaks `text` into lines of at most `width` columns; indents all lines but the first.
std::string wrappedWords(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    const std::size_t columns = text::displayWidth(word);
    if (column > indent && column + 1 + columns > width) {
      out += lineBreak(indent);
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += columns;
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return out;
}

// Returns the end of the first shell word in `text`; a space inside quotes belongs to the word.
std::size_t shellWordEnd(std::string_view text) {
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quote != 0) {
      if (text[i] == quote) quote = 0;
    } else if (text[i] == '\'' || text[i] == '"') {
      quote = text[i];
    } else if (text[i] == ' ') {
      return i;
    }
  }
  return text.size();
}

// Breaks an example into lines of at most `width` columns that a shell still accepts: a continued line ends in a
// backslash, and the remark about the command follows as a separate comment.
std::string example(std::string_view line, std::size_t width) {
  constexpr std::size_t kIndent = 2;
  constexpr std::size_t kHang = 6;
  if (text::displayWidth(line) <= width) return fmt::format("{}\n", line);
  std::string out(kIndent, ' ');
  std::size_t column = 0;  // 0: the line is still empty
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty() || line.starts_with("# ")) break;
    const std::string_view word = line.substr(0, shellWordEnd(line));
    line.remove_prefix(word.size());
    const std::size_t columns = text::displayWidth(word);
    const bool last = line.find_first_not_of(' ') == std::string_view::npos;
    if (column > 0 && column + 1 + columns + (last ? 0 : 2) > width) {
      out += " \\" + lineBreak(kHang);
      column = kHang;
    } else if (column > 0) {
      out += ' ';
      ++column;
    } else {
      column = kIndent;
    }
    out += word;
    column += columns;
  }
  if (!line.empty()) {
    std::string note = wrappedWords(line.substr(2), kHang, width - 2);
    for (std::size_t at = 0; (at = note.find('\n', at)) != std::string::npos;) note.insert(at += 1 + kHang, "# ");
    out += lineBreak(kHang) + "# " + note;
  }
  return out + "\n";
}

// Formats two columns: a name, and its description.
std::string row(std::string_view name, std::string_view text, std::size_t column, std::size_t width) {
  const std::size_t taken = text::displayWidth(name) + 2;
  const bool fits = taken + 2 <= column;
  const std::string gap = fits ? std::string(column - taken, ' ') : "\n" + std::string(column, ' ');
  return fmt::format("  {}{}{}\n", name, gap, wrappedWords(text, column, width));
}

std::string helpOf(const Option& option) {
  std::string help = option.required && !option.isArgument() ? "Required. " + option.help : option.help;
  if (!option.choices.empty()) help += fmt::format(" ({})", fmt::join(option.choices, ", "));
  return help;
}

}  // namespace

Result<ExitCode> printHelp(const std::vector<CommandGroup>& groups, const std::string& name, bool json) {
  if (name.empty()) {
    printText(json ? overviewJson(groups) : overviewHelp(groups, terminalWidth()));
    return kDone;
  }
  BOUGH_TRY(auto command, findCommand(groups, name));
  printText(json ? commandJson(command) : commandHelp(command, terminalWidth()));
  return kDone;
}

std::string optionSyntax(const Option& option) {
  if (option.isArgument()) {
    return std::holds_alternative<std::vector<std::string>*>(option.target) ? option.name + "…" : option.name;
  }
  if (option.isFlag()) return option.name;
  return fmt::format("{} {}", option.name, option.value.empty() ? "TEXT" : option.value);
}

std::string usageLine(const Command& command) {
  std::string usage = "bough " + command.name;
  for (const Option& option : command.options) {
    if (!option.isArgument()) {
      if (option.required) usage += " " + optionSyntax(option);
      continue;
    }
    usage += fmt::format(fmt::runtime(option.required ? " {}" : " [{}]"), optionSyntax(option));
  }
  if (std::ranges::any_of(command.options,
                          [](const Option& option) { return !option.isArgument() && !option.required; })) {
    usage += " [OPTIONS]";
  }
  return usage;
}

std::string overviewHelp(const std::vector<CommandGroup>& groups, std::size_t width) {
  const std::size_t column = helpColumn(20, width);
  std::string out = wrappedWords("bough keeps the conversations of AI agents: durable, branching, portable.", 0, width);
  out += "\n\n" + wrappedWords("Usage: bough [COMMAND] [ARGUMENTS] [OPTIONS]", 0, width) + "\n";
  for (const CommandGroup& group : groups) {
    out += fmt::format("\n{}\n", group.title);
    for (const Command& command : group.commands) out += row(command.name, command.summary, column, width);
  }
  out += "\nFor every command\n";
  Context context;
  for (const Option& option : globalOptions(context)) out += row(optionSyntax(option), helpOf(option), column, width);
  out += "\n" +
         wrappedWords("`bough help COMMAND` or `bough COMMAND --help` explains a command, with examples.", 0, width);
  return out + "\n" +
         wrappedWords("Exit codes: 0 done, 1 a problem in the data, 2 wrong use, 130 stopped by Ctrl-C.", 0, width) +
         "\n";
}

std::string commandHelp(const Command& command, std::size_t width) {
  const std::size_t column = helpColumn(24, width);
  std::string out = fmt::format("{}\n\n{}\n", wrappedWords(command.summary, 0, width),
                                wrappedWords("Usage: " + usageLine(command), 0, width));
  if (!command.aliases.empty()) {
    out += wrappedWords(fmt::format("Also: {}", fmt::join(command.aliases, ", ")), 0, width) + "\n";
  }
  if (!command.options.empty()) out += "\n";
  for (const Option& option : command.options) out += row(optionSyntax(option), helpOf(option), column, width);
  if (!command.details.empty()) {
    std::string flat = command.details;
    std::ranges::replace(flat, '\n', ' ');
    out += fmt::format("\n{}\n", wrappedWords(flat, 0, width));
  }
  if (!command.examples.empty()) out += "\nExamples:\n";
  for (std::string_view rest = command.examples; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    out += example(rest.substr(0, end), width);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

namespace {

// Returns the word that begins with `typed`, if there is only one.
std::string onlyMatchByPrefix(std::string_view typed, const std::vector<std::string>& known) {
  std::string only;
  for (const std::string& each : known) {
    if (!each.starts_with(typed)) continue;
    if (!only.empty()) return {};
    only = each;
  }
  return only;
}

// Returns the word of which `typed` is the beginning with one typing error.
std::string prefixMatchWithError(std::string_view typed, const std::vector<std::string>& known) {
  constexpr std::size_t kLeast = 4;  // a shorter word is close to the beginning of many words
  if (typed.size() < kLeast) return {};
  for (const std::string& each : known) {
    for (const std::size_t size : {typed.size() - 1, typed.size(), typed.size() + 1}) {
      if (size < each.size() && text::typingErrors(typed, std::string_view(each).substr(0, size)) == 1) return each;
    }
  }
  return {};
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t kMostLetters = 100;
  std::string best;
  if (word.size() > kMostLetters) return best;
  std::string typed(word);
  for (char& c : typed) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  const auto isLetter = [](char c) { return c != '-' && c != '/'; };
  // Of two or three letters, only one may be wrong; otherwise any two such words would be similar.
  const auto letters = static_cast<std::size_t>(std::ranges::count_if(typed, isLetter));
  std::size_t least = std::min<std::size_t>(letters, letters <= 3 ? 2 : 3);
  for (const std::string& each : known) {
    if (const std::size_t found = text::typingErrors(typed, each); found < least) {
      least = found;
      best = each;
    }
  }
  if (best.empty() && letters >= 3) best = onlyMatchByPrefix(typed, known);
  // A text that begins several words was not mistyped.
  const bool isBeginning = std::ranges::any_of(known, [&](const auto& each) { return each.starts_with(typed); });
  return best.empty() && !isBeginning ? prefixMatchWithError(typed, known) : best;
}

namespace {

// Returns bough's command for a name that other programs use; empty when there is none.
std::string commandForOtherName(std::string_view name) {
  struct Words {
    std::string_view command;
    std::string_view others;
  };
  constexpr Words kWords[] = {
      {"chat", " ask prompt run start repl exec "},
      {"new", " create init "},
      {"ls", " sessions dir recent "},
      {"show", " view read history open print "},
      {"search", " grep rg find "},
      {"usage", " cost costs stats tokens daily monthly blocks spend "},
      {"append", " add write "},
      {"rename", " mv name title retitle "},
      {"follow", " tail watch "},
      {"tree", " graph "},
      {"switch", " checkout co goto move undo back reset "},
      {"heads", " reflog "},
      {"label", " tag bookmark "},
      {"labels", " tags bookmarks "},
      {"fork", " clone duplicate "},
      {"resume", " continue attach "},
      {"rm", " remove del trash-put "},
      {"verify", " fsck check "},
      {"prune", " gc clean cleanup expire "},
      {"copy", " cp backup push "},
      {"sync", " pull merge "},
      {"help", " man "},
  };
  if (name.empty() || name.contains(' ')) return {};
  const std::string word = fmt::format(" {} ", name);
  for (const Words& each : kWords) {
    if (each.others.contains(word)) return std::string(each.command);
  }
  return {};
}

}  // namespace

Result<Command> findCommand(const std::vector<CommandGroup>& groups, const std::string& name) {
  std::vector<std::string> known;
  for (const CommandGroup& group : groups) {
    for (const Command& command : group.commands) {
      if (command.name == name || std::ranges::find(command.aliases, name) != command.aliases.end()) return command;
      known.push_back(command.name);
      known.insert(known.end(), command.aliases.begin(), command.aliases.end());
    }
  }
  std::string meant = commandForOtherName(name);
  if (meant.empty()) meant = nearest(name, known);
  return fail(ErrorCode::InvalidArgument, fmt::format("there is no command {}", name),
              meant.empty() ? "`bough --help` lists the commands" : fmt::format("did you mean `bough {}`?", meant));
}

}  // namespace bough::cli
