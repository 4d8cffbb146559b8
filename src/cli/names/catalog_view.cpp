#include "cli/names/catalog_view.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/text/text.h"
#include "base/try.h"
#include "cli/names/session_name.h"
#include "cli/names/when.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {
namespace {

bool canAnswerAllTheSame(const Error& error) {
  return error.code == ErrorCode::Busy || error.code == ErrorCode::NoSpace || error.code == ErrorCode::ReadOnly;
}

}  // namespace

Result<CatchUpReport> catchUpWithBar(Catalog& catalog, bool search) {
  // The bar shows only when there is more to do than the eye would see.
  std::optional<Progress> bar;
  return catalog.catchUp({.search = search, .everything = false, .progress = [&](const CatchUpProgress& at) {
                            if (at.totalSessions >= 50 && !bar) bar.emplace("reading sessions", at.totalSessions);
                            if (bar) bar->update(at.doneSessions);
                            return true;
                          }});
}

Result<CatalogView> openCatalogView(const Context& context, bool search) {
  CatalogView view;
  BOUGH_TRY(auto store, context.openStore());
  view.store = std::move(store);
  BOUGH_TRY(auto catalog, Catalog::open(*view.store));
  view.catalog = std::move(catalog);
  auto report = catchUpWithBar(*view.catalog, search);
  for (const std::string& note : view.catalog->notes()) printMessage("note: " + text::printable(note));
  if (!report) {
    if (!canAnswerAllTheSame(report.error())) return std::unexpected(report.error());
    printMessage(fmt::format("note: the catalog may be out of date: {}", text::printable(report.error().message)));
    return view;
  }
  for (const std::string& note : report->notes) printMessage("note: " + text::printable(note));
  return view;
}

std::string displayTitle(const SessionSummary& row) {
  if (!row.title.empty()) return row.title;
  if (!row.key.empty() || !row.origin) return row.key;
  return "fork of " + shortId(row.origin->sessionId);
}

void titleForks(Catalog& catalog, std::vector<SessionSummary>& rows) {
  for (SessionSummary& row : rows) {
    if (!row.title.empty() || !row.key.empty() || !row.origin) continue;
    const auto origin = catalog.list({.filter = {.session = row.origin->sessionId}, .limit = 1, .models = false});
    if (!origin || origin->empty()) continue;
    if (const std::string title = displayTitle(origin->front()); !title.empty()) row.title = "fork of " + title;
  }
}

std::vector<Option> FilterOptions::definitions() {
  return {{.name = "--agent", .help = "Only sessions of this agent", .target = &agent, .value = "NAME"},
          {.name = "--key",
           .help = "Only sessions with this key; KEY* matches every key that begins with KEY",
           .target = &key,
           .value = "KEY"},
          {.name = "--cwd",
           .help = "Only sessions of this folder and the folders in it",
           .target = &cwd,
           .value = "FOLDER"},
          {.name = "--since",
           .help = "Only from this time on: a date, a time, or an age (7d, 12h)",
           .target = &since,
           .value = "WHEN"},
          {.name = "--until", .help = "Only before this time", .target = &until, .value = "WHEN"}};
}

Result<SessionFilter> FilterOptions::filter() const {
  SessionFilter made{.agent = agent, .key = key};
  if (!cwd.empty()) {
    std::error_code ignored;
    const auto path = std::filesystem::absolute(cwd, ignored);
    made.cwd = ignored ? cwd : path.lexically_normal().string();
  }
  const std::uint64_t now = nowMs();
  if (!since.empty()) {
    BOUGH_TRY(auto time, parseWhen(since, now));
    made.sinceMs = time;
  }
  if (!until.empty()) {
    BOUGH_TRY(auto time, parseWhen(until, now));
    made.untilMs = time;
  }
  return made;
}

}  // namespace bough::cli
