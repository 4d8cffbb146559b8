#include <fmt/format.h>

#include <map>
#include <memory>
#include <set>

#include "base/json/json_write.h"
#include "base/model/missing_log.h"
#include "base/text/counted.h"
#include "base/text/shell_word.h"
#include "base/text/text.h"
#include "base/try.h"
#include "bough/torn.h"
#include "bough/transcript.h"
#include "cli/commands/commands.h"
#include "cli/names/agents_view.h"
#include "cli/names/damage.h"
#include "cli/names/foreign.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/names/store_session.h"
#include "cli/terminal/output.h"
#include "cli/terminal/wrapped_text.h"

namespace bough::cli::verify_command {
namespace {

constexpr std::string_view kAccept = "; `bough reindex` accepts the log as it is";

constexpr std::string_view kSetAside = "was set aside";

std::string remedyIn(const VerifyReport& report, const Problem& problem) {
  constexpr std::string_view kSession = "SESSION";
  const bool isSetAside = problem.kind == ProblemKind::Torn && problem.message.starts_with(kSetAside);
  std::string remedy(isSetAside
                         ? "`bough torn SESSION --put-back` appends the intact entries that the session does not "
                           "have; `--drop` deletes what was set aside"
                         : remedyFor(problem.kind));
  const std::string id = exactName(report.sessionId);
  for (std::size_t at = 0; (at = remedy.find(kSession, at)) != std::string::npos; at += id.size()) {
    remedy.replace(at, kSession.size(), id);
  }
  return remedy;
}

// `hint`: what to do about another agent's file, whose notes report damage that could be read anyway.
void printJson(const VerifyReport& report, const std::string& hint = {}) {
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("sessionId", report.sessionId);
  if (!report.problems.empty()) writer.member("file", report.file);
  writer.member("entries", report.entries).member("bytes", report.bytes);
  writer.member("problemCount", report.problemCount).member("noteCount", report.noteCount).key("problems").beginArray();
  for (const Problem& problem : report.problems) {
    const bool isRecovered = isNote(problem.kind) && !hint.empty();
    writer.beginObject().member("kind", isRecovered ? "recovered" : toString(problem.kind));
    writer.member("note", isNote(problem.kind));
    writer.member("offset", problem.offset).member("bytes", problem.bytes).member("message", problem.message);
    writer.member("hint", hint.empty() ? remedyIn(report, problem) : hint).endObject();
  }
  printJsonLine(writer.endArray().endObject().text());
}

// A session in a database has no file.
std::string problemsIn(const VerifyReport& report) {
  const std::string count = counted(report.problemCount, "problem");
  return report.file.empty() ? count : fmt::format("{} in {}", count, report.file);
}

void printForPeople(const VerifyReport& report, const std::string& name) {
  printWrapped(fmt::format("{}  {}, {}: {}", name, counted(report.entries, "entry"), formatBytes(report.bytes),
                           report.problemCount > 0 ? problemsIn(report)
                           : report.noteCount > 0  ? "good, " + counted(report.noteCount, "note")
                                                   : "good"));
  for (const Problem& problem : report.problems) {
    printWrapped(fmt::format("  {} {} at byte {} ({}): {}",
                             isNote(problem.kind) ? "note:" : "PROBLEM:", toString(problem.kind), problem.offset,
                             counted(problem.bytes, "byte"), text::printable(problem.message)));
  }
  std::set<ProblemKind> kinds;
  for (const Problem& problem : report.problems) {
    if (isNote(problem.kind) || !kinds.insert(problem.kind).second) continue;
    printWrapped(fmt::format("  → {}: {}", toString(problem.kind), remedyIn(report, problem)));
  }
}

std::string remedyOfTranscript(const VerifyReport& report) {
  return fmt::format("`bough repair {} --out FILE` writes a clean copy; the file itself is never changed",
                     shellWord(report.file));
}

// Prints the report of another agent's file, which bough only reads.
void printTranscript(const VerifyReport& report) {
  printWrapped(
      fmt::format("{}  {}, {}: {}{}", report.sessionId, counted(report.entries, "entry"), formatBytes(report.bytes),
                  report.problemCount == 0 ? "good" : counted(report.problemCount, "problem") + " in " + report.file,
                  report.noteCount == 0 ? "" : ", " + counted(report.noteCount, "note")));
  for (const Problem& problem : report.problems) {
    const bool wasRead = problem.kind == ProblemKind::LineEnding;
    printWrapped(fmt::format("  {} at byte {} ({}): {}", wasRead ? "note: read all the same," : "PROBLEM: not read,",
                             problem.offset, counted(problem.bytes, "byte"), text::printable(problem.message)));
  }
  if (report.problems.empty()) return;
  printWrapped("  → " + remedyOfTranscript(report));
}

// Verifies a transcript: unreadable parts are damage, the rest are notes.
Result<VerifyReport> verifyTranscript(const std::string& path) {
  BOUGH_TRY(const auto read, readTranscript(path, {}, [](Entry&&) { return Result<void>(); }));
  VerifyReport report;
  report.sessionId = transcriptSessionId(read.facts);
  report.file = path;
  report.entries = read.entries;
  report.bytes = read.bytes;
  report.problemCount = read.unreadable;
  report.noteCount = read.recovered;
  for (const TranscriptDamage& damage : read.damage) {
    const bool atEnd = !damage.recovered && damage.offset >= read.coveredBytes;
    Problem& problem = report.problems.emplace_back();
    problem.kind = damage.recovered ? ProblemKind::LineEnding : atEnd ? ProblemKind::Torn : ProblemKind::Damage;
    problem.offset = damage.offset;
    problem.bytes = damage.sizeBytes;
    problem.message = damage.reason;
  }
  return report;
}

// Verifies the names that refer to files of other agents, which need no store, and removes them from `names`.
Result<std::size_t> verifyFiles(const Context& context, std::vector<std::string>& names) {
  std::size_t bad = 0;
  std::vector<std::string> others;
  for (const std::string& name : names) {
    BOUGH_TRY(const auto files, filesOfName(context, name));
    if (files.empty()) others.push_back(name);
    for (const std::string& file : files) {
      BOUGH_TRY(const auto report, verifyTranscript(file));
      context.json ? printJson(report, remedyOfTranscript(report)) : printTranscript(report);
      if (report.problemCount > 0) ++bad;
    }
  }
  names = std::move(others);
  return bad;
}

// Opens sessions by name, or files by path, each in its own store.
Result<std::vector<NamedSession>> named(const Context& context, const std::vector<std::string>& names) {
  std::vector<NamedSession> sessions;
  for (const std::string& name : names) {
    auto session = openSession(context, name);
    if (!session) return std::unexpected(notFoundAnywhere(context, name, std::move(session.error())));
    sessions.push_back(std::move(*session));
  }
  return sessions;
}

Result<std::vector<NamedSession>> allOf(const std::shared_ptr<SessionStore>& store) {
  std::vector<NamedSession> sessions;
  BOUGH_TRY(auto ids, store->listSessions());
  for (std::string& id : ids) sessions.push_back({.store = store, .sessionId = std::move(id)});
  return sessions;
}

// Entries that the catalog has counted did exist. Writes nothing: a missing catalog is not created.
Result<void> addMissing(SessionStore& store, VerifyReport& report) {
  BOUGH_TRY(std::string missing, missingFromLog(store, report.sessionId));
  if (missing.empty()) return {};
  ++report.problemCount;
  report.problems.push_back(
      {.kind = ProblemKind::Damage, .offset = report.bytes, .bytes = 0, .message = missing.append(kAccept)});
  return {};
}

// Reports sessions whose log is gone. Called only when all sessions are verified.
Result<std::size_t> tellOfMissing(const Context& context, SessionStore& store) {
  BOUGH_TRY(const auto missing, missingSessions(store));
  for (const MissingSession& each : missing) {
    VerifyReport report{.sessionId = each.sessionId, .problemCount = 1};
    report.problems.push_back({.kind = ProblemKind::Missing, .message = missingLogMessage(each.entries)});
    if (context.json) {
      printJson(report);
    } else {
      printWrapped(fmt::format("{}  PROBLEM: {}", idAndTitle(store, each.sessionId), report.problems.front().message));
      printWrapped(fmt::format("  → {}", remedyIn(report, report.problems.front())));
    }
  }
  return missing.size();
}

// Reports bytes that were set aside: the user must decide about them, because they may have been acknowledged.
void addSetAside(SessionStore& store, VerifyReport& report) {
  if (tornBytes(store, report.sessionId) == 0) return;
  const auto torn = readTorn(store, report.sessionId);
  std::size_t intact = 0;
  if (torn) {
    for (const TornRecord& record : torn->records) intact += record.entries.size();
  }
  ++report.problemCount;
  report.problems.push_back({.kind = ProblemKind::Torn,
                             .offset = torn && !torn->records.empty() ? torn->records.front().offset : 0,
                             .bytes = tornBytes(store, report.sessionId),
                             .message = fmt::format("{}, with {} intact; `bough torn {}` lists it", kSetAside,
                                                    counted(intact, "entry"), exactName(report.sessionId))});
}

// A session named by its path may be in a store of its own.
class TitlesOfStores {
 public:
  std::string name(SessionStore& store, const std::string& sessionId) {
    return stores_.try_emplace(&store, store).first->second.name(sessionId);
  }

