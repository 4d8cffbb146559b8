#include "cli/definition/option_parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <span>

#include "base/text/text.h"
#include "cli/definition/help.h"

namespace bough::cli {
namespace {

std::string inQuotes(std::string_view value) {
  constexpr std::size_t kShown = 40;
  return fmt::format("\"{}\"", text::excerpt(value, kShown));
}

constexpr const char* kEmptyOption = "the value is empty; give a value or leave the option out";

// An unset shell variable leaves an empty argument. That is a mistake of the caller, not a request for the default.
void addEmptyCheck(CLI::Option& added, const Option& option) {
  const std::string problem = option.isArgument() ? "the value is empty" : kEmptyOption;
  added.check([problem](const std::string& value) { return value.empty() ? problem : ""; }, "not empty");
}

std::string numberProblem(const std::string& value, const Option& option) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool whole = problem == std::errc() && end == value.data() + value.size() && !value.empty();
  if (whole && number >= option.least && number <= option.most) return "";
  return fmt::format("{} is not a whole number from {} to {}", inQuotes(value), option.least, option.most);
}

std::string choiceProblem(const std::string& value, const std::vector<std::string>& choices) {
  if (std::ranges::find(choices, value) != choices.end()) return "";
  const std::string meant = nearest(value, choices);
  return fmt::format("{} is not one of {}{}", inQuotes(value), fmt::join(choices, ", "),
                     meant.empty() ? "" : fmt::format("; did you mean {}?", meant));
}

// The parser begins most of its messages with the option's name and a colon.
std::string nameIn(std::string_view message) {
  return std::string(message.substr(0, std::min(message.find(':'), message.find(' '))));
}

// Adds an option with the checks for its kind: texts are not empty, numbers are in range, choices exist. If the command
// has arguments, a repeatable option takes one value at a time, because the words after it are arguments.
CLI::Option* addOption(CLI::App& app, const Option& option, bool hasArguments = true) {
  CLI::Option* added = nullptr;
  if (auto* const* flag = std::get_if<bool*>(&option.target)) {
    added = app.add_flag(option.name, **flag, option.help)->disable_flag_override();
  } else if (auto* const* text = std::get_if<std::string*>(&option.target)) {
    added = app.add_option(option.name, **text, option.help);
    if (option.valueWhenBare.empty()) {
      addEmptyCheck(*added, option);
    } else {
      added->expected(0, 1);
    }
  } else if (auto* const* number = std::get_if<std::uint64_t*>(&option.target)) {
    added = app.add_option(option.name, **number, option.help)
                ->check([option](const std::string& value) { return numberProblem(value, option); }, "number");
  } else {
    added = app.add_option(option.name, *std::get<std::vector<std::string>*>(option.target), option.help);
    if (!option.isArgument()) added->allow_extra_args(!hasArguments);
    if (!option.mayBeEmpty) addEmptyCheck(*added, option);
  }
  added->required(option.required);
  if (option.choices.empty()) return added;
  return added->check([choices = option.choices](const std::string& value) { return choiceProblem(value, choices); },
                      "choice");
}

// Sets the default value of an option that was given without a value.
void setValueWhenBare(const CLI::App& app, const Option& option) {
  if (option.valueWhenBare.empty() || app.count(option.names().back()) == 0) return;
  std::string& value = *std::get<std::string*>(option.target);
  if (value.empty()) value = option.valueWhenBare;
}

// Returns a parser error in words for a person.
std::string describe(const CLI::ParseError& error) {
  const std::string message = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::size_t colon = message.find(": ");
    return fmt::format("unexpected argument {}",
                       text::excerpt(message.substr(colon == std::string::npos ? 0 : colon + 2), 100));
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    // For a flag, the parser names only the word.
    if (message.ends_with("flag override")) return fmt::format("--{} takes no value", nameIn(message));
    if (message.contains("At Most")) return fmt::format("{} is given more than once", nameIn(message));
    return fmt::format("{} needs a value", nameIn(message));
  }
  return text::excerpt(message, 400);
}

// Only commands whose names occur in the command line are added to the parser: adding all of them takes longer than
// most commands run.
bool isNamed(const Command& command, std::span<char* const> words) {
  return std::ranges::any_of(words, [&](std::string_view word) {
    return word == command.name || std::ranges::find(command.aliases, word) != command.aliases.end();
  });
}

