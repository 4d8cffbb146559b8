#include "cli/repl/chat_session.h"
#include "base/text/shell_word.h"
#include "base/try.h"

#include <fmt/format.h>

#include <csignal>
#include <ranges>
#include <utility>

#include "cli/names/damage.h"
#include "cli/names/entry_name.h"
#include "cli/names/session_name.h"
#include "cli/terminal/terminal.h"
#include "cli/views/transcript_file.h"

namespace bough::cli {
namespace {

agent::CancelToken theToken;
std::atomic<bool> terminationAsked{false};

void onSignal(int number) {
  theToken.request();
  if (number != SIGINT) terminationAsked.store(true);
}

Result<void> catchUp(Catalog& catalog) {
  Progress progress("reading sessions", 0);
  auto done = catalog.catchUp({.leaveDue = true, .progress = [&](const CatchUpProgress& state) {
                                 progress.setTotal(state.totalSessions);
                                 progress.update(state.doneSessions);
                                 return true;
                               }});
  // Another process may hold the catalog; the known data is enough then.
  if (!done && done.error().code != ErrorCode::Busy) return std::unexpected(done.error());
  return {};
}

// Returns true when nothing was said after the place where the chat continues.
bool isAtTheEnd(const OpenedChat& opened) {
  constexpr std::size_t kLast = 16;  // labels and titles may follow the place
  const auto entries = opened.store->loadSessionEntries(opened.chat->sessionId(), {.last = kLast});
  if (!entries) return false;
  for (const Entry& entry : std::views::reverse(*entries)) {
    if (!isControlType(entry.type)) return entry.id == opened.chat->place().headId;
  }
  return false;
}

std::unexpected<Error> noSessionIn(const std::string& folder) {
  return fail(ErrorCode::NotFound, fmt::format("no session was used in {} yet", folder),
              "`bough chat` begins one; `bough ls` lists those of other folders");
}

// Returns the session used last in the folder. Returns an empty session only when there is no other.
Result<std::string> lastSessionIn(Catalog& catalog, const std::string& folder) {
  constexpr std::size_t kMost = 1'000;
  BOUGH_TRY(const auto rows, catalog.list({.filter = {.cwd = folder}, .limit = kMost, .models = false}));
  std::string empty;
  for (const SessionSummary& row : rows) {
    if (row.cwd != folder) continue;
    if (row.userMessages > 0 || row.origin) return row.sessionId;
    if (empty.empty()) empty = row.sessionId;
  }
  if (!empty.empty()) return empty;
  return noSessionIn(folder);
}

}  // namespace

Result<void> checkPlace(SessionStore& store, const std::string& sessionId, const std::string& place) {
  if (place == "-" || place == "@start") return {};
  BOUGH_TRY(resolveEntry(store, sessionId, place));
  return {};
}

Error forChat(Error error) {
  if (error.hint.contains("`bough tree")) {
    error.hint = "/tree shows this session, /branch lists its branches with their ids and labels";
  } else if (error.hint.contains("`bough ls`")) {
    error.hint = "/sessions lists the sessions";
  } else if (const std::size_t at = error.hint.find("with --model;"); at != std::string::npos) {
    error.hint.replace(at, 13, "with /model;");
  }
  return error;
}

CancelOnSignal::CancelOnSignal() {
  theToken.reset();
  terminationAsked.store(false);
  struct sigaction action{};
  action.sa_handler = onSignal;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) (void)::sigaction(number, &action, nullptr);
}

CancelOnSignal::~CancelOnSignal() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) (void)std::signal(number, SIG_DFL);
}

agent::CancelToken& CancelOnSignal::token() const {
  return theToken;
}

bool CancelOnSignal::isTerminating() {
  return terminationAsked.load();
}

ExitCode CancelOnSignal::exitCode() {
  return theToken.requested() && !isTerminating() ? kInterrupted : kProblem;
}

std::uint64_t countTurns(const OpenedChat& opened) {
  constexpr std::size_t kMessages = 5'000;  // a longer branch is not read just for a number
  const auto row = opened.catalog->session(opened.chat->sessionId());
  const std::uint64_t known = row ? row->userMessages : 0;
  if (row && !row->origin && row->branches <= 1 && isAtTheEnd(opened)) return known;
  const auto counted = opened.chat->countTurns(kMessages);
  return counted ? counted->value_or(known) : known;
}

Result<OpenedChat> openChat(const Context& context, const agent::ChatOptions& options, const ChatChoice& choice,
                            agent::Listener& listener, const agent::CancelToken& cancel) {
  OpenedChat out;
  BOUGH_TRY(out.store, context.openStore(/*create=*/true));
  BOUGH_TRY(out.chat, agent::Chat::make(*out.store, listener, cancel, options));
  BOUGH_TRY(out.catalog, Catalog::open(*out.store));
  BOUGH_TRY(catchUp(*out.catalog));
  std::string id;
  if (!choice.session.empty()) {
    BOUGH_TRY(id, choice.exact ? resolveSessionToChange(*out.store, choice.session, false)
                               : resolveSession(*out.store, choice.session));
  } else if (choice.last) {
    BOUGH_TRY(id, lastSessionIn(*out.catalog, out.chat->folder()));
  } else if (!choice.fresh) {
    // One conversation per folder, unless a key selects the conversation.
    const bool byFolder = options.key == agent::kDefaultKey;
    BOUGH_TRY(auto current, out.catalog->currentSession(options.key, byFolder ? out.chat->folder() : std::string()));
    id = current.value_or("");
  }
  if (id.empty() && choice.existing) return noSessionIn(out.chat->folder());
  if (!id.empty()) {
    BOUGH_TRY(out.damage, reportDamage(context, *out.store, id));
  }
  BOUGH_TRY(id.empty() ? beginSession(out) : out.chat->open(id));
  if (!id.empty()) out.restoredTurns = countTurns(out);
  return out;
}

Result<void> beginSession(OpenedChat& opened) {
  BOUGH_TRY(opened.chat->startNew());
  removeUnusedSession(opened);
  opened.created = opened.chat->place();
  return {};
}

bool removeUnusedSession(OpenedChat& opened) {
  const agent::StartingPoint created = std::exchange(opened.created, {});
  if (created.sessionId.empty()) return false;
  // Fails when anything was written into the session; then the session stays.
  return opened.store->maintenance()
      .remove({.sessionId = created.sessionId, .expectedTail = created.tailId})
      .has_value();
}

std::string reopenCommand(const Context& context, const OpenedChat& opened) {
  const std::string store =
      context.storeLocation.empty() ? "" : fmt::format("--store {} ", shellWord(context.storeLocation));
  return fmt::format("bough {}resume {}", store, exactName(opened.chat->sessionId()));
}

}  // namespace bough::cli
