#include <fmt/format.h>

#include "base/json/json_write.h"
#include "base/text/counted.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "cli/commands/commands.h"
#include "cli/commands/upkeep/prune_agents.h"
#include "cli/names/catalog_view.h"
#include "cli/names/damage.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/names/when.h"
#include "cli/terminal/output.h"
#include "cli/terminal/table.h"
#include "cli/views/entry_view.h"

namespace bough::cli::prune_command {
namespace {

struct Options {
  std::string agents;
  std::string olderThan;
  bool apply = false;
  std::string session;
  bool pin = false;
  bool unpin = false;
  std::string timeToLive;
  std::string byDefault;
};

// Returns the time to live in milliseconds; "off" is 0.
Result<std::uint64_t> parseTimeToLive(const std::string& text) {
  if (text == "off") return 0;
  auto age = parseAge(text);
  if (age && *age == 0) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} is not a valid time to live", text),
                "write 30d, 12h or off");
  }
  return age;
}

// Sets how long sessions without their own time to live are kept.
Result<ExitCode> setDefault(const Context& context, const std::string& text) {
  BOUGH_TRY(auto age, parseTimeToLive(text));
  BOUGH_TRY(auto store, context.openStore());
  BOUGH_TRY(auto settings, store->settings());
  settings.timeToLiveMs = age == 0 ? std::nullopt : std::optional(age);
  BOUGH_TRY(store->saveSettings(settings));
  if (!context.json) {
    printMessage(age == 0
                     ? "sessions are kept forever, except those with their own time to live"
                     : fmt::format("sessions expire {} after their last entry; `bough prune` lists the expired ones",
                                   formatDuration(age)));
    return kDone;
  }
  printJsonLine(fmt::format(R"({{"schema":1,"defaultTimeToLiveMs":{}}})", age == 0 ? "null" : fmt::format("{}", age)));
  return kDone;
}

// Sets how long one session is kept.
Result<ExitCode> setRetention(const Context& context, const Options& options) {
  if (options.pin + options.unpin + !options.timeToLive.empty() == 0) {
    return fail(ErrorCode::InvalidArgument, "nothing to change for the session", "pass --pin, --unpin or --ttl AGE");
  }
  if (options.apply || !options.olderThan.empty()) {
    return fail(ErrorCode::InvalidArgument,
                "a session cannot be combined with --apply and --older-than: they are for all that have expired",
                "say how long the session is kept, then run `bough prune --apply`");
  }
  SessionInfo info;
  if (options.pin || options.unpin) info.pinned = options.pin;
  if (!options.timeToLive.empty()) {
    BOUGH_TRY(auto age, parseTimeToLive(options.timeToLive));
    info.timeToLiveMs = age;
  }
  BOUGH_TRY(auto store, openStoreWith(context, {options.session}));
  BOUGH_TRY(auto session, resolveSessionToChange(*store, options.session, !context.json));
  BOUGH_TRY(const auto damage, reportDamage(context, *store, session));
  BOUGH_TRY(auto done, appendSessionInfo(*store, session, info));
  if (!context.json) {
    const std::string name = idAndTitle(*store, session);
    printMessage(info.pinned.value_or(false) ? fmt::format("{} is pinned and never expires", name)
                 : info.timeToLiveMs.value_or(0) > 0
                     ? fmt::format("{} expires {} after its last entry", name, formatDuration(*info.timeToLiveMs))
                     : fmt::format("{} follows the default of the store", name));
    return kDone;
  }
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("sessionId", session).member("entryId", done.lastAppendedEntryId);
  printJsonLine(writer.endObject().text());
  return kDone;
}

struct Outcome {
  std::uint64_t moved = 0;
  std::uint64_t gone = 0;  // removed by another process
  std::uint64_t bytes = 0;
  ExitCode code = kDone;
};

// Moves all sessions in one call, so that the store is read once and a session is moved together with its forks. A
// session that was used or pinned since it was listed has a different tail and stays.
Outcome moveAll(SessionStore& store, const std::vector<Catalog::Expired>& expired, bool json) {
  Outcome outcome;
  std::vector<Removal> removals;
  const auto refuse = [&](const Error& error, const std::string& sessionId) {
    if (error.code == ErrorCode::NotFound) {
      ++outcome.gone;
      return;
    }
    if (error.code == ErrorCode::Conflict)
      return printMessage(fmt::format("{} was used meanwhile: it stays", idAndTitle(store, sessionId)));
    printError(error, json);
    outcome.code = kProblem;
  };
  for (const Catalog::Expired& each : expired) {
    const auto state = store.sessionState(each.session.sessionId);
    if (!state) {
      refuse(state.error(), each.session.sessionId);
    } else if (state->entryCount != each.session.entries) {
      refuse({.code = ErrorCode::Conflict}, each.session.sessionId);
    } else {
      removals.push_back({.sessionId = each.session.sessionId, .expectedTail = state->tailId});
    }
  }
  const auto results = store.maintenance().trash(removals);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i]) {
      refuse(results[i].error(), removals[i].sessionId);
      continue;
    }
    ++outcome.moved;
    outcome.bytes += results[i]->bytes;
  }
  if (outcome.gone > 0) {
    printMessage(fmt::format("{} {} no longer here: another process moved or removed {}",
                             counted(outcome.gone, "session"), outcome.gone == 1 ? "is" : "are",
                             outcome.gone == 1 ? "it" : "them"));
  }
  return outcome;
}

void printJson(const std::vector<Catalog::Expired>& expired, bool applied, const Outcome& outcome) {
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("applied", applied);
  writer.member("moved", outcome.moved).member("bytes", outcome.bytes).key("sessions").beginArray();
  for (const Catalog::Expired& each : expired) {
    writer.beginObject().member("sessionId", each.session.sessionId).memberOrNull("title", each.session.title);
    writer.member("lastActive", formatTimestamp(each.session.activeMs)).member("bytes", each.session.bytes);
    writer.member("expired", formatTimestamp(each.expiredMs)).endObject();
  }
  printJsonLine(writer.endArray().endObject().text());
}