 private:
  std::map<const SessionStore*, SessionTitles> stores_;
};

Result<ExitCode> run(const Context& context, std::vector<std::string> names) {
  const bool all = names.empty();
  BOUGH_TRY(std::size_t bad, verifyFiles(context, names));
  if (!all && names.empty()) return bad > 0 ? kProblem : kDone;
  std::shared_ptr<SessionStore> store;
  if (all) {
    BOUGH_TRY(store, context.openStore());
  }
  BOUGH_TRY(const auto sessions, store ? allOf(store) : named(context, names));
  TitlesOfStores titles;
  std::size_t gone = 0;    // removed by another process meanwhile
  std::size_t unread = 0;  // may be readable later
  for (const NamedSession& session : sessions) {
    auto report = session.store->verifySession(session.sessionId);
    if (!report && all && isGone(*session.store, session.sessionId)) {
      ++gone;
      continue;
    }
    if (!report) {
      printError(report.error(), context.json);
      ++(report.error().retryable ? unread : bad);
      continue;
    }
    if (const auto asked = addMissing(*session.store, *report); !asked) {
      printError(asked.error(), context.json);
      ++bad;
      continue;
    }
    addSetAside(*session.store, *report);
    context.json ? printJson(*report) : printForPeople(*report, titles.name(*session.store, session.sessionId));
    reportImportDamage(*session.store, session.sessionId);
    if (report->problemCount > 0) ++bad;
    if (outputClosed()) return kDone;
  }
  std::size_t count = sessions.size() - gone;
  if (store) {
    BOUGH_TRY(const std::size_t missing, tellOfMissing(context, *store));
    bad += missing;
    count += missing;
  }
  if (!context.json && (bad > 0 || unread > 0 || count > 1)) {
    printMessage(fmt::format("{} of {} {} problems{}{}", bad, counted(count, "session"), bad == 1 ? "has" : "have",
                             unread > 0 ? fmt::format("; {} could not be checked", unread) : "",
                             bad > 0 ? "; nothing was changed" : ""));
  }
  return bad > 0 || unread > 0 ? kProblem : kDone;
}

}  // namespace

Command define() {
  auto names = std::make_shared<std::vector<std::string>>();
  return {
      .name = "verify",
      .summary = "Check every byte of sessions; changes nothing",
      .details = "Without a session, checks all sessions of the store. The exit code is 1 if something cannot be read.",
      .examples =
          "  bough verify\n"
          "  bough verify SESSION --json",
      .options = {{.name = "SESSION", .help = kSessionHelp, .target = names.get()}},
      .run = [names](const Context& context) { return run(context, *names); },
  };
}

}  // namespace bough::cli::verify_command
