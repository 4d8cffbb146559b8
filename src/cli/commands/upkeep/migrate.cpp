#include <fmt/format.h>

#include <algorithm>

#include "base/json/json_write.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/try.h"
#include "bough/transcript.h"
#include "cli/commands/commands.h"
#include "cli/names/foreign.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/terminal/output.h"
#include "cli/terminal/wrapped_text.h"
#include "cli/views/entry_view.h"
#include "cli/views/transcript_file.h"

namespace bough::cli::migrate_command {
namespace {

void print(SessionStore& store, const MigrationResult& result, bool json) {
  if (json) {
    json::Writer writer;
    writer.beginObject().member("schema", 1).member("sessionId", result.sessionId);
    writer.member("fromFormat", result.fromFormat);
    writer.member("toFormat", result.toFormat).member("entries", result.entries);
    writer.memberOrNull("keptAs", result.keptAs).key("problems").beginArray();
    for (const Problem& problem : result.problems) {
      writer.beginObject().member("kind", toString(problem.kind)).member("offset", problem.offset);
      writer.member("bytes", problem.bytes).member("message", problem.message).endObject();
    }
    return printJsonLine(writer.endArray().endObject().text());
  }
  const std::string name = idAndTitle(store, result.sessionId);
  if (result.keptAs.empty()) {
    return printWrapped(fmt::format("{} is already in format {}", name, result.toFormat));
  }
  const bool onlyHeader = result.fromFormat == result.toFormat;
  printWrapped(fmt::format("{}: {} {}; the old file is kept as {}", name, counted(result.entries, "entry"),
                           onlyHeader
                               ? "kept under a new header, because the old header could not be read"
                               : fmt::format("converted from format {} to {}", result.fromFormat, result.toFormat),
                           result.keptAs));
  for (const Problem& problem : result.problems) {
    printWrapped(fmt::format("  PROBLEM: {} at byte {} ({}) of the old file could not be read: {}",
                             toString(problem.kind), problem.offset, counted(problem.bytes, "byte"),
                             text::printable(problem.message)));
  }
}

// Converts the older document format of MyAgents to lines, in a file beside it. Completes an interrupted migration.
Result<ExitCode> migrateDocument(const Context& context, const std::string& path) {
  BOUGH_TRY(const std::string lines, linesOfDocument(path));
  const std::string target = path + "l";
  BOUGH_TRY(writeOrResumeFile(target, lines));
  const auto count = static_cast<std::uint64_t>(std::ranges::count(lines, '\n'));
  if (context.json) {
    printJsonLine(fmt::format(R"({{"schema":1,"file":{},"messages":{}}})", json::quoted(target), count));
  } else {
    printWrapped(fmt::format("{}: {}; {} stays", target, counted(count, "message"), path));
  }
  return kDone;
}

Result<ExitCode> run(const Context& context, const std::string& name) {
  const auto agent = agentOfFile(name);
  if (agent && *agent == "myagents" && name.ends_with(".json")) return migrateDocument(context, name);
  BOUGH_TRY(auto session, openSessionToChange(context, name));
  BOUGH_TRY(auto result, session.store->migrateSession(session.sessionId));
  print(*session.store, result, context.json);
  return result.problems.empty() ? kDone : kProblem;
}

}  // namespace

Command define() {
  auto name = std::make_shared<std::string>();
  return {
      .name = "migrate",
      .summary = "Convert a session of an older format to the current one",
      .details =
          "The new file is compared with the old one entry by entry before it replaces it; the old file stays "
          "as <session>.v0. If it is interrupted, the next run finishes or undoes it.\n"
          "The JSON document of an older MyAgents becomes a file of lines beside it.",
      .examples = "  bough migrate SESSION\n  bough migrate ~/.myagents/sessions/ID.json",
      .options = {{.name = "SESSION", .help = kExactSessionHelp, .target = name.get(), .required = true}},
      .run = [name](const Context& context) { return run(context, *name); },
  };
}

}  // namespace bough::cli::migrate_command
