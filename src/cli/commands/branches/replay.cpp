#include "bough/tree.h"

#include <fmt/format.h>

#include "base/json/json_write.h"
#include "base/text/shell_word.h"
#include "base/text/text.h"
#include "base/try.h"
#include "bough/message.h"
#include "cli/commands/commands.h"
#include "cli/names/entry_name.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/terminal/input.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "cli/views/entry_view.h"
#include "cli/views/tool_results.h"

namespace bough::cli::replay_command {
namespace {

struct Options {
  std::string session;
  std::string to;
  std::string after;
  bool keepGoing = false;
  bool step = false;
  bool full = false;
};

// Formats a time as on a stopwatch: "0.5 s", "12 s", "3:05", "2:03:05".
std::string clockText(std::uint64_t ms) {
  if (ms < 10'000) return fmt::format("{}.{} s", ms / 1000, ms % 1000 / 100);
  const std::uint64_t seconds = ms / 1000;
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

void printJson(const ReplayStep& step, CallNames& names) {
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("place", step.place);
  writer.member("sinceStartMs", step.sinceStartMs).member("sincePreviousMs", step.sincePreviousMs);
  writer.member("failed", step.failed).key("entry").raw(entryJson(step.entry, names.view(step.entry))).endObject();
  printJsonLine(writer.text());
}

void printStep(const ReplayStep& step, std::size_t total, const Options& options, CallNames& names) {
  const std::string place = fmt::format("{:>{}}/{}", step.place, std::to_string(total).size(), total);
  const std::string time =
      fmt::format("{:>9} {:>9}", clockText(step.sinceStartMs), "+" + clockText(step.sincePreviousMs));
  const std::string mark = step.failed ? styled(Style::Red, " ✗ failed") : "";
  if (options.full) {
    printLine(fmt::format("{}{}", styled(Style::Dim, place + " " + time), mark));
    printText(renderEntry(step.entry, names.view(step.entry),
                          {.full = true, .width = terminalWidth(), .format = usualFormat()}));
    return;
  }
  const EntrySummary summary = summarizeEntry(step.entry, textGraphemes(100));
  std::string said = fmt::format("[{}] {}", summary.speaker, summary.text);
  const std::size_t taken = place.size() + time.size() + (step.failed ? 13 : 4);
  if (stdoutIsTerminal() && terminalWidth() > taken) said = text::excerptToWidth(said, terminalWidth() - taken);
  printLine(fmt::format("{}  {}{}", styled(Style::Dim, place + " " + time), said, mark));
}

// What the user chooses next in --step mode.
enum class StepChoice : std::uint8_t { Next, Continue, Fork, Quit };

Result<StepChoice> askForChoice(Input& input) {
  for (;;) {
    printMessage("Enter: next, c: continue to the next failure, f: fork here, q: quit");
    BOUGH_TRY(auto line, input.nextLine());
    const std::string_view choice = line ? line->text : "q";
    if (choice.empty()) return StepChoice::Next;
    if (choice == "c") return StepChoice::Continue;
    if (choice == "f") return StepChoice::Fork;
    if (choice == "q") return StepChoice::Quit;
  }
}

void explainStop(const ReplayStep& step, const NamedSession& session, const Options& options, std::size_t total) {
  printMessage(fmt::format("stopped at entry {} of {}: a tool failed", step.place, total));
  // The id of another agent's file may find nothing.
  const std::string name = session.isCopy ? shellWord(options.session) : exactName(session.sessionId);
  printMessage(fmt::format("  → bough replay {} --after {}    continue", name, step.entry.id));
  if (session.isCopy) return;
  printMessage(fmt::format("  → bough fork {} {}    continue from there in a fork", name, step.entry.id));
}

Result<void> makeFork(const NamedSession& session, const std::string& entryId) {
  if (session.isCopy) {
    return fail(ErrorCode::InvalidArgument, "the session of another agent is only read",
                "`bough import` brings it into the store; `bough fork` makes a fork there");
  }
  SessionStore& store = *session.store;
  BOUGH_TRY(auto cwd, folderOf(store, session.sessionId));
  BOUGH_TRY(const auto fork, store.branchFromEntry(session.sessionId, entryId, {.cwd = std::move(cwd)}));
  printMessage(fmt::format("the fork is {}", exactName(fork.sessionId)));
  return {};
}

Result<ExitCode> play(const NamedSession& session, SessionReplay& replay, const Context& context,
                      const Options& options) {
  bool asking = options.step;
  Input input;
  CallNames names(*session.store, session.sessionId);
  while (!outputClosed()) {
    BOUGH_TRY(auto step, replay.next());
    if (!step) return kDone;
    context.json ? printJson(*step, names) : printStep(*step, replay.size(), options, names);
    if (!options.step) {
      if (!step->failed || options.keepGoing) continue;
      if (!context.json) explainStop(*step, session, options, replay.size());
      return kProblem;
    }
    asking = asking || step->failed;
    if (!asking) continue;
    BOUGH_TRY(const auto choice, askForChoice(input));
    if (choice == StepChoice::Quit) return kDone;
    if (choice == StepChoice::Fork) {
      BOUGH_TRY(makeFork(session, step->entry.id));
      return kDone;
    }
    asking = choice == StepChoice::Next;
  }
  return kDone;
}

Result<ExitCode> run(const Context& context, const Options& options) {
  BOUGH_TRY(auto named, openForReading(context, options.session));
  SessionStore& store = *named.store;
  const std::string& session = named.sessionId;
  ReplayOptions wanted;
  for (const auto& [name, target] : {std::pair(&options.to, &wanted.to), std::pair(&options.after, &wanted.after)}) {
    if (name->empty()) continue;
    BOUGH_TRY(auto entry, resolveEntry(store, session, *name));
    *target = std::move(entry);
  }
  BOUGH_TRY(auto replay, SessionReplay::open(store, session, wanted));
  if (replay.size() == 0 && !context.json)
    printMessage(fmt::format("{} has no messages yet", idAndTitle(store, session)));
  return play(named, replay, context, options);
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "replay",
      .summary = "Go through a session entry by entry and stop where a tool failed",
      .details =
          "Shows the branch of the head from its first entry: the number of each entry, the time since the "
          "first entry and the time since the entry before. Stops at the first tool result that is an error, "
          "with exit code 1, and says how to continue or fork from there. --step waits for Enter after each "
          "entry.",
      .examples =
          "  bough replay @last\n"
          "  bough replay SESSION --after ENTRY   # continue after an entry\n"
          "  bough replay SESSION --keep-going --json",
      .options = {{.name = "SESSION", .help = kSessionHelp, .target = &options->session, .required = true},
                  {.name = "--at,--to",
                   .help = "Show the branch that ends in this entry; default: @head",
                   .target = &options->to,
                   .value = "ENTRY"},
                  {.name = "--after", .help = "Begin after this entry", .target = &options->after, .value = "ENTRY"},
                  {.name = "--keep-going", .help = "Do not stop at failed tools", .target = &options->keepGoing},
                  {.name = "--step", .help = "Wait for Enter after each entry", .target = &options->step},
                  {.name = "--full", .help = "Show entries whole", .target = &options->full}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::replay_command
