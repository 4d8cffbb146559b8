#include "cli/names/session_titles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ranges>
#include <utility>

#include "base/json/json_scan.h"
#include "base/model/out_of_date.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "cli/names/short_id.h"
#include "cli/terminal/output.h"

namespace bough::cli {
namespace {

// Says it only once, because several names may be needed.
void reportMissingTitles(const Error& error) {
  static bool said = false;
  if (!std::exchange(said, true)) {
    printMessage(fmt::format("note: titles and costs may be missing: {}", text::printable(error.message)));
  }
}

// Returns null when the catalog would have to read more than a few sessions first, or cannot be read; reports the
// latter.
std::unique_ptr<Catalog> quickCatalog(SessionStore& store) {
  constexpr std::uint64_t kFew = 200;
  auto catalog = Catalog::open(store);
  if (!catalog) {
    if (catalog.error().code != ErrorCode::Unsupported) reportMissingTitles(catalog.error());
    return {};
  }
  bool whole = true;
  const auto caughtUp = (*catalog)->catchUp({.leaveDue = true, .progress = [&](const CatchUpProgress& at) {
                                               whole = whole && at.totalSessions <= kFew;
                                               return whole;
                                             }});
  if (!whole) return {};
  if (!caughtUp) reportMissingTitles(caughtUp.error());
  if (!caughtUp && !canAnswerDespite(caughtUp.error())) return {};
  return std::move(*catalog);
}

}  // namespace

std::string displayTitle(const SessionSummary& row) {
  if (!row.title.empty()) return row.title;
  if (!row.origin) return row.key;
  return "fork of " + shortId(row.origin->sessionId);
}

void titleForks(Catalog& catalog, std::vector<SessionSummary>& rows) {
  std::size_t most = 1'000;  // the limit for questions to the catalog; the other forks show the id of their origin
  for (SessionSummary& row : rows) {
    if (!row.title.empty() || !row.origin) continue;
    if (most-- == 0) return;
    const auto origin = catalog.list({.filter = {.session = row.origin->sessionId}, .limit = 1, .models = false});
    if (!origin || origin->empty()) continue;
    if (const std::string title = displayTitle(origin->front()); !title.empty()) row.title = "fork of " + title;
  }
}

std::string nameWithTitle(const SessionSummary& row) {
  const std::string title = text::excerpt(displayTitle(row), 50);
  return title.empty() ? exactName(row.sessionId) : fmt::format("{} \"{}\"", exactName(row.sessionId), title);
}

std::optional<SessionSummary> SessionTitles::row(const std::string& sessionId, const PriceTable* prices) {
  if (!opened_) catalog_ = quickCatalog(store_);
  opened_ = true;
  if (!catalog_) return {};
  auto found = catalog_->session(sessionId, prices);
  if (!found) {
    if (found.error().code != ErrorCode::NotFound) reportMissingTitles(found.error());
    return {};
  }
  std::vector<SessionSummary> rows = {std::move(*found)};
  titleForks(*catalog_, rows);
  return std::move(rows.front());
}

std::string SessionTitles::name(const std::string& sessionId) {
  const auto found = row(sessionId);
  return found ? idAndTitle(*found) : exactName(sessionId);
}

std::string idAndTitle(const SessionSummary& row) {
  const bool hasTitle = !row.title.empty() || row.origin;  // a key is not a title
  return hasTitle ? nameWithTitle(row) : exactName(row.sessionId);
}

std::string idAndTitle(SessionStore& store, const std::string& sessionId) {
  return SessionTitles(store).name(sessionId);
}

Error withForksNamed(SessionStore& store, const std::string& sessionId, Error error) {
  constexpr std::size_t kNamed = 8;
  const auto forks =
      error.code == ErrorCode::HasForks ? store.maintenance().forksOf(sessionId) : Result<std::vector<std::string>>();
  if (!forks || forks->empty()) return error;
  SessionTitles titles(store);
  std::vector<std::string> names;
  for (const std::string& fork : *forks | std::views::take(kNamed)) names.push_back(titles.name(fork));
  if (forks->size() > kNamed) names.emplace_back("…");
  error.message =
      fmt::format("{} the history of session {}: {}", counted(forks->size(), "session shares", "sessions share"),
                  titles.name(sessionId), fmt::join(names, ", "));
  return error;
}

Result<std::string> folderOf(SessionStore& store, std::string sessionId) {
  constexpr int kMostForks = 1'000;  // damaged headers may form a cycle
  for (int i = 0; i < kMostForks && !sessionId.empty(); ++i) {
    std::string header;
    const auto read = store.readOwnEntries(sessionId, 0, 1, [&](std::uint64_t, Entry& entry) {
      if (entry.type == entry_type::kSessionHeader) header = std::move(entry.payload);
    });
    const bool isLost = !read && (read.error().code == ErrorCode::NotFound || read.error().code == ErrorCode::Damaged);
    if (!read && !isLost) return std::unexpected(read.error());
    if (isLost || header.empty()) return std::string();
    if (auto cwd = json::findString(header, "cwd"); cwd && !cwd->empty()) return std::move(*cwd);
    const auto parent = json::findMember(header, "parentSession");
    sessionId = parent ? json::findString(*parent, "sessionId").value_or("") : "";
  }
  return std::string();
}

}  // namespace bough::cli
