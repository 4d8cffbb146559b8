#include "cli/app.h"
#include "base/try.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <span>

#include "cli/commands/commands.h"
#include "cli/definition/help.h"
#include "cli/terminal/output.h"

namespace bough::cli {
namespace {

std::string environmentValue(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// What a variable that is not set leaves of an argument is a mistake of the caller, not a wish for the default.
std::string refuseEmpty(const std::string& value) {
  return value.empty() ? "the value is empty; give a value or leave the option out" : "";
}

void addOption(CLI::App& app, const Option& option) {
  CLI::Option* added = nullptr;
  if (auto* const* flag = std::get_if<bool*>(&option.target)) {
    added = app.add_flag(option.name, **flag, option.help);
  } else if (auto* const* text = std::get_if<std::string*>(&option.target)) {
    added = app.add_option(option.name, **text, option.help);
    if (option.alone.empty()) {
      added->check(refuseEmpty, "not empty");
    } else {
      added->expected(0, 1);
    }
  } else if (auto* const* number = std::get_if<std::uint64_t*>(&option.target)) {
    added = app.add_option(option.name, **number, option.help);
  } else {
    added = app.add_option(option.name, *std::get<std::vector<std::string>*>(option.target), option.help);
  }
  added->required(option.required);
  if (!option.choices.empty()) added->check(CLI::IsMember(option.choices));
}

// An option that was given without its value has the one it stands for.
void setAlone(const CLI::App& app, const Option& option) {
  if (option.alone.empty() || app.count(option.name) == 0) return;
  std::string& value = *std::get<std::string*>(option.target);
  if (value.empty()) value = option.alone;
}

ExitCode codeFor(const Error& error) {
  return error.code == ErrorCode::InvalidArgument || error.code == ErrorCode::Unsupported ? kWrongUse : kProblem;
}

int runWords(std::vector<std::string> words, const std::shared_ptr<StorageBackend>& backend) {
  words.insert(words.begin(), "bough");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return run(static_cast<int>(words.size()), arguments.data(), backend);
}

// The parser and what it found.
class Application {
 public:
  explicit Application(std::shared_ptr<StorageBackend> backend) : groups_(commandGroups()) {
    context_.backend = std::move(backend);
    context_.runCommand = [this](std::vector<std::string> words) {
      return runWords(std::move(words), context_.backend);
    };
    app_.name("bough");
    for (const Option& option : globalOptions(context_)) addOption(app_, option);
    app_.require_subcommand(0, 1);
    app_.fallthrough();
    for (const CommandGroup& group : groups_) {
      for (const Command& command : group.commands) {
        CLI::App* parser = app_.add_subcommand(command.name, command.summary);
        // Only the command that is meant needs its options; making all of them takes longer than most commands.
        parser->preparse_callback([parser, &command](std::size_t) {
          for (const Option& option : command.options) addOption(*parser, option);
        });
        parser->callback([this, parser, &command] {
          for (const Option& option : command.options) setAlone(*parser, option);
          run_ = command.run;
        });
      }
    }
  }

  Result<ExitCode> run(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
      return showHelp();
    } catch (const CLI::ParseError& error) {
      return wrongUse(argc, argv, error.what());
    }
    if (context_.version) return versionCommand().run(context_);
    return run_ ? run_(context_) : showHome(context_);
  }

  [[nodiscard]] bool json() const { return context_.json; }

 private:
  // Behind `--help`, with or without a command.
  Result<ExitCode> showHelp() {
    const auto parsed = app_.get_subcommands();
    return printHelp(groups_, parsed.empty() ? "" : parsed.front()->get_name(), context_.json);
  }

  // The parser stopped in the middle, so what it has not reached is looked for here.
  Result<ExitCode> wrongUse(int argc, char** argv, const std::string& message) {
    const std::span<char*> arguments(argv, static_cast<std::size_t>(argc));
    for (const std::string_view argument : arguments) context_.json = context_.json || argument == "--json";
    const auto parsed = app_.get_subcommands();
    if (auto unknown = unknownOption(arguments, parsed.empty() ? "" : parsed.front()->get_name())) return *unknown;
    if (!parsed.empty()) {
      return fail(ErrorCode::InvalidArgument, message,
                  fmt::format("`bough help {}` explains it", parsed.front()->get_name()));
    }
    const auto word = std::ranges::find_if(arguments.subspan(1), [](const char* argument) { return *argument != '-'; });
    if (word != arguments.end() && std::string_view(*(word - 1)) != "--store") {
      BOUGH_TRY(findCommand(groups_, *word));
    }
    return fail(ErrorCode::InvalidArgument, message, "`bough help` lists the commands");
  }

  // The first option that neither the command nor every command has, and the one that was perhaps meant.
  std::optional<std::unexpected<Error>> unknownOption(std::span<char*> arguments, const std::string& commandName) {
    std::vector<Option> options = globalOptions(context_);
    if (auto command = findCommand(groups_, commandName))
      std::ranges::copy(command->options, std::back_inserter(options));
    std::vector<std::string> known{"--help"};
    for (const Option& option : options) {
      if (!option.isArgument()) known.push_back(option.name.substr(option.name.rfind(',') + 1));
    }
    for (std::string_view argument : arguments.subspan(1)) {
      if (argument == "--") break;
      argument = argument.substr(0, argument.find('='));
      if (!argument.starts_with("--") || std::ranges::find(known, argument) != known.end()) continue;
      const std::string meant = nearest(argument, known);
      return fail(ErrorCode::InvalidArgument, fmt::format("there is no option {}", argument),
                  !meant.empty()        ? fmt::format("did you mean {}?", meant)
                  : commandName.empty() ? "`bough help` lists the commands"
                                        : fmt::format("`bough help {}` explains it", commandName));
    }
    return std::nullopt;
  }

  std::vector<CommandGroup> groups_;
  CLI::App app_;
  Context context_;
  std::function<Result<ExitCode>(const Context&)> run_;
};

}  // namespace

std::string Context::resolvedLocation() const {
  if (!storeLocation.empty()) return storeLocation;
  if (auto location = environmentValue("BOUGH_STORE"); !location.empty()) return location;
  if (auto data = environmentValue("XDG_DATA_HOME"); !data.empty()) return data + "/bough";
  return environmentValue("HOME") + "/.local/share/bough";
}

Result<std::unique_ptr<SessionStore>> Context::openStore(bool create) const {
  StoreOptions options;
  options.create = create;
  if (backend) return SessionStore::open(SessionStoreInit{.backend = backend, .options = options});
  return SessionStore::open(resolvedLocation(), options);
}

int run(int argc, char** argv, std::shared_ptr<StorageBackend> backend) {
  // A reader that went away (`bough cat … | head`) shows as a failed write, and ends us quietly.
  std::signal(SIGPIPE, SIG_IGN);
  // A limit on the size of files likewise: the write fails and says so.
  std::signal(SIGXFSZ, SIG_IGN);
  reopenOutput();
  Application application(std::move(backend));
  const auto outcome = application.run(argc, argv);
  if (const auto lost = outputFailure()) {
    printError(*lost, application.json());
    return kProblem;
  }
  if (outputClosed()) return kDone;
  if (outcome) return *outcome;
  printError(outcome.error(), application.json());
  return codeFor(outcome.error());
}

}  // namespace bough::cli
