// The settings of a person: ~/.config/bough/config.json (docs/settings.md).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bough/agent/provider.h"
#include "bough/error.h"

namespace bough::cli {

/// What tools may do in a folder without a question.
struct FolderPermissions {
  std::vector<std::string> commands{};  ///< As --allow.
  std::vector<std::string> exactly{};   ///< Permissions of single calls (PreparedCall::permission).
};

struct Settings {
  std::string model{};
  std::string thinking{};
  std::string system{};
  std::vector<agent::OwnProvider> providers{};
  std::vector<std::string> commands{};                 ///< Allowed in every folder, as --allow.
  std::map<std::string, FolderPermissions> folders{};  ///< By absolute path.
  std::string prices{};                                ///< Lines as PriceTable::parse reads them.
};

/// $XDG_CONFIG_HOME/bough/config.json, else ~/.config/bough/config.json; empty when HOME is not set.
std::string settingsPath();

/// The files in which the user tells every model something, whether they are there or not: in bough's own folder, and
/// where Claude Code has it.
std::vector<std::string> userInstructions();

/// Reads the settings; defaults when there is no such file. InvalidArgument names the line that is wrong and what to
/// do.
Result<Settings> readSettings();
/// The same from a text; `path` is for messages.
Result<Settings> parseSettings(std::string_view text, const std::string& path);

/// Adds a permission for a folder to the settings. Everything else in the file stays as it is.
Result<void> allowInFolder(const std::string& folder, const std::string& permission);

}  // namespace bough::cli
