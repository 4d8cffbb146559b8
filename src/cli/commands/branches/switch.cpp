#include <fmt/format.h>

#include "base/json/json_write.h"
#include "base/try.h"
#include "cli/commands/commands.h"
#include "cli/names/entry_name.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/terminal/output.h"
#include "cli/views/entry_view.h"
#include "cli/views/head_history.h"

namespace bough::cli::switch_command {
namespace {

struct Options {
  std::string session;
  std::string entry;
};

Result<ExitCode> run(const Context& context, const Options& options) {
  BOUGH_TRY(auto named, openSessionToChange(context, options.session));
  SessionStore& store = *named.store;
  const std::string& session = named.sessionId;
  std::string entryId;
  if (options.entry == "-") {
    BOUGH_TRY(const auto history, headHistory(store, session));
    if (history.empty()) {
      return fail(ErrorCode::NotFound, fmt::format("the head of {} was never moved", idAndTitle(store, session)),
                  fmt::format("`bough tree {}` shows where it can go", exactName(session)));
    }
    entryId = history.front().entryId;
  } else if (options.entry != "@start") {
    BOUGH_TRY(auto entry, resolveEntryToChange(store, session, options.entry));
    entryId = std::move(entry);
  }
  BOUGH_TRY(auto moved, store.moveHead(session, entryId));
  if (!context.json) {
    printMessage(fmt::format("the head of {} is now {}", idAndTitle(store, session),
                             entryId.empty() ? "@start" : shortId(entryId)));
    if (const std::string said = lastMessageLine(store, session, entryId); !said.empty()) printMessage("  " + said);
    return kDone;
  }
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("sessionId", session).memberOrNull("headId", entryId).endObject();
  printJsonLine(writer.text());
  return kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "switch",
      .summary = "Move the head of a session: the next turn continues from that entry",
      .details =
          "Nothing is removed: the entries after it stay, as another branch. `bough heads` lists where the head was.",
      .examples =
          "  bough switch SESSION ENTRY\n"
          "  bough switch SESSION @head~2   # take the last two entries back\n"
          "  bough switch SESSION -         # where the head was before the last move\n"
          "  bough switch SESSION @start    # before the first entry",
      .options = {{.name = "SESSION", .help = kExactSessionHelp, .target = &options->session, .required = true},
                  {.name = "ENTRY", .help = kExactEntryHelp, .target = &options->entry, .required = true}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::switch_command
