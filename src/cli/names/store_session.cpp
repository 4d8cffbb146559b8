#include "cli/names/store_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/model/uuid.h"
#include "base/text/shell_word.h"
#include "base/text/text.h"
#include "base/try.h"
#include "cli/names/catalog_view.h"
#include "cli/names/damage.h"
#include "cli/names/listing.h"
#include "cli/names/session_file.h"
#include "cli/names/session_titles.h"
#include "cli/names/short_id.h"
#include "cli/terminal/confirm.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {

bool isKnown(SessionStore& store, const std::string& sessionId) {
  const auto state = store.sessionState(sessionId);
  return state || (state.error().code != ErrorCode::NotFound && state.error().code != ErrorCode::InvalidArgument);
}

bool isGone(SessionStore& store, const std::string& sessionId) {
  const auto state = store.sessionState(sessionId);
  if (state || state.error().code != ErrorCode::NotFound) return false;
  const auto listed = store.listSessions();  // a dangling link is still listed
  return listed && std::ranges::find(*listed, sessionId) == listed->end();
}

namespace {

constexpr std::size_t kShown = 8;
// For text that could also be part of a title.
constexpr std::size_t kLeastSuffixBesideTitles = 3;

std::unexpected<Error> noSuchSession(SessionStore& store, const std::string& name) {
  if (const auto trash = store.listTrash()) {
    const auto isMeant = [&](const TrashedSession& each) {
      return each.sessionId == name || exactName(each.sessionId) == name;
    };
    if (std::ranges::any_of(*trash, isMeant)) {
      return fail(ErrorCode::NotFound, fmt::format("session {} is in the trash", name),
                  fmt::format("`bough trash --restore {}` brings it back", shellWord(name)));
    }
  }
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

// Returns the sessions whose id ends like this: UUIDs if `uuids`, otherwise all others. If no UUID does, returns the
// UUIDs whose short id begins like this.
Result<std::vector<std::string>> sessionsEnding(SessionStore& store, std::string_view end, bool uuids) {
  std::vector<std::string> found;
  std::vector<std::string> shown;
  BOUGH_TRY(const auto ids, store.listSessions());
  for (const std::string& id : ids) {
    if (isUuid(id) != uuids) continue;
    if (id.ends_with(end)) found.push_back(id);
    if (uuids && shortId(id).starts_with(end)) shown.push_back(id);
  }
  return found.empty() ? shown : found;
}

// How certain it is that a name means this session, and will still mean it later.
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
  // Another process may hold the catalog, or this process may only read; the known data still serves.
  if (auto done = catchUpWithBar(*catalog);
      !done && done.error().code != ErrorCode::Busy && done.error().code != ErrorCode::ReadOnly) {
    return std::unexpected(done.error());
  }
  const auto session = [&](const std::string& id) {
    auto row = catalog->session(id);
    return row ? std::move(*row) : SessionSummary{.sessionId = id};
  };
  if (name == "@last") return newestSession(*catalog);
  // A number refers to the list as it was shown, not to sessions added since.
  if (const auto number = listingNumber(name)) {
    BOUGH_TRY(const auto id, listedSession(store, *number));
    Found found{.session = session(id)};
    if (found.session.condition != SessionCondition::Missing && !isKnown(store, id)) return noSuchSession(store, id);
    return found;
  }
  if (name.starts_with('@')) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} does not name a session", text::excerpt(name, 40)),
                "use @last, or @N for number N of the last list");
  }
  BOUGH_TRY(auto match, catalog->findByName(name, kTitles));
  if (match.kind == NameMatch::Kind::Id || match.kind == NameMatch::Kind::Key) {
    return Found{.session = std::move(match.sessions.front()), .certainty = Certainty::Exact};
  }
  if (match.kind == NameMatch::Kind::IdPrefix) {
    if (match.sessions.size() > 1) {
      titleForks(*catalog, match.sessions);
      return ambiguous(name, match.sessions, "type more of the id");
    }
    const bool enough = name.size() >= kShortIdSize && isBoughId(match.sessions.front().sessionId);
    return Found{.session = std::move(match.sessions.front()),
                 .certainty = enough ? Certainty::Exact : Certainty::Loose};
  }
  // An id chosen by a person may end in a word that is the title of another session.
  const bool isTitle = match.kind == NameMatch::Kind::Title;
  for (const bool uuids : {true, false}) {
    if (isTitle && (!uuids || name.size() < kLeastSuffixBesideTitles)) break;
    BOUGH_TRY(const auto ending, sessionsEnding(store, name, uuids));
    if (ending.size() == 1) {
      return Found{
          .session = session(ending.front()),
          .certainty = name.size() >= kShortIdSize && isBoughId(ending.front()) ? Certainty::Exact : Certainty::Loose};
    }
    if (ending.size() > 1) {
      std::vector<SessionSummary> several;
      for (const std::string& id : ending) several.push_back(session(id));
      titleForks(*catalog, several);
      return ambiguous(name, several, "type more of the id");
    }
  }
  if (!isTitle) return noSuchSession(store, name);
  BOUGH_TRY(auto titled, chooseByTitle(name, match.sessions));
  return Found{.session = std::move(titled)};
}

