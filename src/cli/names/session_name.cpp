#include "cli/names/session_name.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>
#include <unordered_map>

#include "base/model/uuid.h"
#include "base/text/shell_word.h"
#include "base/text/text.h"
#include "base/try.h"
#include "bough/catalog.h"
#include "cli/names/agents_view.h"
#include "cli/names/catalog_view.h"
#include "cli/names/damage.h"
#include "cli/names/foreign.h"
#include "cli/names/listing.h"
#include "cli/names/session_titles.h"
#include "cli/terminal/confirm.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShown = 8;
constexpr std::size_t kShortId = 8;
constexpr std::size_t kLeastSuffix = 3;

std::unexpected<Error> noSuchSession(const std::string& name) {
  if (isFolderName(name)) {
    return fail(ErrorCode::NotFound, fmt::format("{} is a folder, not a session", name),
                fmt::format("`bough ls {}` lists the sessions of a folder", shellWord(name)));
  }
  return fail(ErrorCode::NotFound, fmt::format("there is no session {}", name), "`bough ls` lists the sessions");
}

std::unexpected<Error> ambiguous(const std::string& name, const std::vector<SessionSummary>& sessions,
                                 std::string_view advice) {
  std::string candidates;
  for (std::size_t i = 0; i < std::min(sessions.size(), kShown); ++i) candidates += "\n  " + nameWithTitle(sessions[i]);
  if (sessions.size() > kShown) candidates += "\n  …";
  return fail(ErrorCode::InvalidArgument, fmt::format("\"{}\" matches several sessions:{}", name, candidates),
              std::string(advice));
}

bool isKnown(SessionStore& store, const std::string& sessionId) {
  const auto state = store.sessionState(sessionId);
  return state || (state.error().code != ErrorCode::NotFound && state.error().code != ErrorCode::InvalidArgument);
}

// The sessions whose id ends so: UUIDs, or all others. Where none does, the UUIDs whose short id begins so.
Result<std::vector<std::string>> sessionsEnding(SessionStore& store, std::string_view end, bool uuids) {
  std::vector<std::string> found;
  std::vector<std::string> shown;
  if (end.size() < kLeastSuffix) return found;
  BOUGH_TRY(const auto ids, store.listSessions());
  for (const std::string& id : ids) {
    if (isUuid(id) != uuids) continue;
    if (id.ends_with(end)) found.push_back(id);
    if (uuids && shortId(id).starts_with(end)) shown.push_back(id);
  }
  return found.empty() ? shown : found;
}

// How sure it is that a name means this session, and goes on to mean it.
enum class Certainty : std::uint8_t { Exact, Loose };
struct Found {
  SessionSummary session;
  Certainty certainty = Certainty::Loose;
};

Result<Found> newestSession(Catalog& catalog) {
  for (std::optional<ListPlace> last;;) {
    BOUGH_TRY(auto newest, catalog.list({.filter = {}, .limit = 1, .after = last, .models = false}));
    if (newest.empty()) return fail(ErrorCode::NotFound, "the store has no sessions yet", "`bough new` makes one");
    if (newest.front().condition != SessionCondition::Missing) return Found{.session = std::move(newest.front())};
    last = {.activeMs = newest.front().activeMs, .sessionId = newest.front().sessionId};
  }
}

