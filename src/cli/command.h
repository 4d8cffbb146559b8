// What a command is: its words, its options, what it does. The parser, the help, the manual and the completions are all
// made from this one definition.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bough/error.h"
#include "bough/store.h"

namespace bough::cli {

/// Exit codes, as docs/cli.md promises them.
enum ExitCode : int { kDone = 0, kProblem = 1, kWrongUse = 2 };

/// What every command is given.
struct Context {
  std::string storeLocation;  ///< As --store gave it; empty for the default.
  bool json = false;
  bool version = false;                     ///< --version: only that is printed.
  std::shared_ptr<StorageBackend> backend;  ///< When set, the store is over this one, wherever --store points.

  /// Opens the store. Only commands that make something make the store too.
  [[nodiscard]] Result<std::unique_ptr<SessionStore>> openStore(bool create = false) const;
  /// --store, else BOUGH_STORE, else $XDG_DATA_HOME/bough, else ~/.local/share/bough.
  [[nodiscard]] std::string resolvedLocation() const;
};

/// One option (`--name`) or argument (`NAME`), and where its value goes.
struct Option {
  std::string name;
  std::string help;
  /// A text is never empty when it was given.
  std::variant<bool*, std::string*, std::uint64_t*, std::vector<std::string>*> target;
  bool required = false;
  std::vector<std::string> choices = {};
  std::string value = {};  ///< What the help calls its value, as N or FILE.

  [[nodiscard]] bool isArgument() const { return !name.starts_with('-'); }
  [[nodiscard]] bool isFlag() const { return std::holds_alternative<bool*>(target); }
};

struct Command {
  std::string name;
  std::string summary;
  std::string details;   ///< A few sentences; may be empty.
  std::string examples;  ///< One a line; may be empty.
  std::vector<Option> options;
  std::shared_ptr<void> values;  ///< Keeps alive what the options point to.
  std::function<Result<ExitCode>(const Context&)> run;
};

// One a command, each in the file of its name.
Command chatCommand();
Command newCommand();
Command lsCommand();
Command searchCommand();
Command usageCommand();
Command appendCommand();
Command showCommand();
Command followCommand();
Command catCommand();
Command treeCommand();
Command branchesCommand();
Command switchCommand();
Command forkCommand();
Command labelCommand();
Command labelsCommand();
Command restoreCommand();
Command diffCommand();
Command replayCommand();
Command convertCommand();
Command contextCommand();
Command compatCommand();
Command migrateProviderCommand();
Command redactCommand();
Command doctorCommand();
Command archiveCommand();
Command rmCommand();
Command trashCommand();
Command pruneCommand();
Command reindexCommand();
Command verifyCommand();
Command repairCommand();
Command migrateCommand();
Command completionCommand();
Command helpCommand();
Command versionCommand();

/// Commands that belong together, as the help lists them.
struct CommandGroup {
  std::string title;
  std::vector<Command> commands;
};

/// All commands there are.
std::vector<CommandGroup> commandGroups();
/// The options every command takes.
std::vector<Option> globalOptions(Context& context);

/// `bough` alone.
Result<ExitCode> showHome(const Context& context);

}  // namespace bough::cli
