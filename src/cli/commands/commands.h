// The commands, one a file, and the list of them.
#pragma once

#include <vector>

#include "cli/definition/command.h"

namespace bough::cli {

Command chatCommand();
Command newCommand();
Command renameCommand();
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
Command headsCommand();
Command forkCommand();
Command labelCommand();
Command labelsCommand();
Command restoreCommand();
Command diffCommand();
Command replayCommand();
Command importCommand();
Command exportCommand();
Command resumeCommand();
Command keepCommand();
Command convertCommand();
Command contextCommand();
Command compatCommand();
Command migrateProviderCommand();
Command redactCommand();
Command eraseCommand();
Command doctorCommand();
Command archiveCommand();
Command rmCommand();
Command trashCommand();
Command pruneCommand();
Command reindexCommand();
Command verifyCommand();
Command repairCommand();
Command tornCommand();
Command migrateCommand();
Command storeCommand();
Command copyCommand();
Command syncCommand();
Command mcpCommand();
Command completionCommand();
Command helpCommand();
Command versionCommand();
Command schemaCommand();

/// All commands, in the groups and the order of the help.
std::vector<CommandGroup> commandGroups();

/// `bough` alone.
Result<ExitCode> showHome(const Context& context);

}  // namespace bough::cli
