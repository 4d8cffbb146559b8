#include "bough/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/json/json_write.h"
#include "base/text/counted.h"
#include "base/text/shell_word.h"
#include "base/text/text.h"
#include "base/try.h"
#include "cli/commands/commands.h"
#include "cli/names/damage.h"
#include "cli/names/short_id.h"
#include "cli/names/store_session.h"
#include "cli/terminal/output.h"

namespace bough::cli::copy_command {
namespace {

struct CopyOptions {
  std::string from;
  std::string to;
  std::vector<std::string> sessions;
};

struct SyncOptions {
  std::string left;
  std::string right;
  std::vector<std::string> sessions;
};

// A store in memory ends with the command, and everything copied into it would be lost.
Result<StoreSide> openSide(const std::string& location, bool create) {
  if (location == "memory:") {
    return fail(ErrorCode::InvalidArgument, "a store in memory ends with this command",
                "name a folder, or a database's address");
  }
  StoreOptions options;
  options.create = create;
  auto opened = StoreSide::open(location, options);
  // The usual hint about --store and `bough new` does not apply here.
  const bool isNone = !opened && opened.error().code == ErrorCode::NotFound && !location.contains("://");
  if (isNone) {
    opened.error().hint =
        fmt::format("correct the name; `bough --store {} store init` makes an empty store there", shellWord(location));
  }
  return opened;
}

// Two names may refer to the same folder.
Result<void> checkDifferent(const std::string& one, const std::string& other) {
  std::error_code error;
  if (one != other && !std::filesystem::equivalent(one, other, error)) return {};
  return fail(ErrorCode::InvalidArgument,
              fmt::format("{} and {} are the same store", shownLocation(one), shownLocation(other)), "name two stores");
}

// A store, and the location that the user gave for it.
struct NamedSide {
  StoreSide& side;
  std::string location;
};

bool isIntact(const SessionState& state) {
  return state.problemCount == 0 && state.lostPayloads == 0 && state.lostSession.empty();
}

// Returns the first damaged session among this one and those whose history it shares; empty when there is none.
std::string damagedIn(SessionStore& store, const std::string& id) {
  std::set<std::string> seen;
  for (std::string at = id; seen.insert(at).second;) {
    const auto state = store.sessionState(at);
    if (!state) return state.error().code == ErrorCode::Damaged ? at : "";
    if (state->problemCount > 0) return at;
    if (!state->origin) break;
    at = state->origin->sessionId;
  }
  return {};
}

// Returns the advice for a session that is damaged in one store and intact in the other; empty in all other cases.
std::string recoveryAdvice(const NamedSide& damaged, const NamedSide& whole, const std::string& id) {
  constexpr std::size_t kMostNames = 16;
  const std::string lost = damagedIn(*damaged.side.store, id);
  if (lost.empty()) return {};
  // Its forks share the unreadable history, so they are removed and restored together with it.
  std::vector<std::string> names{lost};
  bool hasMore = false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto there = whole.side.store->sessionState(names[i]);
    if (!there || !isIntact(*there)) return {};
    const auto here = damaged.side.store->sessionState(names[i]);
    hasMore = hasMore || (here && here->entryCount > there->entryCount);
    const auto forks = damaged.side.store->forksOf(names[i]);
    if (!forks) return {};
    for (const std::string& fork : *forks) {
      if (std::ranges::find(names, fork) == names.end()) names.push_back(fork);
    }
    if (names.size() > kMostNames) return {};
  }
  std::string rm = "bough --store " + shellWord(shownLocation(damaged.location)) + " rm";
  std::string sync = fmt::format("bough sync {} {}", shellWord(shownLocation(damaged.location)),
                                 shellWord(shownLocation(whole.location)));
  for (const std::string& name : names) {
    rm += " " + exactName(name);
    sync += " " + exactName(name);
  }
  return fmt::format("the other store has it whole: `{}`, then `{}`{}", rm, sync,
                     hasMore ? "; what only the damaged copy holds stays in the trash" : "");
}

Error withRecoveryAdvice(Error error, const NamedSide& one, const NamedSide& other, const std::string& id) {
  if (error.code != ErrorCode::Damaged) return error;
  std::string way = recoveryAdvice(one, other, id);
  if (way.empty()) way = recoveryAdvice(other, one, id);
  if (!way.empty()) error.hint = std::move(way);
  return error;
}

Result<std::vector<CopiedSession>> copyOne(const Context& context, const NamedSide& from, const NamedSide& to,
                                           const std::string& id) {
  BOUGH_TRY(const auto later, reportDamage(context, *from.side.store, id));
  auto copied = copySession(from.side, to.side, id);
  if (!copied) copied.error() = withRecoveryAdvice(std::move(copied.error()), from, to, id);
  return copied;
}

Result<std::vector<SyncedSession>> syncOne(const Context& context, const NamedSide& left, const NamedSide& right,
                                           const std::string& id) {
  BOUGH_TRY(const auto laterOnLeft, reportDamage(context, *left.side.store, id));
  BOUGH_TRY(const auto laterOnRight, reportDamage(context, *right.side.store, id));
  auto synced = syncSession(left.side, right.side, id);
  if (!synced) synced.error() = withRecoveryAdvice(std::move(synced.error()), left, right, id);
  return synced;
}

Result<ExitCode> copy(const Context& context, const CopyOptions& options) {
  const std::string source = options.from.empty() ? context.resolvedLocation() : options.from;
  BOUGH_TRY(checkDifferent(source, options.to));
  BOUGH_TRY(auto from, openSide(source, /*create=*/false));
  context.newStore->watch(options.to);
  BOUGH_TRY(auto to, openSide(options.to, /*create=*/true));
  std::vector<std::string> sessions = options.sessions;
  if (sessions.empty()) {
    BOUGH_TRY(sessions, from.store->listSessions());
  }
  std::set<std::string> seen;
  std::uint64_t entries = 0;
  std::uint64_t grown = 0;
  ExitCode code = kDone;
  for (const std::string& id : sessions) {
    if (seen.contains(id)) continue;
    const auto copied = copyOne(context, {.side = from, .location = source}, {.side = to, .location = options.to}, id);
    if (!copied && options.sessions.empty() && isGone(*from.store, id)) continue;
    if (!copied) {
      printError(copied.error(), context.json);
      code = kProblem;
      continue;
    }
    for (const CopiedSession& each : *copied) {
      if (!seen.insert(each.sessionId).second) continue;
      entries += each.copiedEntries;
      grown += each.copiedEntries > 0 ? 1 : 0;
      if (!context.json) continue;
      json::Writer writer;
      writer.beginObject().member("schema", 1).member("sessionId", each.sessionId);
      writer.member("present", each.presentEntries).member("copied", each.copiedEntries).endObject();
      printJsonLine(writer.text());
    }
  }
  if (!context.json) {
    printMessage(fmt::format("copied {} of {}; {} compared", counted(entries, "new entry"), counted(grown, "session"),
                             counted(seen.size(), "session")));
  }
  return code;
}

Result<ExitCode> sync(const Context& context, const SyncOptions& options) {
  BOUGH_TRY(checkDifferent(options.left, options.right));
  BOUGH_TRY(auto left, openSide(options.left, /*create=*/false));
  BOUGH_TRY(auto right, openSide(options.right, /*create=*/false));
  std::set<std::string> sessions(options.sessions.begin(), options.sessions.end());
  if (sessions.empty()) {
    BOUGH_TRY(const auto onLeft, left.store->listSessions());
    BOUGH_TRY(const auto onRight, right.store->listSessions());
    sessions.insert(onLeft.begin(), onLeft.end());
    sessions.insert(onRight.begin(), onRight.end());
  }
  std::set<std::string> seen;
  std::uint64_t toLeft = 0;
  std::uint64_t toRight = 0;
  ExitCode code = kDone;
  for (const std::string& id : sessions) {
    if (seen.contains(id)) continue;
    const auto synced =
        syncOne(context, {.side = left, .location = options.left}, {.side = right, .location = options.right}, id);
    if (!synced && options.sessions.empty() && isGone(*left.store, id) && isGone(*right.store, id)) continue;
    if (!synced) {
      printError(synced.error(), context.json);
      code = kProblem;
      continue;
    }
    for (const SyncedSession& each : *synced) {
      if (!seen.insert(each.sessionId).second) continue;
      toLeft += each.toLeft;
      toRight += each.toRight;
      if (!context.json) {
        for (const std::string& note : each.notes)
          printMessage(text::printable(fmt::format("{}: {}", each.sessionId, note)));
        continue;
      }
      json::Writer writer;
      writer.beginObject().member("schema", 1).member("sessionId", each.sessionId);
      writer.member("toLeft", each.toLeft).member("toRight", each.toRight).list("notes", each.notes).endObject();
      printJsonLine(writer.text());
    }
  }
  if (!context.json) {
    printMessage(fmt::format("{} compared; new entries: {} in the first store, {} in the second",
                             counted(seen.size(), "session"), toLeft, toRight));
  }
  return code;
}

}  // namespace

