#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/json/json_write.h"
#include "base/model/ids.h"
#include "base/model/missing_log.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/try.h"
#include "bough/catalog.h"
#include "bough/store.h"
#include "bough/torn.h"
#include "cli/commands/commands.h"
#include "cli/commands/upkeep/doctor_files.h"
#include "cli/definition/settings.h"
#include "cli/names/damage.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/names/store_session.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/wrapped_text.h"
#include "cli/views/entry_view.h"

namespace bough::cli::doctor_command {
namespace {

struct Scope {
  bool deep = false;
  bool canAskCatalog = true;  // whether the catalog can tell what the sessions once held
};

// Checks the log of a session: its state only, or every byte.
std::optional<Diagnosis> checkLog(SessionStore& store, SessionTitles& titles, const Result<SessionState>& state,
                                  const std::string& id, const Scope& scope) {
  const bool deep = scope.deep;
  const auto bad = [&](const std::string& what, const std::string& advice, bool unread = false) {
    return Diagnosis{
        .health = Health::Bad, .what = titles.name(id) + ": " + what, .advice = advice, .isUnread = unread};
  };
  if (!state) return bad(state.error().message, state.error().hint, state.error().retryable);
  std::uint64_t problems = state->problemCount;
  if (deep) {
    auto report = store.verifySession(id);
    if (!report) return bad(report.error().message, report.error().hint, report.error().retryable);
    // Bytes after the last complete batch are reported separately.
    const auto torn = std::ranges::count(report->problems, ProblemKind::Torn, &Problem::kind);
    problems = report->problemCount - static_cast<std::uint64_t>(torn);
  }
  if (problems > 0)
    return bad(counted(problems, "part") + " cannot be read", fmt::format("`bough verify {}`", exactName(id)));
  if (const auto lost = lostHistoryOf(store, *state)) return bad("it continues " + lost->what, lost->advice);
  const auto missing = missingFromLog(store, id);
  if (!missing && !scope.canAskCatalog) return std::nullopt;  // reported once elsewhere; it is not the session's fault
  if (!missing) {
    return bad("it is unknown whether entries are missing at its end: " + missing.error().message, missing.error().hint,
               true);
  }
  if (!missing->empty()) {
    return bad(*missing, "bring the log back from a copy; `bough reindex` accepts it as it is");
  }
  // The catalog has read every line; the state knows little more than where the lines are.
  if (const auto row = titles.row(id); row && row->condition == SessionCondition::Damaged && !deep) {
    return bad(row->problem, fmt::format("`bough verify {}`", exactName(id)));
  }
  return std::nullopt;
}

Diagnosis tailDiagnosis(const SessionState& state, const std::string& name) {
  return {.health = state.trailingInDoubt ? Health::Note : Health::Bad,
          .what = fmt::format("{}: {} after the last complete batch, {}", name, counted(state.trailingBytes, "byte"),
                              state.trailingInDoubt ? "left by a crash or being written" : "left by a crash"),
          .advice = fmt::format("the next append moves them aside; `bough repair {}` does it now",
                                exactName(state.sessionId)),
          .isOpen = state.trailingInDoubt};
}

// Reports each problem of a session separately, so that none hides another.
Diagnoses checkSession(SessionStore& store, SessionTitles& titles, const std::string& id, const Scope& scope) {
  const auto state = store.sessionState(id);
  Diagnoses found;
  if (auto damage = checkLog(store, titles, state, id, scope)) found.push_back(std::move(*damage));
  if (const std::uint64_t setAside = tornBytes(store, id); setAside > 0) {
    found.push_back(
        {.health = Health::Bad,
         .what = fmt::format("{}: {} were set aside from the end of the log", titles.name(id), formatBytes(setAside)),
         .advice = fmt::format("`bough torn {}` lists the entries in it", exactName(id))});
  }
  if (!state) return found;
  if (state->trailingBytes > 0) found.push_back(tailDiagnosis(*state, titles.name(id)));
  if (state->format < jsonEntrySerializer().schemaVersion()) {
    found.push_back(
        {.health = Health::Note,
         .what = fmt::format("{}: format {} can be read but not appended to", titles.name(id), state->format),
         .advice = fmt::format("`bough migrate {}`; the old file is kept", exactName(id))});
  }
  return found;
}

// Sums up the check of `count` sessions.
Diagnosis sessionsDiagnosis(std::size_t count, std::size_t damaged, std::size_t unread, std::size_t open, bool deep) {
  const std::string checked = deep ? "; every byte was checked" : "";
  if (count == 0) return {.what = "there are no sessions yet", .advice = {}};
  if (unread > 0) {
    const std::string rest = damaged > 0 ? fmt::format(", {} {} damaged", damaged, damaged == 1 ? "is" : "are") : "";
    const std::string what = fmt::format("{} of {} could not be checked{}", unread, counted(count, "session"), rest);
    return {.health = Health::Bad, .what = what, .advice = "check again when they can be read"};
  }
  if (damaged > 0) {
    return {.health = Health::Bad,
            .what = fmt::format("{} of {} {} damaged{}", damaged, counted(count, "session"),
                                damaged == 1 ? "is" : "are", checked),
            .advice = deep ? "" : "--deep checks every byte"};
  }
  if (open > 0) {
    return {.health = Health::Note,
            .what = fmt::format("{} of {} may be being written, the others are good{}", open, counted(count, "session"),
                                checked),
            .advice = "check again when nothing writes to the store"};
  }
  const std::string all = count == 1 ? "the session is" : fmt::format("all {} sessions are", count);
  return {.what = fmt::format("{} good{}", all, checked), .advice = {}};
}

void checkSessions(SessionStore& store, const Scope& scope, Diagnoses& findings) {
  const auto sessions = store.listSessions();
  if (!sessions) {
    findings.push_back({.health = Health::Bad,
                        .what = fmt::format("the sessions cannot be listed: {}", sessions.error().message),
                        .advice = sessions.error().hint});
    return;
  }
  Progress progress("checking sessions", sessions->size());
  SessionTitles titles(store);
  std::size_t damaged = 0;
  std::size_t unread = 0;
  std::size_t open = 0;
  Diagnoses found;
  for (std::size_t i = 0; i < sessions->size(); ++i) {
    auto ofOne = checkSession(store, titles, (*sessions)[i], scope);
    if (!ofOne.empty() && !isGone(store, (*sessions)[i])) {
      const bool isUnread = std::ranges::count(ofOne, true, &Diagnosis::isUnread) > 0;
      if (std::ranges::count(ofOne, Health::Bad, &Diagnosis::health) > 0) ++(isUnread ? unread : damaged);
      if (std::ranges::count(ofOne, true, &Diagnosis::isOpen) > 0) ++open;
      std::ranges::move(ofOne, std::back_inserter(found));
    }
    progress.update(i + 1);
  }
  findings.push_back(sessionsDiagnosis(sessions->size(), damaged, unread, open, scope.deep));
  std::ranges::move(found, std::back_inserter(findings));
}

// Reports sessions whose log is gone.
void checkMissing(SessionStore& store, const Result<std::vector<MissingSession>>& missing, Diagnoses& findings) {
  if (!missing) {
    findings.push_back({.health = Health::Note,
                        .what = "cannot find out whether sessions are missing, or entries are missing at their ends: " +
                                missing.error().message,
                        .advice = missing.error().hint});
    return;
  }
  for (const MissingSession& each : *missing) {
    findings.push_back(
        {.health = Health::Bad,
         .what = fmt::format("{}: {}", idAndTitle(store, each.sessionId), missingLogMessage(each.entries)),
         .advice = std::string(remedyFor(ProblemKind::Missing))});
  }
}

// Checks that the settings can be read. Without the store's settings, sessions would be kept too long or too short;
// without the user's, the chat does not start and prices are unknown.
void checkSettings(SessionStore& store, Diagnoses& findings) {
  const auto own = readSettings();
  const auto settings = store.settings();
  if (own && settings) findings.push_back({.what = "the settings can be read", .advice = {}});
  if (!own) {
    findings.push_back({.health = Health::Bad,
                        .what = fmt::format("your settings cannot be read: {}", own.error().message),
                        .advice = own.error().hint});
  }
  if (!settings) {
    findings.push_back({.health = Health::Bad,
                        .what = fmt::format("the settings cannot be read: {}", settings.error().message),
                        .advice = settings.error().hint.empty()
                                      ? "correct settings.json, or remove it: the defaults apply then"
                                      : settings.error().hint});
  }
}

void checkCatalog(SessionStore& store, bool deep, Diagnoses& findings) {
  auto catalog = Catalog::open(store);
  auto caughtUp = catalog ? (*catalog)->catchUp() : std::unexpected(catalog.error());
  if (!caughtUp) {
    findings.push_back(
        {.health = Health::Note,
         .what = fmt::format("the catalog cannot be brought up to date: {}", caughtUp.error().message),
         .advice = caughtUp.error().hint.empty() ? "`bough reindex` rebuilds it" : caughtUp.error().hint});
    return;
  }
  std::vector<std::string> notes = (*catalog)->notes();
  notes.insert(notes.end(), caughtUp->notes.begin(), caughtUp->notes.end());
  for (std::string& note : notes) findings.push_back({.health = Health::Note, .what = std::move(note), .advice = {}});
  auto damage = (*catalog)->check(deep);
  if (!damage && damage.error().retryable) {
    const std::string what = "the catalog could not be checked: " + damage.error().message;
    return findings.push_back({.health = Health::Note, .what = what, .advice = damage.error().hint});
  }
  if (!damage) damage = std::vector<std::string>{damage.error().message};
  for (const std::string& each : *damage) {
    findings.push_back({.health = Health::Bad,
                        .what = fmt::format("the catalog is damaged: {}", each),
                        .advice = "`bough reindex` rebuilds it from the sessions, which are not affected"});
  }
  // A catalog that had to be made elsewhere is not the one that other processes find.
  if (damage->empty() && (*catalog)->notes().empty()) {
    findings.push_back(
        {.what = deep ? "the catalog agrees with the sessions" : "the catalog is up to date", .advice = {}});
  }
}

void checkAttachments(SessionStore& store, Diagnoses& findings) {
  auto unused = store.findUnusedAttachments();
  if (!unused) {
    findings.push_back({.health = Health::Note,
                        .what = "cannot find out which attachments are used: " + unused.error().message,
                        .advice = "repair that first; no attachment was removed"});
  } else if (unused->empty()) {
    findings.push_back({.what = "all attachments are used", .advice = {}});
  } else {
    findings.push_back({.health = Health::Note,
                        .what = counted(unused->size(), "attachment is", "attachments are") + " not used by any entry",
                        .advice = "`bough doctor --deep --remove-unused` removes them"});
  }
}

struct Options {
  bool deep = false;
  bool removeUnused = false;
  bool fix = false;
};

Result<Diagnoses> examine(const Context& context, SessionStore& store, const Options& options) {
  Diagnoses findings;
  const std::string location = context.resolvedLocation();
  const bool isFolder = context.backend || !isPostgresLocation(location);
  if (isFolder) {
    checkFiles(store, location, options.fix, findings);
  } else {
    findings.push_back({.what = fmt::format("the store {} can be reached", shownLocation(location)), .advice = {}});
  }
  checkSettings(store, findings);
  Diagnoses ofCatalog;  // the catalog is updated first, because checks of sessions use it
  checkCatalog(store, options.deep, ofCatalog);
  const auto missing = missingSessions(store);
  checkSessions(store, {.deep = options.deep, .canAskCatalog = missing.has_value()}, findings);
  checkMissing(store, missing, findings);
  std::ranges::move(ofCatalog, std::back_inserter(findings));
  if (!options.deep) return findings;
  if (options.removeUnused) {
    auto unused = store.findUnusedAttachments();
    if (!unused) return std::unexpected(unused.error());
    auto removed = store.removeUnusedAttachments(*unused);
    if (!removed) return std::unexpected(removed.error());
    findings.push_back({.what = fmt::format("{} unused attachments were removed", *removed), .advice = {}});
    return findings;
  }
  checkAttachments(store, findings);
  return findings;
}

void printJson(const Diagnoses& findings) {
  constexpr std::string_view kNames[] = {"good", "note", "bad"};
  json::Writer writer;
  writer.beginObject().member("schema", 1).key("findings").beginArray();
  for (const Diagnosis& finding : findings) {
    writer.beginObject().member("health", kNames[static_cast<std::size_t>(finding.health)]);
    writer.member("what", finding.what).memberOrNull("advice", finding.advice).endObject();
  }
  printJsonLine(writer.endArray().endObject().text());
}

void printForPeople(const Diagnoses& findings) {
  for (const Diagnosis& finding : findings) {
    const std::string mark = finding.health == Health::Good   ? styled(Style::Green, "✓")
                             : finding.health == Health::Note ? styled(Style::Yellow, "!")
                                                              : styled(Style::Red, "✗");
    printWrapped(fmt::format("{} {}", mark, text::printable(finding.what)), 2);
    if (finding.health != Health::Good && !finding.advice.empty()) {
      printWrapped(fmt::format("    → {}", text::printable(finding.advice)));
    }
  }
}

Result<ExitCode> run(const Context& context, const Options& options) {
  if (options.removeUnused && !options.deep) {
    return fail(ErrorCode::InvalidArgument, "--remove-unused needs --deep", "bough doctor --deep --remove-unused");
  }
  BOUGH_TRY(auto store, context.openStore());
  BOUGH_TRY(auto findings, examine(context, *store, options));
  context.json ? printJson(findings) : printForPeople(findings);
  const bool bad =
      std::ranges::any_of(findings, [](const Diagnosis& finding) { return finding.health == Health::Bad; });
  return bad ? kProblem : kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "doctor",
      .summary = "Check the store: disk space, settings, sessions, catalog, foreign files",
      .details =
          "Says what to do about each problem. Without --fix and --remove-unused, changes nothing except the catalog, "
          "which is brought "
          "up to date. "
          "The exit code is 1 if something is damaged.",
      .examples =
          "  bough doctor\n"
          "  bough doctor --deep",
      .options =
          {{.name = "--deep",
            .help = "Check every byte of every session, every row of the catalog, and whether every attachment is used",
            .target = &options->deep},
           {.name = "--remove-unused",
            .help = "With --deep: remove attachments that no entry uses",
            .target = &options->removeUnused},
           {.name = "--fix", .help = "Remove files of sessions that were never created", .target = &options->fix}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::doctor_command