Result<Found> findInCatalog(SessionStore& store, const std::string& name) {
  auto found = lookUp(store, name);
  if (!found || found->session.condition != SessionCondition::Missing) return found;
  return fail(ErrorCode::NotFound,
              fmt::format("session {}: {}", idAndTitle(store, found->session.sessionId), found->session.problem),
              "put its log back from a copy; `bough doctor` says more");
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
  // The session may have appeared since the first lookup: created, or restored from the trash.
  const bool isExact = found.certainty == Certainty::Exact || found.session.sessionId == name;
  if (isExact) return std::move(found.session.sessionId);
  const std::string meant = nameWithTitle(SessionTitles(store).row(found.session.sessionId).value_or(found.session));
  if (asking && stdinIsTerminal()) {
    BOUGH_TRY(const bool sure, confirm(fmt::format("\"{}\" is session {}. Change it?", name, meant)));
    if (sure) return std::move(found.session.sessionId);
    return fail(ErrorCode::InvalidArgument, "nothing was changed", "name the session by its id or its key");
  }
  return fail(ErrorCode::InvalidArgument, fmt::format("\"{}\" is not an exact name; it matches {}", name, meant),
              "to change a session, give its id, its key, or at least 8 characters of an id that bough made");
}

// Warns once per session that a command works on only part of the session's history. A command may look up a name more
// than once.
void reportLostHistory(SessionStore& store, const std::string& id) {
  static std::set<std::string> told;
  const auto state = store.sessionState(id);
  if (!state || state->lostSession.empty() || !told.insert(id).second) return;
  const auto lost = lostHistoryOf(store, *state);
  printMessage(fmt::format("{} continues {}: what was before it is not shown", exactName(id), lost->what));
  printMessage("  → " + lost->advice);
}

}  // namespace

Result<SessionSummary> chooseByTitle(const std::string& name, const std::vector<SessionSummary>& matches) {
  std::vector<SessionSummary> exact;
  for (const SessionSummary& each : matches) {
    if (each.title == name) exact.push_back(each);
  }
  if (exact.size() == 1) return exact.front();
  if (matches.size() == 1) return matches.front();
  return ambiguous(name, exact.empty() ? matches : exact, "type more of the title, or the id");
}

Result<std::string> resolveSession(SessionStore& store, const std::string& name) {
  BOUGH_TRY(auto sessionId, findSession(store, name));
  reportLostHistory(store, sessionId);
  return sessionId;
}

Result<std::string> resolveSessionToChange(SessionStore& store, const std::string& name, bool asking) {
  BOUGH_TRY(auto sessionId, findSessionToChange(store, name, asking));
  reportLostHistory(store, sessionId);
  return sessionId;
}

}  // namespace bough::cli
