// How the catalog maintains its own file: finding damage, and removing redacted words.

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/try.h"
#include "catalog/catalog_state.h"
#include "catalog/search/search_index.h"

namespace bough {

using catalog::Blob;
using catalog::Query;
using catalog::Transaction;

namespace {

constexpr std::size_t kMaxFindings = 10;

// Returns everything in a row that is determined by the log alone.
std::string describe(const SessionSummary& row) {
  const Usage& used = row.tokens;
  std::string text = fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", row.key, row.agent, row.cwd, row.title,
                                 toString(row.titleSource), row.headId, toString(row.condition), row.problem,
                                 row.pinned, row.timeToLiveMs.value_or(0), row.origin ? row.origin->sessionId : "",
                                 row.origin ? row.origin->entryId : "");
  for (const std::uint64_t number :
       {row.createdMs, row.activeMs, row.durationMs, row.userMessages, row.assistantMessages, row.toolMessages,
        row.systemMessages, row.toolCalls, row.toolFailures, used.inputTokens, used.outputTokens, used.cacheReadTokens,
        used.cacheWriteTokens, used.reasoningTokens, used.cacheWriteHourTokens, row.entries, row.bytes, row.branches}) {
    text += fmt::format("|{}", number);
  }
  for (const ModelUsage& each : row.models) {
    text += fmt::format("|{} {} {} {} {}", each.model, each.messages, each.tokens.inputTokens, each.tokens.outputTokens,
                        each.tokens.cacheReadTokens + each.tokens.cacheWriteTokens);
  }
  return text;
}

Result<std::map<std::string, std::string>> describeAll(Catalog& catalog) {
  auto rows = catalog.list({.filter = {}, .limit = SIZE_MAX});
  if (!rows) return std::unexpected(rows.error());
  std::map<std::string, std::string> described;
  for (const SessionSummary& row : *rows) described.emplace(row.sessionId, describe(row));
  return described;
}

// Returns the sessions whose rows differ between the two catalogs, with both rows. A row may be missing in one of them.
Result<std::map<std::string, std::pair<std::string, std::string>>> differences(Catalog& truth, Catalog& kept) {
  BOUGH_TRY(auto rows, describeAll(truth));
  BOUGH_TRY(auto mine, describeAll(kept));
  std::map<std::string, std::pair<std::string, std::string>> found;
  for (auto& [sessionId, row] : rows) {
    std::string& own = mine[sessionId];
    if (own != row) found.emplace(sessionId, std::pair(std::move(row), std::move(own)));
  }
  return found;
}

}  // namespace

// SQLite has no checksums: its own check finds damaged pages, but not a changed number within a page. For that, the
// rows are rebuilt and compared.
Result<std::vector<std::string>> Catalog::check(bool deep) {
  if (state_->source != nullptr) return std::vector<std::string>();
  std::vector<std::string> found;
  BOUGH_TRY(state_->enter());
  if (deep) {
    BOUGH_TRY(state_->makeWritable());
  }
  catalog::Database& database = *state_->database;
  BOUGH_TRY(catalog::prepareSearch(database));
  {
    Query query(database, fmt::format("PRAGMA {}({})", deep ? "integrity_check" : "quick_check", kMaxFindings));
    while (query.next()) {
      if (query.view(0) != "ok") found.push_back(query.text(0));
    }
  }
  if (auto read = database.takeFailure(); !read) found.push_back(read.error().message);
  if (!deep || !found.empty()) return found;
  if (!state_->readOnly) {
    Query(database, "INSERT INTO search(search) VALUES('integrity-check')").run();
    if (auto read = database.takeFailure(); !read) found.push_back("the index for search: " + read.error().message);
  }
  // A row that remembers lost entries knows more than the log does.
  std::set<std::string> remembered;
  {
    Query query(database, "SELECT sessionId FROM session WHERE lostId <> ''");
    while (query.next()) remembered.insert(query.text(0));
  }
  BOUGH_TRY(database.takeFailure());
  // From here on `database` may be invalid: catching up may reopen it.
  BOUGH_TRY(auto fresh, open(state_->store, {.inMemory = true}));
  BOUGH_TRY(fresh->catchUp({}));
  BOUGH_TRY(auto wrong, differences(*fresh, *this));
  if (!wrong.empty()) {
    // Sessions that others use or remove meanwhile change between the two comparisons, or are gone.
    BOUGH_TRY(fresh->catchUp({}));
    BOUGH_TRY(catchUp({}));
    BOUGH_TRY(const auto later, differences(*fresh, *this));
    const auto isGone = [&](const std::string& sessionId) {
      const auto state = state_->store.sessionState(sessionId);
      return !state && state.error().code == ErrorCode::NotFound;
    };
    std::erase_if(wrong, [&](const auto& each) {
      const auto still = later.find(each.first);
      return still == later.end() || still->second != each.second || isGone(each.first);
    });
  }
  for (const auto& [sessionId, rows] : wrong) {
    if (!remembered.contains(sessionId) && found.size() < kMaxFindings) {
      found.push_back(fmt::format("session {} is not as its log says", sessionId));
    }
  }
  return found;
}

// Removing words from the search index only marks them; they disappear when the segments that contain them are merged.
// SQLite's WAL keeps older pages until it is truncated. Both are done in small steps.
Result<void> Catalog::State::wipe() {
  constexpr int kPages = 500;
  constexpr int kSteps = 32;
  std::string phase = meta("wipe");
  BOUGH_TRY(database->takeFailure());
  if (phase.empty() || memory || readOnly) return {};
  BOUGH_TRY(makeWritable());
  if (phase != "written") {
    Transaction transaction(*database);
    bool done = false;
    for (int step = 0; step < kSteps && !done; ++step) {
      const auto before = sqlite3_total_changes64(database->handle());
      // A negative number starts merging everything into one segment; a positive one continues.
      Query(*database, "INSERT INTO search(search, rank) VALUES('merge', ?)", phase == "new" ? -kPages : kPages).run();
      done = phase != "new" && sqlite3_total_changes64(database->handle()) - before < 2;
      phase = "going";
    }
    if (done) phase = "written";
    setMeta("wipe", Blob{phase});
    if (auto kept = transaction.commit(); !kept) return kept;
  }
  if (phase != "written" || !database->truncateWal()) return {};
  Query(*database, "DELETE FROM meta WHERE name = 'wipe'").run();
  return database->takeFailure();
}

}  // namespace bough
