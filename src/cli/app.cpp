#include "cli/app.h"
#include "base/try.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <new>
#include <optional>
#include <span>

#include "base/text/shell_word.h"
#include "base/user_folders.h"
#include "cli/commands/commands.h"
#include "cli/definition/help.h"
#include "cli/definition/option_parser.h"
#include "cli/names/session_name.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {
namespace {

ExitCode exitCodeFor(const Error& error) {
  return error.code == ErrorCode::InvalidArgument || error.code == ErrorCode::Unsupported ? kWrongUse : kProblem;
}

// Returns true when a part of a hint recommends the command that has just failed.
bool recommends(std::string_view part, std::string_view command) {
  const std::string quoted = fmt::format("`bough {}", command);
  const std::size_t at = part.find(quoted);
  if (at == std::string_view::npos) return false;
  const std::string_view rest = part.substr(at + quoted.size());
  if (rest.empty() || (rest.front() != '`' && rest.front() != ' ')) return false;
  // With other options, the command does something else.
  return rest.substr(0, rest.find('`')).find(" -") == std::string_view::npos;
}

// Returns the hint without the parts that recommend the command: text in parentheses or between semicolons.
std::string withoutCommand(std::string hint, std::string_view command) {
  const std::size_t open = hint.find(" (");
  const std::size_t close = hint.find(')', std::min(open, hint.size()));
  if (close != std::string::npos && recommends(std::string_view(hint).substr(open, close - open), command)) {
    hint.erase(open, close + 1 - open);
  }
  std::string kept;
  for (std::string_view rest = hint; !rest.empty();) {
    const std::size_t end = std::min(rest.find("; "), rest.size());
    if (!recommends(rest.substr(0, end), command)) kept.append(kept.empty() ? "" : "; ").append(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  return kept;
}

std::string unexpectedWordText(const std::string& word) {
  if (word.empty()) return "unexpected argument \"\"";
  const bool isOption = word.size() > 1 && word.starts_with('-');
  return fmt::format("{} {}", isOption ? "there is no option" : "unexpected argument", word);
}

// Returns true when a word such as `--session` was meant for an argument that has no option: SESSION.
bool isOptionFor(const Option& argument, std::string_view word) {
  if (!argument.isArgument() || !word.starts_with("--")) return false;
  const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; };
  return std::ranges::equal(argument.name, word.substr(2), {}, {}, upper);
}

int runWords(std::vector<std::string> words, const std::shared_ptr<StorageBackend>& backend) {
  words.insert(words.begin(), "bough");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return run(static_cast<int>(words.size()), arguments.data(), backend);
}

// The commands, and the command that the command line names.
class Application {
 public:
  explicit Application(std::shared_ptr<StorageBackend> backend) : groups_(commandGroups()) {
    context_.backend = std::move(backend);
    context_.runCommand = [this](std::vector<std::string> words) {
      return runWords(std::move(words), context_.backend);
    };
  }

  Result<ExitCode> run(int argc, char** argv) {
    std::vector<char*> words = withChatCommand({argv, static_cast<std::size_t>(argc)});
    argc = static_cast<int>(words.size());
    words.push_back(nullptr);
    argv = words.data();
    ParsedLine line = parseLine(argc, argv, globalOptions(context_), groups_);
    command_ = line.command;
    if (line.help) {
      const auto word = command_ == nullptr
                            ? commandWord(std::span(words).subspan(1, static_cast<std::size_t>(argc) - 1))
                            : std::nullopt;
      return printHelp(groups_, word.value_or(commandName()), context_.json);
    }
    if (!line.problem.empty()) return wrongUse(argc, argv, line);
    useColors(context_.color);
    if (!line.unplacedWords.empty()) {
      if (!areDashWords(line.unplacedWords))
        return wrongUse(argc, argv, {.problem = unexpectedWordText(line.unplacedWords.front())});
      *command_->dashWords = std::move(line.unplacedWords);
    }
    if (context_.version) return version_command::define().run(context_);
    if (command_ == nullptr) return showHome(context_);
    auto outcome = command_->run(context_);
    if (!outcome || *outcome != kDone) context_.newStore->removeEmpty();
    if (!outcome) outcome.error().hint = withoutCommand(std::move(outcome.error().hint), command_->name);
    return outcome;
  }

  [[nodiscard]] bool json() const { return context_.json; }

 private:
  // Returns true when the words that the parser could not place are words with one dash that the command takes, such as
  // `-word` in a search.
  [[nodiscard]] bool areDashWords(const std::vector<std::string>& words) const {
    return command_ != nullptr && command_->dashWords != nullptr &&
           std::ranges::all_of(words, [](const std::string& word) {
             return word.size() > 1 && word.starts_with('-') && !word.starts_with("--");
           });
  }

  // Returns true when the command refuses @last if nobody can be asked.
  [[nodiscard]] bool changesSession() const {
    return std::ranges::any_of(command_->options, [](const Option& each) { return each.help == kExactSessionHelp; });
  }

  [[nodiscard]] std::string commandName() const { return command_ == nullptr ? "" : command_->name; }

  // The parser stopped in the middle; looks for --json and unknown options in the words that it has not reached.
  Result<ExitCode> wrongUse(int argc, char** argv, const ParsedLine& line) {
    const std::span<char*> arguments(argv, static_cast<std::size_t>(argc));
    for (const std::string_view argument : arguments) context_.json = context_.json || argument == "--json";
    for (const std::string_view argument : arguments.subspan(1)) {
      if (argument == "--") break;
      if (!argument.starts_with("--")) continue;
      BOUGH_TRY(checkOption(argument.substr(0, argument.find('='))));
    }
    if (const auto word = line.missing.empty() ? std::nullopt : unknownOption(arguments.subspan(1))) {
      return fail(ErrorCode::InvalidArgument, fmt::format("there is no option {}", *word),
                  fmt::format("after -- it is a name: bough {} -- {}", command_->name, shellWord(*word)));
    }
    if (!line.hint.empty()) return fail(ErrorCode::InvalidArgument, line.problem, line.hint);
    if (line.missing == "SESSION") {
      return fail(ErrorCode::InvalidArgument, line.problem,
                  changesSession()
                      ? fmt::format("`bough ls` lists the sessions; `bough {}` takes the id of one", command_->name)
                      : fmt::format("`bough ls` lists the sessions: bough {} @last, or the id of one", command_->name));
    }
    if (line.missing == "ENTRY") {
      return fail(ErrorCode::InvalidArgument, line.problem,
                  "`bough tree SESSION --ids` shows the entries; also @head~2 (two before the head) and labels");
    }
    if (const std::string choices = choicesOf(line.missing); !choices.empty()) {
      return fail(ErrorCode::InvalidArgument, line.problem, fmt::format("one of {}", choices));
    }
    if (command_ != nullptr) {
      return fail(ErrorCode::InvalidArgument, line.problem, fmt::format("`bough help {}` explains it", command_->name));
    }
    if (const auto word = commandWord(arguments.subspan(1))) {
      BOUGH_TRY(findCommand(groups_, *word));
    }
    return fail(ErrorCode::InvalidArgument, line.problem, "`bough help` lists the commands");
  }

  // Returns the possible values of an option or argument of the command; empty: anything.
  [[nodiscard]] std::string choicesOf(const std::string& missing) const {
    if (command_ == nullptr || missing.empty()) return {};
    const auto option =
        std::ranges::find_if(command_->options, [&](const Option& each) { return each.isCalled(missing); });
    if (option == command_->options.end()) return {};
    return fmt::format("{}", fmt::join(option->choices, ", "));
  }

  // Returns a word with one dash that is neither an option of the command nor an option's value.
  std::optional<std::string> unknownOption(std::span<char*> words) {
    if (command_ == nullptr) return std::nullopt;
    std::vector<Option> options = globalOptions(context_);
    std::ranges::copy(command_->options, std::back_inserter(options));
    for (std::size_t i = 0; i < words.size() && std::string_view(words[i]) != "--"; ++i) {
      const std::string_view word = words[i];
      if (word.size() < 2 || !word.starts_with('-')) continue;
      const std::string_view name = word.starts_with("--") ? word : word.substr(0, 2);
      const auto option = std::ranges::find_if(options, [&](const Option& each) { return each.isCalled(name); });
      if (option == options.end() && !word.starts_with("--")) return std::string(word);
      if (option != options.end() && !option->isFlag() && name == word) ++i;
    }
    return std::nullopt;
  }

  // Lets `bough -c`, `bough -p TEXT` and `bough -r` start the chat, as in other agents. No other chat option does this:
  // before the name of a command, it would turn that command into a prompt.
  std::vector<char*> withChatCommand(std::span<char*> arguments) {
    static std::string chat = "chat";
    const std::vector<Option> options = globalOptions(context_);
    std::vector<char*> words(arguments.begin(), arguments.end());
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::string_view word(words[i]);
      const std::string_view name = word.substr(0, word.find('='));
      const auto option = std::ranges::find_if(options, [&](const Option& each) { return each.isCalled(name); });
      if (option == options.end()) {
        constexpr std::string_view kOfChat[] = {"-p", "--prompt", "-c", "--continue", "-r", "--resume"};
        if (std::ranges::find(kOfChat, name) != std::end(kOfChat)) {
          words.insert(words.begin() + static_cast<std::ptrdiff_t>(i), chat.data());
        }
        break;
      }
      if (!option->isFlag() && name == word) ++i;
    }
    return words;
  }

  // Returns the word at the place of the command: the first word that is neither an option nor an option's value.
  std::optional<std::string> commandWord(std::span<char*> words) {
    const std::vector<Option> options = globalOptions(context_);
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string_view word = words[i];
      if (!word.starts_with('-')) return std::string(word);
      const auto option = std::ranges::find(options, word, &Option::name);
      if (option != options.end() && !option->value.empty()) ++i;
    }
    return std::nullopt;
  }

