#include <fmt/format.h>

#include "base/json/json_scan.h"
#include "base/text/counted.h"
#include "base/try.h"
#include "cli/commands/commands.h"
#include "cli/names/session_name.h"
#include "cli/terminal/output.h"

namespace bough::cli::cat_command {
namespace {

Result<ExitCode> run(const Context& context, const std::string& name) {
  BOUGH_TRY(auto session, openForReading(context, name));
  std::uint64_t broken = 0;  // lines that were sealed but are not valid JSON
  auto done = session.store->exportSession(session.sessionId, [&](std::string_view line) {
    if (!json::check(line)) ++broken;
    printJsonLine(line);
    return !outputClosed();
  });
  if (!done) return std::unexpected(done.error());
  BOUGH_TRY(auto state, session.store->sessionState(session.sessionId));
  if (broken > 0 && state.problemCount == 0) {
    printMessage(fmt::format("{} not JSON; `bough verify {}` says where",
                             counted(broken, "line here is", "lines here are"), exactName(session.sessionId)));
  }
  if (broken > 0 || state.problemCount > 0) return kProblem;  // some lines are missing in the output
  if (state.trailingBytes > 0) {
    printMessage(fmt::format("the last {} not a complete entry; if nothing is writing now, run `bough verify {}`",
                             counted(state.trailingBytes, "byte is", "bytes are"), session.sessionId));
  }
  return kDone;
}

}  // namespace

Command define() {
  auto name = std::make_shared<std::string>();
  return {
      .name = "cat",
      .summary = "Print the log of a session as it is stored: JSON lines, the header first",
      .details = "The log of a fork does not contain the history it shares; the header names the session that does.",
      .examples =
          "  bough cat SESSION\n"
          "  bough cat SESSION | jq -c .payload",
      .options = {{.name = "SESSION", .help = kSessionHelp, .target = name.get(), .required = true}},
      .run = [name](const Context& context) { return run(context, *name); },
  };
}

}  // namespace bough::cli::cat_command
