// A search finds all text, in every script, and nothing that was redacted.
#include "catalog/session_scan.h"
#include "catalog_support.h"

namespace bough {
namespace {

class SearchTest : public CatalogTest {
 protected:
  /// Returns the ids of the entries found, sorted. The result must be the same with and without the index.
  Ids found(const std::string& query, const SearchOptions& options = {}) {
    Ids ids;
    for (const SearchHit& hit : must(open(true)->search(query, options))) ids.push_back(hit.entryId);
    std::ranges::sort(ids);
    EXPECT_EQ(scanned(query, options), ids) << query;
    return ids;
  }
  Ids scanned(const std::string& query, const SearchOptions& options) {
    Ids ids;
    catalog::scanSessions(
        *store, must(catalog::sessionsByFile(*store, options.filter)), must(catalog::scanForWords(query)),
        {.roles = options.roles, .sinceMs = options.filter.sinceMs, .untilMs = options.filter.untilMs},
        [&](SearchHit& hit) {
          ids.push_back(hit.entryId);
          return true;
        },
        [](const std::string& id, const Error& error) { ADD_FAILURE() << id << ": " << error.message; });
    std::ranges::sort(ids);
    return ids;
  }
};

TEST_F(SearchTest, FindsTextThinkingCallsAndResults) {
  make({.sessionId = "a"}, {said("user", "Please look at the Makefile", "u1"),
                            answered(R"({"type":"thinking","thinking":"perhaps ninja is better","signature":"s"},)" +
                                         callBlock("t1", "grep -n \"target\\n\" Makefile"),
                                     "m1"),
                            resulted("t1", "12: target lost", false, "r1")});
  EXPECT_EQ(found("look"), (Ids{"u1"}));
  EXPECT_EQ(found("NINJA"), (Ids{"m1"}));
  EXPECT_EQ(found("grep"), (Ids{"m1"}));
  EXPECT_EQ(found("target"), (Ids{"m1", "r1"}));
  EXPECT_EQ(found("makefile"), (Ids{"m1", "u1"}));
  EXPECT_EQ(found("bash"), (Ids{"m1"}));
}

TEST_F(SearchTest, WordsPhrasesPrefixesAlternativesAndExclusions) {
  make({.sessionId = "a"}, {said("user", "the quick brown fox", "1"), said("user", "brown and quick", "2"),
                            said("user", "quickly done", "3"), said("user", "slow snail_case", "4")});
  EXPECT_EQ(found("quick brown"), (Ids{"1", "2"}));
  EXPECT_EQ(found("\"quick brown\""), (Ids{"1"}));
  EXPECT_EQ(found("quick*"), (Ids{"1", "2", "3"}));
  EXPECT_EQ(found("quick -fox"), (Ids{"2"}));
  EXPECT_EQ(found("fox OR snail"), (Ids{"1", "4"}));
  EXPECT_EQ(found("brown fox OR and"), (Ids{"1", "2"}));
  EXPECT_EQ(found("snail_case"), (Ids{"4"}));
  EXPECT_EQ(found("nothing"), Ids{});
}

TEST_F(SearchTest, ChineseAndJapaneseWordsOfAnyLength) {
  make({.sessionId = "a"}, {said("user", "我在北京大学学习中文。", "zh"), said("user", "東京タワーへ行きました", "ja"),
                            said("user", "北方的京剧", "zh2"), said("user", "안녕하세요 세계", "ko"),
                            said("user", "ミックスmixed文字", "mix")});
  EXPECT_EQ(found("京"), (Ids{"ja", "zh", "zh2"}));
  EXPECT_EQ(found("北京"), (Ids{"zh"}));
  EXPECT_EQ(found("北京大学"), (Ids{"zh"}));
  EXPECT_EQ(found("学习中文"), (Ids{"zh"}));
  EXPECT_EQ(found("東京"), (Ids{"ja"}));
  EXPECT_EQ(found("タワー"), (Ids{"ja"}));
  EXPECT_EQ(found("行きました"), (Ids{"ja"}));
  EXPECT_EQ(found("へ"), (Ids{"ja"}));
  EXPECT_EQ(found("녕하"), (Ids{"ko"}));
  EXPECT_EQ(found("mixed文"), (Ids{"mix"}));
  EXPECT_EQ(found("京北"), Ids{});
}

TEST_F(SearchTest, CaseAccentsAndWidthDoNotCount) {
  make({.sessionId = "a"}, {said("user", "Crème Brûlée in ÉVREUX", "1"), said("user", "Ｆｕｌｌ　ｗｉｄｔｈ", "2"),
                            said("user", "Straße nach Ελλάδα, МОСКВА", "3")});
  EXPECT_EQ(found("creme brulee evreux"), (Ids{"1"}));
  EXPECT_EQ(found("crème"), (Ids{"1"}));
  EXPECT_EQ(found("full width"), (Ids{"2"}));
  EXPECT_EQ(found("strasse"), (Ids{"3"}));
  EXPECT_EQ(found("ελλαδα москва"), (Ids{"3"}));
}

TEST_F(SearchTest, AMarkChangesAJapaneseLetter) {
  make({.sessionId = "a"}, {said("user", "かき", "1"), said("user", "がき", "2")});
  EXPECT_EQ(found("か"), (Ids{"1"}));
  EXPECT_EQ(found("が"), (Ids{"2"}));
}

TEST_F(SearchTest, ExcerptsMarkWhatWasFound) {
  make({.sessionId = "a", .title = "Boxes"}, {said("user", "a b c needle d e f", "1", "2030-01-01T00:00:00Z")});
  const SearchHit hit = must(open(true)->search("needle")).at(0);
  EXPECT_EQ(hit.excerpt, "a b c \x01needle\x02 d e f");
  EXPECT_EQ(hit.sessionId, "a");
  EXPECT_EQ(hit.title, "Boxes");
  EXPECT_EQ(hit.role, "user");
  EXPECT_EQ(hit.timeMs, 1893456000000u);
  EXPECT_GT(hit.score, 0);
}

// FTS5's snippet() marks none of them, and is far too slow for a text with very many hits; see
// catalog/search/excerpt.h.
TEST_F(SearchTest, HitsThatOverlapAreMarkedWhereTheExcerptCutsThem) {
  make({.sessionId = "a"}, {said("user", "one two three four x x x x x x x x")});
  EXPECT_EQ(must(open(true)->search("\"x x x x\"", {.filter = {}, .excerptTokens = 3})).at(0).excerpt,
            "…\x01x x x\x02…");
}

TEST_F(SearchTest, TheBestComesFirst) {
  make({.sessionId = "a"}, {said("user",
                                 "needle " + std::string(2000, 'x') + std::string(500, ' ') +
                                     "and much more of other words that make this long",
                                 "long"),
                            said("user", "needle needle", "short")});
  EXPECT_EQ(must(open(true)->search("needle")).at(0).entryId, "short");
}

TEST_F(SearchTest, OfEquallyGoodHitsTheNewestComesFirst) {
  make({.sessionId = "a"}, {said("user", "needle one", "first"), said("user", "needle two", "second")});
  make({.sessionId = "b"}, {said("user", "needle six", "third")});
  Ids ids;
  for (const SearchHit& hit : must(open(true)->search("needle", {.limit = 2}))) ids.push_back(hit.entryId);
  EXPECT_EQ(ids, (Ids{"third", "second"}));
}

// Whichever session was taken in first, and whatever the limit.
TEST_F(SearchTest, TheNewestComesFirstAcrossSessions) {
  Entry newer = said("user", "needle one", "newer");
  newer.timestamp = "2026-03-02T00:00:00.000Z";
  Entry older = said("user", "needle two", "older");
  older.timestamp = "2026-03-01T00:00:00.000Z";
  make({.sessionId = "a"}, {newer, older});
  make({.sessionId = "b"}, {older});
  std::vector<std::string> hits;
  for (const SearchHit& hit : must(open(true)->search("needle"))) hits.push_back(hit.sessionId + " " + hit.entryId);
  EXPECT_EQ(hits, (std::vector<std::string>{"a newer", "b older", "a older"}));
  for (std::size_t limit = 1; limit < hits.size(); ++limit) {
    const auto some = must(open(true)->search("needle", {.limit = limit}));
    ASSERT_EQ(some.size(), limit);
    for (std::size_t i = 0; i < limit; ++i) EXPECT_EQ(some[i].sessionId + " " + some[i].entryId, hits[i]);
  }
  EXPECT_TRUE(must(open(true)->search("needle", {.limit = 0})).empty());
}

TEST_F(SearchTest, AsManyAreFoundAsAreAskedFor) {
  std::vector<Entry> entries;
  constexpr std::size_t kCount = 6'000;
  for (std::size_t i = 0; i < kCount; ++i) entries.push_back(said("user", "a word", "e" + std::to_string(i)));
  make({.sessionId = "a"}, std::move(entries));
  EXPECT_EQ(found("word", {.limit = kCount + 1, .excerptTokens = 0}).size(), kCount);
}

TEST_F(SearchTest, FiltersByAgentKeyFolderRoleAndTime) {
  make({.sessionId = "a", .key = "one:cli:me", .cwd = "/x"},
       {said("user", "word", "1", "2020-01-01T00:00:00Z"), said("assistant", "word", "2", "2021-01-01T00:00:00Z")});
  make({.sessionId = "b", .key = "two:cli:me", .cwd = "/y"}, {said("user", "word", "3", "2022-01-01T00:00:00Z")});
  EXPECT_EQ(found("word", {.filter = {.agent = "one"}}), (Ids{"1", "2"}));
  EXPECT_EQ(found("word", {.filter = {.key = "two:cli:me"}}), (Ids{"3"}));
  EXPECT_EQ(found("word", {.filter = {.cwd = "/y"}}), (Ids{"3"}));
  EXPECT_EQ(found("word", {.filter = {.session = "a"}}), (Ids{"1", "2"}));
  EXPECT_EQ(found("word", {.filter = {}, .roles = {"user"}}), (Ids{"1", "3"}));
  EXPECT_EQ(found("word", {.filter = {.sinceMs = 1600000000000, .untilMs = 1640000000000}}), (Ids{"2"}));
  EXPECT_EQ(refused(open(true)->search("word", {.filter = {}, .roles = {"nobody"}})).code, ErrorCode::InvalidArgument);
}

TEST_F(SearchTest, RedactedTextIsNotFoundWheneverItWasRedacted) {
  make({.sessionId = "a"}, {said("user", "password hunter2", "1"), said("user", "other hunter2", "2")});
  must(store->redactEntry("a", "2", "me", "secret"));
  EXPECT_EQ(found("hunter2"), (Ids{"1"}));
  must(store->redactEntry("a", "1", "me", "secret"));
  EXPECT_EQ(found("hunter2"), Ids{});
  EXPECT_EQ(found("password"), Ids{});
  auto catalog = open();
  must(catalog->rebuild({.search = true}));
  EXPECT_TRUE(must(catalog->search("hunter2")).empty());
}

TEST_F(SearchTest, ARemovedSessionIsNotFound) {
  make({.sessionId = "a"}, {said("user", "needle", "1")});
  make({.sessionId = "b"}, {said("user", "needle", "2")});
  EXPECT_EQ(found("needle"), (Ids{"1", "2"}));
  must(store->deleteSession("a"));
  EXPECT_EQ(found("needle"), (Ids{"2"}));
}

TEST_F(SearchTest, ASessionDoesNotInheritTheWordsOfARemovedOne) {
  make({.sessionId = "a"}, {said("user", "needle", "1")});
  EXPECT_EQ(found("needle"), (Ids{"1"}));
  must(store->deleteSession("a"));
  make({.sessionId = "a"}, {said("user", "hay", "1")});
  make({.sessionId = "b"}, {said("user", "hay", "2")});
  EXPECT_EQ(found("needle"), Ids{});
  EXPECT_EQ(found("hay"), (Ids{"1", "2"}));
}

TEST_F(SearchTest, WhatWasRedactedSinceTheCatalogCaughtUpIsNotShown) {
  make({.sessionId = "a"}, {said("user", "password hunter2", "1"), said("user", "hunter2 too", "2")});
  auto catalog = open(true);
  must(store->redactEntry("a", "1", "me", "secret"));
  // With a database, the whole session is left out until the next catch-up.
  for (const SearchHit& hit : must(catalog->search("hunter2"))) EXPECT_EQ(hit.entryId, "2");
  must(catalog->catchUp({.search = true}));
  EXPECT_EQ(must(catalog->search("hunter2")).size(), 1u);
}

TEST_F(SearchTest, OddQueriesAreNeverASyntaxError) {
  make({.sessionId = "a"}, {said("user", "AND OR NOT near col:x ^caret (paren) {brace} C++", "1")});
  auto catalog = open(true);
  for (const std::string query : {"AND",
                                  "OR",
                                  "NOT x",
                                  "a AND",
                                  "near(",
                                  "NEAR(a b)",
                                  "col:x",
                                  "body:x",
                                  "^caret",
                                  "(paren",
                                  "{brace}",
                                  "C++",
                                  "a*b",
                                  "*",
                                  "**",
                                  "x**",
                                  "\"\"",
                                  "' OR 1=1 --",
                                  "\\",
                                  "%",
                                  "a OR",
                                  "OR a",
                                  "a OR OR b",
                                  "- -",
                                  "-",
                                  "--x y",
                                  "\xff\xfe",
                                  "\"a\"\"b\"",
                                  "x;DROP TABLE session",
                                  "+",
                                  "a + b",
                                  "🙂"}) {
    const auto hits = catalog->search(query);
    if (hits) continue;
    EXPECT_EQ(hits.error().code, ErrorCode::InvalidArgument) << query << ": " << hits.error().message;
  }
  EXPECT_EQ(refused(catalog->search("\"open")).message, "the quotation mark before open is never closed");
  EXPECT_EQ(refused(catalog->search("!!! ...")).message, "there is no word to look for");
  EXPECT_EQ(refused(catalog->search("-word")).code, ErrorCode::InvalidArgument);
  EXPECT_EQ(refused(catalog->search(std::string(5000, 'a'))).code, ErrorCode::InvalidArgument);
  EXPECT_EQ(must(catalog->search("C++")).size(), 1u);
  EXPECT_EQ(must(catalog->count()), 1u);
}

TEST_F(SearchTest, LongTextsAndLargePayloadsAreFound) {
  std::string text = "begin ";
  for (int i = 0; i < 60'000; ++i) text += "filler ";
  make({.sessionId = "a"}, {said("user", text + "needle", "1")});
  EXPECT_EQ(found("needle"), (Ids{"1"}));
}

}  // namespace
}  // namespace bough