  // Fails with InvalidArgument, suggesting the nearest option, unless the command or every command has this option.
  Result<void> checkOption(std::string_view name) {
    std::vector<Option> options = globalOptions(context_);
    if (command_ != nullptr) std::ranges::copy(command_->options, std::back_inserter(options));
    std::vector<std::string> known{"--help"};
    for (const Option& option : options) {
      if (option.isArgument()) continue;
      for (std::string& each : option.names()) {
        if (each.starts_with("--")) known.push_back(std::move(each));
      }
    }
    if (std::ranges::find(known, name) != known.end()) return {};
    const auto isArgument = [&](const Option& option) { return isOptionFor(option, name); };
    if (const auto argument = std::ranges::find_if(options, isArgument); argument != options.end()) {
      return fail(ErrorCode::InvalidArgument, fmt::format("there is no option {}", name),
                  fmt::format("write {} alone, without {}", argument->name, name));
    }
    const std::string meant = nearest(name, known);
    return fail(ErrorCode::InvalidArgument, fmt::format("there is no option {}", name),
                !meant.empty()        ? fmt::format("did you mean {}?", meant)
                : command_ == nullptr ? "`bough help` lists the commands"
                                      : fmt::format("`bough help {}` explains it", command_->name));
  }

  std::vector<CommandGroup> groups_;
  Context context_;
  const Command* command_ = nullptr;
};

