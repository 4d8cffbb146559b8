#include "catalog/database/session_row.h"

#include <fmt/format.h>

#include <algorithm>

#include "catalog/database/usage_columns.h"

namespace bough::catalog {
namespace {

constexpr std::string_view kColumns =
    "id, sessionId, stamp, headerId, lastId, taken, indexed, key, agent, writtenBy, cwd, originSession, originEntry, "
    "title, "
    "titleSource, titleEntry, createdMs, firstMs, activeMs, users, assistants, tools, systems, calls, failures, input, "
    "output, cacheRead, cacheWrite, reasoning, cacheWriteHour, lastMessageId, lastModel, entries, bytes, branches, "
    "headId, condition, "
    "problem, pinned, timeToLiveMs, countedBytes, lostId, lostEntries";

}  // namespace

std::string_view rowColumns() {
  return kColumns;
}

SessionRow readRow(const Query& query) {
  SessionRow row;
  SessionSummary& facts = row.facts;
  int column = 0;
  const auto number = [&] { return query.number(column++); };
  const auto text = [&] { return query.text(column++); };
  row.id = query.integer(column++);
  row.stored = true;
  facts.sessionId = text();
  row.stamp = text();
  row.headerId = text();
  row.lastId = text();
  row.catalogedEntries = number();
  row.indexedEntries = number();
  facts.key = text();
  facts.agent = text();
  facts.writtenBy = text();
  facts.cwd = text();
  std::string originSession = text();
  std::string originEntry = text();
  if (!originSession.empty()) facts.origin = ForkOrigin{std::move(originSession), std::move(originEntry)};
  facts.title = text();
  facts.titleSource = static_cast<TitleSource>(number());
  row.titleEntryId = text();
  facts.createdMs = number();
  row.firstMs = number();
  facts.activeMs = number();
  facts.durationMs = row.firstMs > 0 && facts.activeMs > row.firstMs ? facts.activeMs - row.firstMs : 0;
  for (std::uint64_t* count : {&facts.userMessages, &facts.assistantMessages, &facts.toolMessages,
                               &facts.systemMessages, &facts.toolCalls, &facts.toolFailures}) {
    *count = number();
  }
  facts.tokens = usageIn(query, column);
  column += static_cast<int>(kUsageCounts.size());
  row.lastMessageId = text();
  row.lastModel = text();
  facts.entries = number();
  facts.bytes = number();
  facts.branches = number();
  facts.headId = text();
  facts.condition = static_cast<SessionCondition>(number());
  facts.problem = text();
  facts.pinned = number() != 0;
  if (!query.isNull(column)) facts.timeToLiveMs = query.number(column);
  ++column;
  row.countedBytes = number();
  row.lostEntryId = text();
  row.lostEntries = number();
  return row;
}

std::vector<ModelUsage> readModels(Database& database, std::int64_t session, const PriceTable* prices) {
  std::vector<std::int64_t> ids;
  std::vector<ModelUsage> models;
  // Summed here: each answer is a row, and for GROUP BY, SQLite would sort all of them although there are few models.
  Query answers(database, "SELECT model, " BOUGH_USAGE_COLUMNS " FROM answer WHERE session = ?", session);
  while (answers.next()) {
    const std::int64_t id = answers.integer(0);
    const auto at = static_cast<std::size_t>(std::ranges::find(ids, id) - ids.begin());
    if (at == ids.size()) {
      ids.push_back(id);
      models.emplace_back();
    }
    ++models[at].messages;
    models[at].tokens += usageIn(answers, 1);
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    Query name(database, "SELECT name FROM model WHERE id = ?", ids[i]);
    if (name.next()) models[i].model = name.text(0);
  }
  std::ranges::sort(models, [](const ModelUsage& one, const ModelUsage& other) {
    return one.tokens.outputTokens != other.tokens.outputTokens ? one.tokens.outputTokens > other.tokens.outputTokens
                                                                : one.model < other.model;
  });
  addPrices(models, prices);
  return models;
}

void addPrices(std::vector<ModelUsage>& models, const PriceTable* prices) {
  const PriceTable& table = prices == nullptr ? PriceTable::builtIn() : *prices;
  for (ModelUsage& each : models) {
    if (!isUsageUnknown(each.tokens)) each.costUsd = table.cost(each.model, each.tokens);
  }
}

std::optional<SessionRow> findRow(Database& database, std::string_view sessionId) {
  static const std::string kSelect = fmt::format("SELECT {} FROM session WHERE sessionId = ?", kColumns);
  Query query(database, kSelect.c_str(), sessionId);
  if (!query.next()) return std::nullopt;
  return readRow(query);
}

void assignRowId(Database& database, SessionRow& row) {
  if (row.id != 0) return;
  Query last(database, "SELECT seq FROM sqlite_sequence WHERE name = 'session'");
  row.id = (last.next() ? last.integer(0) : 0) + 1;
}

void saveRow(Database& database, SessionRow& row, std::uint32_t changeGroup) {
  static const std::string kInto = fmt::format("INTO session({}, changeGroup) VALUES({}?)", kColumns, [] {
    std::string marks;
    for (const char c : kColumns) marks += c == ',' ? "?, " : "";
    return marks + "?, ";
  }());
  // For REPLACE, SQLite first copies each page that may change. A new row avoids that cost.
  static const std::string kInsert = "INSERT " + kInto;
  static const std::string kReplace = "INSERT OR REPLACE " + kInto;
  const SessionSummary& facts = row.facts;
  Query save(database, row.stored ? kReplace.c_str() : kInsert.c_str());
  row.id == 0 ? save.bind(std::nullopt) : save.bind(row.id);
  for (const std::string_view text : {std::string_view(facts.sessionId), std::string_view(row.stamp),
                                      std::string_view(row.headerId), std::string_view(row.lastId)}) {
    save.bind(text);
  }
  save.bind(row.catalogedEntries);
  save.bind(row.indexedEntries);
  for (const std::string* text : {&facts.key, &facts.agent, &facts.writtenBy, &facts.cwd}) save.bind(*text);
  save.bind(facts.origin ? std::string_view(facts.origin->sessionId) : "");
  save.bind(facts.origin ? std::string_view(facts.origin->entryId) : "");
  save.bind(facts.title);
  save.bind(static_cast<int>(facts.titleSource));
  save.bind(row.titleEntryId);
  for (const std::uint64_t count :
       {facts.createdMs, row.firstMs, facts.activeMs, facts.userMessages, facts.assistantMessages, facts.toolMessages,
        facts.systemMessages, facts.toolCalls, facts.toolFailures}) {
    save.bind(count);
  }
  bindUsage(save, facts.tokens);
  save.bind(row.lastMessageId);
  save.bind(row.lastModel);
  for (const std::uint64_t count : {facts.entries, facts.bytes, facts.branches}) save.bind(count);
  save.bind(facts.headId);
  save.bind(static_cast<int>(facts.condition));
  save.bind(facts.problem);
  save.bind(facts.pinned);
  save.bind(facts.timeToLiveMs);
  save.bind(row.countedBytes);
  save.bind(row.lostEntryId);
  save.bind(row.lostEntries);
  save.bind(changeGroup);
  save.run();
  if (row.id == 0) row.id = sqlite3_last_insert_rowid(database.handle());
  row.stored = true;
}

}  // namespace bough::catalog
