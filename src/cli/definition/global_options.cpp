// The options that every command takes.

#include <algorithm>

#include "cli/definition/command.h"

namespace bough::cli {

std::vector<std::string> Option::names() const {
  std::vector<std::string> out;
  for (std::string_view rest = name; !rest.empty();) {
    const std::string_view each = rest.substr(0, rest.find(','));
    out.emplace_back(each);
    rest.remove_prefix(std::min(each.size() + 1, rest.size()));
  }
  return out;
}

bool Option::isCalled(std::string_view word) const {
  return std::ranges::any_of(names(), [&](const std::string& each) { return each == word; });
}

std::vector<Option> globalOptions(Context& context) {
  return {
      {.name = "--store",
       .help = "The store: a folder, or a postgresql:// URL. Default: $BOUGH_STORE, else $XDG_DATA_HOME/bough, else "
               "~/.local/share/bough",
       .target = &context.storeLocation,
       .value = "STORE"},
      {.name = "--color",
       .help = "Use colors: on a terminal, always or never; default: auto",
       .target = &context.color,
       .choices = {"auto", "always", "never"},
       .value = "WHEN"},
      {.name = "--json", .help = "Print JSON for programs", .target = &context.json},
      {.name = "--strict",
       .help = "Fail when a part of the session cannot be read, or a message is not what its dialect allows",
       .target = &context.strict},
      {.name = "-V,--version", .help = "Print the version and nothing else", .target = &context.version},
  };
}

}  // namespace bough::cli
