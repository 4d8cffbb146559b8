#include "cli/names/catalog_view.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <filesystem>

#include "agent/tools/tool_variables.h"
#include "base/model/out_of_date.h"
#include "base/text/shell_word.h"
#include "base/text/text.h"
#include "base/try.h"
#include "base/user_folders.h"
#include "cli/names/session_file.h"
#include "cli/names/when.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {
namespace {

// Taking in this much takes about a quarter of a second.
constexpr std::uint64_t kAtOnceBytes = std::uint64_t{8} << 20;

// If `isOutOfDate` is null, takes in everything; otherwise stops and sets `isOutOfDate` when there is too much to take
// in at once. A database does not know how much there is, so a part is taken in.
Result<CatchUpReport> updateCatalog(Catalog& catalog, bool search, bool* isOutOfDate, bool leaveDue = false) {
  // The bar shows only when the work takes noticeable time.
  std::optional<Progress> bar;
  return catalog.catchUp({.search = search, .leaveDue = leaveDue, .progress = [&](const CatchUpProgress& at) {
                            const bool isLong = at.doneBytes > kAtOnceBytes && at.doneSessions < at.totalSessions;
                            if (isOutOfDate != nullptr && (at.totalBytes > kAtOnceBytes || isLong)) *isOutOfDate = true;
                            if (isOutOfDate != nullptr && *isOutOfDate) return false;
                            if (at.totalSessions >= 50 && !bar) bar.emplace("reading sessions", at.totalSessions);
                            if (bar) bar->update(at.doneSessions);
                            return true;
                          }});
}

}  // namespace

Result<CatchUpReport> catchUpWithBar(Catalog& catalog, bool search) {
  return updateCatalog(catalog, search, nullptr, true);
}

namespace {

bool isWritable(const SessionStore& store) {
  return ::access(store.folder().c_str(), W_OK) == 0;
}

// Starts `bough reindex --new` as a separate process, which continues after this process and its terminal are gone, and
// prints nothing. Returns false when it cannot be started.
bool startReindex(const SessionStore& store, bool search) {
  std::vector<std::string> words = {"bough", "--store", std::filesystem::absolute(store.folder()).string(), "reindex",
                                    "--new"};
  if (!search) words.emplace_back("--no-search");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&files, file, "/dev/null", O_RDWR, 0);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  // Updating a folder needs no keys, and a model's command could read them in that process.
  const agent::ToolVariables variables;
  pid_t process = 0;
  const int problem = ::posix_spawn(&process, "/proc/self/exe", &files, &attributes, arguments.data(), variables.get());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return problem == 0;
}

}  // namespace

void startBackgroundUpdate(const CatalogView& view) {
  const SessionStore& store = *view.store;
  if (view.isDatabase) {
    return printMessage(
        "note: not all sessions are in the search index yet, so the sessions themselves are searched, and the newest "
        "come first; each search adds some, and `bough reindex --new` adds all of them");
  }
  if (!isWritable(store)) {
    return printMessage(
        fmt::format("note: {} cannot be written to, so its sessions are read for each search; the "
                    "newest come first",
                    text::printable(std::filesystem::absolute(store.folder()).string())));
  }
  printMessage(startReindex(store, true)
                   ? "note: the search index is being built; until it is ready, the sessions themselves are searched, "
                     "and the newest come first"
                   : "note: the sessions themselves are searched; `bough reindex` builds the search index");
}