void printTable(Catalog& catalog, const std::vector<Catalog::Expired>& expired) {
  Table table({{.title = "session"},
               {.title = "active", .spare = 1},
               {.title = "expired"},
               {.title = "size", .align = Table::Align::Right, .spare = 2},
               {.title = "title"}});
  const std::uint64_t now = nowMs();
  std::vector<std::string> ids;
  std::vector<SessionSummary> rows;
  for (const Catalog::Expired& each : expired) {
    ids.push_back(each.session.sessionId);
    rows.push_back(each.session);
  }
  ids = shortIds(ids);
  titleForks(catalog, rows);
  for (std::size_t i = 0; i < expired.size(); ++i) {
    const Catalog::Expired& each = expired[i];
    table.add({ids[i], formatAge(each.session.activeMs, now), formatAge(each.expiredMs, now),
               formatBytes(each.session.bytes), displayTitle(rows[i])});
  }
  table.print();
}

Result<ExitCode> run(const Context& context, const Options& options) {
  if (!options.agents.empty()) {
    if (!options.session.empty() || !options.byDefault.empty() || options.pin || options.unpin ||
        !options.timeToLive.empty()) {
      return fail(ErrorCode::InvalidArgument, "--agents can be combined only with --older-than and --apply",
                  "bough prune --agents claude-code --older-than 30d");
    }
    return pruneAgents(context, options.agents, options.olderThan, options.apply);
  }
  if (!options.byDefault.empty()) {
    if (!options.session.empty() || options.apply || !options.olderThan.empty()) {
      return fail(ErrorCode::InvalidArgument, "--default-ttl cannot be combined: it applies to the whole store",
                  "run `bough prune --default-ttl 90d` by itself");
    }
    return setDefault(context, options.byDefault);
  }
  if (!options.session.empty()) return setRetention(context, options);
  if (options.pin || options.unpin || !options.timeToLive.empty()) {
    return fail(ErrorCode::InvalidArgument, "--pin, --unpin and --ttl need a session", "bough prune SESSION --pin");
  }
  std::optional<std::uint64_t> byDefault;
  if (!options.olderThan.empty()) {
    BOUGH_TRY(auto age, parseAge(options.olderThan));
    byDefault = age;
  }
  BOUGH_TRY(auto view, openCatalogView(context));
  BOUGH_TRY(auto expired, view.catalog->expired(nowMs(), byDefault));
  Outcome outcome;
  if (options.apply) {
    outcome = moveAll(*view.store, expired, context.json);
  } else {
    for (const Catalog::Expired& each : expired) outcome.bytes += each.session.bytes;
  }
  if (context.json) {
    printJson(expired, options.apply, outcome);
    return outcome.code;
  }
  if (expired.empty()) {
    printMessage("no sessions have expired");
    return kDone;
  }
  if (!options.apply) {
    printTable(*view.catalog, expired);
    printMessage(fmt::format("{} in total; nothing was changed; --apply moves these sessions to the trash",
                             formatBytes(outcome.bytes)));
    return kDone;
  }
  printMessage(fmt::format("{} moved to the trash, {}; `bough trash --empty` frees the space",
                           counted(outcome.moved, "session"), formatBytes(outcome.bytes)));
  return outcome.code;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "prune",
      .summary = "List expired sessions; with --apply, move them to the trash",
      .details =
          "A session expires when nothing was appended to it for longer than its time to live: its own (--ttl), "
          "else --older-than, else the default of the store (--default-ttl), which is off until it is set. "
          "Pinned and damaged sessions never expire. Nothing is moved without --apply, and what is moved stays "
          "in the trash until you empty it.\n"
          "With --agents: lists the session files of other agents that nobody wrote to for that long. --apply imports "
          "each into the store, archives it there, compares every byte, and only then removes the file.\n"
          "Files of agents that keep a list of them (Codex, Gemini CLI, OpenClaw, MyAgents, claw0) are archived but "
          "not removed.",
      .examples =
          "  bough prune --older-than 90d\n"
          "  bough prune --older-than 90d --apply\n"
          "  bough prune --default-ttl 365d\n"
          "  bough prune SESSION --pin\n"
          "  bough prune SESSION --ttl 30d\n"
          "  bough prune --agents claude-code --older-than 30d",
      .options = {{.name = "SESSION", .help = "Set how long this session is kept", .target = &options->session},
                  {.name = "--older-than",
                   .help = "Use this age instead of the default of the store",
                   .target = &options->olderThan,
                   .value = "AGE"},
                  {.name = "--agents",
                   .help = "List session files of other agents instead: all, or names separated by commas",
                   .target = &options->agents,
                   .value = "LIST",
                   .valueWhenBare = "all"},
                  {.name = "--apply", .help = "Move the expired sessions to the trash", .target = &options->apply},
                  {.name = "--pin", .help = "Keep the session forever", .target = &options->pin},
                  {.name = "--unpin",
                   .help = "Let the default of the store apply again",
                   .target = &options->unpin,
                   .conflictsWith = {"--pin"}},
                  {.name = "--ttl",
                   .help = "Set its own time to live: 30d, 12h, or off",
                   .target = &options->timeToLive,
                   .value = "AGE"},
                  {.name = "--default-ttl",
                   .help = "Set the time to live of sessions that have none of their own, or off",
                   .target = &options->byDefault,
                   .value = "AGE",
                   .conflictsWith = {"--pin", "--unpin", "--ttl"}}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::prune_command
