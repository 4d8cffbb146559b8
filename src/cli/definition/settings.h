// The user's settings: ~/.config/bough/config.json (docs/settings.md).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bough/agent/provider.h"
#include "bough/error.h"

namespace bough::cli {

/// What tools may do in a folder without asking.
struct FolderPermissions {
  std::vector<std::string> commands{};  ///< As given to --allow.
  std::vector<std::string> exactly{};   ///< Permissions for single calls (PreparedCall::permission).
};

struct Settings {
  std::string model{};
  std::string thinking{};
  std::string system{};
  std::vector<agent::OwnProvider> providers{};
  std::vector<std::string> commands{};                 ///< Allowed in every folder, as given to --allow.
  std::map<std::string, FolderPermissions> folders{};  ///< By absolute path.
  std::string prices{};                                ///< Lines for PriceTable::parse.
};

/// Returns $XDG_CONFIG_HOME/bough/config.json, otherwise ~/.config/bough/config.json; empty when HOME is not set.
std::string settingsPath();

/// Returns the paths of the user's instruction files for every model, whether they exist or not: in bough's own folder,
/// and in that of Claude Code.
std::vector<std::string> userInstructions();

/// Reads the settings. Returns the defaults when the file does not exist. Fails with InvalidArgument, naming the wrong
/// line and how to correct it.
Result<Settings> readSettings();
/// The same for a text; `path` is for messages.
Result<Settings> parseSettings(std::string_view text, const std::string& path);

/// Adds a permission for a folder to the settings file. Everything else in the file stays as it is.
Result<void> allowInFolder(const std::string& folder, const std::string& permission);

}  // namespace bough::cli