Command define() {
  auto options = std::make_shared<CopyOptions>();
  return {
      .name = "copy",
      .summary = "Copy sessions to another store",
      .details =
          "Stores are folders or postgresql:// URLs. Entries keep their ids and their bytes. Entries that the other "
          "store already has are compared; only new ones are copied. So the command can be repeated after an "
          "interruption, or when sessions have grown. If a session shares its history with other sessions, these are "
          "copied, too.",
      .examples =
          "  bough copy --to postgresql://agents@db.example/sessions\n"
          "  bough copy --from postgresql://agents@db.example/sessions --to ~/backup SESSION",
      .options = {{.name = "SESSION", .help = "The ids of the sessions; default: all", .target = &options->sessions},
                  {.name = "--from",
                   .help = "The store to copy from. Default: --store",
                   .target = &options->from,
                   .value = "STORE"},
                  {.name = "--to",
                   .help = "The store to copy to",
                   .target = &options->to,
                   .required = true,
                   .value = "STORE"}},
      .run = [options](const Context& context) { return copy(context, *options); },
  };
}

Command defineSync() {
  auto options = std::make_shared<SyncOptions>();
  return {
      .name = "sync",
      .summary = "Synchronize two stores in both directions",
      .details =
          "Each store gets the entries that only the other has. A session that was continued in both has two branches "
          "afterwards. Where both moved the head, a label or the title, the newer change wins, and the command reports "
          "it; the entry of the older change stays in the session. A session in the trash of one store comes back from "
          "the other, and the command reports it. A fork that got its own copy of its history in one store (`bough rm "
          "--detach`) gets its own copy in the other.",
      .examples = "  bough sync ~/.local/share/bough postgresql://agents@db.example/sessions",
      .options = {{.name = "LEFT", .help = "A store", .target = &options->left, .required = true},
                  {.name = "RIGHT", .help = "Another store", .target = &options->right, .required = true},
                  {.name = "SESSION", .help = "The ids of the sessions; default: all", .target = &options->sessions}},
      .run = [options](const Context& context) { return sync(context, *options); },
  };
}

}  // namespace bough::cli::copy_command
