// Defines what a command is: its words, its options and its action. The parser, the help, the manual and the
// completions are all generated from this definition.
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

/// What every command receives.
struct Context {
  std::string storeLocation;   ///< The value of --store; empty for the default.
  std::string color = "auto";  ///< auto, always or never.
  bool json = false;
  bool strict = false;                      ///< Treat unreadable data as an error.
  bool version = false;                     ///< --version: print only the version.
  std::shared_ptr<StorageBackend> backend;  ///< When set, the store uses this backend, whatever --store says.
  /// Runs another command line in this process and prints its errors; for slash commands of the chat.
  std::function<int(std::vector<std::string> words)> runCommand;
  std::shared_ptr<NewStore> newStore = std::make_shared<NewStore>();  ///< The store that this command creates, if it
                                                                      ///< creates one.

  /// Opens the store. Only commands that create something also create the store.
  [[nodiscard]] Result<std::unique_ptr<SessionStore>> openStore(bool create = false) const;
  /// Returns --store or the default location; empty when there is no default.
  [[nodiscard]] std::string resolvedLocation() const;
};

/// An option (`--name`) or argument (`NAME`), and the variable that gets its value.
struct Option {
  std::string name;
  std::string help;
  /// A text that was given is never empty, and neither is a word of a list, unless `mayBeEmpty` is set.
  std::variant<bool*, std::string*, std::uint64_t*, std::vector<std::string>*> target;
  bool required = false;
  std::vector<std::string> choices = {};
  std::string value = {};   ///< The name of the value in the help, such as N or FILE.
  std::uint64_t least = 1;  ///< The range of a number.
  std::uint64_t most = 1'000'000'000;
  std::string valueWhenBare = {};  ///< The value when the option is given without one; empty: the value is required.
  bool mayBeEmpty = false;
  std::vector<std::string> conflictsWith =
      {};  ///< Options and arguments that cannot be combined with this one, because one of the two would be ignored.

  [[nodiscard]] bool isArgument() const { return !name.starts_with('-'); }
  [[nodiscard]] bool isFlag() const { return std::holds_alternative<bool*>(target); }
  [[nodiscard]] bool takesSeveral() const { return std::holds_alternative<std::vector<std::string>*>(target); }
  /// Returns both names of `-p,--prompt`.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool isCalled(std::string_view word) const;
};

struct Command {
  std::string name;
  std::string summary;
  std::string details;   ///< Some sentences; may be empty.
  std::string examples;  ///< One per line; may be empty.
  std::vector<Option> options;
  std::function<Result<ExitCode>(const Context&)> run;  ///< Also keeps alive what the options point to.
  std::vector<std::string> aliases = {};                ///< Other names that people may type.
  /// Receives words that begin with one dash and are not options; null: such words are an error.
  std::vector<std::string>* dashWords = nullptr;
};

/// Related commands, as the help groups them.
struct CommandGroup {
  std::string title;
  std::vector<Command> commands;
};

/// Returns the options that every command takes.
std::vector<Option> globalOptions(Context& context);

}  // namespace bough::cli
