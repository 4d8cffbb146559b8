// The list of all commands.

#include "cli/command.h"

namespace bough::cli {

std::vector<CommandGroup> commandGroups() {
  return {
      {.title = "Sessions",
       .commands = {chatCommand(), newCommand(), lsCommand(), showCommand(), searchCommand(), usageCommand(),
                    appendCommand(), followCommand(), catCommand()}},
      {.title = "Branches",
       .commands = {treeCommand(), branchesCommand(), switchCommand(), forkCommand(), labelCommand(), labelsCommand(),
                    restoreCommand(), diffCommand(), replayCommand()}},
      {.title = "Messages",
       .commands = {contextCommand(), compatCommand(), migrateProviderCommand(), convertCommand()}},
      {.title = "Care",
       .commands = {redactCommand(), rmCommand(), trashCommand(), pruneCommand(), archiveCommand(), doctorCommand(),
                    verifyCommand(), repairCommand(), migrateCommand(), reindexCommand()}},
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
      {.name = "--version", .help = "Print the version and nothing else", .target = &context.version},
  };
}

}  // namespace bough::cli
