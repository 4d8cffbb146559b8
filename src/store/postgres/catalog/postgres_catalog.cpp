// Lists, names, usage and retention.

#include "store/postgres/catalog/postgres_catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/try.h"

namespace bough::postgres {
namespace {

constexpr std::string_view kNewestFirst = " ORDER BY c.active_ms DESC, c.session_id DESC";
constexpr std::string_view kNewestMade = " ORDER BY c.created_ms DESC, c.session_id DESC";
constexpr std::string_view kTokenSums =
    "count(*), sum(u.input_tokens)::bigint, sum(u.output_tokens)::bigint, "
    "sum(u.cache_read_tokens)::bigint, sum(u.cache_write_tokens)::bigint, sum(u.reasoning_tokens)::bigint, "
    "sum(u.cache_write_hour_tokens)::bigint";

Composed selectSessions(std::string_view columns) {
  Composed select;
  select.sql = fmt::format("SELECT {} FROM @.catalog_sessions c", columns);
  return select;
}

// Adds `limit` and `skip` to a statement, limited to what a bigint can hold.
void addLimit(Composed& select, std::size_t limit, std::size_t skip) {
  select.sql += fmt::format(" LIMIT {}", select.number(limit));
  if (skip > 0) select.sql += fmt::format(" OFFSET {}", select.number(skip));
}

void addListed(Composed& select, const SessionFilter& filter) {
  select.require(filter);
  if (filter.sinceMs) select.require("c.active_ms >= " + select.number(*filter.sinceMs));
  if (filter.untilMs) select.require("c.active_ms < " + select.number(*filter.untilMs));
}

struct SortKey {
  std::string_view sql;
  bool isAscending = false;
};

// Tokens are summed as numeric: the numbers in a log may exceed a bigint.
std::vector<SortKey> sortKeys(ListOrder order) {
  std::vector<SortKey> keys;
  switch (order) {
    case ListOrder::Active: break;
    case ListOrder::Created: keys = {{"c.created_ms"}}; break;
    case ListOrder::Title:
      keys = {{"c.title = ''", true}, {R"(lower(c.title COLLATE "C"))", true}, {R"(lower(c.key COLLATE "C"))", true}};
      break;
    case ListOrder::Messages:
      keys = {{"c.user_messages + c.assistant_messages + c.tool_messages + c.system_messages"}};
      break;
    case ListOrder::Size: keys = {{"c.bytes"}}; break;
    case ListOrder::Branches: keys = {{"c.branches"}}; break;
    case ListOrder::Tokens:
      keys = {{"c.input_tokens::numeric + c.output_tokens + c.cache_read_tokens + c.cache_write_tokens"}};
      break;
    case ListOrder::Cost: keys = {{"coalesce(spent.usd, 0)"}}; break;
  }
  keys.push_back({"c.active_ms"});
  keys.push_back({"c.session_id"});
  return keys;
}

// Adds `spent`: the cost of each session, as far as its models have prices.
void joinCosts(Composed& select, const ListOptions& options, const std::vector<std::string>& models) {
  const PriceTable& prices = options.prices == nullptr ? PriceTable::builtIn() : *options.prices;
  std::string rows;
  for (const std::string& model : models) {
    const ModelPrice* price = prices.find(model);
    if (price == nullptr) continue;
    rows += fmt::format("{}({}::text, '{}'::float8, '{}'::float8, '{}'::float8, '{}'::float8, '{}'::float8)",
                        rows.empty() ? "" : ", ", select.text(model), price->input, price->output, price->cacheRead,
                        price->cacheWrite, price->cacheWriteHour());
  }
  if (rows.empty()) rows = "('', 0::float8, 0::float8, 0::float8, 0::float8, 0::float8)";
  select.sql += fmt::format(
      " LEFT JOIN (SELECT used.session_id, sum((used.input * price.input + used.output * price.output + "
      "used.cache_read * price.cache_read + (used.cache_write - used.cache_write_hour) * price.cache_write + "
      "used.cache_write_hour * price.cache_write_hour) / 1e6::float8) AS usd FROM (SELECT u.session_id, "
      "u.model, sum(u.input_tokens)::float8 AS input, sum(u.output_tokens)::float8 AS output, "
      "sum(u.cache_read_tokens)::float8 AS cache_read, sum(u.cache_write_tokens)::float8 AS cache_write, "
      "sum(u.cache_write_hour_tokens)::float8 AS cache_write_hour FROM "
      "@.catalog_answers u GROUP BY u.session_id, u.model) used JOIN (VALUES {}) AS price(model, input, output, "
      "cache_read, cache_write, cache_write_hour) ON price.model = used.model GROUP BY used.session_id) spent ON "
      "spent.session_id = "
      "c.session_id",
      rows);
}

Usage tokensFrom(const Rows& rows, int row, int column) {
  const auto number = [&](int at) { return static_cast<std::uint64_t>(rows.number(row, column + at)); };
  return {.inputTokens = number(0),
          .outputTokens = number(1),
          .cacheReadTokens = number(2),
          .cacheWriteTokens = number(3),
          .reasoningTokens = number(4),
          .cacheWriteHourTokens = number(5)};
}

std::vector<SessionSummary> summariesFrom(const Rows& rows) {
  std::vector<SessionSummary> found;
  for (int row = 0; row < rows.size(); ++row) found.push_back(summaryFrom(rows, row));
  return found;
}

// Returns what the selected sessions used per model, the largest output first.
Composed modelsOf(Composed ids) {
  ids.sql = fmt::format(
      "SELECT u.session_id, u.model, {} FROM @.catalog_answers u WHERE u.session_id IN ({}) GROUP BY u.session_id, "
      "u.model ORDER BY u.session_id, sum(u.output_tokens) DESC, u.model",
      kTokenSums, ids.sql);
  return ids;
}

void addModels(const Rows& rows, std::vector<SessionSummary>& sessions) {
  std::map<std::string_view, SessionSummary*> byId;
  for (SessionSummary& session : sessions) byId.emplace(session.sessionId, &session);
  for (int row = 0; row < rows.size(); ++row) {
    const auto found = byId.find(rows.text(row, 0));
    if (found == byId.end()) continue;
    found->second->models.push_back({.model = rows.string(row, 1),
                                     .messages = static_cast<std::uint64_t>(rows.number(row, 2)),
                                     .tokens = tokensFrom(rows, row, 3)});
  }
}

std::string_view groupOf(UsageBy by) {
  switch (by) {
    case UsageBy::Session: return "c.session_id";
    case UsageBy::Key: return "c.key";
    case UsageBy::Model: return "u.model";
    case UsageBy::Branch: return "coalesce(c.tips[u.branch], '')";
    default: return "u.quarter";
  }
}

}  // namespace

Composed selectSorted(std::string_view columns, const ListOptions& options, const std::vector<std::string>& models) {
  Composed select = selectSessions(columns);
  if (options.order == ListOrder::Cost) joinCosts(select, options, models);
  addListed(select, options.filter);
  if (const auto& after = options.after) {
    select.require(fmt::format("(c.active_ms, c.session_id) {} ({}, {})", options.reverse ? ">" : "<",
                               select.number(after->activeMs), select.text(after->sessionId)));
  }
  std::string_view before;
  for (const auto& [key, isAscending] : sortKeys(options.order)) {
    select.sql += fmt::format("{}{}{}", before.empty() ? " ORDER BY " : before, key,
                              isAscending != options.reverse ? "" : " DESC");
    before = ", ";
  }
  addLimit(select, options.limit, options.skip);
  return select;
}

Result<std::vector<SessionSummary>> PostgresCatalog::list(const ListOptions& options) {
  std::vector<std::string> known;
  if (options.order == ListOrder::Cost) {
    Composed select;
    select.sql = "SELECT DISTINCT u.model FROM @.catalog_answers u";
    BOUGH_TRY(const Rows names, ask(select.call(database_)));
    for (int row = 0; row < names.size(); ++row) known.push_back(names.string(row, 0));
  }
  Composed rows = selectSorted(summaryColumns(), options, known);
  Composed models = modelsOf(selectSorted("c.session_id", options, known));
  std::vector<Call> calls{rows.call(database_)};
  if (options.models) calls.push_back(models.call(database_));
  BOUGH_TRY(const auto found, ask(std::move(calls)));
  std::vector<SessionSummary> sessions = summariesFrom(found.front());
  if (options.models) addModels(found.back(), sessions);
  return sessions;
}

Result<std::uint64_t> PostgresCatalog::count(const SessionFilter& filter) {
  Composed select = selectSessions("count(*)");
  addListed(select, filter);
  BOUGH_TRY(const Rows rows, ask(select.call(database_)));
  return static_cast<std::uint64_t>(rows.number(0, 0));
}

Result<SessionSummary> PostgresCatalog::session(const std::string& sessionId) {
  BOUGH_TRY(auto found, list({.filter = {.session = sessionId}, .limit = 1}));
  if (found.empty() || sessionId.empty()) return std::unexpected(database_.noSession(sessionId));
  return std::move(found.front());
}

Result<std::optional<std::string>> PostgresCatalog::currentSession(std::string_view key, std::string_view cwd) {
  if (key.empty()) return std::nullopt;
  Composed select = selectSessions("c.session_id");
  select.require("c.key <> ''");
  select.require("c.key = " + select.text(key));
  if (!cwd.empty()) select.require("c.cwd = " + select.text(cwd));
  select.sql += kNewestMade;
  addLimit(select, 1, 0);
  BOUGH_TRY(const Rows rows, ask(select.call(database_)));
  if (rows.empty()) return std::nullopt;
  return rows.string(0, 0);
}

// Tries all ways at once, which takes one round trip.
Result<NameMatch> PostgresCatalog::findByName(std::string_view name, std::size_t limit) {
  using Kind = NameMatch::Kind;
  NameMatch match;
  if (name.empty()) return match;
  Composed byId = selectSessions(summaryColumns());
  byId.require("c.session_id = " + byId.text(name));
  Composed byKey = selectSessions(summaryColumns());
  byKey.require("c.key <> ''");
  byKey.require("c.key = " + byKey.text(name));
  byKey.sql += kNewestMade;
  addLimit(byKey, 1, 0);
  // Ids are ASCII, so all ids with this prefix are between the name and the name followed by the greatest character.
  Composed byBeginning = selectSessions(summaryColumns());
  byBeginning.require("c.session_id >= " + byBeginning.text(name));
  byBeginning.require("c.session_id < " + byBeginning.text(std::string(name) + "\x7F"));
  Composed byTitle = selectSessions(summaryColumns());
  byTitle.require({.title = std::string(name)});
  for (Composed* select : {&byBeginning, &byTitle}) {
    select->sql += kNewestFirst;
    addLimit(*select, limit, 0);
  }
  std::vector<Call> calls;
  for (Composed* select : {&byId, &byKey, &byBeginning, &byTitle}) calls.push_back(select->call(database_));
  BOUGH_TRY(const auto found, ask(std::move(calls)));
  constexpr Kind kKinds[] = {Kind::Id, Kind::Key, Kind::IdPrefix, Kind::Title};
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].empty()) continue;
    match.kind = kKinds[i];
    match.sessions = summariesFrom(found[i]);
    break;
  }
  return match;
}

