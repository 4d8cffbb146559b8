// A session's row agrees with its log.
#include "base/model/unreadable.h"
#include "catalog_support.h"

namespace bough {
namespace {

TEST_F(CatalogTest, CountsMessagesByRole) {
  make({.sessionId = "a"}, {said("system", "be kind"), said("user", "hi"), answered(textBlock("hello"), "m1"),
                            answered(callBlock("t1", "ls"), "m2", "msg2"), resulted("t1", "a b", true, "m3")});
  const SessionSummary found = row("a");
  EXPECT_EQ(found.systemMessages, 1u);
  EXPECT_EQ(found.userMessages, 1u);
  EXPECT_EQ(found.assistantMessages, 2u);
  EXPECT_EQ(found.toolMessages, 1u);
  EXPECT_EQ(found.toolCalls, 1u);
  EXPECT_EQ(found.toolFailures, 1u);
  EXPECT_EQ(found.entries, 6u);
  EXPECT_EQ(found.branches, 1u);
  EXPECT_EQ(found.headId, "m3");
  EXPECT_GT(found.bytes, 0u);
  EXPECT_EQ(found.tokens.inputTokens, 20u);
  EXPECT_EQ(found.tokens.cacheReadTokens, 200u);
  EXPECT_EQ(found.condition, SessionCondition::Live);
}

TEST_F(CatalogTest, AnAnswerStoredBlockByBlockCountsItsUsageOnce) {
  make({.sessionId = "a"}, {answered(textBlock("one"), "m1", "msg1"), answered(callBlock("t", "x"), "m2", "msg1")});
  EXPECT_EQ(row("a").tokens.outputTokens, 5u);
}

TEST_F(CatalogTest, TokensAndCostAreKeptModelByModel) {
  make({.sessionId = "a"}, {answered(textBlock("one"), "m1", "msg1", "claude-sonnet-4-5", 1000, 10),
                            answered(textBlock("two"), "m2", "msg2", "somebodys-model", 7, 50),
                            answered(textBlock("three"), "m3", "msg3", "claude-sonnet-4-5", 2000, 20)});
  make({.sessionId = "b"}, {said("user", "nothing used")});
  auto catalog = open();
  const SessionSummary found = must(catalog->session("a"));
  ASSERT_EQ(found.models.size(), 2u);
  EXPECT_EQ(found.models[0].model, "somebodys-model");
  EXPECT_EQ(found.models[0].costUsd, std::nullopt);
  EXPECT_EQ(found.models[1].model, "claude-sonnet-4-5");
  EXPECT_EQ(found.models[1].messages, 2u);
  EXPECT_EQ(found.models[1].tokens.inputTokens, 3000u);
  EXPECT_EQ(found.models[1].tokens.outputTokens, 30u);
  EXPECT_EQ(found.models[1].tokens.cacheReadTokens, 200u);
  EXPECT_EQ(found.models[1].tokens.cacheWriteTokens, 40u);
  // 3000 * 3 + 30 * 15 + 200 * 0.3 + 40 * 3.75, per million tokens.
  EXPECT_NEAR(found.models[1].costUsd.value_or(0), 0.00966, 1e-9);
  const PriceTable cheap = must(PriceTable::parse("somebodys-model 0 1 0 0"));
  EXPECT_NEAR(must(catalog->session("a", &cheap)).models[0].costUsd.value_or(0), 0.00005, 1e-12);
  for (const SessionSummary& each : must(catalog->list())) {
    EXPECT_EQ(each.models.size(), each.sessionId == "a" ? 2u : 0u) << each.sessionId;
  }
  EXPECT_TRUE(must(catalog->list({.models = false})).back().models.empty());
}

TEST_F(CatalogTest, CacheWritesOfAnHourCostTwiceTheInput) {
  Entry hour = answered(textBlock("one"), "m1", "msg1", "claude-sonnet-4-5", 1000, 10);
  const std::string_view all = "\"cache_creation_input_tokens\":20";
  const std::size_t at = hour.payload.find(all);
  ASSERT_NE(at, std::string::npos);
  hour.payload.insert(at + all.size(), R"(,"cache_creation":{"ephemeral_1h_input_tokens":15})");
  make({.sessionId = "a"}, {hour});
  make({.sessionId = "b"}, {answered(textBlock("one"), "m2", "msg2", "claude-sonnet-4-5", 1000, 10)});
  auto catalog = open();
  EXPECT_EQ(must(catalog->session("a")).tokens.cacheWriteTokens, 20u);
  EXPECT_EQ(must(catalog->session("a")).tokens.cacheWriteHourTokens, 15u);
  // 1000 * 3 + 10 * 15 + 100 * 0.3 and 5 * 3.75 + 15 * 6 or 20 * 3.75, per million tokens.
  EXPECT_NEAR(must(catalog->session("a")).models.front().costUsd.value_or(0), 0.00328875, 1e-12);
  EXPECT_NEAR(must(catalog->usage({.by = UsageBy::Model})).total.costUsd, 0.00328875 + 0.003255, 1e-12);
  EXPECT_NEAR(must(catalog->usage({.by = UsageBy::Day, .session = "a"})).total.costUsd, 0.00328875, 1e-12);
  EXPECT_EQ(idsOf(must(catalog->list({.order = ListOrder::Cost}))), (Ids{"a", "b"}));
}

TEST_F(CatalogTest, CacheWritesOfAnHourAreNeverMoreThanAllOfThem) {
  make({.sessionId = "a"},
       {entryOf(entry_type::kCustom,
                R"({"kind":"turn","model":"claude-sonnet-4-5",)"
                R"("usage":{"cacheWriteTokens":10,"cacheWriteHourTokens":10},"counted":{"cacheWriteTokens":4}})")});
  make({.sessionId = "b"},
       {entryOf(entry_type::kCustom, R"({"kind":"turn","model":"claude-sonnet-4-5",)"
                                     R"("usage":{"cacheWriteTokens":7,"cacheWriteHourTokens":7}})")});
  auto catalog = open();
  EXPECT_EQ(must(catalog->session("a")).tokens.cacheWriteTokens, 6u);
  EXPECT_EQ(must(catalog->session("a")).tokens.cacheWriteHourTokens, 6u);
  EXPECT_EQ(idsOf(must(catalog->list({.order = ListOrder::Cost}))), (Ids{"b", "a"}));
}

TEST_F(CatalogTest, ATitleFromAMessageIsNotAName) {
  make({.sessionId = "a"}, {said("user", "Fix the parser")});
  make({.sessionId = "b"}, {said("user", "hello")});
  must(store->setTitle("b", "The parser, again"));
  auto catalog = open();
  EXPECT_EQ(must(catalog->list({.filter = {.title = "PARSER"}})).size(), 2U);
  EXPECT_EQ(idsOf(must(catalog->list({.filter = {.title = "parser", .named = true}}))), Ids{"b"});
  EXPECT_EQ(idsOf(must(catalog->list({.filter = {.named = true}}))), Ids{"b"});
}

TEST_F(CatalogTest, AccentsOfATitleDoNotCount) {
  make({.sessionId = "a"}, {said("user", "hello")});
  make({.sessionId = "b"}, {said("user", "hello")});
  make({.sessionId = "c"}, {said("user", "hello")});
  must(store->setTitle("a", "Café in Zürich"));
  must(store->setTitle("b", "cafe\u0301 咖啡"));  // e followed by a combining accent
  must(store->setTitle("c", "A cafe"));
  auto catalog = open();
  for (const char* title : {"cafe", "Café", "CAFE", "cafe\u0301"}) {
    EXPECT_EQ(must(catalog->list({.filter = {.title = title}})).size(), 3U) << title;
    EXPECT_EQ(must(catalog->list({.filter = {.title = title, .named = true}})).size(), 3U) << title;
  }
  EXPECT_EQ(idsOf(must(catalog->list({.filter = {.title = "zurich"}}))), Ids{"a"});
  EXPECT_EQ(idsOf(must(catalog->list({.filter = {.title = "咖啡"}}))), Ids{"b"});
  EXPECT_EQ(must(catalog->findByName("zurich", 5)).sessions.size(), 1U);
}

TEST(Prices, AModelThatIsNotInTheTableHasNoPriceOfANeighbour) {
  const PriceTable& table = PriceTable::builtIn();
  const auto input = [&](std::string_view model) {
    const ModelPrice* price = table.find(model);
    return price == nullptr ? -1.0 : price->input;
  };
  EXPECT_EQ(input("claude-opus-4-1-20250805"), 15);
  EXPECT_EQ(input("claude-opus-4-20250514"), 15);
  EXPECT_EQ(input("claude-opus-4-5-20251101"), 5);
  EXPECT_EQ(input("claude-opus-4-8"), 5);
  EXPECT_EQ(input("anthropic/claude-opus-5-5"), 4);
  EXPECT_EQ(input("gpt-5-2025-08-07"), 1.25);
  EXPECT_EQ(input("gpt-5.5"), 5);
  EXPECT_EQ(input("gpt-5.4-mini-2026-03-17"), 0.75);
  EXPECT_EQ(input("gemini-2.5-flash-lite"), 0.1);
  for (const char* unknown : {"claude-opus-6", "gpt-5.9", "o3-pro", "gpt-4o-audio-preview", "gemini-2.0-flash-lite"}) {
    EXPECT_EQ(input(unknown), -1) << unknown;
  }
}

// An answer imported from another agent's file.
Entry imported(const std::string& id, const std::string& messageId) {
  Entry entry = answered(textBlock("yes"), id, messageId);
  entry.timestamp = "2026-11-14T10:00:00.000Z";
  entry.payload.insert(entry.payload.size() - 1, R"(,"transcript":{"agent":"claude-code","at":0})");
  return entry;
}

// Other agents copy a session's lines into the file of its fork, including the ids of answers.
TEST_F(CatalogTest, AnAnswerThatAnAgentCopiedCountsOnce) {
  make({.sessionId = "a"}, {imported("m1", "msg_1"), imported("m2", "msg_2"), imported("m3", "msg_1")});
  make({.sessionId = "b"}, {imported("m1", "msg_1"), imported("m2", "msg_2"), imported("m4", "msg_3")});
  auto catalog = open();
  auto report = must(catalog->usage({.by = UsageBy::Session}));
  EXPECT_EQ(report.total.tokens.inputTokens, 30u);
  EXPECT_EQ(report.total.withoutId, 0u);
  ASSERT_EQ(report.rows.size(), 2u);
  EXPECT_EQ(report.rows[0].name, "a");
  EXPECT_EQ(report.rows[0].messages, 2u);
  // The totals of a session include all its answers.
  EXPECT_EQ(must(catalog->session("b")).tokens.inputTokens, 30u);
  EXPECT_EQ(must(catalog->session("b")).models.front().messages, 3u);
  EXPECT_EQ(must(catalog->usage({.by = UsageBy::Day, .session = "b"})).total.messages, 3u);
  // Entries of the store's own agents are never copies.
  make({.sessionId = "c"}, {answered(textBlock("yes"), "m1", "msg_1")});
  catalog = open();
  EXPECT_EQ(must(catalog->usage({.by = UsageBy::Model})).total.tokens.inputTokens, 40u);
}

// Files of pi and MyAgents may have no answer id; the id was then made from the id of the line.
TEST_F(CatalogTest, AnAnswerWhoseIdWasMadeFromItsLineIsCountedOnceButNotCertain) {
  make({.sessionId = "a"}, {imported("dad98436", "dad98436-1795075422089"), imported("m2", "session-m2")});
  make({.sessionId = "b"}, {imported("dad98436", "dad98436-1795075422089")});
  const auto total = must(open()->usage({.by = UsageBy::Model})).total;
  EXPECT_EQ(total.messages, 2u);
  EXPECT_EQ(total.withoutId, 2u);
}

// Even without the original entries, a file still names them where the format allows it.
TEST_F(CatalogTest, AnAnswerThatComesBackFromAnExportIsCountedOnce) {
  const std::string id = "01a1f2d5-3789-7000-884e-1344a196e995";
  make({.sessionId = "a"}, {answered(textBlock("yes"), id, "")});
  for (const std::string& made : {"msg_" + id, "somewhere-" + id, id, id + "/1"}) {
    make({.sessionId = "b" + std::to_string(made.size())}, {imported(id, made)});
    const auto total = must(open()->usage({.by = UsageBy::Model})).total;
    EXPECT_EQ(total.messages, 1u) << made;
    EXPECT_EQ(total.withoutId, 0u) << made;
  }
}

TEST_F(CatalogTest, WhatARemovedSessionCountedCountsInItsCopy) {
  make({.sessionId = "a"}, {imported("m1", "msg_1")});
  make({.sessionId = "b"}, {imported("m1", "msg_1"), imported("m2", "msg_2")});
  EXPECT_EQ(must(open()->usage({.by = UsageBy::Model})).total.messages, 2u);
  must(store->deleteSession("a"));
  EXPECT_EQ(must(open()->usage({.by = UsageBy::Model})).total.messages, 2u);
}

TEST_F(CatalogTest, AnAnswerThatGrewCountsWithItsLastNumbers) {
  make({.sessionId = "a"}, {imported("m1", "msg_1")});
  EXPECT_EQ(must(open()->session("a")).tokens.outputTokens, 5u);
  Entry more = imported("m2", "msg_1");
  const std::size_t at = more.payload.find("\"output_tokens\":5");
  ASSERT_NE(at, std::string::npos);
  more.payload.replace(at, 17, "\"output_tokens\":9");
  append("a", {more});
  EXPECT_EQ(must(open()->session("a")).tokens.outputTokens, 9u);
  EXPECT_EQ(must(open()->usage({.by = UsageBy::Model})).total.tokens.outputTokens, 9u);
}

TEST_F(CatalogTest, AnswersWithoutAnIdAreComparedByPlaceAndTimeAndAreNotCertain) {
  make({.sessionId = "a"}, {imported("m1", ""), imported("m2", "")});
  make({.sessionId = "b"}, {imported("m1", ""), imported("m3", "")});
  const auto total = must(open()->usage({.by = UsageBy::Model})).total;
  EXPECT_EQ(total.messages, 3u);
  EXPECT_EQ(total.withoutId, 3u);
}

TEST_F(CatalogTest, SessionsAreChosenByTheAgentsWhoseTranscriptsTheyWere) {
  const auto facts = [](const std::string& agent) {
    Entry entry;
    entry.type = entry_type::kSessionInfo;
    entry.payload = R"({"transcript":{"facts":{"agent":")" + agent + R"("}}})";
    return entry;
  };
  make({.sessionId = "a", .key = "main:cli:ada"}, {imported("m1", "msg_1"), facts("openclaw")});
  make({.sessionId = "b"}, {imported("m2", "msg_2"), facts("pi")});
  make({.sessionId = "c"}, {imported("m3", "msg_3"), facts("codex")});
  auto catalog = open();
  EXPECT_EQ(must(catalog->count({.writtenBy = {"openclaw", "pi"}})), 2u);
  EXPECT_EQ(must(catalog->usage({.by = UsageBy::Model, .writtenBy = {"openclaw"}})).total.messages, 1u);
  EXPECT_EQ(must(catalog->session("a")).writtenBy, "openclaw");
}

TEST_F(CatalogTest, AForkAddsNothingForWhatItShares) {
  make({.sessionId = "a"}, {said("user", "hi", "u1"), answered(textBlock("yes"), "m1")});
  must(store->branchFromEntry("a", "m1", {.sessionId = "b"}));
  append("b", {said("user", "more", "u2"), answered(textBlock("ok"), "m2")});
  auto catalog = open();
  EXPECT_EQ(must(catalog->session("b")).userMessages, 1u);
  EXPECT_EQ(must(catalog->session("b")).tokens.inputTokens, 10u);
  EXPECT_EQ(must(catalog->session("b")).origin->sessionId, "a");
  EXPECT_EQ(must(catalog->usage({.by = UsageBy::Model})).total.tokens.inputTokens, 20u);
}

TEST_F(CatalogTest, EveryLeafIsABranch) {
  make({.sessionId = "a"}, {message("1", "e1"), message("2", "e2"), message("3", "e3"), message("4", "e4", "e1"),
                            message("5", "e5", "e4"), message("6", "e6", "e2")});
  EXPECT_EQ(row("a").branches, 3u);
}

TEST_F(CatalogTest, AHeadThatIsACallWithoutAResultIsUnfinished) {
  make({.sessionId = "a"}, {said("user", "do", "u1"), answered(callBlock("t1", "ls") + "," + callBlock("t2", "pwd"))});
  EXPECT_EQ(row("a").condition, SessionCondition::Unfinished);
  append("a", {resulted("t1", "x")});
  EXPECT_EQ(row("a").condition, SessionCondition::Unfinished);
  append("a", {resulted("t2", "y")});
  EXPECT_EQ(row("a").condition, SessionCondition::Live);
}

TEST_F(CatalogTest, MovingTheHeadAwayFromACallFinishesIt) {
  make({.sessionId = "a"}, {said("user", "do", "u1"), answered(callBlock("t1", "ls"))});
  must(store->moveHead("a", "u1"));
  EXPECT_EQ(row("a").condition, SessionCondition::Live);
}

TEST_F(CatalogTest, AnArchivedSessionIsArchivedUntilItIsAppendedTo) {
  make({.sessionId = "a"}, {said("user", "hi", "u1")});
  row("a");
  must(store->archiveSession("a"));
  EXPECT_EQ(row("a").condition, SessionCondition::Archived);
  EXPECT_EQ(row("a").userMessages, 1u);
  append("a", {said("user", "again")});
  EXPECT_EQ(row("a").condition, SessionCondition::Live);
  EXPECT_EQ(row("a").userMessages, 2u);
}

TEST_F(CatalogTest, TheTitleIsTheBeginningOfTheFirstUserMessage) {
  make({.sessionId = "a"},
       {answered(textBlock("no title")), said("user", "  Write\n a   poem about 春 and 👩‍👩‍👧  ")});
  EXPECT_EQ(row("a").title, "Write a poem about 春 and 👩‍👩‍👧");
  EXPECT_EQ(row("a").titleSource, TitleSource::Message);
}

TEST_F(CatalogTest, AGivenTitleIsNeverOverwritten) {
  make({.sessionId = "a"}, {said("user", "first words")});
  must(appendSessionInfo(*store, "a", {.title = "generated", .titleSource = TitleSource::Generated}));
  EXPECT_EQ(row("a").title, "generated");
  must(appendSessionInfo(*store, "a", {.title = "given"}));
  must(appendSessionInfo(*store, "a", {.title = "generated again", .titleSource = TitleSource::Generated}));
  append("a", {said("user", "more words")});
  EXPECT_EQ(row("a").title, "given");
  must(appendSessionInfo(*store, "a", {.title = "given anew"}));
  EXPECT_EQ(row("a").title, "given anew");
  must(appendSessionInfo(*store, "a", {.title = ""}));
  EXPECT_EQ(row("a").title, "generated again");
}

TEST_F(CatalogTest, InTheTrashASessionKeepsItsTitle) {
  for (const char* where : {"files", "memory:"}) {
    if (std::string_view(where) == "memory:") store = must(SessionStore::open(where));
    const auto titleOf = [&](const std::string& id) {
      return must(trashedTitle(*store, must(store->trashSession(id)).trashId));
    };
    make({.sessionId = "said"}, {said("user", "my secret", "u1"), said("user", "something else", "u2")});
    must(store->redactEntry("said", "u1", "me", "secret"));
    EXPECT_EQ(titleOf("said"), "something else");
    make({.sessionId = "given"}, {said("user", "first words")});
    must(appendSessionInfo(*store, "given", {.title = "Given"}));
    must(appendSessionInfo(*store, "given", {.title = "made", .titleSource = TitleSource::Generated}));
    EXPECT_EQ(titleOf("given"), "Given");
    make({.sessionId = "none"});
    EXPECT_EQ(titleOf("none"), "");
  }
  EXPECT_EQ(refused(trashedTitle(*store, "nothing~1")).code, ErrorCode::NotFound);
}

TEST_F(CatalogTest, ATitleOfARedactedMessageGoes) {
  make({.sessionId = "a"}, {said("user", "my secret", "u1"), said("user", "something else", "u2")});
  EXPECT_EQ(row("a").title, "my secret");
  must(store->redactEntry("a", "u1", "me", "secret"));
  EXPECT_EQ(row("a").title, "something else");
}

// An unreadable message was redacted by its place.
TEST_F(CatalogTest, WhatWasRedactedByItsPlaceIsHiddenOnceItCanBeReadAgain) {
  if (location != folder.path().string()) GTEST_SKIP() << "about files";
  for (const bool known : {true, false}) {  // whether the catalog had taken it in before
    const std::string id = known ? "known" : "new";
    const std::string path = folder / ("sessions/" + id + ".jsonl");
    const auto bytes = [&] {
      std::ifstream file(path, std::ios::binary);
      return std::string{std::istreambuf_iterator<char>(file), {}};
    };
    const auto write = [&](const std::string& log) {
      std::ofstream(path, std::ios::binary) << log;
      store = must(SessionStore::open(folder.path().string()));
    };
    make({.sessionId = id}, {said("user", "my secret", "u1")});
    must(store->appendSessionEntries(id, {said("user", "something else", "u2")}));
    if (known) {
      EXPECT_EQ(row(id).title, "my secret");
    }
    const std::string sound = bytes();
    const std::size_t offset = sound.find(R"({"id":"u1")");
    const std::size_t size = sound.find('\n', offset) - offset;
    std::string damaged = sound;
    write(damaged.replace(offset, size, std::string(size, '#')));
    must(store->redactEntry(id, unreadableId(offset), "me", "secret"));
    EXPECT_EQ(row(id).title, "something else");
    write(bytes().replace(0, sound.size(), sound));
    EXPECT_EQ(row(id).title, "something else");
    EXPECT_TRUE(must(store->loadEntry(id, "u1")).redacted);
    EXPECT_EQ(must(trashedTitle(*store, must(store->trashSession(id)).trashId)), "");
  }
}

TEST_F(CatalogTest, ATitleThatWasGivenAndRedactedGoes) {
  for (const bool known : {true, false}) {  // whether the catalog had taken it in before
    const std::string id = known ? "known" : "new";
    make({.sessionId = id}, {said("user", "first words", "u1")});
    must(appendSessionInfo(*store, id, {.title = "an older title"}));
    const auto info = must(appendSessionInfo(*store, id, {.title = "my secret"}));
    if (known) {
      EXPECT_EQ(row(id).title, "my secret");
    }
    must(store->redactEntry(id, info.lastAppendedEntryId, "me", "secret"));
    EXPECT_EQ(row(id).title, "an older title");
    must(store->redactEntry(id, "u1", "me", "secret"));
    EXPECT_EQ(row(id).title, "an older title");
    EXPECT_EQ(must(trashedTitle(*store, must(store->trashSession(id)).trashId)), "an older title");
  }
}

TEST_F(CatalogTest, PinsAndTimesToLiveAreTheLastOnesSaid) {
  make({.sessionId = "a"});
  must(appendSessionInfo(*store, "a", {.pinned = true, .timeToLiveMs = 5000}));
  EXPECT_TRUE(row("a").pinned);
  EXPECT_EQ(row("a").timeToLiveMs, 5000u);
  must(appendSessionInfo(*store, "a", {.pinned = false, .timeToLiveMs = 0}));
  EXPECT_FALSE(row("a").pinned);
  EXPECT_FALSE(row("a").timeToLiveMs.has_value());
}

TEST_F(CatalogTest, ASessionsOwnTimeComesBeforeTheGivenAndTheStoresOwn) {
  constexpr std::uint64_t kDayMs = 24 * 3600 * 1000;
  for (const char* id : {"own", "plain", "pinned"})
    make({.sessionId = id}, {said("user", "x", "u", "2026-01-01T00:00:00Z")});
  must(appendSessionInfo(*store, "own", {.timeToLiveMs = 400 * kDayMs}));
  must(appendSessionInfo(*store, "pinned", {.pinned = true}));
  const auto expired = [&](std::uint64_t daysLater, std::optional<std::uint64_t> given) {
    auto catalog = open();
    Ids ids;
    const std::uint64_t now = must(catalog->session("plain")).createdMs + daysLater * kDayMs;
    for (const Catalog::Expired& each : must(catalog->expired(now, given))) ids.push_back(each.session.sessionId);
    std::ranges::sort(ids);
    return ids;
  };
  EXPECT_EQ(expired(100, {}), Ids{}) << "off at first";
  must(store->saveSettings({.timeToLiveMs = 90 * kDayMs}));
  EXPECT_EQ(expired(89, {}), Ids{});
  EXPECT_EQ(expired(100, {}), Ids{"plain"});
  EXPECT_EQ(expired(100, 200 * kDayMs), Ids{}) << "what is given comes before the store's own";
  EXPECT_EQ(expired(500, {}), (Ids{"own", "plain"}));
  store.reset();
  for (const char* name : {"catalog.db", "catalog.db-wal", "catalog.db-shm"}) std::filesystem::remove(folder / name);
  store = must(SessionStore::open(location));
  EXPECT_EQ(expired(100, {}), Ids{"plain"}) << "deleting the catalog does not lose it";
  must(store->saveSettings({}));
  EXPECT_EQ(expired(100, {}), Ids{});
}

TEST_F(CatalogTest, AnImportedSessionIsAsOldAsWhatWasSaidAndExpiresAfterItsImport) {
  make({.sessionId = "empty"});
  make({.sessionId = "imported"}, {said("user", "x", "u", "2020-01-01T00:00:00Z")});
  EXPECT_EQ(row("empty").activeMs, row("empty").createdMs);
  EXPECT_EQ(row("imported").activeMs, 1'577'836'800'000u);
  auto catalog = open();
  EXPECT_TRUE(must(catalog->expired(row("empty").createdMs + 999, 1000)).empty());
  const std::uint64_t made = row("imported").createdMs;
  EXPECT_EQ(must(catalog->expired(made + 1'000'000, 1000)).front().expiredMs, made + 1000);
}

TEST_F(CatalogTest, KeysOfBothFormsNameTheirAgent) {
  make({.sessionId = "a", .key = "main:cli:user"});
  make({.sessionId = "b", .key = "agent:helper:telegram:dm:42:7"});
  make({.sessionId = "c", .key = "whatever"});
  EXPECT_EQ(row("a").agent, "main");
  EXPECT_EQ(row("b").agent, "helper");
  EXPECT_EQ(row("c").agent, "");
  EXPECT_EQ(parseSessionKey("agent:helper:telegram:dm:42:7")->peer, "42:7");
}

TEST_F(CatalogTest, AKeyNamesTheSessionMadeLastAndNoOther) {
  make({.sessionId = "a", .key = "main:cli:user"});
  EXPECT_EQ(must(open()->currentSession("main:cli:user")), "a");
  make({.sessionId = "z", .key = "main:cli:user2"});
  make({.sessionId = "b", .key = "main:cli:user"});
  append("a", {said("user", "the old one is still there")});
  auto catalog = open();
  EXPECT_EQ(must(catalog->currentSession("main:cli:user")), "b");
  EXPECT_EQ(must(catalog->currentSession("main:cli:user2")), "z");
  EXPECT_EQ(must(catalog->currentSession("main:cli:use")), std::nullopt);
  EXPECT_EQ(must(catalog->currentSession("Main:cli:user")), std::nullopt);
  EXPECT_EQ(must(catalog->currentSession("")), std::nullopt);
  EXPECT_EQ(must(catalog->list({.filter = {.key = "main:cli:user"}})).size(), 2u);
  EXPECT_EQ(must(catalog->list({.filter = {.key = "main:cli:*"}})).size(), 3u);
  EXPECT_EQ(must(catalog->list({.filter = {.key = "Main:*"}})).size(), 0u);
}

TEST_F(CatalogTest, TheSessionActiveLastComesFirst) {
  make({.sessionId = "a"}, {said("user", "x", "u1", "2026-01-01T00:00:00Z")});
  make({.sessionId = "b"}, {said("user", "x", "u1", "2035-01-01T00:00:00Z")});
  make({.sessionId = "c"}, {said("user", "x", "u1", "2034-01-01T00:00:00Z")});
  auto catalog = open();
  EXPECT_EQ(idsOf(must(catalog->list())), (Ids{"b", "c", "a"}));
  EXPECT_EQ(idsOf(must(catalog->list({.limit = 1, .skip = 1}))), (Ids{"c"}));
  EXPECT_TRUE(must(catalog->list({.filter = {.sinceMs = UINT64_MAX}})).empty());
  EXPECT_EQ(must(catalog->count()), 3u);
}

TEST_F(CatalogTest, FiltersByFolderMeanWholeNames) {
  make({.sessionId = "a", .cwd = "/home/me/project"});
  make({.sessionId = "b", .cwd = "/home/me/project/src"});
  make({.sessionId = "c", .cwd = "/home/me/project2"});
  auto catalog = open();
  EXPECT_EQ(must(catalog->count({.cwd = "/home/me/project"})), 2u);
  EXPECT_EQ(must(catalog->count({.cwd = "/home/me/project/"})), 2u);
  EXPECT_EQ(must(catalog->count({.cwd = "/"})), 3u);
}

TEST_F(CatalogTest, NamesAreIdsThenKeysThenBeginningsThenTitles) {
  make({.sessionId = "abc", .title = "Poems"});
  make({.sessionId = "abd", .key = "ab:cli:me", .title = "Prose 100%"});
  auto catalog = open();
  EXPECT_EQ(must(catalog->findByName("abc")).kind, NameMatch::Kind::Id);
  EXPECT_EQ(must(catalog->findByName("ab:cli:me")).kind, NameMatch::Kind::Key);
  EXPECT_EQ(must(catalog->findByName("ab")).sessions.size(), 2u);
  EXPECT_EQ(idsOf(must(catalog->findByName("poem")).sessions), (Ids{"abc"}));
  EXPECT_EQ(idsOf(must(catalog->findByName("0%")).sessions), (Ids{"abd"}));
  EXPECT_EQ(must(catalog->findByName("%")).sessions.size(), 1u);
  EXPECT_EQ(must(catalog->findByName("nothing")).kind, NameMatch::Kind::None);
}

TEST_F(CatalogTest, AStoreInMemoryHasACatalogInMemory) {
  store = must(SessionStore::open("memory:"));
  make({.sessionId = "a", .key = "m:c:p"}, {said("user", "hello")});
  auto catalog = open(true);
  EXPECT_EQ(must(catalog->session("a")).title, "hello");
  append("a", {said("user", "world")});
  must(catalog->catchUp({.search = true}));
  EXPECT_EQ(must(catalog->search("world")).size(), 1u);
  must(store->deleteSession("a"));
  must(catalog->catchUp());
  EXPECT_EQ(must(catalog->count()), 0u);
}

}  // namespace
}  // namespace bough
