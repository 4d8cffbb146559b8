// The excerpt equals that of FTS5's snippet(), but each hit is examined once, however many there are.
#include "catalog/search/excerpt.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "catalog/search/search_index.h"
#include "support/entries.h"

namespace bough::catalog {
namespace {

// How often hits were requested.
int asked = 0;
const Fts5ExtensionApi* real = nullptr;

int countedHit(Fts5Context* row, int at, int* phrase, int* column, int* word) {
  ++asked;
  return real->xInst(row, at, phrase, column, word);
}

void countedExcerpt(const Fts5ExtensionApi* api, Fts5Context* row, sqlite3_context* result, int count,
                    sqlite3_value** values) {
  real = api;
  Fts5ExtensionApi counting = *api;
  counting.xInst = countedHit;
  excerptFunction(&counting, row, result, count, values);
}

class ExcerptTest : public testing::Test {
 protected:
  ExcerptTest() {
    must(prepareSearch(*database));
    database->execute("CREATE VIRTUAL TABLE search USING fts5(body, tokenize='bough')");
  }

  void put(const std::string& text) {
    database->execute("DELETE FROM search");
    Query(*database, "INSERT INTO search(body) VALUES(?)", text).run();
  }
  std::string asks(const std::string& function, const std::string& match) {
    std::string text = "(nothing)";
    {
      Query query(*database, "SELECT " + function + " FROM search WHERE search MATCH ?");
      query.bind(match);
      if (query.next()) text = query.text(0);
    }
    must(database->takeFailure());
    return text;
  }
  /// Uses brackets as marks.
  std::string excerpt(const std::string& match, int words) {
    return asks("replace(replace(excerpt(search, " + std::to_string(words) + "), char(1), '['), char(2), ']')", match);
  }
  std::string snippet(const std::string& match, int words) {
    return asks("snippet(search, 0, '[', ']', '…', " + std::to_string(words) + ")", match);
  }

  std::unique_ptr<Database> database = must(Database::open(":memory:", OpenAs::Memory, 0));
};

TEST_F(ExcerptTest, LooksAtEachHitOnce) {
  fts5_api* api = fts5Of(database->handle());
  ASSERT_NE(api, nullptr);
  ASSERT_EQ(api->xCreateFunction(api, "counted", nullptr, countedExcerpt, nullptr), SQLITE_OK);
  std::string text;
  for (int i = 0; i < 5'000; ++i) text += "x y. ";
  put(text);
  asked = 0;
  EXPECT_EQ(asks("counted(search, 2)", "x"), "\x01x\x02 y…");
  EXPECT_EQ(asked, 5'000);
}

TEST_F(ExcerptTest, ShowsTheStretchWithTheMost) {
  put("(one two three four five six seven eight nine ten!)");
  EXPECT_EQ(excerpt("one", 3), "([one] two three…");
  EXPECT_EQ(excerpt("five", 3), "…four [five] six…");
  EXPECT_EQ(excerpt("ten", 3), "…eight nine [ten]!)");
  EXPECT_EQ(excerpt("two OR six OR seven", 3), "…[six] [seven] eight…");
  EXPECT_EQ(excerpt("\"five six seven\"", 3), "…[five six seven]…");
  EXPECT_EQ(excerpt("\"five six\" AND \"six seven\"", 5), "…four [five six seven] eight…");
  EXPECT_EQ(excerpt("t*", 64), "(one [two] [three] four five six seven eight nine [ten]!)");
}

TEST_F(ExcerptTest, BeginsWithASentenceAndCutsNoCharacter) {
  put("One of them. Two more words here: the rest of it all.");
  EXPECT_EQ(excerpt("words", 4), "…Two more [words] here…");
  put("我在北京大学学习中文🙂🙂啊");
  EXPECT_EQ(excerpt("\"大学\"", 4), "…京[大学]学…");
  EXPECT_EQ(excerpt("\"🙂🙂\"", 3), "…[🙂🙂]啊");
}

// A few words can be a text of many megabytes.
TEST_F(ExcerptTest, ShortensAWordThatIsALineOfItsOwn) {
  const auto of = [](const char* character, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += character;
    return text;
  };
  const std::string word = of("x", 200) + "…" + of("x", 200);
  put("key: " + of("x", 100'000) + " lock " + of("=", 100'000));
  EXPECT_EQ(excerpt("key OR lock", 24),
            "[key]: " + of("x", 198) + "…" + of("x", 199) + " [lock] " + of("=", 199) + "…" + of("=", 200));
  EXPECT_EQ(excerpt("x*", 24), "key: [" + word + "] lock " + of("=", 194) + "…" + of("=", 200));
  put("key" + of("—", 1'000) + "lock");
  EXPECT_EQ(excerpt("key OR lock", 24), "[key]" + of("—", 66) + "…" + of("—", 66) + "[lock]");
}

// Except for hits that overlap one that the excerpt cuts off: snippet() marks neither.
TEST_F(ExcerptTest, IsThatOfSnippet) {
  std::mt19937 random(1);
  const auto one = [&](auto&... from) {
    const std::string pieces[] = {from...};
    return pieces[random() % std::size(pieces)];
  };
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (std::size_t words = random() % 80; words > 0; --words) {
      text += one("x", "y", "xy", "Z", "京", "都", "🙂", "é", "filler", "more", "of", "it");
      text += one(" ", " ", " ", ". ", ": ", ".", "\n", "  ", " - ");
    }
    put(text);
    const std::string match = one("x", "x OR y", "x AND z", "x*", "\"京都\"", "京", "\"x y\"",
                                  "\"x y\" OR \"xy 京\" OR z", "(x) NOT (🙂)", "e OR x OR x", "\"x 京 it\" OR y");
    const int length = static_cast<int>(2 + random() % 30);
    EXPECT_EQ(excerpt(match, length), snippet(match, length)) << match << " in " << text;
  }
}

}  // namespace
}  // namespace bough::catalog