Result<Found> lookUp(SessionStore& store, const std::string& name) {
  constexpr std::size_t kTitles = 1000;
  BOUGH_TRY(auto catalog, Catalog::open(store));
  // Another process may be at it, or this one may only read; what was known until now still serves.
  if (auto done = catchUpWithBar(*catalog);
      !done && done.error().code != ErrorCode::Busy && done.error().code != ErrorCode::ReadOnly) {
    return std::unexpected(done.error());
  }
  const auto session = [&](const std::string& id) {
    auto row = catalog->session(id);
    return row ? std::move(*row) : SessionSummary{.sessionId = id};
  };
  if (name == "@last") return newestSession(*catalog);
  // A number means what was shown, not what has come since.
  if (const auto number = listingNumber(name)) {
    BOUGH_TRY(const auto id, listedSession(store, *number));
    Found found{.session = session(id)};
    if (found.session.condition != SessionCondition::Missing && !isKnown(store, id)) return noSuchSession(id);
    return found;
  }
  if (name.starts_with('@')) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} does not name a session", text::excerpt(name, 40)),
                "there are @last and @N, the number in the last list");
  }
  BOUGH_TRY(auto match, catalog->findByName(name, kTitles));
  if (match.kind == NameMatch::Kind::Id || match.kind == NameMatch::Kind::Key) {
    return Found{.session = std::move(match.sessions.front()), .certainty = Certainty::Exact};
  }
  if (match.kind == NameMatch::Kind::IdPrefix) {
    if (match.sessions.size() > 1) return ambiguous(name, match.sessions, "type more of the id");
    const bool enough = name.size() >= kShortId && isMadeId(match.sessions.front().sessionId);
    return Found{.session = std::move(match.sessions.front()),
                 .certainty = enough ? Certainty::Exact : Certainty::Loose};
  }
  // An id that a person chose may end in a word that is somebody else's title.
  const bool isTitle = match.kind == NameMatch::Kind::Title;
  for (const bool uuids : {true, false}) {
    if (!uuids && isTitle) break;
    BOUGH_TRY(const auto ending, sessionsEnding(store, name, uuids));
    if (ending.size() == 1) {
      return Found{
          .session = session(ending.front()),
          .certainty = name.size() >= kShortId && isMadeId(ending.front()) ? Certainty::Exact : Certainty::Loose};
    }
    if (ending.size() > 1) {
      std::vector<SessionSummary> several;
      for (const std::string& id : ending) several.push_back(session(id));
      return ambiguous(name, several, "type more of the id");
    }
  }
  if (!isTitle) return noSuchSession(name);
  BOUGH_TRY(auto titled, chooseByTitle(name, match.sessions));
  return Found{.session = std::move(titled)};
}

Result<Found> findInCatalog(SessionStore& store, const std::string& name) {
  auto found = lookUp(store, name);
  if (!found || found->session.condition != SessionCondition::Missing) return found;
  return fail(ErrorCode::NotFound, fmt::format("session {}: {}", idAndTitle(found->session), found->session.problem),
              "put its log back from a copy; `bough doctor` says more");
}

// The store whose session a file is, told by the folder it lies in; empty: none.
fs::path storeOf(const fs::path& path) {
  std::error_code error;
  const fs::path folder = fs::absolute(path, error).lexically_normal().parent_path();
  const bool inStore = (folder.filename() == "sessions" || folder.filename() == "archive") &&
                       fs::is_directory(folder.parent_path() / "sessions", error);
  return inStore ? folder.parent_path() : fs::path();
}

// Beside another file of the same session this one is not read: the first of these counts.
fs::path countingFile(const fs::path& store, const std::string& sessionId) {
  std::error_code error;
  for (const char* form : {"sessions/{}.jsonl", "archive/{}.jsonl.zst", "archive/{}.jsonl.gz"}) {
    fs::path path = store / fmt::format(fmt::runtime(form), sessionId);
    if (fs::exists(path, error)) return path;
  }
  return store / fmt::format("sessions/{}.jsonl.gz", sessionId);
}

// Not a session file of bough's, whose lines have seals or at least its header, but another agent's.
bool isForeign(const std::string& path) {
  return agentOfFile(path).has_value();
}

// Whether lines of a file look as bough writes them, also when they are damaged.
bool hasOwnLines(const std::string& path) {
  constexpr std::size_t kLookedAt = std::size_t{64} << 10;
  std::string beginning(kLookedAt, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  beginning.resize(static_cast<std::size_t>(file.gcount()));
  return beginning.contains(R"("session_header")") || beginning.contains(R"("seal":")");
}

// A file outside of a store that is not a session of bough either: why it fits no agent says more than `why`.
Result<void> refuseUnknown(const std::string& path, const Error& why) {
  std::error_code error;
  const bool isNotRead = why.code == ErrorCode::InvalidArgument || why.code == ErrorCode::Damaged;
  if (!isNotRead || !fs::is_regular_file(path, error) || hasOwnLines(path)) return {};
  const auto agent = agentOfFile(path);
  if (agent || agent.error().code != ErrorCode::Unsupported) return {};
  return std::unexpected(agent.error());
}

// A session file that is not in a store. A log is read when it is first used: a file of nobody opens like any other.
Result<std::unique_ptr<SessionStore>> openAlone(const std::string& path, const SessionFileBackend& file) {
  BOUGH_TRY(auto store, SessionStore::open(SessionStoreInit{.backend = file.backend, .options = {}}));
  if (const auto state = store->sessionState(file.sessionId); !state) {
    BOUGH_TRY(refuseUnknown(path, state.error()));
  }
  return store;
}

// What is at a path is a file that can be read; the error says what else it is.
Result<void> checkFile(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    return fail(ErrorCode::NotFound, fmt::format("there is no file {}", path), "`bough ls` lists the sessions");
  }
  if (error) {
    return fail(ErrorCode::Io, fmt::format("cannot open {}: {}", path, error.message()), "check the path");
  }
  if (fs::is_directory(status)) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} is a folder, not a session's file", path),
                fmt::format("`bough ls {0}` lists the sessions of that folder, `bough import {0}` brings files in it "
                            "into the store",
                            shellWord(path)));
  }
  if (!fs::is_regular_file(status)) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{} is a pipe, a socket or a device, not a session's file", path),
                "save what it gives as a file, and name that file");
  }
  if (::access(path.c_str(), R_OK) != 0) {
    return fail(ErrorCode::Io, fmt::format("cannot open {}: {}", path, std::generic_category().message(errno)),
                "check who owns it and its permissions");
  }
  return {};
}