// std::bad_alloc is the only exception from the library. What was acknowledged is stored; the rest was not done.
template <typename Call>
Result<ExitCode> guarded(Call call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::Io, "memory has run out",
                "end other programs, or raise the limit (`ulimit -v`), then try again");
  }
}

}  // namespace

std::string Context::resolvedLocation() const {
  return storeLocation.empty() ? defaultLocation().value_or("") : storeLocation;
}

Result<std::unique_ptr<SessionStore>> Context::openStore(bool create) const {
  StoreOptions options;
  options.create = create;
  if (backend) return SessionStore::open(SessionStoreInit{.backend = backend, .options = options});
  const std::string location = resolvedLocation();
  if (location.empty()) {
    Error error = defaultLocation().error();
    error.code = ErrorCode::InvalidArgument;
    return std::unexpected(std::move(error));
  }
  if (create) newStore->watch(location);
  return SessionStore::open(location, options);
}

int run(int argc, char** argv, std::shared_ptr<StorageBackend> backend) {
  // When the reader closes the pipe (`bough cat … | head`), the write fails, and bough ends quietly.
  std::signal(SIGPIPE, SIG_IGN);
  // The same for a limit on file sizes: the write fails with an error.
  std::signal(SIGXFSZ, SIG_IGN);
  reopenOutput();
  Application application(std::move(backend));
  const auto outcome = guarded([&] { return application.run(argc, argv); });
  if (const auto lost = outputFailure()) {
    printError(*lost, application.json());
    return kProblem;
  }
  if (outputClosed()) return kDone;
  if (outcome) return *outcome;
  printError(outcome.error(), application.json());
  return exitCodeFor(outcome.error());
}

}  // namespace bough::cli
