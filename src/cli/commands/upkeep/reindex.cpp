#include <fmt/format.h>

#include "base/json/json_write.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/try.h"
#include "bough/catalog.h"
#include "cli/commands/commands.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {
namespace {

Result<ExitCode> run(const Context& context, bool noSearch) {
  BOUGH_TRY(auto store, context.openStore());
  auto catalog = Catalog::open(*store);
  if (!catalog) return std::unexpected(catalog.error());
  std::optional<Progress> bar(std::in_place, "reindexing", 0);
  auto report =
      (*catalog)->rebuild({.search = !noSearch, .everything = true, .progress = [&](const CatchUpProgress& at) {
                             bar->setTotal(at.totalSessions);
                             bar->update(at.doneSessions);
                             return true;
                           }});
  bar.reset();
  if (!report) return std::unexpected(report.error());
  for (const std::string& note : (*catalog)->notes()) printMessage("note: " + text::printable(note));
  for (const std::string& note : report->notes) printMessage("note: " + text::printable(note));
  const bool whole = report->notes.empty();
  if (!context.json) {
    printMessage(fmt::format("{} with {} in the catalog", counted(report->sessions, "session"),
                             counted(report->entries, "entry is", "entries are")));
    return whole ? kDone : kProblem;
  }
  std::string out;
  json::Writer writer(out);
  writer.beginObject().member("schema", std::uint64_t{1}).member("sessions", report->sessions);
  writer.member("entries", report->entries).key("notes").beginArray();
  for (const std::string& note : report->notes) writer.string(note);
  writer.endArray().endObject();
  printJsonLine(out);
  return whole ? kDone : kProblem;
}

}  // namespace

Command reindexCommand() {
  auto noSearch = std::make_shared<bool>(false);
  return {
      .name = "reindex",
      .summary = "Rebuild the catalog from the sessions",
      .details =
          "The catalog (list, search, usage) holds only what is in the sessions, and follows them by itself. "
          "This command rebuilds it from nothing.",
      .examples = "  bough reindex",
      .options = {{.name = "--no-search", .help = "Let the first search index the text", .target = noSearch.get()}},
      .values = noSearch,
      .run = [noSearch](const Context& context) { return run(context, *noSearch); },
  };
}

}  // namespace bough::cli