Result<CatalogView> openCatalogOf(std::shared_ptr<SessionStore> store, bool search, WhenOutOfDate whenOutOfDate,
                                  bool isDatabase) {
  CatalogView view;
  view.store = std::move(store);
  BOUGH_TRY(auto catalog, Catalog::open(*view.store));
  view.catalog = std::move(catalog);
  // Every session must be checked from time to time. If there are very many, another process does it.
  view.isDatabase = isDatabase;
  bool* const isOutOfDate = whenOutOfDate == WhenOutOfDate::Leave ? &view.isOutOfDate : nullptr;
  auto report = updateCatalog(*view.catalog, search, isOutOfDate, isWritable(*view.store));
  // A search without the index finds a session by its row, so update the rows.
  if (report && view.isOutOfDate && search && view.isDatabase) report = updateCatalog(*view.catalog, false, nullptr);
  if (report && report->due && !startReindex(*view.store, false))
    report = updateCatalog(*view.catalog, search, isOutOfDate);
  for (const std::string& note : view.catalog->notes()) printMessage("note: " + text::printable(note));
  if (!report) {
    if (!canAnswerDespite(report.error())) return std::unexpected(report.error());
    view.isOutOfDate = view.cannotUpdate = search && isOutOfDate != nullptr && !view.isDatabase;
    const std::string why = text::printable(report.error().message);
    printMessage(view.cannotUpdate
                     ? fmt::format("note: the search index may be out of date, so the sessions themselves are "
                                   "searched, and the newest come first: {}",
                                   why)
                     : fmt::format("note: the catalog may be out of date: {}", why));
    return view;
  }
  for (const std::string& note : report->notes) printMessage("note: " + text::printable(note));
  return view;
}

Result<CatalogView> openCatalogView(const Context& context, bool search, WhenOutOfDate whenOutOfDate) {
  BOUGH_TRY(auto store, context.openStore());
  return openCatalogOf(std::move(store), search, whenOutOfDate, isPostgresLocation(context.resolvedLocation()));
}

std::vector<Option> FilterOptions::definitions() {
  return {
      {.name = "--agent", .help = "Only sessions of this agent", .target = &agent, .value = "NAME"},
      {.name = "--key",
       .help = "Only sessions with this key; KEY* matches every key that begins with KEY",
       .target = &key,
       .value = "KEY"},
      {.name = "--cwd",
       .help = "Only sessions of this folder and the folders in it",
       .target = &cwd,
       .value = "FOLDER"},
      {.name = "--since",
       .help = "Only from this time on: a day (2026-11-14, today), a month, a time (\"2026-11-14 23:47\"), or an age "
               "(7d, 12h)",
       .target = &since,
       .value = "WHEN"},
      {.name = "--until",
       .help = "Only before this time; of a day or a month, to its end",
       .target = &until,
       .value = "WHEN"}};
}

Option FilterOptions::folderArgument() {
  return {.name = "FOLDER", .help = "Only sessions of this folder and the folders in it", .target = &folder};
}

std::string recordedFolder(const std::string& named) {
  std::error_code unknown;
  // A shell does not expand the ~ in `--cwd=~/x`. ./~ is a folder of that name.
  const std::string folder = withHome(named).value_or(named);
  auto path = std::filesystem::weakly_canonical(folder, unknown);
  if (unknown || path.is_relative()) path = std::filesystem::absolute(folder, unknown).lexically_normal();
  std::string recorded = unknown ? folder : path.string();
  if (recorded.size() > 1 && recorded.ends_with('/')) recorded.pop_back();
  return recorded;
}

Result<SessionFilter> FilterOptions::filter(Zone zone) const {
  SessionFilter made{.agent = agent, .key = key};
  if (!folder.empty() && !cwd.empty()) {
    return fail(ErrorCode::InvalidArgument, "the folder is given twice", "give it as an argument or with --cwd");
  }
  // A removed folder still has sessions, but a single word is more likely a title.
  if (!folder.empty() && folder.find('/') == std::string::npos && !isFolderName(folder)) {
    return fail(
        ErrorCode::NotFound, fmt::format("there is no folder {}", folder),
        fmt::format("`bough ls --title {0}` lists sessions by their titles, `bough search {0}` by what was said",
                    shellWord(folder)));
  }
  if (const std::string& wanted = folder.empty() ? cwd : folder; !wanted.empty()) {
    made.cwd = recordedFolder(wanted);
  }
  const std::uint64_t now = nowMs();
  if (!since.empty()) {
    BOUGH_TRY(auto time, parseWhen(since, now, zone));
    made.sinceMs = time;
  }
  if (!until.empty()) {
    BOUGH_TRY(auto time, parseUntil(until, now, zone));
    made.untilMs = time;
  }
  if (made.sinceMs && made.untilMs && *made.sinceMs > *made.untilMs) {
    return fail(ErrorCode::InvalidArgument, fmt::format("--since {} is after --until {}", since, until),
                "exchange them");
  }
  return made;
}

}  // namespace bough::cli
