#include <fmt/format.h>

#include <filesystem>

#include "base/json/json_write.h"
#include "base/try.h"
#include "cli/commands/commands.h"
#include "cli/names/catalog_view.h"
#include "cli/terminal/output.h"

namespace bough::cli::new_command {
namespace {

Result<ExitCode> run(const Context& context, NewSession session) {
  BOUGH_TRY(auto store, context.openStore(/*create=*/true));
  if (session.cwd.empty()) {
    std::error_code unknown;
    session.cwd = std::filesystem::current_path(unknown).string();
  } else {
    session.cwd = recordedFolder(session.cwd);
  }
  BOUGH_TRY(auto made, store->createSession(session));
  if (!context.json) {
    printLine(made.sessionId);
    return kDone;
  }
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("sessionId", made.sessionId);
  printJsonLine(writer.member("format", made.schemaVersion).endObject().text());
  return kDone;
}

}  // namespace

Command define() {
  auto session = std::make_shared<NewSession>();
  return {
      .name = "new",
      .summary = "Make a session and print its id",
      .details = {},
      .examples =
          "  bough new\n"
          "  bough new --key main:cli:user --title \"Refactoring\"\n"
          "  SESSION=$(bough new)",
      .options = {{.name = "--id",
                   .help = "Its id: 1 to 100 characters of [A-Za-z0-9._-]; default: a new UUID",
                   .target = &session->sessionId},
                  {.name = "--key", .help = "Its key: agent:channel:peer", .target = &session->key},
                  {.name = "--title", .help = "A title", .target = &session->title},
                  {.name = "--cwd",
                   .help = "Its working folder; default: the current folder",
                   .target = &session->cwd}},
      .run = [session](const Context& context) { return run(context, *session); },
  };
}

}  // namespace bough::cli::new_command
