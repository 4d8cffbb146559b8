#include "cli/names/agents_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <type_traits>

#include "base/bytes/sha256.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/try.h"
#include "base/user_folders.h"
#include "bough/transcript.h"
#include "cli/names/foreign.h"
#include "cli/names/listing.h"
#include "cli/names/session_file.h"
#include "cli/names/store_session.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {
namespace {

// A list knows every file that it has ever seen and that still exists. So other folders of the agents
// (CLAUDE_CONFIG_DIR, another HOME) have a separate list, because sessions of one must not appear in the other.
Result<std::string> usualListFolder() {
  constexpr std::size_t kShort = 16;
  BOUGH_TRY(const std::string cache, cacheFolder());
  const TranscriptHome usual{.home = homeFolder(), .variable = [](const std::string&) { return std::string(); }};
  const auto folders = transcriptFolders(transcriptHome(), {});
  const bool isUsual =
      !usual.home.empty() && folders == transcriptFolders(usual, {}) && cache.starts_with(usual.home + "/");
  if (isUsual) return cache + "/transcripts";
  return fmt::format("{}/transcripts-{}", cache,
                     Sha256::of(fmt::format("{}", fmt::join(folders, "\n"))).substr(0, kShort));
}

bool canBeCreated(const std::string& folder) {
  std::error_code error;
  std::filesystem::path at = folder;
  // A dangling link prevents the creation of a folder.
  const auto isThere = [&] { return std::filesystem::exists(std::filesystem::symlink_status(at, error)); };
  while (!isThere() && at.has_relative_path()) at = at.parent_path();
  return std::filesystem::is_directory(at, error) && ::access(at.c_str(), W_OK | X_OK) == 0;
}

// Temporary folders of this process, by the folders that they replace.
std::map<std::string, std::shared_ptr<std::string>>& temporaryFolders() {
  static std::map<std::string, std::shared_ptr<std::string>> folders;
  return folders;
}

Result<std::string> useTemporaryFolder(const std::string& usual, const std::string& why, bool isOnce = false) {
  BOUGH_TRY(const auto folder, makeTemporaryFolder());
  printMessage(
      fmt::format("note: {}, so the agents' files are read again{}", text::printable(why), isOnce ? "" : " each time"));
  temporaryFolders().emplace(usual, folder);
  return *folder;
}

// If nothing can be stored, reads everything anyway, into a temporary folder of this process.
Result<std::string> listFolder() {
  const auto found = usualListFolder();
  const bool agentsAreKnown = !transcriptFolders(transcriptHome(), {}).empty();
  if (!found && !agentsAreKnown) return found;
  const std::string usual = found.value_or("");
  if (const auto made = temporaryFolders().find(usual); made != temporaryFolders().end()) return *made->second;
  if (found && canBeCreated(usual)) return usual;
  return useTemporaryFolder(usual, found ? usual + " cannot be written to" : found.error().message);
}

// The same if the folder turns out to be unusable: a full disk, something in place of a file, or another process that
// locks it for long.
template <typename Use>
std::invoke_result_t<Use, const std::string&> inListFolder(const Use& use) {
  BOUGH_TRY(const std::string folder, listFolder());
  auto done = use(folder);
  const bool isTemporary =
      std::ranges::any_of(temporaryFolders(), [&](const auto& each) { return *each.second == folder; });
  if (done || isTemporary || !done.error().message.contains(folder)) return done;
  const bool isBusy = done.error().code == ErrorCode::Busy;
  BOUGH_TRY(const std::string temporary, useTemporaryFolder(folder, done.error().message, isBusy));
  return use(temporary);
}

// The agents' files.
class AgentFiles {
 public:
  explicit AgentFiles(std::vector<std::string> agents) : agents_(std::move(agents)) {}

  Result<void> each(const std::function<bool(FoundTranscript&&)>& use) {
    BOUGH_TRY(walked_, eachTranscript(transcriptHome(), agents_, use));
    return {};
  }

  // Reports the folders that the last walk could not read.
  void reportUnreadable() const { reportUnreadableFolders(walked_); }

