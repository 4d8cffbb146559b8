#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/json/json_write.h"
#include "base/text/shell_word.h"
#include "base/try.h"
#include "cli/commands/commands.h"
#include "cli/names/entry_name.h"
#include "cli/names/foreign.h"
#include "cli/names/session_name.h"
#include "cli/repl/start_chat.h"
#include "cli/terminal/output.h"
#include "cli/views/transcript_file.h"

namespace bough::cli::resume_command {
namespace {

struct Options {
  std::string session;
  std::string agent;
  std::string at;
  std::vector<std::string> cwdMap;
  bool dryRun = false;
};

struct Resumed {
  MadeTranscript made;
  TranscriptPlace place;
  bool isThere = false;      // the file exists and holds just this
  std::string instead = {};  // a file of the same session that holds something else
};

bool holds(const std::string& path, std::string_view bytes) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream held;
  held << in.rdbuf();
  return !in.bad() && held.view() == bytes;
}

// Nothing is overwritten: where the agent has a file of the session that holds something else, the session gets
// another id there.
Result<Resumed> findPlace(SessionStore& store, const std::string& sessionId, TranscriptWish wish) {
  constexpr unsigned kMostCopies = 1'000;
  std::string instead;
  for (; wish.copy < kMostCopies; ++wish.copy) {
    Resumed resumed;
    BOUGH_TRY(resumed.made, makeTranscript(store, sessionId, wish));
    BOUGH_TRY(resumed.place, placeForTranscript(transcriptHome(), resumed.made.facts));
    std::error_code error;
    const bool isFree = !std::filesystem::exists(resumed.place.path, error);
    resumed.isThere = !isFree && holds(resumed.place.path, resumed.made.bytes);
    resumed.instead = instead;
    if (isFree || resumed.isThere) return resumed;
    if (instead.empty()) instead = resumed.place.path;
  }
  return fail(ErrorCode::AlreadyExists, fmt::format("{} and {} copies of it exist already", instead, kMostCopies),
              "remove those that are not needed");
}

void print(const Resumed& resumed, const Context& context, bool dryRun) {
  const auto& [made, place, isThere, instead] = resumed;
  if (context.json) {
    std::string out;
    json::Writer writer(out);
    writer.beginObject().member("schema", std::uint64_t{1}).member("agent", made.facts.agent);
    writer.member("agentSessionId", made.facts.sessionId).member("file", place.path);
    std::error_code gone;
    writer.member("cwd", made.facts.cwd);
    writer.member("cwdMissing", !made.facts.cwd.empty() && !std::filesystem::is_directory(made.facts.cwd, gone));
    writer.member("command", place.command).member("written", !dryRun && !isThere);
    writer.member("carried", made.written.carried);
    writer.key("report").raw(made.written.report.toJson()).endObject();
    return printLine(out);
  }
  printWritten(made);
  if (!instead.empty()) {
    printMessage(
        fmt::format("note: {} exists and holds something else; it is not overwritten, so this is a new session "
                    "of {} with the id {}",
                    instead, made.facts.agent, made.facts.sessionId));
  }
  printMessage(isThere ? fmt::format("{} is there already", place.path)
                       : fmt::format("{} {}", dryRun ? "would write" : "wrote", place.path));
  std::error_code error;
  if (!made.facts.cwd.empty() && !std::filesystem::is_directory(made.facts.cwd, error)) {
    printMessage(fmt::format("note: the session's folder {} is gone; --cwd-map OLD=NEW names another", made.facts.cwd));
  }
  if (place.command.empty()) return printMessage(place.advice);
  const std::string folder = made.facts.cwd.empty() ? "" : fmt::format("cd {} && ", shellWord(made.facts.cwd));
  printLine(folder + place.command);
}

// In the chat of bough itself.
Result<ExitCode> continueHere(const Context& context, const Options& options) {
  if (options.dryRun || !options.at.empty() || !options.cwdMap.empty()) {
    return fail(ErrorCode::InvalidArgument, "--at, --dry-run and --cwd-map need --in AGENT",
                "`bough switch SESSION ENTRY` chooses where the chat goes on");
  }
  return startChat(context, {.choice = {.session = options.session, .last = options.session.empty()}});
}

Result<ExitCode> run(const Context& context, const Options& options) {
  if (options.agent.empty()) return continueHere(context, options);
  if (options.session.empty()) {
    return fail(ErrorCode::InvalidArgument, "no session was named", "`bough ls` lists the sessions");
  }
  BOUGH_TRY(auto session, openForReading(context, options.session));
  TranscriptWish wish{.agent = options.agent, .at = {}, .cwdMap = options.cwdMap, .branchOnly = false};
  if (!options.at.empty()) {
    BOUGH_TRY(wish.at, resolveEntry(*session.store, session.sessionId, options.at));
  }
  wish.needsFolder = true;
  BOUGH_TRY(const auto resumed, findPlace(*session.store, session.sessionId, std::move(wish)));
  if (!options.dryRun && !resumed.isThere) {
    BOUGH_TRY(writeNewFile(resumed.place.path, resumed.made.bytes));
    BOUGH_TRY(announceTranscript(transcriptHome(), resumed.made.facts, resumed.place.path));
  }
  print(resumed, context, options.dryRun);
  return kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "resume",
      .summary = "Continue a session in the chat, or in another agent",
      .details =
          "Without --in, opens the session in the chat, as `bough chat --session` does. With --in, writes the session\n"
          "where that agent looks for it, and prints the command that continues it there. A file that exists is never\n"
          "overwritten: when the agent's file of the session holds something else, the session gets a new id there.",
      .examples =
          "  bough resume\n  bough resume SESSION\n  bough resume SESSION --in pi\n"
          "  bough resume SESSION --in pi --dry-run",
      .options = {{.name = "SESSION",
                   .help = std::string(kSessionHelp) + "; default: the most recent one of this folder",
                   .target = &options->session},
                  {.name = "--in",
                   .help = "The agent that continues it; default: bough chat",
                   .target = &options->agent,
                   .choices = agentChoices(),
                   .value = "AGENT"},
                  {.name = "--at",
                   .help = "The entry to continue from; default: the head",
                   .target = &options->at,
                   .value = "ENTRY"},
                  {.name = "--dry-run", .help = "Write nothing; say what would be written", .target = &options->dryRun},
                  cwdMapOption(options->cwdMap)},
      .values = options,
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::resume_command
