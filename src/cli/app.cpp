#include "cli/app.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>

#include "cli/command.h"
#include "cli/output.h"

namespace bough::cli {
namespace {

std::string environmentValue(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

void addOption(CLI::App& app, const Option& option) {
  CLI::Option* added = nullptr;
  if (auto* const* flag = std::get_if<bool*>(&option.target)) {
    added = app.add_flag(option.name, **flag, option.help);
  } else if (auto* const* text = std::get_if<std::string*>(&option.target)) {
    added = app.add_option(option.name, **text, option.help);
  } else {
    added = app.add_option(option.name, *std::get<std::vector<std::string>*>(option.target), option.help);
  }
  added->required(option.required);
  if (!option.choices.empty()) added->check(CLI::IsMember(option.choices));
}

std::string footerOf(const Command& command) {
  std::string footer = command.details;
  if (!command.examples.empty()) footer += fmt::format("{}Examples:\n{}", footer.empty() ? "" : "\n", command.examples);
  return footer;
}

ExitCode codeFor(const Error& error) {
  return error.code == ErrorCode::InvalidArgument || error.code == ErrorCode::Unsupported ? kWrongUse : kProblem;
}

// The parser and what it found.
class Application {
 public:
  Application() {
    app_.name("bough");
    app_.description("bough keeps the conversations of AI agents: durable, branching, portable.");
    app_.footer(
        "`bough help COMMAND` says what a command does, with examples.\n"
        "Exit codes: 0 done, 1 a problem in the data, 2 wrong use.");
    addOption(app_, {.name = "--store",
                     .help = "The store: a folder. Default: $BOUGH_STORE, else $XDG_DATA_HOME/bough, else "
                             "~/.local/share/bough",
                     .target = &context_.storeLocation});
    addOption(app_, {.name = "--json", .help = "Print JSON for programs", .target = &context_.json});
    app_.require_subcommand(0, 1);
    app_.fallthrough();
    for (Command command : {newCommand(), appendCommand(), switchCommand(), catCommand(), verifyCommand(),
                            repairCommand(), migrateCommand(), convertCommand(), helpCommand(), versionCommand()}) {
      CLI::App* parser = app_.add_subcommand(command.name, command.summary);
      parser->footer(footerOf(command));
      for (const Option& option : command.options) addOption(*parser, option);
      parser->callback([this, run = command.run, values = command.values] { run_ = run; });
    }
  }

  Result<ExitCode> run(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
      printText(app_.help());
      return kDone;
    } catch (const CLI::ParseError& error) {
      return fail(ErrorCode::InvalidArgument, error.what(), "`bough help` shows how");
    }
    return run_ ? run_(context_) : showHome(context_);
  }

  [[nodiscard]] bool json() const { return context_.json; }

 private:
  Command helpCommand() {
    auto name = std::make_shared<std::string>();
    return {.name = "help",
            .summary = "Show what a command does",
            .details = {},
            .examples = "  bough help append",
            .options = {{.name = "COMMAND", .help = "The command; without one, all of them", .target = name.get()}},
            .values = name,
            .run = [this, name](const Context&) { return showHelp(*name); }};
  }

  Result<ExitCode> showHelp(const std::string& name) {
    if (name.empty()) {
      printText(app_.help());
      return kDone;
    }
    const auto found = app_.get_subcommands([&](const CLI::App* candidate) { return candidate->get_name() == name; });
    if (found.empty()) {
      return fail(ErrorCode::InvalidArgument, fmt::format("there is no command {}", name), "`bough help` lists them");
    }
    printText(found.front()->help("bough"));
    return kDone;
  }

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
  return SessionStore::open(resolvedLocation(), options);
}

int run(int argc, char** argv) {
  // A reader that went away (`bough cat … | head`) shows as a failed write, and ends us quietly.
  std::signal(SIGPIPE, SIG_IGN);
  Application application;
  const auto outcome = application.run(argc, argv);
  if (outputClosed()) return kDone;
  if (outcome) return *outcome;
  printError(outcome.error(), application.json());
  return codeFor(outcome.error());
}

}  // namespace bough::cli