  [[nodiscard]] catalog::ExternalWalk walk() {
    return [this](const std::function<bool(catalog::ExternalFile&&)>& use) {
      return each([&](FoundTranscript&& file) {
        return use({.path = std::move(file.path),
                    .stamp = fmt::format("{} {}", file.sizeBytes, file.modifiedNs),
                    .sizeBytes = file.sizeBytes,
                    .modifiedMs = file.modifiedNs / 1'000'000});
      });
    };
  }

  Result<bool> isEmpty() {
    bool none = true;
    BOUGH_TRY(each([&](FoundTranscript&&) { return none = false; }));
    return none;
  }

 private:
  std::vector<std::string> agents_;
  TranscriptWalk walked_;
};

Result<void> bringUpToDate(const std::string& folder, AgentFiles& files, const catalog::NewestRows* newest) {
  std::optional<Progress> bar;
  const auto show = [&](std::uint64_t done) {
    if (!bar) bar.emplace("reading other agents' sessions", 0);
    bar->update(done);
  };
  BOUGH_TRY(const auto report, catalog::updateExternalRows(folder, files.walk(), show, newest));
  bar.reset();
  if (report.unreadable == 0) return {};
  printMessage(fmt::format(
      "note: {}: {}",
      counted(report.unreadable, "file could not be read as a session", "files could not be read as sessions"),
      text::excerpt(report.example, 160)));
  return {};
}

// A caller that knows the id from elsewhere, such as from a list in a store, may be the first to use a folder that has
// no rows yet: a temporary one, or one that was emptied meanwhile.
Result<std::vector<std::string>> filesOfSession(const std::string& sessionId) {
  const auto known = [&]() -> Result<std::vector<std::string>> {
    return inListFolder([&](const std::string& folder) -> Result<std::vector<std::string>> {
      std::error_code error;
      if (!std::filesystem::exists(folder, error)) return std::vector<std::string>();
      BOUGH_TRY(auto files, catalog::externalFilesOf(folder, {sessionId}));
      return std::move(files.front());
    });
  };
  BOUGH_TRY(auto files, known());
  if (!files.empty()) return files;
  BOUGH_TRY(openAgentsView("all"));
  return known();
}

Result<CatalogView> viewIn(const std::string& folder, AgentFiles& files, const catalog::NewestRows* newest) {
  std::error_code error;
  // There is nothing to list, so create nothing.
  bool isNothing = false;
  if (!std::filesystem::exists(folder, error)) {
    BOUGH_TRY(isNothing, files.isEmpty());
  }
  CatalogView view;
  BOUGH_TRY(view.store, SessionStore::open(isNothing ? "memory:" : folder));
  if (!isNothing) {
    BOUGH_TRY(bringUpToDate(folder, files, newest));
  }
  BOUGH_TRY(view.catalog, Catalog::open(*view.store));
  return view;
}

}  // namespace

Result<CatalogView> openAgentsView(const std::string& list, const catalog::NewestRows* newest) {
  BOUGH_TRY(auto agents, parseAgents(list));
  AgentFiles files(std::move(agents));
  BOUGH_TRY(auto view, inListFolder([&](const std::string& folder) { return viewIn(folder, files, newest); }));
  files.reportUnreadable();
  return view;
}

Result<bool> hasBacklog(const std::string& list, std::uint64_t bytes) {
  BOUGH_TRY(auto agents, parseAgents(list));
  AgentFiles files(std::move(agents));
  return inListFolder([&](const std::string& folder) -> Result<bool> {
    std::error_code error;
    if (std::filesystem::exists(folder, error)) return catalog::hasExternalBacklog(folder, files.walk(), bytes);
    std::uint64_t found = 0;
    BOUGH_TRY(files.each([&](FoundTranscript&& file) { return (found += file.sizeBytes) < bytes; }));
    return found >= bytes;
  });
}

Result<NamedSession> openListedSession(const std::string& sessionId) {
  BOUGH_TRY(const auto paths, filesOfSession(sessionId));
  if (paths.empty()) return fail(ErrorCode::NotFound, fmt::format("there is no session {}", sessionId));
  return openTranscript(paths);
}

