#include "catalog/database/list_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <unordered_map>

#include "catalog/database/usage_columns.h"

namespace bough::catalog {
namespace {

struct Key {
  const char* sql;
  bool isAscending = false;
};

// The sort keys of a list before time and id, which all orders share. Index and query must use exactly the same
// expressions; otherwise SQLite does not use the index.
struct Order {
  ListOrder order;
  const char* index;
  std::vector<Key> keys;
};

const std::array<Order, 7>& orders() {
  static const std::array<Order, 7> all = {{
      {ListOrder::Active, "sessionByTime", {}},
      {ListOrder::Created, "sessionByCreation", {{"createdMs"}}},
      {ListOrder::Title,
       "sessionByTitle",
       {{"title = ''", true}, {"title COLLATE NOCASE", true}, {"key COLLATE NOCASE", true}}},
      {ListOrder::Messages, "sessionByMessages", {{"users + assistants + tools + systems"}}},
      {ListOrder::Size, "sessionBySize", {{"bytes"}}},
      {ListOrder::Branches, "sessionByBranches", {{"branches"}}},
      {ListOrder::Tokens, "sessionByTokens", {{"input + output + cacheRead + cacheWrite"}}},
  }};
  return all;
}

std::string sqlOf(const Order& order, bool reverse) {
  std::string sql;
  const auto add = [&](std::string_view key, bool isAscending) {
    sql += fmt::format("{}{}{}", sql.empty() ? "" : ", ", key, isAscending != reverse ? "" : " DESC");
  };
  for (const Key& key : order.keys) add(key.sql, key.isAscending);
  add("activeMs", false);
  add("sessionId", false);
  return sql;
}

// Returns the cost of each session, by session.id. The answers of a session are stored together.
std::unordered_map<std::int64_t, double> costs(Database& database, const PriceTable& prices) {
  std::unordered_map<std::int64_t, std::string> names;
  {
    Query query(database, "SELECT id, name FROM model");
    while (query.next()) names.emplace(query.integer(0), query.text(1));
  }
  std::unordered_map<std::int64_t, double> found;
  // By session and model: the same sums as in SessionSummary::models.
  Query query(database, "SELECT session, model, " BOUGH_USAGE_SUMS
                        " FROM answer GROUP BY session, model ORDER BY session, sum(output) DESC, model");
  while (query.next()) {
    found[query.integer(0)] += prices.cost(names[query.integer(1)], usageIn(query, 2)).value_or(0);
  }
  return found;
}

}  // namespace

std::string listIndexes() {
  std::string sql;
  for (const Order& order : orders()) {
    sql += fmt::format("CREATE INDEX {} ON session({});\n", order.index, sqlOf(order, false));
  }
  return sql;
}

std::string orderOf(ListOrder order, bool reverse) {
  const auto found = std::ranges::find(orders(), order, &Order::order);
  return sqlOf(found == orders().end() ? orders().front() : *found, reverse);
}

std::vector<std::int64_t> idsByCost(Database& database, const Conditions& conditions, const ListOptions& options) {
  const auto costOf = costs(database, options.prices == nullptr ? PriceTable::builtIn() : *options.prices);
  std::vector<std::pair<double, std::int64_t>> rows;
  // Sessions with equal costs stay in this order.
  Query query(database, fmt::format("SELECT id FROM session{} ORDER BY {}", conditions.where(),
                                    orderOf(ListOrder::Active, options.reverse)));
  conditions.bindTo(query);
  while (query.next()) {
    const auto cost = costOf.find(query.integer(0));
    rows.emplace_back(cost == costOf.end() ? 0 : cost->second, query.integer(0));
  }
  const auto first = [](const auto& row) { return row.first; };
  if (options.reverse) {
    std::ranges::stable_sort(rows, {}, first);
  } else {
    std::ranges::stable_sort(rows, std::ranges::greater(), first);
  }
  std::vector<std::int64_t> ids;
  for (const auto& row : rows | std::views::drop(std::min(options.skip, rows.size())) |
                             std::views::take(std::min(options.limit, rows.size()))) {
    ids.push_back(row.second);
  }
  return ids;
}

}  // namespace bough::catalog