Result<std::vector<UsageSum>> PostgresCatalog::usage(const UsageOptions& options) {
  constexpr std::uint64_t kQuarterMs = 900'000;
  const bool needsSession = options.by == UsageBy::Session || options.by == UsageBy::Key ||
                            options.by == UsageBy::Branch || !options.session.empty() || !options.agent.empty() ||
                            !options.key.empty() || !options.cwd.empty() || !options.writtenBy.empty();
  // An answer that is in several sessions counts once: for the one of the chosen sessions with the smallest id.
  Composed select;
  select.sql = fmt::format(
      "SELECT u.place::text, u.model, {}, sum(CASE WHEN u.certain THEN 0 ELSE 1 END)::bigint, max(u.title), "
      "sum(CASE WHEN u.input_tokens + u.output_tokens + u.cache_read_tokens + u.cache_write_tokens + "
      "u.reasoning_tokens + u.cache_write_hour_tokens = 0 AND u.model <> '<synthetic>' THEN 1 ELSE 0 END)::bigint FROM "
      "(SELECT "
      "DISTINCT ON (u.answer_id) {} AS place, {} AS title, u.* FROM @.catalog_answers u{}",
      kTokenSums, groupOf(options.by), options.by == UsageBy::Session ? "c.title" : "''::text",
      needsSession ? " JOIN @.catalog_sessions c ON c.session_id = u.session_id" : "");
  select.require({.agent = options.agent,
                  .key = options.key,
                  .cwd = options.cwd,
                  .session = options.session,
                  .writtenBy = options.writtenBy});
  if (options.sinceMs) select.require("u.quarter >= " + select.number(*options.sinceMs / kQuarterMs));
  if (options.untilMs) {
    select.require("u.quarter < " +
                   select.number(*options.untilMs / kQuarterMs + (*options.untilMs % kQuarterMs != 0)));
  }
  if (!options.model.empty()) select.require("u.model = " + select.text(options.model));
  select.sql += " ORDER BY u.answer_id, u.session_id) u GROUP BY u.place, u.model";
  BOUGH_TRY(const Rows rows, ask(select.call(database_)));
  std::vector<UsageSum> sums;
  for (int row = 0; row < rows.size(); ++row) {
    sums.push_back({.name = rows.string(row, 0),
                    .title = rows.string(row, 10),
                    .model = rows.string(row, 1),
                    .messages = static_cast<std::uint64_t>(rows.number(row, 2)),
                    .withoutId = static_cast<std::uint64_t>(rows.number(row, 9)),
                    .withoutUsage = static_cast<std::uint64_t>(rows.number(row, 11)),
                    .tokens = tokensFrom(rows, row, 3)});
  }
  return sums;
}