namespace {

// Opens the store that keeps lists of these sessions: the user's store, to whose lists @N refers, otherwise the folder
// of the rows.
Result<std::unique_ptr<SessionStore>> storeOfLists(const Context& context) {
  if (auto own = context.openStore()) return own;
  return inListFolder([](const std::string& folder) { return SessionStore::open(folder); });
}

// Lists show only the end of ids that begin with a time.
Result<std::vector<SessionSummary>> rowsEnding(Catalog& catalog, const std::string& end) {
  constexpr std::size_t kPage = 20'000;  // rows in memory
  std::vector<SessionSummary> found;
  std::optional<ListPlace> last;
  for (std::size_t got = kPage; got == kPage && found.size() < 2;) {
    BOUGH_TRY(auto rows, catalog.list({.filter = {}, .limit = kPage, .after = last, .models = false}));
    got = rows.size();
    if (!rows.empty()) last = {.activeMs = rows.back().activeMs, .sessionId = rows.back().sessionId};
    for (SessionSummary& row : rows) {
      if (row.sessionId.ends_with(end)) found.push_back(std::move(row));
    }
  }
  return found;
}

Result<std::string> sessionOf(const Context& context, const std::string& name) {
  constexpr std::size_t kShortestId = 8;
  constexpr std::size_t kShortestTitle = 4;
  constexpr std::size_t kTitles = 1000;
  const auto missing = fail(ErrorCode::NotFound, fmt::format("there is no session {}", name));
  if (const auto number = listingNumber(name)) {
    BOUGH_TRY(const auto store, storeOfLists(context));
    return listedSession(*store, *number);
  }
  if (name.size() < kShortestTitle || name.starts_with('@')) return missing;
  BOUGH_TRY(const auto view, openAgentsView("all"));
  BOUGH_TRY(const auto match, view.catalog->findByName(name, kTitles));
  const bool isId = match.kind == NameMatch::Kind::Id || match.kind == NameMatch::Kind::Key ||
                    (match.kind == NameMatch::Kind::IdPrefix && name.size() >= kShortestId);
  std::vector<SessionSummary> found = isId ? match.sessions : std::vector<SessionSummary>();
  if (!isId && name.size() >= kShortestId) {
    BOUGH_TRY(found, rowsEnding(*view.catalog, name));
  }
  if (found.size() == 1) return found.front().sessionId;
  if (found.size() > 1) {
    return fail(ErrorCode::InvalidArgument, fmt::format("\"{}\" matches several sessions of other agents", name),
                "type more of the id");
  }
  if (match.kind != NameMatch::Kind::Title) return missing;
  BOUGH_TRY(const auto titled, chooseByTitle(name, match.sessions));
  return titled.sessionId;
}

}  // namespace

Result<NamedSession> openAgentSession(const Context& context, const std::string& name) {
  BOUGH_TRY(const std::string sessionId, sessionOf(context, name));
  return openListedSession(sessionId);
}

Result<std::vector<std::string>> filesOfName(const Context& context, const std::string& name) {
  if (agentOfFile(name)) return std::vector{name};
  std::error_code error;
  const bool isPath = isSessionPath(name) || std::filesystem::is_regular_file(name, error);
  if (context.backend || isPath) return std::vector<std::string>();
  if (const auto store = context.openStore()) {
    const auto own = resolveSession(**store, name);
    if (own || own.error().code != ErrorCode::NotFound) return std::vector<std::string>();
  }
  const auto sessionId = sessionOf(context, name);
  if (!sessionId && sessionId.error().code == ErrorCode::NotFound) return std::vector<std::string>();
  if (!sessionId) return std::unexpected(sessionId.error());
  return filesOfSession(*sessionId);
}

Result<void> rememberAgents(const Context& context, const std::vector<std::string>& sessionIds) {
  BOUGH_TRY(const auto store, storeOfLists(context));
  return rememberListing(*store, sessionIds);
}

}  // namespace bough::cli