// An agent's database, or a session in it: `FILE.sqlite#ID`.
bool isInDatabase(const std::string& path) {
  std::error_code error;
  const std::string file = path.substr(0, path.find('#', path.rfind(".sqlite")));
  return file.ends_with(".sqlite") && fs::is_regular_file(file, error);
}

// Whether a name is a path, and something is there.
bool isPathOfFile(const std::string& name) {
  std::error_code error;
  return isSessionPath(name) && (fs::exists(name, error) || isInDatabase(name));
}

Result<SessionFileBackend> openFileOfSession(const std::string& path) {
  if (isInDatabase(path)) {
    BOUGH_TRY(agentOfFile(path));  // the error says what is wrong with the database, or how to name a session
  }
  BOUGH_TRY(checkFile(path));
  auto file = openSessionFile(path);
  if (!file && storeOf(path).empty()) {
    BOUGH_TRY(refuseUnknown(path, file.error()));
  }
  return file;
}

Result<NamedSession> openPath(const std::string& path) {
  std::error_code error;
  BOUGH_TRY(auto file, openFileOfSession(path));
  fs::path store = storeOf(path);
  if (!store.empty()) {
    const fs::path counting = countingFile(store, file.sessionId);
    if (!fs::equivalent(path, counting, error)) {
      printMessage(fmt::format("reading {} by itself; the store reads {}", path, counting.string()));
      store.clear();
    }
  }
  BOUGH_TRY(auto opened, store.empty() ? openAlone(path, file) : SessionStore::open(store.string(), {.create = false}));
  return NamedSession{.passing = {}, .store = std::move(opened), .sessionId = std::move(file.sessionId)};
}

// The session of this store that a file of it is.
Result<std::string> sessionAt(SessionStore& store, const std::string& path) {
  std::error_code error;
  BOUGH_TRY(auto file, openFileOfSession(path));
  const fs::path home = storeOf(path);
  if (home.empty()) {
    BOUGH_TRY(openAlone(path, file));
  }
  if (home.empty() || !fs::equivalent(home, store.folder(), error)) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} is not in the store {}", path, store.folder()),
                home.empty() ? "`bough show PATH` reads a file that is not in a store"
                             : fmt::format("`--store {}` names its store", home.string()));
  }
  if (const fs::path counting = countingFile(home, file.sessionId); !fs::equivalent(path, counting, error)) {
    return fail(ErrorCode::InvalidArgument, fmt::format("the store does not read {}, but {}", path, counting.string()),
                fmt::format("name the session {}", file.sessionId));
  }
  return std::move(file.sessionId);
}

Result<std::string> findSession(SessionStore& store, const std::string& name) {
  if (name.empty()) return fail(ErrorCode::InvalidArgument, "a session needs a name", "`bough ls` lists the sessions");
  if (isKnown(store, name)) return name;
  if (isPathOfFile(name)) return sessionAt(store, name);
  BOUGH_TRY(auto found, findInCatalog(store, name));
  return std::move(found.session.sessionId);
}

Result<std::string> findSessionToChange(SessionStore& store, const std::string& name, bool asking) {
  if (name.empty() || isKnown(store, name) || isPathOfFile(name)) return findSession(store, name);
  BOUGH_TRY(auto found, findInCatalog(store, name));
  if (found.certainty == Certainty::Exact) return std::move(found.session.sessionId);
  const std::string meant = nameWithTitle(found.session);
  if (asking && stdinIsTerminal()) {
    BOUGH_TRY(const bool sure, confirm(fmt::format("\"{}\" is session {}. Change it?", name, meant)));
    if (sure) return std::move(found.session.sessionId);
    return fail(ErrorCode::InvalidArgument, "nothing was changed", "name the session by its id or its key");
  }
  return fail(ErrorCode::InvalidArgument, fmt::format("\"{}\" is not an exact name; it matches {}", name, meant),
              "to change a session, give its id, its key, or at least 8 characters of an id that bough made");
}

