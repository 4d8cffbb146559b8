#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/json/json_write.h"
#include "base/text/counted.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "bough/catalog.h"
#include "cli/commands/commands.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/names/when.h"
#include "cli/terminal/confirm.h"
#include "cli/terminal/output.h"
#include "cli/terminal/table.h"
#include "cli/views/entry_view.h"

namespace bough::cli::trash_command {
namespace {

struct Options {
  std::vector<std::string> restore;
  bool empty = false;
  std::string olderThan;
  bool yes = false;
};

std::uint64_t bytesOf(const std::vector<TrashedSession>& trash) {
  std::uint64_t bytes = 0;
  for (const TrashedSession& each : trash) bytes += each.bytes;
  return bytes;
}

constexpr std::size_t kShortId = 8;

// Returns the id in the trash that a name means: that id itself, a session's id (then the session removed last), or at
// least 8 characters of an id that bough made.
Result<std::string> find(const std::vector<TrashedSession>& trash, const std::string& name) {
  std::vector<const TrashedSession*> begins;
  for (const TrashedSession& each : trash) {
    if (each.trashId == name || each.sessionId == name) return each.trashId;
    const bool enough = name.size() >= kShortId && isBoughId(each.sessionId);
    if (enough && (each.sessionId.starts_with(name) || each.sessionId.ends_with(name))) begins.push_back(&each);
  }
  const bool one = !begins.empty() && std::ranges::all_of(begins, [&](const TrashedSession* each) {
    return each->sessionId == begins.front()->sessionId;
  });
  if (one) return begins.front()->trashId;
  if (begins.empty()) {
    return fail(ErrorCode::NotFound, fmt::format("there is no session {} in the trash", name),
                "`bough trash` lists the trash");
  }
  return fail(ErrorCode::InvalidArgument,
              fmt::format("{} sessions in the trash match {}: {}, {} …", begins.size(), name, begins[0]->trashId,
                          begins[1]->trashId),
              "type more of the id");
}

Result<ExitCode> list(const Context& context, SessionStore& store, const std::vector<TrashedSession>& trash) {
  // An unreadable session is listed as well.
  const auto titleOf = [&](const TrashedSession& each) { return trashedTitle(store, each.trashId).value_or(""); };
  if (context.json) {
    json::Writer writer;
    writer.beginObject().member("schema", 1).member("bytes", bytesOf(trash)).key("trash").beginArray();
    for (const TrashedSession& each : trash) {
      writer.beginObject().member("trashId", each.trashId).member("sessionId", each.sessionId);
      writer.memberOrNull("title", titleOf(each)).member("removed", formatTimestamp(each.removedMs));
      writer.member("bytes", each.bytes).endObject();
    }
    printJsonLine(writer.endArray().endObject().text());
    return kDone;
  }
  if (trash.empty()) {
    printMessage("the trash is empty");
    return kDone;
  }
  Table table({{.title = "session"},
               {.title = "removed"},
               {.title = "size", .align = Table::Align::Right, .spare = 1},
               {.title = "title"}});
  const std::uint64_t now = nowMs();
  std::vector<std::string> ids;
  for (const TrashedSession& each : trash) ids.push_back(each.sessionId);
  ids = shortIds(ids);
  for (std::size_t i = 0; i < trash.size(); ++i) {
    const TrashedSession& each = trash[i];
    table.add({ids[i], formatAge(each.removedMs, now), formatBytes(each.bytes), titleOf(each)});
  }
  table.print();
  printMessage(
      "`bough trash --restore SESSION` restores a session; `bough trash --empty` removes all of them for good");
  return kDone;
}

Result<ExitCode> restore(const Context& context, SessionStore& store, const std::vector<TrashedSession>& trash,
                         const std::vector<std::string>& names) {
  const auto tell = [&](const std::string& trashId) {
    const std::string session = trashId.substr(0, trashId.rfind('~'));
    if (!context.json) return printMessage(fmt::format("{} is restored", idAndTitle(store, session)));
    printJsonLine(json::Writer().beginObject().member("schema", 1).member("sessionId", session).endObject().text());
  };
  std::vector<Error> refused;
  std::vector<std::string> left;
  for (const std::string& name : names) {
    auto trashId = find(trash, name);
    trashId ? left.push_back(std::move(*trashId)) : refused.push_back(std::move(trashId.error()));
  }
  // A fork is restored after the session that it continues, whatever the order of the names.
  std::vector<Error> waiting;
  for (std::size_t before = SIZE_MAX; left.size() < before;) {
    before = left.size();
    waiting.clear();
    std::erase_if(left, [&](const std::string& trashId) {
      const auto done = store.restoreSession(trashId);
      done ? tell(trashId) : waiting.push_back(done.error());
      return done.has_value();
    });
  }
  std::ranges::move(waiting, std::back_inserter(refused));
  for (const Error& error : refused) printError(error, context.json);
  return refused.empty() ? kDone : kProblem;
}

Result<ExitCode> empty(const Context& context, SessionStore& store, std::vector<TrashedSession> trash,
                       const Options& options) {
  if (!options.olderThan.empty()) {
    BOUGH_TRY(auto age, parseAge(options.olderThan));
    const std::uint64_t before = nowMs() - std::min(age, nowMs());
    std::erase_if(trash, [&](const TrashedSession& each) { return each.removedMs >= before; });
  }
  if (!trash.empty() && !options.yes) {
    BOUGH_TRY(auto sure, confirm(fmt::format("Remove {} ({}) for good?", counted(trash.size(), "session"),
                                             formatBytes(bytesOf(trash)))));
    if (!sure) return kDone;
  }
  std::vector<std::string> ids;
  for (const TrashedSession& each : trash) ids.push_back(each.trashId);
  auto bytes = store.emptyTrash(ids);
  if (!bytes) return std::unexpected(bytes.error());
  if (!context.json) {
    printMessage(ids.empty() ? "there is nothing to remove"
                             : fmt::format("{} removed for good, {} freed", counted(ids.size(), "session"),
                                           formatBytes(*bytes)));
    return kDone;
  }
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("removed", ids.size()).member("bytes", *bytes).endObject();
  printJsonLine(writer.text());
  return kDone;
}

Result<ExitCode> run(const Context& context, const Options& options) {
  if (options.empty && !options.restore.empty()) {
    return fail(ErrorCode::InvalidArgument, "--restore and --empty cannot be combined", "run one after the other");
  }
  if (!options.empty && (!options.olderThan.empty() || options.yes)) {
    return fail(ErrorCode::InvalidArgument, "--older-than and --yes need --empty", "`bough trash --empty …`");
  }
  BOUGH_TRY(auto store, context.openStore());
  BOUGH_TRY(auto trash, store->listTrash());
  if (!options.restore.empty()) return restore(context, *store, trash, options.restore);
  if (options.empty) return empty(context, *store, std::move(trash), options);
  return list(context, *store, trash);
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "trash",
      .summary = "List the trash, restore sessions, or remove them for good",
      .details = "Nothing leaves the trash by itself.",
      .examples =
          "  bough trash\n"
          "  bough trash --restore SESSION\n"
          "  bough trash --empty --older-than 30d",
      .options = {{.name = "--restore",
                   .help = "Restore this session; may be repeated",
                   .target = &options->restore,
                   .value = "SESSION"},
                  {.name = "--empty", .help = "Remove everything in the trash for good", .target = &options->empty},
                  {.name = "--older-than",
                   .help = "With --empty: only sessions that were removed longer ago than this",
                   .target = &options->olderThan,
                   .value = "AGE"},
                  {.name = "--yes", .help = "With --empty: do not ask", .target = &options->yes}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::trash_command
