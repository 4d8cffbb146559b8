#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/repl/repl_commands.h"
#include "cli/terminal/output.h"
#include "cli/terminal/picker.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/wrapped_text.h"

namespace bough::cli {

void printModels(const std::vector<agent::OwnProvider>& own) {
  for (const agent::UsableProvider& each : agent::usableProviders(own)) {
    if (!each.needs.empty()) {
      printWrapped(styled(Style::Dim, fmt::format("  {:<12} needs {}", each.name, each.needs)), 15);
      continue;
    }
    const std::string models =
        each.models.empty() ? "any model of that server" : fmt::format("{}", fmt::join(each.models, ", "));
    std::string mark = fmt::format("  {:<12} ", each.name);
    for (const std::string& line : linesThatFit(models, std::max<std::size_t>(terminalWidth(), 40) - 16)) {
      printLine(mark + line);
      mark = std::string(15, ' ');
    }
  }
  printWrapped(styled(Style::Dim, "/model PROVIDER/MODEL changes it"));
}

}  // namespace bough::cli
