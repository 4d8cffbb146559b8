#include "cli/names/session_name.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <optional>

#include "base/text.h"
#include "base/try.h"
#include "bough/catalog.h"
#include "cli/names/catalog_view.h"
#include "cli/names/foreign.h"
#include "cli/terminal/output.h"

namespace bough::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShown = 8;

std::unexpected<Error> noSuchSession(const std::string& name) {
  return fail(ErrorCode::NotFound, fmt::format("there is no session {}", name), "`bough ls` lists the sessions");
}

std::unexpected<Error> ambiguous(const std::string& name, const NameMatch& match) {
  std::string candidates;
  std::size_t width = 0;
  for (const SessionSummary& session : match.sessions) width = std::max(width, session.sessionId.size());
  for (const SessionSummary& session : match.sessions) {
    if (&session == &match.sessions[std::min(kShown, match.sessions.size() - 1)] && match.sessions.size() > kShown) {
      candidates += "\n  …";
      break;
    }
    std::string line = fmt::format("\n  {:{}}  {}", session.sessionId, width, text::excerpt(displayTitle(session), 50));
    line.erase(line.find_last_not_of(' ') + 1);
    candidates += line;
  }
  return fail(ErrorCode::InvalidArgument, fmt::format("\"{}\" matches several sessions:{}", name, candidates),
              match.kind == NameMatch::Kind::Title ? "type more of the title, or the id" : "type more of the id");
}

// `@3` of the last listing.
std::optional<std::size_t> listingNumber(std::string_view name) {
  std::size_t number = 0;
  if (!name.starts_with('@')) return std::nullopt;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

Result<std::string> newestSession(Catalog& catalog) {
  BOUGH_TRY(auto newest, catalog.list({.filter = {}, .limit = 1, .models = false}));
  if (newest.empty()) return fail(ErrorCode::NotFound, "the store has no sessions yet", "`bough new` makes one");
  return newest.front().sessionId;
}

Result<std::string> findInCatalog(SessionStore& store, const std::string& name) {
  BOUGH_TRY(auto catalog, Catalog::open(store));
  // A number means what was shown, not what has come since.
  if (const auto number = listingNumber(name)) return catalog->listed(*number);
  // Another process may be at it; what was known until now still serves.
  if (auto done = catchUpWithBar(*catalog); !done && done.error().code != ErrorCode::Busy) {
    return std::unexpected(done.error());
  }
  if (name == "@last") return newestSession(*catalog);
  BOUGH_TRY(auto match, catalog->findByName(name, kShown + 1));
  if (match.sessions.empty()) return noSuchSession(name);
  if (match.sessions.size() > 1) return ambiguous(name, match);
  return match.sessions.front().sessionId;
}

// A name that may be a path: it has a slash, or the ending of a session file.
bool looksLikePath(const std::string& name) {
  return name.find('/') != std::string::npos || name.ends_with(".jsonl") || name.ends_with(".jsonl.zst") ||
         name.ends_with(".jsonl.gz");
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
  return !path.ends_with(".zst") && !path.ends_with(".gz") && agentOfFile(path).has_value();
}

Result<NamedSession> openPath(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return fail(ErrorCode::NotFound, fmt::format("there is no file {}", path), "`bough ls` lists the sessions");
  }
  if (isForeign(path)) return openTranscript(path);
  BOUGH_TRY(auto file, openSessionFile(path));
  fs::path store = storeOf(path);
  if (!store.empty()) {
    const fs::path counting = countingFile(store, file.sessionId);
    if (!fs::equivalent(path, counting, error)) {
      printMessage(fmt::format("reading {} by itself; the store reads {}", path, counting.string()));
      store.clear();
    }
  }
  BOUGH_TRY(auto opened, store.empty() ? SessionStore::open(SessionStoreInit{.backend = file.backend, .options = {}})
                                       : SessionStore::open(store.string(), {.create = false}));
  return NamedSession{.passing = {}, .store = std::move(opened), .sessionId = std::move(file.sessionId)};
}

// The session of this store that a file of it is.
Result<std::string> sessionAt(SessionStore& store, const std::string& path) {
  std::error_code error;
  BOUGH_TRY(auto file, openSessionFile(path));
  const fs::path home = storeOf(path);
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

bool isKnown(SessionStore& store, const std::string& sessionId) {
  const auto state = store.sessionState(sessionId);
  return state || (state.error().code != ErrorCode::NotFound && state.error().code != ErrorCode::InvalidArgument);
}

Result<std::string> findSession(SessionStore& store, const std::string& name) {
  if (name.empty()) return fail(ErrorCode::InvalidArgument, "a session needs a name", "`bough ls` lists the sessions");
  if (isKnown(store, name)) return name;
  std::error_code error;
  if (looksLikePath(name) && fs::exists(name, error)) return sessionAt(store, name);
  return findInCatalog(store, name);
}

// Whatever a command does with such a session, it works on a part of its history.
void tellOfLostHistory(SessionStore& store, const std::string& sessionId) {
  const auto state = store.sessionState(sessionId);
  if (!state || state->lostSession.empty()) return;
  printMessage(fmt::format("{} continues session {}, which is not in the store: only its own entries are shown",
                           sessionId, state->lostSession));
  printMessage(fmt::format("  → bough trash --restore {}, or bough repair --detach {}", state->lostSession, sessionId));
}

}  // namespace

Result<std::string> resolveSession(SessionStore& store, const std::string& name) {
  BOUGH_TRY(auto sessionId, findSession(store, name));
  tellOfLostHistory(store, sessionId);
  return sessionId;
}

Result<NamedSession> openSession(const Context& context, const std::string& name) {
  if (name.find('/') != std::string::npos) return openPath(name);
  auto store = context.openStore();
  // An id may end as a file does.
  if (looksLikePath(name) && !(store && isKnown(**store, name))) return openPath(name);
  if (!store) {
    auto agents = openAgentSession(context, name);
    return agents ? std::move(agents) : Result<NamedSession>(std::unexpected(store.error()));
  }
  auto sessionId = resolveSession(**store, name);
  if (!sessionId) {
    // Reading, an agent's own session serves as well.
    if (sessionId.error().code == ErrorCode::NotFound && !context.backend) {
      if (auto agents = openAgentSession(context, name)) return agents;
    }
    return std::unexpected(sessionId.error());
  }
  return NamedSession{.passing = {}, .store = std::move(*store), .sessionId = std::move(*sessionId)};
}

}  // namespace bough::cli
