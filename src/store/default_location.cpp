#include <cstdlib>
#include <string>
#include <string_view>

#include "bough/store.h"

namespace bough {
namespace {

std::string environmentValue(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

Result<std::string> defaultLocation() {
  if (auto location = environmentValue("BOUGH_STORE"); !location.empty()) return location;
  // The XDG specification tells to ignore a relative path.
  if (const auto data = environmentValue("XDG_DATA_HOME"); data.starts_with('/')) return data + "/bough";
  if (const auto home = environmentValue("HOME"); home.starts_with('/')) return home + "/.local/share/bough";
  return fail(ErrorCode::NotFound, "there is no default place for a store: HOME is not set",
              "name a folder with --store or BOUGH_STORE");
}

}  // namespace bough
