// A list has the requested order, with catalog.db, in memory and with PostgreSQL.
#include <numeric>
#include <random>

#include "catalog/database/list_order.h"
#include "catalog_support.h"

namespace bough {
namespace {

constexpr ListOrder kOrders[] = {ListOrder::Active, ListOrder::Created,  ListOrder::Title,  ListOrder::Messages,
                                 ListOrder::Size,   ListOrder::Branches, ListOrder::Tokens, ListOrder::Cost};

std::string lowered(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return text;
}

double costOf(const SessionSummary& row) {
  return std::accumulate(row.models.begin(), row.models.end(), 0.0,
                         [](double sum, const ModelUsage& each) { return sum + each.costUsd.value_or(0); });
}

std::uint64_t messagesOf(const SessionSummary& row) {
  return row.userMessages + row.assistantMessages + row.toolMessages + row.systemMessages;
}

std::uint64_t tokensOf(const SessionSummary& row) {
  return row.tokens.inputTokens + row.tokens.outputTokens + row.tokens.cacheReadTokens + row.tokens.cacheWriteTokens;
}

// Implements ListOrder by sorting in memory. `rows` are most recent first.
Ids sorted(std::vector<SessionSummary> rows, ListOrder order, bool reverse) {
  const auto by = [&](auto value) {
    std::ranges::stable_sort(rows, std::ranges::greater(), [&](const SessionSummary& row) { return value(row); });
  };
  switch (order) {
    case ListOrder::Active: break;
    case ListOrder::Created: by([](const SessionSummary& row) { return row.createdMs; }); break;
    case ListOrder::Title:
      std::ranges::stable_sort(rows, {}, [](const SessionSummary& row) {
        return std::tuple(row.title.empty(), lowered(row.title), lowered(row.key));
      });
      break;
    case ListOrder::Messages: by(messagesOf); break;
    case ListOrder::Size: by([](const SessionSummary& row) { return row.bytes; }); break;
    case ListOrder::Branches: by([](const SessionSummary& row) { return row.branches; }); break;
    case ListOrder::Tokens: by(tokensOf); break;
    case ListOrder::Cost: by(costOf); break;
  }
  if (reverse) std::ranges::reverse(rows);
  return idsOf(rows);
}

class ListOrderTest : public CatalogTest {
 protected:
  // Sessions with many equal values, and with titles that differ only in case, accents or script.
  void fill(SessionStore& into, int sessions) {
    const std::string titles[] = {"apple", "Apple", "Éclair", "zebra", "Zoo", "中文", "a_b", "A b", "", ""};
    const std::string models[] = {"claude-sonnet-4-5", "nobodys-model", "gpt-5"};
    std::mt19937 random(17);
    const auto pick = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
    for (int i = 0; i < sessions; ++i) {
      const std::string id = "s" + std::to_string(i * 7919 % 1000);
      must(into.createSession({.sessionId = id, .key = pick(2) == 0 ? "main:cli:K" + std::to_string(pick(3)) : ""}));
      std::vector<Entry> entries;
      for (int n = pick(4); n > 0; --n) {
        const std::string time = "2026-11-0" + std::to_string(1 + pick(3)) + "T10:00:00.000Z";
        const std::string entry = "e" + std::to_string(n);
        if (pick(2) == 0)
          entries.push_back(said("user", "hi", entry, time));
        else
          entries.push_back(
              answered(textBlock("yes"), entry, id + entry, models[pick(3)], 1000 * pick(3), pick(3), time));
        if (pick(3) == 0) entries.back().parentId = std::string();  // another root, so another branch
      }
      const std::string title = titles[pick(10)];
      if (!entries.empty()) must(into.appendSessionEntries(id, std::move(entries)));
      if (!title.empty()) must(into.setTitle(id, title));
    }
  }

