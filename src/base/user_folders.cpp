#include "base/user_folders.h"

#include <cstdlib>

namespace bough {
namespace {

std::string absolute(std::string path) {
  return path.starts_with('/') ? path : std::string();
}

struct Place {
  const char* variable;
  const char* belowHome;
};

Place placeOf(UserFolder kind) {
  switch (kind) {
    case UserFolder::Data: return {.variable = "XDG_DATA_HOME", .belowHome = "/.local/share"};
    case UserFolder::Config: return {.variable = "XDG_CONFIG_HOME", .belowHome = "/.config"};
    default: return {.variable = "XDG_CACHE_HOME", .belowHome = "/.cache"};
  }
}

}  // namespace

std::string environmentVariable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::string() : std::string(value);
}

std::string homeFolder() {
  return absolute(environmentVariable("HOME"));
}

Result<std::string> withHome(const std::string& path) {
  if (path != "~" && !path.starts_with("~/")) return path;
  const std::string home = homeFolder();
  if (!home.empty()) return home + path.substr(1);
  return fail(ErrorCode::InvalidArgument,
              path + " is below your home folder, which is not known: HOME is not set to an absolute path",
              "set HOME, or name the absolute path");
}

std::string userFolder(UserFolder kind) {
  const Place place = placeOf(kind);
  if (std::string chosen = absolute(environmentVariable(place.variable)); !chosen.empty()) return chosen;
  const std::string home = homeFolder();
  return home.empty() ? home : home + place.belowHome;
}

std::string userName() {
  const std::string name = environmentVariable("USER");
  return name.empty() ? "unknown" : name;
}

}  // namespace bough
