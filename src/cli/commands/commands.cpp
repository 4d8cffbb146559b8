// The list of all commands.

#include "cli/commands/commands.h"

namespace bough::cli {

std::vector<CommandGroup> commandGroups() {
  return {
      {.title = "Sessions",
       .commands = {chat_command::define(), new_command::define(), ls_command::define(), show_command::define(),
                    search_command::define(), usage_command::define(), append_command::define(),
                    rename_command::define(), follow_command::define(), cat_command::define()}},
      {.title = "Branches",
       .commands = {tree_command::define(), branches_command::define(), switch_command::define(),
                    heads_command::define(), fork_command::define(), label_command::define(), labels_command::define(),
                    restore_command::define(), diff_command::define(), replay_command::define()}},
      {.title = "Messages",
       .commands = {context_command::define(), compat_command::define(), migrate_provider_command::define(),
                    convert_command::define()}},
      {.title = "Other agents",
       .commands = {import_command::define(), export_command::define(), resume_command::define(),
                    keep_command::define()}},
      {.title = "Upkeep",
       .commands = {redact_command::define(), erase_command::define(), rm_command::define(), trash_command::define(),
                    prune_command::define(), archive_command::define(), doctor_command::define(),
                    verify_command::define(), repair_command::define(), torn_command::define(),
                    migrate_command::define(), reindex_command::define(), copy_command::define(),
                    copy_command::defineSync(), store_command::define()}},
      {.title = "bough",
       .commands = {mcp_command::define(), completion_command::define(), help_command::define(),
                    schema_command::define(), version_command::define()}},
  };
}

}  // namespace bough::cli