  static void compare(Catalog& catalog) {
    const PriceTable own = must(PriceTable::parse("nobodys-model 9 9 9 9\n"));
    for (const PriceTable* prices : {static_cast<const PriceTable*>(nullptr), &own}) {
      const auto all = must(catalog.list({.limit = 1000, .prices = prices}));
      for (const ListOrder order : kOrders) {
        for (const bool reverse : {false, true}) {
          const Ids expected = sorted(all, order, reverse);
          ListOptions options{.limit = 1000, .order = order, .reverse = reverse, .models = false, .prices = prices};
          EXPECT_EQ(idsOf(must(catalog.list(options))), expected) << static_cast<int>(order) << reverse;
          Ids paged;
          for (options.limit = 7; paged.size() < all.size(); options.skip += options.limit) {
            const Ids page = idsOf(must(catalog.list(options)));
            if (page.empty()) break;
            paged.insert(paged.end(), page.begin(), page.end());
          }
          EXPECT_EQ(paged, expected) << static_cast<int>(order) << reverse << " by pages";
          options.after = ListPlace{};
          if (order != ListOrder::Active) {
            EXPECT_EQ(catalog.list(options).error().code, ErrorCode::InvalidArgument);
          }
        }
      }
    }
  }
};

TEST_F(ListOrderTest, IsThatOfSortingInMemoryAndCanBePaged) {
  fill(*store, 60);
  compare(*open());
}

TEST_F(ListOrderTest, IsTheSameOfAnotherBackend) {
  auto memory = must(SessionStore::open("memory:"));
  fill(*memory, 60);
  auto catalog = must(Catalog::open(*memory));
  must(catalog->catchUp());
  compare(*catalog);
}

// Before the next page, every second session of a page is removed, and one session is added.
TEST_F(ListOrderTest, ContinuesAfterASessionWhateverIsAddedOrRemoved) {
  for (const bool reverse : {false, true}) {
    fill(*store, 60);
    auto catalog = open();
    Ids expected = idsOf(must(catalog->list({.limit = 1000, .reverse = reverse})));
    Ids paged;
    ListOptions options{.limit = 7, .reverse = reverse};
    for (auto page = must(catalog->list(options)); !page.empty(); page = must(catalog->list(options))) {
      const Ids ids = idsOf(page);
      paged.insert(paged.end(), ids.begin(), ids.end());
      options.after = {.activeMs = page.back().activeMs, .sessionId = page.back().sessionId};
      for (std::size_t i = 0; i < ids.size(); i += 2) must(store->deleteSession(ids[i]));
      const std::string added = "added" + std::to_string(paged.size());
      make({.sessionId = added}, {said("user", "x", "u1", reverse ? "1999-01-01T00:00:00Z" : "2035-01-01T00:00:00Z")});
      must(catalog->catchUp());
    }
    EXPECT_EQ(paged, expected) << reverse;
    for (const std::string& id : must(store->listSessions())) must(store->deleteSession(id));
  }
}

TEST_F(ListOrderTest, HoldsWithAFilter) {
  fill(*store, 60);
  auto catalog = open();
  for (const ListOrder order : kOrders) {
    const SessionFilter filter{.key = "main:cli:K*"};
    const auto rows = must(catalog->list({.filter = filter, .limit = 1000}));
    ASSERT_GT(rows.size(), 5U);
    const Ids expected = sorted(rows, order, false);
    const auto found = must(catalog->list({.filter = filter, .limit = 3, .skip = 2, .order = order}));
    EXPECT_EQ(idsOf(found), Ids(expected.begin() + 2, expected.begin() + 5)) << static_cast<int>(order);
  }
}

// A page of a list reads only its own rows; in a large store, sorting all of them would be slow.
TEST_F(ListOrderTest, IsAnIndexOfTheDatabase) {
  fill(*store, 3);
  open();
  auto database =
      must(catalog::Database::open(folder.path().string() + "/catalog.db", catalog::OpenAs::ReadOnly, 1000));
  for (const ListOrder order : kOrders) {
    if (order == ListOrder::Cost) continue;  // depends on prices
    for (const bool reverse : {false, true}) {
      catalog::Query plan(*database, "EXPLAIN QUERY PLAN SELECT * FROM session ORDER BY " +
                                         catalog::orderOf(order, reverse) + " LIMIT 50");
      std::string text;
      while (plan.next()) text += plan.text(3) + "\n";
      EXPECT_TRUE(text.contains("USING INDEX sessionBy")) << text;
      EXPECT_FALSE(text.contains("TEMP B-TREE")) << text;
    }
  }
}

}  // namespace
}  // namespace bough