Result<std::vector<ExpiredSession>> PostgresCatalog::expired(std::uint64_t nowMs,
                                                             std::optional<std::uint64_t> defaultTimeToLiveMs) {
  Composed select = selectSessions(summaryColumns());
  const std::string life = defaultTimeToLiveMs
                               ? fmt::format("coalesce(c.time_to_live_ms, {})", select.number(*defaultTimeToLiveMs))
                               : "c.time_to_live_ms";
  // A damaged session must not be removed without anybody seeing it.
  select.require(fmt::format("NOT c.pinned AND c.condition <> {}", static_cast<int>(SessionCondition::Damaged)));
  select.require(fmt::format("greatest(c.active_ms, c.created_ms) <= {} - {}", select.number(nowMs), life));
  select.sql += " ORDER BY c.active_ms, c.session_id";
  BOUGH_TRY(const Rows rows, ask(select.call(database_)));
  std::vector<ExpiredSession> found;
  for (SessionSummary& session : summariesFrom(rows)) {
    const std::uint64_t storedMs = std::max(session.activeMs, session.createdMs);
    const std::uint64_t expiredMs = storedMs + session.timeToLiveMs.value_or(defaultTimeToLiveMs.value_or(0));
    found.push_back({.session = std::move(session), .expiredMs = expiredMs});
  }
  return found;
}

}  // namespace bough::postgres
