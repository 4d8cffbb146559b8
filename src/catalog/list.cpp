// How Catalog answers from its rows: lists, names, keys.

#include <fmt/format.h>

#include <algorithm>

#include "base/json/json_write.h"
#include "base/try.h"
#include "catalog/catalog_state.h"
#include "catalog/database/conditions.h"
#include "catalog/database/list_order.h"
#include "catalog/database/session_row.h"

namespace bough {

using catalog::Blob;
using catalog::Conditions;
using catalog::Query;

namespace {

using SessionRows = std::vector<catalog::SessionRow>;

// Returns one row per id, in the order of the ids.
SessionRows readRows(catalog::Database& database, const std::vector<std::int64_t>& ids) {
  static const std::string kSelect = fmt::format("SELECT {} FROM session WHERE id = ?", catalog::rowColumns());
  SessionRows found;
  for (const std::int64_t id : ids) {
    Query query(database, kSelect.c_str(), id);
    if (query.next()) found.push_back(catalog::readRow(query));
  }
  return found;
}

SessionRows readRows(catalog::Database& database, const Conditions& conditions, std::string_view order,
                     std::size_t limit, std::size_t skip) {
  Query query(database, fmt::format("SELECT {} FROM session{} ORDER BY {} LIMIT {} OFFSET {}", catalog::rowColumns(),
                                    conditions.where(), order, limit, skip));
  conditions.bindTo(query);
  SessionRows found;
  while (query.next()) found.push_back(catalog::readRow(query));
  return found;
}

std::vector<SessionSummary> factsOf(SessionRows rows) {
  std::vector<SessionSummary> facts;
  facts.reserve(rows.size());
  for (catalog::SessionRow& row : rows) facts.push_back(std::move(row.facts));
  return facts;
}

constexpr std::string_view kNewestFirst = "activeMs DESC, sessionId DESC";
constexpr std::size_t kMaxRows = 1'000'000'000;

}  // namespace

Result<std::vector<SessionSummary>> Catalog::list(const ListOptions& options) {
  if (options.after && options.order != ListOrder::Active) {
    return fail(ErrorCode::InvalidArgument, "only a list by activity continues after a session", "use `skip` instead");
  }
  if (state_->source != nullptr) {
    BOUGH_TRY(auto rows, state_->askSource([&](CatalogSource& source) { return source.list(options); }));
    for (SessionSummary& row : rows) catalog::addPrices(row.models, options.prices);
    return rows;
  }
  return state_->answerFromSnapshot([&]() -> Result<std::vector<SessionSummary>> {
    catalog::Database& database = *state_->database;
    Conditions conditions = catalog::listConditions(options.filter, catalog::bestRanges(database, options.filter));
    if (options.after) {
      conditions.add(fmt::format("(session.activeMs, session.sessionId) {} (?, ?)", options.reverse ? ">" : "<"),
                     {options.after->activeMs, options.after->sessionId});
    }
    SessionRows found = options.order == ListOrder::Cost
                            ? readRows(database, catalog::idsByCost(database, conditions, options))
                            : readRows(database, conditions, catalog::orderOf(options.order, options.reverse),
                                       std::min(options.limit, kMaxRows), std::min(options.skip, kMaxRows));
    for (catalog::SessionRow& row : found) {
      if (options.models) row.facts.models = catalog::readModels(database, row.id, options.prices);
    }
    BOUGH_TRY(database.takeFailure());
    return factsOf(std::move(found));
  });
}

Result<std::uint64_t> Catalog::count(const SessionFilter& filter) {
  if (state_->source != nullptr) return state_->askSource([&](CatalogSource& source) { return source.count(filter); });
  return state_->answerFromSnapshot([&]() -> Result<std::uint64_t> {
    const Conditions conditions = catalog::listConditions(filter, catalog::RangesBy::Index);
    std::uint64_t number = 0;
    {
      Query query(*state_->database, "SELECT count(*) FROM session" + conditions.where());
      conditions.bindTo(query);
      if (query.next()) number = query.number(0);
    }
    BOUGH_TRY(state_->database->takeFailure());
    return number;
  });
}

Result<SessionSummary> Catalog::session(const std::string& sessionId, const PriceTable* prices) {
  if (state_->source != nullptr) {
    BOUGH_TRY(auto row, state_->askSource([&](CatalogSource& source) { return source.session(sessionId); }));
    catalog::addPrices(row.models, prices);
    return row;
  }
  return state_->answerFromSnapshot([&]() -> Result<SessionSummary> {
    auto row = catalog::findRow(*state_->database, sessionId);
    if (row) row->facts.models = catalog::readModels(*state_->database, row->id, prices);
    BOUGH_TRY(state_->database->takeFailure());
    if (row) return std::move(row->facts);
    return fail(ErrorCode::NotFound, fmt::format("there is no session {}", sessionId), "`bough ls` lists the sessions");
  });
}

Result<std::optional<std::string>> Catalog::currentSession(std::string_view key, std::string_view cwd) {
  if (state_->source != nullptr)
    return state_->askSource([&](CatalogSource& source) { return source.currentSession(key, cwd); });
  return state_->answerFromSnapshot([&]() -> Result<std::optional<std::string>> {
    std::optional<std::string> current;
    if (!key.empty()) {
      Query query(*state_->database,
                  "SELECT sessionId FROM session WHERE key = ? AND key <> '' AND (? = '' OR cwd = ?) "
                  "ORDER BY createdMs DESC, sessionId DESC LIMIT 1",
                  key, cwd, cwd);
      if (query.next()) current = query.text(0);
    }
    BOUGH_TRY(state_->database->takeFailure());
    return current;
  });
}

Result<NameMatch> Catalog::findByName(std::string_view name, std::size_t limit) {
  if (state_->source != nullptr)
    return state_->askSource([&](CatalogSource& source) { return source.findByName(name, limit); });
  NameMatch match;
  if (name.empty()) return match;
  const auto look = [&](NameMatch::Kind kind, std::string_view sql, std::vector<Conditions::Value> values,
                        std::string_view order, std::size_t maxRows) {
    if (!match.sessions.empty()) return;
    Conditions conditions;
    conditions.add(sql, std::move(values));
    match.sessions = factsOf(readRows(*state_->database, conditions, order, maxRows, 0));
    if (!match.sessions.empty()) match.kind = kind;
  };
  return state_->answerFromSnapshot([&]() -> Result<NameMatch> {
    const std::string text(name);
    match = {};
    look(NameMatch::Kind::Id, "sessionId = ?", {text}, kNewestFirst, 1);
    look(NameMatch::Kind::Key, "key = ? AND key <> ''", {text}, "createdMs DESC, sessionId DESC", 1);
    // Ids are ASCII: all ids with this prefix are between the prefix and the prefix followed by the greatest ASCII
    // character.
    look(NameMatch::Kind::IdPrefix, "sessionId >= ? AND sessionId < ?", {text, text + "\x7F"}, kNewestFirst, limit);
    look(NameMatch::Kind::Title, catalog::kTitleContains, {catalog::titlePart(name)}, kNewestFirst, limit);
    BOUGH_TRY(state_->database->takeFailure());
    return std::move(match);
  });
}

std::optional<SessionKey> parseSessionKey(std::string_view key) {
  std::vector<std::string> parts;
  std::string_view rest = key;
  const std::size_t partCount = key.starts_with("agent:") && std::ranges::count(key, ':') >= 4 ? 5 : 3;
  while (parts.size() + 1 < partCount) {
    const std::size_t colon = rest.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    parts.emplace_back(rest.substr(0, colon));
    rest.remove_prefix(colon + 1);
  }
  parts.emplace_back(rest);
  if (std::ranges::any_of(parts, &std::string::empty)) return std::nullopt;
  if (partCount == 3) return SessionKey{.agent = parts[0], .channel = parts[1], .peerKind = {}, .peer = parts[2]};
  return SessionKey{.agent = parts[1], .channel = parts[2], .peerKind = parts[3], .peer = parts[4]};
}

Result<AppendResult> appendSessionInfo(SessionStore& store, const std::string& sessionId, const SessionInfo& info) {
  Entry entry;
  entry.type = entry_type::kSessionInfo;
  json::Writer writer(entry.payload);
  writer.beginObject();
  if (info.title) {
    writer.member("title", *info.title);
    if (info.titleSource == TitleSource::Generated) writer.member("titleSource", "generated");
  }
  if (info.pinned) writer.member("pinned", *info.pinned);
  if (info.timeToLiveMs) writer.member("timeToLiveMs", *info.timeToLiveMs);
  writer.endObject();
  return store.appendSessionEntries(sessionId, {std::move(entry)});
}

}  // namespace bough
