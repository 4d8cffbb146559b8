#include <fmt/format.h>

#include "base/try.h"
#include "cli/commands/commands.h"
#include "cli/names/session_name.h"
#include "cli/terminal/output.h"

namespace bough::cli {
namespace {

Result<ExitCode> run(const Context& context, const std::string& name) {
  BOUGH_TRY(auto session, openSession(context, name));
  auto done = session.store->exportSession(session.sessionId, [](std::string_view line) {
    printLine(line);
    return !outputClosed();
  });
  if (!done) return std::unexpected(done.error());
  BOUGH_TRY(auto state, session.store->sessionState(session.sessionId));
  if (state.problemCount > 0) {
    printMessage("not all of it could be read, so lines may be missing here; see `bough verify " + session.sessionId +
                 "`");
    return kProblem;
  }
  if (state.trailingBytes > 0) {
    printMessage(
        fmt::format("the last {} bytes are no complete entry: they are being written now, or `bough verify {}` "
                    "tells what is wrong",
                    state.trailingBytes, session.sessionId));
  }
  return kDone;
}

}  // namespace

Command catCommand() {
  auto name = std::make_shared<std::string>();
  return {
      .name = "cat",
      .summary = "Print a session's log as it is stored: JSON lines, the header first",
      .details = "What a fork shares is in the session it was forked from; the header names it.",
      .examples =
          "  bough cat SESSION\n"
          "  bough cat SESSION | jq -c .payload",
      .options = {{.name = "SESSION", .help = kSessionHelp, .target = name.get(), .required = true}},
      .values = name,
      .run = [name](const Context& context) { return run(context, *name); },
  };
}

}  // namespace bough::cli
