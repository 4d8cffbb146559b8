// The list of all commands.

#include "cli/commands/commands.h"

namespace bough::cli {

std::vector<CommandGroup> commandGroups() {
  return {
      {.title = "Sessions",
       .commands = {chatCommand(), newCommand(), lsCommand(), showCommand(), searchCommand(), usageCommand(),
                    appendCommand(), renameCommand(), followCommand(), catCommand()}},
      {.title = "Branches",
       .commands = {treeCommand(), branchesCommand(), switchCommand(), headsCommand(), forkCommand(), labelCommand(),
                    labelsCommand(), restoreCommand(), diffCommand(), replayCommand()}},
      {.title = "Messages",
       .commands = {contextCommand(), compatCommand(), migrateProviderCommand(), convertCommand()}},
      {.title = "Other agents", .commands = {importCommand(), exportCommand(), resumeCommand(), keepCommand()}},
      {.title = "Upkeep",
       .commands = {redactCommand(), eraseCommand(), rmCommand(), trashCommand(), pruneCommand(), archiveCommand(),
                    doctorCommand(), verifyCommand(), repairCommand(), tornCommand(), migrateCommand(),
                    reindexCommand(), copyCommand(), syncCommand(), storeCommand()}},
      {.title = "bough",
       .commands = {mcpCommand(), completionCommand(), helpCommand(), schemaCommand(), versionCommand()}},
  };
}

}  // namespace bough::cli
