#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json/json_write.h"
#include "base/text/text.h"
#include "base/try.h"
#include "cli/commands/commands.h"
#include "cli/names/damage.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/terminal/confirm.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace bough::cli::rm_command {
namespace {

struct Options {
  std::vector<std::string> sessions;
  bool yes = false;
  bool detach = false;
};

void printResult(SessionStore& store, const TrashedSession& moved, bool json) {
  if (!json) {
    const std::string title = text::excerpt(trashedTitle(store, moved.trashId).value_or(""), 50);
    const std::string id = exactName(moved.sessionId);
    printMessage(fmt::format("{}{} is in the trash ({}); `bough trash --restore {}` restores it", id,
                             title.empty() ? "" : fmt::format(" \"{}\"", title), formatBytes(moved.bytes), id));
    return;
  }
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("sessionId", moved.sessionId).member("trashId", moved.trashId);
  printJsonLine(writer.member("bytes", moved.bytes).endObject().text());
}

// Returns the sessions' names for the question. Without a usable catalog, the titles are missing, but the question is
// still asked.
std::vector<std::string> titled(SessionStore& store, const std::vector<std::string>& sessionIds) {
  auto catalog = Catalog::open(store);
  if (catalog) (void)(*catalog)->catchUp();
  std::vector<SessionSummary> rows;
  for (const std::string& id : sessionIds) {
    auto row = catalog ? (*catalog)->session(id) : Result<SessionSummary>(std::unexpected(catalog.error()));
    rows.push_back(row ? std::move(*row) : SessionSummary{.sessionId = id});
  }
  if (catalog) titleForks(**catalog, rows);
  std::vector<std::string> names;
  for (const SessionSummary& row : rows) names.push_back("session " + nameWithTitle(row));
  return names;
}

Result<ExitCode> run(const Context& context, const Options& options) {
  BOUGH_TRY(auto store, openStoreWith(context, options.sessions));
  // The question shows which sessions are meant, so an inexact name is acceptable.
  const bool asking = !options.yes && !context.json && stdinIsTerminal();
  std::vector<std::string> sessions;
  for (const std::string& name : options.sessions) {
    BOUGH_TRY(auto session, asking ? resolveSession(*store, name) : resolveSessionToChange(*store, name, false));
    BOUGH_TRY(const auto damage, reportDamage(context, *store, session));
    sessions.push_back(std::move(session));
  }
  if (!options.yes) {
    BOUGH_TRY(const bool sure,
              confirm(fmt::format("Move {} to the trash?", fmt::join(titled(*store, sessions), ", "))));
    if (!sure) return kDone;
  }
  std::vector<Removal> removals;
  for (const std::string& session : sessions) {
    removals.push_back({.sessionId = session, .detachForks = options.detach});
  }
  ExitCode code = kDone;
  auto results = store->maintenance().trash(removals);
  for (std::size_t i = 0; i < results.size(); ++i) {
    auto& moved = results[i];
    if (moved) {
      printResult(*store, *moved, context.json);
      continue;
    }
    if (moved.error().code == ErrorCode::HasForks) {
      if (!context.json) moved.error() = withForksNamed(*store, sessions[i], std::move(moved.error()));
      moved.error().hint = "remove the forks as well, or add --detach, which gives each fork its own copy";
    }
    printError(moved.error(), context.json);
    code = kProblem;
  }
  return code;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "rm",
      .summary = "Move sessions to the trash",
      .details = "`bough trash` lists the trash and restores sessions from it.",
      .examples =
          "  bough rm SESSION\n"
          "  bough rm 4f1c09ab 77d20e5c --yes",
      .options = {{.name = "SESSION", .help = kExactSessionHelp, .target = &options->sessions, .required = true},
                  {.name = "--yes", .help = "Do not ask", .target = &options->yes},
                  {.name = "--detach",
                   .help = "First give each fork its own copy of the history it shares",
                   .target = &options->detach}},
      .run = [options](const Context& context) { return run(context, *options); },
      .aliases = {"delete"},
  };
}

}  // namespace bough::cli::rm_command
