#include "cli/names/session_name.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/text/shell_word.h"
#include "base/text/text.h"
#include "base/try.h"
#include "cli/names/agents_view.h"
#include "cli/names/damage.h"
#include "cli/names/foreign.h"

namespace bough::cli {

namespace fs = std::filesystem;

Result<NamedSession> openSession(const Context& context, const std::string& name) {
  if (isSessionPath(name) && isForeign(name)) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{} is a transcript of {}, which is only read", name, *agentOfFile(name)),
                isAmongSessions(name) ? "move it out of the store's folder, then `bough import` it from there"
                                      : fmt::format("`bough import {}` brings it into the store", shellWord(name)));
  }
  if (name.find('/') != std::string::npos) return openPath(name);
  auto store = context.openStore();
  // An id may end like a file name.
  if (isSessionPath(name) && !(store && isKnown(**store, name))) return openPath(name);
  if (!store) return std::unexpected(store.error());
  BOUGH_TRY(auto sessionId, resolveSession(**store, name));
  return NamedSession{.temporaryFiles = {}, .store = std::move(*store), .sessionId = std::move(sessionId)};
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
    reportImportDamage(*session->store, session->sessionId);
    BOUGH_TRY(session->damage, reportDamage(context, *session->store, session->sessionId));
    return session;
  }
  if (session.error().code != ErrorCode::NotFound || isSessionPath(name)) return session;
  // The name may be a file in the working folder, although it does not look like a path.
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
  BOUGH_TRY(session.damage, reportDamage(context, *session.store, session.sessionId));
  return session;
}

namespace {

Result<CatalogView> viewOfFile(NamedSession file, bool search, WhenOutOfDate whenOutOfDate) {
  BOUGH_TRY(auto view, openCatalogOf(std::move(file.store), search, whenOutOfDate));
  view.temporaryFiles = std::move(file.temporaryFiles);
  view.sessionId = std::move(file.sessionId);
  return view;
}

}  // namespace

Result<CatalogView> openCatalogViewOf(const Context& context, const std::string& session, bool search,
                                      WhenOutOfDate whenOutOfDate) {
  std::error_code error;
  if (isSessionPath(session) || std::filesystem::is_regular_file(session, error)) {
    BOUGH_TRY(auto file, openForReading(context, session));
    // A list of many sessions leaves out an unreadable one; with only one session, report the error.
    BOUGH_TRY(file.store->sessionState(file.sessionId));
    return viewOfFile(std::move(file), search, whenOutOfDate);
  }
  auto view = openCatalogView(context, search, whenOutOfDate);
  auto found = view ? resolveSession(*view->store, session) : Result<std::string>(std::unexpected(view.error()));
  if (found) {
    view->sessionId = std::move(*found);
    return view;
  }
  if (found.error().code != ErrorCode::NotFound) return std::unexpected(found.error());
  auto copy = openAgentSession(context, session);
  if (!copy) return std::unexpected(found.error());
  return viewOfFile(std::move(*copy), search, WhenOutOfDate::Update);
}

}  // namespace bough::cli
