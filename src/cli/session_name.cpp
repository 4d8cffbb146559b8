#include "cli/session_name.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <optional>

#include "base/text.h"
#include "bough/catalog.h"
#include "cli/catalog_view.h"

namespace bough::cli {
namespace {

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
  return fail(ErrorCode::InvalidArgument, fmt::format("{} may be any of these sessions:{}", name, candidates),
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
  auto newest = catalog.list({.filter = {}, .limit = 1, .models = false});
  if (!newest) return std::unexpected(newest.error());
  if (newest->empty()) return fail(ErrorCode::NotFound, "the store has no sessions yet", "`bough new` makes one");
  return newest->front().sessionId;
}

Result<std::string> findInCatalog(SessionStore& store, const std::string& name) {
  auto catalog = Catalog::open(store);
  if (!catalog) return std::unexpected(catalog.error());
  // A number means what was shown, not what has come since.
  if (const auto number = listingNumber(name)) return (*catalog)->listed(*number);
  // Another process may be at it; what was known until now still serves.
  if (auto done = catchUpWithBar(**catalog); !done && done.error().code != ErrorCode::Busy) {
    return std::unexpected(done.error());
  }
  if (name == "@last") return newestSession(**catalog);
  auto match = (*catalog)->findByName(name, kShown + 1);
  if (!match) return std::unexpected(match.error());
  if (match->sessions.empty()) return noSuchSession(name);
  if (match->sessions.size() > 1) return ambiguous(name, *match);
  return match->sessions.front().sessionId;
}

// A name that is a path: it has a slash, or the ending of a session file.
bool looksLikePath(const std::string& name) {
  return name.find('/') != std::string::npos || name.ends_with(".jsonl") || name.ends_with(".jsonl.zst") ||
         name.ends_with(".jsonl.gz");
}

Result<NamedSession> openPath(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::exists(path, error)) return fail(ErrorCode::NotFound, fmt::format("there is no file {}", path));
  auto file = openSessionFile(path);
  if (!file) return std::unexpected(file.error());
  const fs::path folder = fs::absolute(path, error).lexically_normal().parent_path();
  const bool inStore = (folder.filename() == "sessions" || folder.filename() == "archive") &&
                       fs::is_directory(folder.parent_path() / "sessions", error);
  auto store = inStore ? SessionStore::open(folder.parent_path().string(), {.create = false})
                       : SessionStore::open(SessionStoreInit{.backend = file->backend, .options = {}});
  if (!store) return std::unexpected(store.error());
  return NamedSession{.store = std::move(*store), .sessionId = std::move(file->sessionId)};
}

}  // namespace

Result<std::string> resolveSession(SessionStore& store, const std::string& name) {
  if (name.empty()) return fail(ErrorCode::InvalidArgument, "a session needs a name", "`bough ls` lists the sessions");
  auto state = store.sessionState(name);
  const bool known =
      state || (state.error().code != ErrorCode::NotFound && state.error().code != ErrorCode::InvalidArgument);
  return known ? Result<std::string>(name) : findInCatalog(store, name);
}

Result<NamedSession> openSession(const Context& context, const std::string& name) {
  if (looksLikePath(name)) return openPath(name);
  auto store = context.openStore();
  if (!store) return std::unexpected(store.error());
  auto sessionId = resolveSession(**store, name);
  if (!sessionId) return std::unexpected(sessionId.error());
  return NamedSession{.store = std::move(*store), .sessionId = std::move(*sessionId)};
}

}  // namespace bough::cli
