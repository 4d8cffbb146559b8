#include <fmt/format.h>

#include <algorithm>

#include "base/json/json_write.h"
#include "base/system/environment.h"
#include "base/system/file_io.h"
#include "base/system/file_system.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/try.h"
#include "bough/catalog.h"
#include "cli/commands/commands.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace bough::cli::reindex_command {
namespace {

struct Options {
  bool noSearch = false;
  bool onlyNew = false;
};

// Takes the lock for writing the catalog, which is separate from SQLite's locks. Returns null when another process
// holds it. With `onlyNew` there is no need to wait for a process that does the same work. Two rebuilds would undo each
// other's work, so a rebuild waits, also for other long work, but only up to a limit. Where such a file cannot exist,
// no lock is used.
std::unique_ptr<File> takeTurn(const SessionStore& store, bool onlyNew) {
  constexpr int kWaitMs = 120'000;
  const auto root = systemEnvironment().files.openRoot(store.folder(), false);
  if (!root) return nullptr;
  auto file = (*root)->open("catalog.db", OpenMode::OpenOrCreate);
  if (!file) return nullptr;
  if ((*file)->tryLock(LockKind::Exclusive)) return std::move(*file);
  if (onlyNew) return nullptr;
  printMessage("another process is using the catalog; waiting for it");
  return lockWithin(**file, LockKind::Exclusive, kWaitMs, "catalog.db") ? std::move(*file) : nullptr;
}

// Adds the catalog's totals to the report, whichever process took the entries in.
Result<CatchUpReport> withContents(Catalog& catalog, CatchUpReport report) {
  constexpr std::size_t kPage = 1'000;
  report.sessions = 0;
  report.entries = 0;
  for (std::optional<ListPlace> last;;) {
    BOUGH_TRY(const auto rows, catalog.list({.filter = {}, .limit = kPage, .after = last, .models = false}));
    for (const SessionSummary& row : rows) {
      if (row.condition == SessionCondition::Missing) continue;
      ++report.sessions;
      report.entries += row.entries;
    }
    if (rows.size() < kPage) return report;
    last = {.activeMs = rows.back().activeMs, .sessionId = rows.back().sessionId};
  }
}

CatchUpReport joined(CatchUpReport rows, CatchUpReport texts) {
  rows.sessions = std::max(rows.sessions, texts.sessions);
  rows.entries += texts.entries;
  for (std::string& note : texts.notes) {
    if (std::ranges::find(rows.notes, note) == rows.notes.end()) rows.notes.push_back(std::move(note));
  }
  return rows;
}

Result<ExitCode> run(const Context& context, const Options& options) {
  BOUGH_TRY(auto store, context.openStore());
  // Held until the catalog is closed: closing any descriptor of that file would release SQLite's locks.
  const std::unique_ptr<File> turn = takeTurn(*store, options.onlyNew);
  if (options.onlyNew && !turn && !store->folder().empty()) {
    printMessage("another process is adding what is new");
    return kDone;
  }
  auto catalog = Catalog::open(*store);
  if (!catalog) return std::unexpected(catalog.error());
  std::optional<Progress> bar(std::in_place, "reindexing", 0);
  CatchUpOptions wanted{.everything = true, .progress = [&](const CatchUpProgress& at) {
                          bar->setTotal(at.totalSessions);
                          bar->update(at.doneSessions);
                          return true;
                        }};
  // Rows first, which takes a tenth of the time, so that concurrent lists soon show all sessions.
  auto report = options.onlyNew ? (*catalog)->catchUp(wanted) : (*catalog)->rebuild(wanted);
  if (report && !options.noSearch) {
    bar.emplace("indexing the text", 0);
    wanted.search = true;
    wanted.everything = false;
    auto indexed = (*catalog)->catchUp(wanted);
    report = indexed ? joined(std::move(*report), std::move(*indexed)) : std::move(indexed);
  }
  bar.reset();
  if (report && !options.onlyNew) report = withContents(**catalog, std::move(*report));
  if (!report) return std::unexpected(report.error());
  for (const std::string& note : (*catalog)->notes()) printMessage("note: " + text::printable(note));
  for (const std::string& note : report->notes) printMessage("note: " + text::printable(note));
  const bool whole = report->notes.empty();
  if (!context.json) {
    printMessage(fmt::format("{} with {} {} in the catalog", counted(report->sessions, "session"),
                             counted(report->entries, options.onlyNew ? "new entry" : "entry"),
                             report->sessions == 1 ? "is" : "are"));
    return whole ? kDone : kProblem;
  }
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("sessions", report->sessions);
  printJsonLine(writer.member("entries", report->entries).list("notes", report->notes).endObject().text());
  return whole ? kDone : kProblem;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "reindex",
      .summary = "Rebuild the catalog from the sessions",
      .details =
          "The catalog (list, search, usage) holds only what is in the sessions, and bough keeps it up to date. This "
          "command rebuilds it from scratch. The first search in a large store starts `bough reindex --new` by "
          "itself.",
      .examples = "  bough reindex\n  bough reindex --new",
      .options = {{.name = "--no-search",
                   .help = "Do not index the text; the first search does it",
                   .target = &options->noSearch},
                  {.name = "--new", .help = "Keep the catalog, and add only what is new", .target = &options->onlyNew}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::reindex_command
