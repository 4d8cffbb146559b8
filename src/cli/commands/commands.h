// The commands, one per file, and the list of them.
#pragma once

#include <vector>

#include "cli/definition/command.h"

namespace bough::cli {

// Each command has its own namespace, so that all of them can use the same names for their parts.
// clang-format off
namespace chat_command { Command define(); }
namespace new_command { Command define(); }
namespace rename_command { Command define(); }
namespace ls_command { Command define(); }
namespace search_command { Command define(); }
namespace usage_command { Command define(); }
namespace append_command { Command define(); }
namespace show_command { Command define(); }
namespace follow_command { Command define(); }
namespace cat_command { Command define(); }
namespace tree_command { Command define(); }
namespace branches_command { Command define(); }
namespace switch_command { Command define(); }
namespace heads_command { Command define(); }
namespace fork_command { Command define(); }
namespace label_command { Command define(); }
namespace labels_command { Command define(); }
namespace restore_command { Command define(); }
namespace diff_command { Command define(); }
namespace replay_command { Command define(); }
namespace import_command { Command define(); }
namespace export_command { Command define(); }
namespace resume_command { Command define(); }
namespace keep_command { Command define(); }
namespace convert_command { Command define(); }
namespace context_command { Command define(); }
namespace compat_command { Command define(); }
namespace migrate_provider_command { Command define(); }
namespace redact_command { Command define(); }
namespace erase_command { Command define(); }
namespace doctor_command { Command define(); }
namespace archive_command { Command define(); }
namespace rm_command { Command define(); }
namespace trash_command { Command define(); }
namespace prune_command { Command define(); }
namespace reindex_command { Command define(); }
namespace verify_command { Command define(); }
namespace repair_command { Command define(); }
namespace torn_command { Command define(); }
namespace migrate_command { Command define(); }
namespace store_command { Command define(); }
namespace copy_command { Command define(); }
namespace copy_command { Command defineSync(); }
namespace mcp_command { Command define(); }
namespace completion_command { Command define(); }
namespace help_command { Command define(); }
namespace version_command { Command define(); }
namespace schema_command { Command define(); }
// clang-format on

/// Returns all commands, in the groups and the order of the help.
std::vector<CommandGroup> commandGroups();

/// Runs `bough` without a command.
Result<ExitCode> showHome(const Context& context);

}  // namespace bough::cli
