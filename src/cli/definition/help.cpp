#include "cli/definition/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text/text.h"
#include "base/try.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {
namespace {

// `text` in lines of at most `width` columns, those after the first indented. Help texts are ASCII except for a few
// signs.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    if (column > indent && column + 1 + word.size() > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return out;
}

// Two columns: a name, and what it is.
std::string row(std::string_view name, std::string_view text, std::size_t column, std::size_t width) {
  const std::size_t taken = text::displayWidth(name) + 2;
  const bool fits = taken + 2 <= column;
  const std::string gap = fits ? std::string(column - taken, ' ') : "\n" + std::string(column, ' ');
  return fmt::format("  {}{}{}\n", name, gap, wrapped(text, column, width));
}

std::string helpOf(const Option& option) {
  std::string help = option.required && !option.isArgument() ? "Required. " + option.help : option.help;
  if (!option.choices.empty()) help += fmt::format(" ({})", fmt::join(option.choices, ", "));
  return help;
}

// How many letters to change, add or drop to get from one word to the other.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> previous(to.size() + 1);
  for (std::size_t i = 0; i <= to.size(); ++i) previous[i] = i;
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::vector<std::size_t> current{i + 1};
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = previous[j] + (from[i] == to[j] ? 0 : 1);
      current.push_back(std::min({replaced, previous[j + 1] + 1, current[j] + 1}));
    }
    previous = std::move(current);
  }
  return previous.back();
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
  constexpr std::size_t kColumn = 20;
  std::string out =
      "bough keeps the conversations of AI agents: durable, branching, portable.\n\n"
      "Usage: bough [COMMAND] [ARGUMENTS] [OPTIONS]\n";
  for (const CommandGroup& group : groups) {
    out += fmt::format("\n{}\n", group.title);
    for (const Command& command : group.commands) out += row(command.name, command.summary, kColumn, width);
  }
  out += "\nFor every command\n";
  Context context;
  for (const Option& option : globalOptions(context)) out += row(optionSyntax(option), helpOf(option), kColumn, width);
  out +=
      "\n`bough help COMMAND` or `bough COMMAND --help` explains a command, with examples.\n"
      "Exit codes: 0 done, 1 a problem in the data, 2 wrong use.\n";
  return out;
}

std::string commandHelp(const Command& command, std::size_t width) {
  constexpr std::size_t kColumn = 24;
  std::string out = fmt::format("{}\n\nUsage: {}\n", command.summary, usageLine(command));
  if (!command.aliases.empty()) out += fmt::format("Also: {}\n", fmt::join(command.aliases, ", "));
  if (!command.options.empty()) out += "\n";
  for (const Option& option : command.options) out += row(optionSyntax(option), helpOf(option), kColumn, width);
  if (!command.details.empty()) {
    std::string flat = command.details;
    std::ranges::replace(flat, '\n', ' ');
    out += fmt::format("\n{}\n", wrapped(flat, 0, width));
  }
  if (!command.examples.empty()) out += fmt::format("\nExamples:\n{}\n", command.examples);
  return out;
}

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t least = 3;
  for (const std::string& each : known) {
    if (const std::size_t found = distance(word, each); found < least) {
      least = found;
      best = each;
    }
  }
  return best;
}

Result<Command> findCommand(const std::vector<CommandGroup>& groups, const std::string& name) {
  std::vector<std::string> known;
  for (const CommandGroup& group : groups) {
    for (const Command& command : group.commands) {
      if (command.name == name || std::ranges::find(command.aliases, name) != command.aliases.end()) return command;
      known.push_back(command.name);
      known.insert(known.end(), command.aliases.begin(), command.aliases.end());
    }
  }
  const std::string meant = nearest(name, known);
  return fail(ErrorCode::InvalidArgument, fmt::format("there is no command {}", name),
              meant.empty() ? "`bough --help` lists the commands" : fmt::format("did you mean `bough {}`?", meant));
}

}  // namespace bough::cli
