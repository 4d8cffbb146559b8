#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "base/json/json_scan.h"
#include "base/system/threads.h"
#include "base/text/shell_word.h"
#include "base/try.h"
#include "cli/commands/commands.h"
#include "cli/names/agents_view.h"
#include "cli/names/entry_name.h"
#include "cli/names/foreign.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "cli/views/entry_view.h"
#include "cli/views/tool_results.h"
#include "cli/views/transcript_file.h"

namespace bough::cli::follow_command {
namespace {

struct Options {
  std::string session;
  std::string from;
  std::uint64_t idleSeconds = 0;
  bool full = false;
};

sigset_t stopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGUSR2}) sigaddset(&signals, number);
  return signals;
}

// Stops following in an orderly way on Ctrl-C, on a termination request, and when the reader of the output is gone
// (`bough follow … | grep -m 1 done`). A separate thread waits for these events only. The signals must be blocked
// before any other thread starts; otherwise they would end the process.
class StopOnSignal {
 public:
  StopOnSignal() = default;
  Result<void> start(SessionFollower& follower) {
    BOUGH_TRY(waiter_, startThread("to wait for Ctrl-C", [&follower] {
                const sigset_t signals = stopSignals();
                const int arrived = ::signalfd(-1, &signals, SFD_CLOEXEC);
                // Polls stdout only for errors: a pipe reports one when its reader is gone.
                pollfd waiting[] = {{.fd = arrived, .events = POLLIN, .revents = 0},
                                    {.fd = STDOUT_FILENO, .events = 0, .revents = 0}};
                int number = 0;
                if (arrived < 0) {
                  ::sigwait(&signals, &number);
                } else {
                  while (::poll(waiting, std::size(waiting), -1) < 0 && errno == EINTR) {
                  }
                  signalfd_siginfo taken{};
                  if (waiting[0].revents != 0) (void)!::read(arrived, &taken, sizeof(taken));
                  ::close(arrived);
                }
                follower.stop();
              }));
    return {};
  }
  ~StopOnSignal() {
    if (!waiter_.joinable()) return;
    ::pthread_kill(waiter_.native_handle(), SIGUSR2);
    waiter_.join();
  }
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

 private:
  std::jthread waiter_;
};

Result<std::string> startOf(SessionStore& store, const std::string& session, const std::string& from) {
  if (from == "@start") return std::string();
  if (!from.empty()) {
    BOUGH_TRY(auto entry, resolveEntry(store, session, from));
    if (entry == from) return entry;
    BOUGH_TRY(const auto named, store.loadEntry(session, entry));
    if (!holdsLine(named, from)) return entry;
    // The answer has grown since that line was its last one, so show it again as a whole.
    BOUGH_TRY(const auto sequence, store.sequenceOf(session, entry));
    BOUGH_TRY(const auto before, store.loadEntriesAt(session, {sequence - 1}));
    return before.front().id;
  }
  BOUGH_TRY(auto state, store.sessionState(session));
  return state.tailId;
}

// The source of an entry from another agent's file.
enum class MadeFrom : std::uint8_t {
  Line,
  TornLine,  // an incomplete line that its program is still writing; the whole line follows later
  File,      // metadata of the file about its session
  Nothing,   // it is bough's own entry
};

MadeFrom madeFrom(const Entry& entry) {
  const auto transcript = json::findMember(entry.payload, "transcript");
  if (!transcript) return MadeFrom::Nothing;
  if (json::findMember(*transcript, "facts")) return MadeFrom::File;
  return json::findMember(*transcript, "torn") == "true" ? MadeFrom::TornLine : MadeFrom::Line;
}

// Returns the entry from which a later `follow` of the file can begin: the last one made from a complete line. When the
// grown file is read again, other entries move after the new lines or disappear, so starting from them would miss
// lines.
Result<std::string> lastLine(SessionStore& store, const std::string& session) {
  constexpr std::uint64_t kMostOthers = 16;  // one of each kind, for each of a few files
  LoadOptions wanted;
  wanted.last = kMostOthers;
  BOUGH_TRY(const auto entries, store.loadSessionEntries(session, wanted));
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if (madeFrom(*entry) == MadeFrom::Line) return entry->id;
  }
  return std::string();
}

