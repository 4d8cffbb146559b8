// What a command is: its words, its options, what it does. The parser, the help, the manual and the completions are all
// made from this one definition.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "bough/error.h"
#include "bough/store.h"
#include "cli/definition/new_store.h"
#include "cli/terminal/exit_code.h"

namespace bough::cli {

/// What every command is given.
struct Context {
  std::string storeLocation;   ///< As --store gave it; empty for the default.
  std::string color = "auto";  ///< auto, always or never.
  bool json = false;
  bool strict = false;                      ///< What cannot be read is an error.
  bool version = false;                     ///< --version: only that is printed.
  std::shared_ptr<StorageBackend> backend;  ///< When set, the store is over this one, wherever --store points.
  /// Runs another command line in this process and prints its errors; for the chat's slash commands.
  std::function<int(std::vector<std::string> words)> runCommand;
  std::shared_ptr<NewStore> newStore = std::make_shared<NewStore>();  ///< What the command makes when it makes a store.

  /// Opens the store. Only commands that make something make the store too.
  [[nodiscard]] Result<std::unique_ptr<SessionStore>> openStore(bool create = false) const;
  /// --store, else the default location; empty when there is none.
  [[nodiscard]] std::string resolvedLocation() const;
};

/// One option (`--name`) or argument (`NAME`), and where its value goes.
struct Option {
  std::string name;
  std::string help;
  /// A text is never empty when it was given, nor is a word of a list unless `mayBeEmpty` says so.
  std::variant<bool*, std::string*, std::uint64_t*, std::vector<std::string>*> target;
  bool required = false;
  std::vector<std::string> choices = {};
  std::string value = {};   ///< What the help calls its value, as N or FILE.
  std::uint64_t least = 1;  ///< The range of a number.
  std::uint64_t most = 1'000'000'000;
  std::string alone = {};  ///< The value when the option is given without one; empty: it must have one.
  bool mayBeEmpty = false;
  std::vector<std::string> notWith =
      {};  ///< Options and arguments that would be ignored beside this one, or ignore it.

  [[nodiscard]] bool isArgument() const { return !name.starts_with('-'); }
  [[nodiscard]] bool isFlag() const { return std::holds_alternative<bool*>(target); }
  [[nodiscard]] bool takesSeveral() const { return std::holds_alternative<std::vector<std::string>*>(target); }
  /// `-p,--prompt` as two.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool isCalled(std::string_view word) const;
};

struct Command {
  std::string name;
  std::string summary;
  std::string details;   ///< A few sentences; may be empty.
  std::string examples;  ///< One a line; may be empty.
  std::vector<Option> options;
  std::function<Result<ExitCode>(const Context&)> run;  ///< Keeps alive what the options point to.
  std::vector<std::string> aliases = {};                ///< Other names that people type.
  /// Where words that begin with one dash and are not options go; null: they are wrong use.
  std::vector<std::string>* dashWords = nullptr;
};

/// Commands that belong together, as the help lists them.
struct CommandGroup {
  std::string title;
  std::vector<Command> commands;
};

/// The options every command takes.
std::vector<Option> globalOptions(Context& context);

}  // namespace bough::cli