// Adds a command. It gets its options only when the parser reaches it.
void addCommand(CLI::App& app, const Command& command, const Command*& named) {
  CLI::App* parser = app.add_subcommand(command.name, command.summary);
  for (const std::string& alias : command.aliases) parser->alias(alias);
  parser->preparse_callback([parser, &command, &named](std::size_t) {
    named = &command;
    const bool hasArguments = std::ranges::any_of(command.options, &Option::isArgument);
    for (const Option& option : command.options) {
      CLI::Option* const added = addOption(*parser, option, hasArguments);
      // Words that the parser left over may be arguments, too; the command itself checks whether there are enough.
      if (option.isArgument() && command.dashWords != nullptr) added->required(false);
    }
  });
  parser->callback([parser, &command] {
    for (const Option& option : command.options) setValueWhenBare(*parser, option);
  });
}

// Returns what is wrong with `--flag=VALUE`, and with an empty value where the value is optional. The parser does not
// distinguish `=true` and an empty value from no value.
std::string valueProblem(std::string_view word, const std::vector<Option>& options) {
  const std::size_t equals = word.find('=');
  if (!word.starts_with('-') || equals == std::string_view::npos) return {};
  const std::string_view name = word.substr(0, equals);
  for (const Option& option : options) {
    if (option.isArgument() || !option.isCalled(name)) continue;
    if (option.isFlag()) return fmt::format("{} takes no value", name);
    if (equals + 1 == word.size()) return fmt::format("{}: {}", name, kEmptyOption);
  }
  return {};
}

std::string valueProblems(int argc, char** argv, const std::vector<Option>& everywhere, const Command* command) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    if (std::string problem = valueProblem(argv[i], everywhere); !problem.empty()) return problem;
    if (command == nullptr) continue;
    if (std::string problem = valueProblem(argv[i], command->options); !problem.empty()) return problem;
    const bool isEmptyNext = i + 1 < argc && *argv[i + 1] == '\0';
    for (const Option& option : command->options) {
      if (isEmptyNext && !option.valueWhenBare.empty() && option.isCalled(argv[i])) {
        return fmt::format("{}: {}", argv[i], kEmptyOption);
      }
    }
  }
  return {};
}

// Returns which options cannot be given together; one of them would be ignored.
std::string conflictProblem(CLI::App& app, const Command& command) {
  CLI::App& parser = *app.get_subcommand(command.name);
  const auto isGiven = [&](const std::string& name) {
    const CLI::Option* option = parser.get_option_no_throw(name);
    if (option == nullptr) option = app.get_option_no_throw(name);
    return option != nullptr && option->count() > 0;
  };
  for (const Option& option : command.options) {
    if (option.conflictsWith.empty() || !isGiven(option.names().back())) continue;
    for (const std::string& other : option.conflictsWith) {
      if (isGiven(other)) return fmt::format("{} and {} cannot be given together", option.names().back(), other);
    }
  }
  return {};
}

}  // namespace

ParsedLine parseLine(int argc, char** argv, const std::vector<Option>& everywhere,
                     const std::vector<CommandGroup>& groups) {
  ParsedLine line;
  CLI::App app;
  app.name("bough");
  for (const Option& option : everywhere) addOption(app, option);
  app.require_subcommand(0, 1);
  app.allow_extras();  // The caller checks the extra words: some commands take words that begin with a dash.
  app.fallthrough();
  for (const CommandGroup& group : groups) {
    for (const Command& command : group.commands) {
      if (isNamed(command, {argv, static_cast<std::size_t>(argc)})) addCommand(app, command, line.command);
    }
  }
  try {
    app.parse(argc, argv);
    line.unplacedWords = app.remaining(true);
    std::erase(line.unplacedWords, "--");
    line.problem = valueProblems(argc, argv, everywhere, line.command);
    if (line.problem.empty() && line.command != nullptr) {
      line.problem = conflictProblem(app, *line.command);
      if (!line.problem.empty()) line.hint = "leave one of them out";
    }
  } catch (const CLI::CallForHelp&) {
    line.help = true;
  } catch (const CLI::RequiredError& error) {
    line.problem = describe(error);
    line.missing = nameIn(error.what());
  } catch (const CLI::ParseError& error) {
    line.problem = describe(error);
  }
  return line;
}

}  // namespace bough::cli
