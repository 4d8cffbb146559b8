#include <fmt/format.h>

#include "base/json/json_write.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/try.h"
#include "bough/torn.h"
#include "cli/commands/commands.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/terminal/output.h"
#include "cli/terminal/wrapped_text.h"

namespace bough::cli::torn_command {
namespace {

struct Options {
  std::string session;
  bool putBack = false;
  bool drop = false;
};

bool isStored(SessionStore& store, const std::string& sessionId, const std::string& entryId) {
  return store.loadEntry(sessionId, entryId).has_value();
}

void printJson(SessionStore& store, const TornReport& report) {
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("sessionId", report.sessionId);
  writer.member("file", report.file).key("records").beginArray();
  for (const TornRecord& record : report.records) {
    writer.beginObject().member("offset", record.offset).member("bytes", record.bytes);
    writer.member("timestamp", record.timestamp).member("unreadableBytes", record.unreadableBytes);
    writer.key("entries").beginArray();
    for (const Entry& entry : record.entries) {
      writer.beginObject().member("id", entry.id).member("type", entry.type);
      writer.member("stored", isStored(store, report.sessionId, entry.id)).endObject();
    }
    writer.endArray().endObject();
  }
  printJsonLine(writer.endArray().endObject().text());
}

void printText(SessionStore& store, const TornReport& report) {
  for (const TornRecord& record : report.records) {
    printWrapped(fmt::format("{} at offset {}, set aside {}: {} intact, {} unreadable", counted(record.bytes, "byte"),
                             record.offset, record.timestamp.empty() ? "at an unknown time" : record.timestamp,
                             counted(record.entries.size(), "entry"), counted(record.unreadableBytes, "byte")));
    for (const Entry& entry : record.entries) {
      printWrapped(fmt::format("  {}  {}{}", text::printable(entry.id), text::printable(entry.type),
                               isStored(store, report.sessionId, entry.id) ? "  (in the session)" : ""));
      if (outputClosed()) return;
    }
  }
  printMessage(fmt::format(
      "  → bough torn {0} --put-back appends the intact entries; bough torn {0} --drop deletes all", report.sessionId));
}

Result<ExitCode> list(const Context& context, const Options& options) {
  BOUGH_TRY(const auto session, openSession(context, options.session));
  BOUGH_TRY(const auto report, readTorn(*session.store, session.sessionId));
  if (context.json) {
    printJson(*session.store, report);
  } else if (report.records.empty()) {
    printMessage(fmt::format("no bytes of session {} were set aside", idAndTitle(*session.store, session.sessionId)));
  } else {
    printText(*session.store, report);
  }
  return kDone;
}

void printDone(const Context& context, const std::string& sessionId, const TornPutBack& done, std::uint64_t dropped) {
  if (context.json) {
    json::Writer writer;
    writer.beginObject().member("schema", 1).member("sessionId", sessionId).member("appendedCount", done.appendedCount);
    writer.member("storedCount", done.storedCount);
    writer.member("movedCount", done.movedCount).member("keptBytes", done.keptBytes);
    return printJsonLine(writer.member("droppedBytes", dropped).endObject().text());
  }
  if (dropped > 0)
    return printMessage(fmt::format("deleted {} set aside", counted(dropped, "byte that was", "bytes that were")));
  printMessage(
      fmt::format("{} appended, {} already in the session", counted(done.appendedCount, "entry"), done.storedCount));
  if (done.movedCount > 0) {
    printMessage(fmt::format("{} the entry before the parent, which cannot be read",
                             counted(done.movedCount, "of them continues", "of them continue")));
  }
  if (done.keptBytes > 0) {
    printMessage(fmt::format("{} set aside: not entries that can be appended; `bough torn {} --drop` deletes all",
                             counted(done.keptBytes, "byte stays", "bytes stay"), exactName(sessionId)));
  }
}

Result<ExitCode> run(const Context& context, const Options& options) {
  if (options.putBack && options.drop) {
    return fail(ErrorCode::InvalidArgument, "--put-back and --drop cannot be given together", "give one of them");
  }
  if (!options.putBack && !options.drop) return list(context, options);
  BOUGH_TRY(const auto store, openStoreWith(context, {options.session}));
  BOUGH_TRY(const auto session, resolveSessionToChange(*store, options.session, !context.json));
  BOUGH_TRY(const auto report, readTorn(*store, session));
  if (report.fileBytes == 0) {
    return fail(ErrorCode::NotFound, fmt::format("no bytes of session {} were set aside", idAndTitle(*store, session)),
                "`bough verify` checks all sessions");
  }
  TornPutBack done;
  if (options.putBack) {
    BOUGH_TRY(done, putBackTorn(*store, session));
  } else {
    BOUGH_TRY(dropTorn(*store, session, report.fileBytes));
  }
  printDone(context, session, done, options.drop ? report.fileBytes : 0);
  return kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "torn",
      .summary = "List what was set aside from the end of a session; put it back or delete it",
      .details =
          "An append moves bytes after the last complete batch to <session>.torn: a crash left them, or the last "
          "batch was damaged. This lists the entries in them that are intact. --put-back appends those entries "
          "again; the head stays where it is if the session was continued meanwhile. `bough verify`, `doctor`, "
          "`show` and `ls` name the session until everything was put back or deleted.",
      .examples =
          "  bough torn SESSION\n"
          "  bough torn SESSION --put-back",
      .options = {{.name = "SESSION", .help = kExactSessionHelp, .target = &options->session, .required = true},
                  {.name = "--put-back", .help = "Append the intact entries", .target = &options->putBack},
                  {.name = "--drop", .help = "Delete what was set aside", .target = &options->drop}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::torn_command
