// The list of all commands.

#include "cli/command.h"

namespace bough::cli {

std::vector<CommandGroup> commandGroups() {
  return {
      {.title = "Sessions", .commands = {newCommand(), appendCommand(), showCommand(), followCommand(), catCommand()}},
      {.title = "Branches", .commands = {switchCommand()}},
      {.title = "Messages", .commands = {convertCommand()}},
      {.title = "Care",
       .commands = {redactCommand(), archiveCommand(), verifyCommand(), repairCommand(), migrateCommand()}},
      {.title = "bough", .commands = {completionCommand(), helpCommand(), versionCommand()}},
  };
}

std::vector<Option> globalOptions(Context& context) {
  return {
      {.name = "--store",
       .help = "The store: a folder. Default: $BOUGH_STORE, else $XDG_DATA_HOME/bough, else ~/.local/share/bough",
       .target = &context.storeLocation,
       .value = "FOLDER"},
      {.name = "--json", .help = "Print JSON for programs", .target = &context.json},
  };
}

}  // namespace bough::cli