// Whatever a command does with such a session, it works on a part of its history. Said once for each session: a command
// may look for its name more than once.
void tellOfLostHistory(SessionStore& store, const std::string& id) {
  static std::set<std::string> told;
  const auto state = store.sessionState(id);
  if (!state || state->lostSession.empty() || !told.insert(id).second) return;
  const std::string& lost = state->lostSession;
  const bool isThere = isKnown(store, lost);
  const std::string what = isThere ? fmt::format("an entry of session {} that is lost", lost)
                                   : fmt::format("session {}, which is not in the store", lost);
  printMessage(fmt::format("{} continues {}: what was before it is not shown", id, what));
  printMessage(isThere ? fmt::format("  → `bough repair --detach {}` makes what is left a session of its own", id)
                       : fmt::format("  → bough trash --restore {}, or bough repair --detach {}", shellWord(lost), id));
}

}  // namespace

bool isSessionPath(const std::string& name) {
  return name.find('/') != std::string::npos || name.ends_with(".jsonl") || name.ends_with(".json") ||
         name.ends_with(".jsonl.zst") || name.ends_with(".jsonl.gz") || name.find(".sqlite") != std::string::npos;
}

bool isFolderName(const std::string& name) {
  std::error_code error;
  return fs::is_directory(name, error);
}

Result<SessionSummary> chooseByTitle(const std::string& name, const std::vector<SessionSummary>& matches) {
  std::vector<SessionSummary> exact;
  for (const SessionSummary& each : matches) {
    if (each.title == name) exact.push_back(each);
  }
  if (exact.size() == 1) return exact.front();
  if (matches.size() == 1) return matches.front();
  return ambiguous(name, exact.empty() ? matches : exact, "type more of the title, or the id");
}

bool isMadeId(std::string_view id) {
  // Another one may go before it: of a thread of Codex, then comes that of the file that replaced the thread's first.
  id = id.substr(id.rfind('_') + 1);
  return isUuid(id) && id[14] == '7';
}

std::string exactId(std::string_view id) {
  return isMadeId(id) ? shortId(id) : std::string(id);
}

std::string shortId(std::string_view id) {
  if (isMadeId(id)) return std::string(id.substr(id.size() - kShortId));
  return std::string(isUuid(id) ? id.substr(0, kShortId) : id);
}

std::vector<std::string> shortIds(const std::vector<std::string>& ids) {
  // How many ids of the list a part of an id may mean: names are compared with both ends.
  std::unordered_map<std::string_view, int> uses;
  const auto beginning = [](std::string_view id) { return id.substr(0, kShortId); };
  const auto end = [](std::string_view id) { return id.substr(id.size() - std::min(id.size(), kShortId)); };
  for (const std::string_view id : std::set<std::string_view>(ids.begin(), ids.end())) {
    ++uses[beginning(id)];
    if (beginning(id) != end(id)) ++uses[end(id)];
  }
  std::vector<std::string> shown;
  for (const std::string& id : ids) {
    const std::string usual = shortId(id);
    const std::string_view other = usual == end(id) ? beginning(id) : end(id);
    const bool isCut = usual.size() < id.size();
    shown.push_back(!isCut || uses[usual] == 1 ? usual : std::string(uses[other] == 1 ? other : id));
  }
  return shown;
}

std::vector<std::string> shortIds(const std::vector<SessionSummary>& rows) {
  std::vector<std::string> ids;
  for (const SessionSummary& row : rows) ids.push_back(row.sessionId);
  return shortIds(ids);
}