void printEntries(const std::vector<Entry>& entries, const Context& context, const PrintStyle& style, CallNames& names,
                  bool isFile) {
  for (const Entry& entry : entries) {
    const MadeFrom from = isFile || !context.json ? madeFrom(entry) : MadeFrom::Nothing;
    if (from == MadeFrom::TornLine || (isFile && from == MadeFrom::File)) continue;
    const EntryView view = names.view(entry);
    context.json ? printJsonLine(entryJson(entry, view)) : printText(renderEntry(entry, view, style));
  }
}

Result<ExitCode> run(const Context& context, const Options& options) {
  const sigset_t signals = stopSignals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  BOUGH_TRY(const auto files, filesOfName(context, options.session));
  std::vector<std::string> stamps;
  for (const std::string& file : files) stamps.push_back(stampOf(file));
  BOUGH_TRY(auto session, files.empty() ? openForReading(context, options.session) : openTranscript(files));
  std::vector<std::shared_ptr<void>> growing;
  for (std::size_t i = 0; i < files.size(); ++i) {
    BOUGH_TRY(growing.emplace_back(), followTranscript(session, files[i], stamps[i]));
  }
  BOUGH_TRY(auto start, startOf(*session.store, session.sessionId, options.from));
  // For a file: the entry of the last line that was seen.
  std::string line = options.from == "@start" ? std::string() : start;
  if (!files.empty() && options.from.empty()) {
    BOUGH_TRY(line, lastLine(*session.store, session.sessionId));
  }
  BOUGH_TRY(auto follower, session.store->follow(session.sessionId, start));
  StopOnSignal stop;
  BOUGH_TRY(stop.start(follower));
  const PrintStyle style{.full = options.full, .width = terminalWidth(), .format = usualFormat()};
  CallNames names(*session.store, session.sessionId);
  const auto idleMs = static_cast<int>(options.idleSeconds * 1000);
  if (stdoutIsTerminal() && !context.json)
    printMessage(fmt::format("following {}; Ctrl-C ends", idAndTitle(*session.store, session.sessionId)));
  while (!outputClosed()) {
    BOUGH_TRY(auto entries, follower.next(idleMs == 0 ? -1 : idleMs));
    if (entries.empty()) break;
    printEntries(entries, context, style, names, !files.empty());
    for (const Entry& entry : entries) {
      if (madeFrom(entry) == MadeFrom::Line) line = entry.id;
    }
  }
  const std::string position = files.empty() ? follower.position() : line;
  if (!context.json && !position.empty()) {
    // The id of a file outside of a store finds nothing.
    std::error_code error;
    const bool isFile = !files.empty() || std::filesystem::is_regular_file(options.session, error);
    printMessage(fmt::format("  → bough follow {} --from {} continues here",
                             isFile ? shellWord(options.session) : exactName(session.sessionId), position));
  }
  return kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "follow",
      .summary = "Show entries as they are appended to a session, by any process",
      .details =
          "Begins after the last entry, or after the entry that --from names, so that a reader that was stopped "
          "can continue where it ended. With --json, prints one entry per line.",
      .examples =
          "  bough follow @last\n"
          "  bough follow SESSION --from @start --json\n"
          "  bough follow SESSION --from ENTRY",
      .options = {{.name = "SESSION", .help = kSessionHelp, .target = &options->session, .required = true},
                  {.name = "--from",
                   .help = "Begin after this entry; @start: at the beginning",
                   .target = &options->from,
                   .value = "ENTRY"},
                  {.name = "--idle",
                   .help = "End when nothing was appended for N seconds",
                   .target = &options->idleSeconds,
                   .value = "N",
                   .most = 86'400},
                  {.name = "--full",
                   .help = "Show tool arguments, results and thinking whole",
                   .target = &options->full}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::follow_command
