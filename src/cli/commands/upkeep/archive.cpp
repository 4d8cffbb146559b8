#include <fmt/format.h>

#include "base/json/json_write.h"
#include "base/try.h"
#include "cli/commands/commands.h"
#include "cli/names/damage.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/terminal/output.h"
#include "cli/terminal/wrapped_text.h"

namespace bough::cli::archive_command {
namespace {

void printResult(SessionTitles& titles, const ArchiveResult& result, bool compressedAlready, bool json) {
  if (!json) {
    printWrapped(fmt::format("{}  {} → {}{}", titles.name(result.sessionId), formatBytes(result.bytesBefore),
                             formatBytes(result.bytesAfter), compressedAlready ? ", compressed already" : ""));
    return;
  }
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("sessionId", result.sessionId);
  writer.member("bytesBefore", result.bytesBefore).member("bytesAfter", result.bytesAfter).endObject();
  printJsonLine(writer.text());
}

Result<ExitCode> run(const Context& context, const std::vector<std::string>& names) {
  BOUGH_TRY(auto store, openStoreWith(context, names));
  std::vector<std::string> sessions;
  for (const std::string& name : names) {
    BOUGH_TRY(auto session, resolveSessionToChange(*store, name, !context.json));
    sessions.push_back(std::move(session));
  }
  SessionTitles titles(*store);
  ExitCode code = kDone;
  for (const std::string& session : sessions) {
    BOUGH_TRY(const auto damage, reportDamage(context, *store, session));
    const auto before = store->sessionState(session);
    auto result = store->archiveSession(session);
    if (!result) {
      printError(result.error(), context.json);
      code = kProblem;
      continue;
    }
    printResult(titles, *result, before && before->archived, context.json);
  }
  return code;
}

}  // namespace

Command define() {
  auto names = std::make_shared<std::vector<std::string>>();
  return {
      .name = "archive",
      .summary = "Compress sessions; they can still be read",
      .details = "The next append to an archived session decompresses it.",
      .examples = "  bough archive SESSION",
      .options = {{.name = "SESSION", .help = kExactSessionHelp, .target = names.get(), .required = true}},
      .run = [names](const Context& context) { return run(context, *names); },
  };
}

}  // namespace bough::cli::archive_command