std::function<std::string(const std::string&)> idPainter(Catalog& catalog) {
  constexpr std::size_t kMost = 2'000;
  if (!colorsAreUsed()) return {};
  auto sessions = catalog.list({.limit = kMost + 1, .models = false});
  if (!sessions || sessions->size() > kMost) return [](const std::string& id) { return styled(Style::Bold, id); };
  return [sessions = std::move(*sessions)](const std::string& id) {
    const bool isEnd = std::ranges::none_of(sessions, [&](const auto& each) { return each.sessionId.starts_with(id); });
    std::size_t size = 1;
    const auto alike = [&] {
      const std::string_view part = std::string_view(id).substr(isEnd ? id.size() - size : 0, size);
      return std::ranges::count_if(sessions, [&](const auto& each) {
        return isEnd ? each.sessionId.ends_with(part) : each.sessionId.starts_with(part);
      });
    };
    while (size < id.size() && alike() > 1) ++size;
    if (isEnd)
      return styled(Style::Dim, id.substr(0, id.size() - size)) + styled(Style::Bold, id.substr(id.size() - size));
    return styled(Style::Bold, id.substr(0, size)) + (size == id.size() ? "" : styled(Style::Dim, id.substr(size)));
  };
}

std::string nameWithTitle(const SessionSummary& row) {
  const std::string title = text::excerpt(displayTitle(row), 50);
  return title.empty() ? exactId(row.sessionId) : fmt::format("{} \"{}\"", exactId(row.sessionId), title);
}

Result<std::string> resolveSession(SessionStore& store, const std::string& name) {
  BOUGH_TRY(auto sessionId, findSession(store, name));
  tellOfLostHistory(store, sessionId);
  return sessionId;
}

Result<std::string> resolveSessionToChange(SessionStore& store, const std::string& name, bool asking) {
  BOUGH_TRY(auto sessionId, findSessionToChange(store, name, asking));
  tellOfLostHistory(store, sessionId);
  return sessionId;
}

Result<NamedSession> openSession(const Context& context, const std::string& name) {
  if (isSessionPath(name) && isForeign(name)) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{} is a transcript of {}, which is only read", name, *agentOfFile(name)),
                fmt::format("`bough import {}` brings it into the store", name));
  }
  if (name.find('/') != std::string::npos) return openPath(name);
  auto store = context.openStore();
  // An id may end as a file does.
  if (isSessionPath(name) && !(store && isKnown(**store, name))) return openPath(name);
  if (!store) return std::unexpected(store.error());
  BOUGH_TRY(auto sessionId, resolveSession(**store, name));
  return NamedSession{.passing = {}, .store = std::move(*store), .sessionId = std::move(sessionId)};
}

Result<std::unique_ptr<SessionStore>> openStoreWith(const Context& context, const std::vector<std::string>& names) {
  auto store = context.openStore();
  if (store || store.error().code != ErrorCode::NotFound) return store;
  for (const std::string& name : names) {
    if (isSessionPath(name)) {
      BOUGH_TRY(openSession(context, name));
    }
  }
  return store;
}

Error notFoundAnywhere(const Context& context, const std::string& name, Error error) {
  if (error.code != ErrorCode::NotFound || name.starts_with('@') || isSessionPath(name)) return error;
  if (context.backend || context.openStore()) return error;
  error.message = fmt::format("no agent has a session {}, and {}", text::excerpt(name, 40), error.message);
  error.hint = "`bough ls --agents` lists the agents' sessions; --store or BOUGH_STORE names a store";
  return error;
}

Result<NamedSession> openForReading(const Context& context, const std::string& name) {
  if (isSessionPath(name) && isForeign(name)) return openTranscript(name);
  if (name.ends_with(".sqlite")) {
    // An agent's database holds many sessions; the error says how to name one.
    BOUGH_TRY(agentOfFile(name));
  }
  auto session = openSession(context, name);
  if (session) {
    BOUGH_TRY(session->damage, tellOfDamage(context, *session->store, session->sessionId));
    return session;
  }
  if (session.error().code != ErrorCode::NotFound || isSessionPath(name)) return session;
  // A file whose name does not say so, in the working folder.
  std::error_code error;
  if (fs::is_regular_file(name, error)) return openForReading(context, "./" + name);
  if (context.backend) return session;
  auto agents = openAgentSession(context, name);
  if (agents || agents.error().code != ErrorCode::NotFound) return agents;
  return std::unexpected(notFoundAnywhere(context, name, std::move(session.error())));
}

Result<NamedSession> openSessionToChange(const Context& context, const std::string& name, bool asking) {
  NamedSession session;
  if (isSessionPath(name)) {
    BOUGH_TRY(session, openSession(context, name));
  } else {
    BOUGH_TRY(session.store, context.openStore());
    BOUGH_TRY(session.sessionId, resolveSessionToChange(*session.store, name, asking && !context.json));
  }
  BOUGH_TRY(session.damage, tellOfDamage(context, *session.store, session.sessionId));
  return session;
}

}  // namespace bough::cli
