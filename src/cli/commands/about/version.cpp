#include <fmt/format.h>

#include "bough/version.h"
#include "cli/commands/commands.h"
#include "cli/terminal/output.h"

namespace bough::cli::version_command {

Command define() {
  return {
      .name = "version",
      .summary = "Print the version",
      .details = {},
      .examples = {},
      .options = {},
      .run = [](const Context& context) -> Result<ExitCode> {
        const int format = jsonEntrySerializer().schemaVersion();
        printLine(context.json ? fmt::format(R"({{"schema":1,"version":"{}","format":{}}})", kVersion, format)
                               : fmt::format("bough {} (session format {})", kVersion, format));
        return kDone;
      },
  };
}

}  // namespace bough::cli::version_command
