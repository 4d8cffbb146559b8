#include <gtest/gtest.h>

#include "store/store_support.h"

namespace bough {
namespace {

TEST_F(StoreTest, WhatIsMissingIsFilledIn) {
  fill("s", 0);
  Entry timed = message("b");
  timed.timestamp = "2020-01-01T00:00:00+02:00";
  const auto result = must(store->appendSessionEntries("s", {message("a"), timed, message("c", "mine")}));
  EXPECT_EQ(result.appendedCount, 3U);
  EXPECT_EQ(result.duplicateCount, 0U);
  EXPECT_EQ(result.lastAppendedEntryId, "mine");
  const auto entries = must(store->loadSessionEntries("s"));
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_EQ(entries[1].parentId, "") << "the first entry is a root, not a child of the header";
  EXPECT_EQ(entries[2].parentId, entries[1].id);
  EXPECT_EQ(entries[3].parentId, entries[2].id);
  EXPECT_FALSE(entries[1].id.empty());
  EXPECT_LT(entries[1].id, entries[2].id);
  EXPECT_FALSE(entries[1].timestamp.empty());
  EXPECT_EQ(entries[2].timestamp, "2020-01-01T00:00:00+02:00");
}

TEST_F(StoreTest, BatchesOfAnySizeAreStoredWhole) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{10}, std::size_t{1000}}) {
    const std::string id = "s" + std::to_string(count);
    must(store->createSession({.sessionId = id}));
    EXPECT_EQ(must(store->appendSessionEntries(id, std::vector<Entry>(count, message("x")))).appendedCount, count);
    EXPECT_EQ(must(open()->loadSessionEntries(id)).size(), count + 1);
    const std::string log = slurp(logPath(id));
    EXPECT_TRUE(log.contains("\"seal\":\"" + std::to_string(count) + "/" + std::to_string(count) + " "));
  }
}

TEST_F(StoreTest, ABatchOf64MegabytesIsStoredWhole) {
  must(store->createSession({.sessionId = "s"}));
  std::vector<Entry> entries;
  const std::string text(200'000, 'y');
  while (entries.size() * text.size() < (std::size_t{64} << 20)) entries.push_back(message(text));
  const std::size_t count = entries.size();
  EXPECT_EQ(must(store->appendSessionEntries("s", entries)).appendedCount, count);
  const auto back = must(open()->loadSessionEntries("s"));
  ASSERT_EQ(back.size(), count + 1);
  for (std::size_t i = 1; i < back.size(); ++i) ASSERT_EQ(back[i].payload, entries[0].payload);
  EXPECT_EQ(must(store->verifySession("s")).problemCount, 0U);
}

TEST_F(StoreTest, APayloadOf64MegabytesComesBack) {
  must(store->createSession({.sessionId = "s"}));
  const Entry big = message(std::string(std::size_t{64} << 20, 'z'), "big");
  must(store->appendSessionEntries("s", {message("before", "b"), big, message("after", "a")}));
  EXPECT_LT(std::filesystem::file_size(logPath("s")), 4096U);
  EXPECT_EQ(must(open()->loadEntry("s", "big")).payload, big.payload);
}

TEST_F(StoreTest, AWrongExpectedTailIsAConflictThatNamesTheRealOne) {
  fill("s", 3);
  const std::string before = slurp(logPath("s"));
  const Error error = refused(store->appendSessionEntries("s", {message("x")}, {.expectedTail = "e2"}));
  EXPECT_EQ(error.code, ErrorCode::Conflict);
  EXPECT_EQ(error.actualTail, "e3");
  EXPECT_FALSE(error.retryable);
  EXPECT_EQ(slurp(logPath("s")), before);
  EXPECT_TRUE(store->appendSessionEntries("s", {message("x")}, {.expectedTail = "e3"}));
}

TEST_F(StoreTest, TheSameEntryAgainIsADuplicate) {
  fill("s", 2);
  const auto result = must(store->appendSessionEntries("s", {message("m2", "e2"), message("new", "e3")}));
  EXPECT_EQ(result.appendedCount, 1U);
  EXPECT_EQ(result.duplicateCount, 1U);
  EXPECT_EQ(result.lastAppendedEntryId, "e3");
  EXPECT_EQ(idsOf(*store, "s"), (Ids{"e1", "e2", "e3"}));
  EXPECT_EQ(must(store->loadEntry("s", "e3")).parentId, "e2");
  const auto twice = must(store->appendSessionEntries("s", {message("y", "e4"), message("y", "e4")}));
  EXPECT_EQ(twice.appendedCount, 1U);
  EXPECT_EQ(twice.duplicateCount, 1U);
}

TEST_F(StoreTest, OtherContentUnderTheSameIdIsRefusedWithTheWholeBatch) {
  fill("s", 2);
  const std::string before = slurp(logPath("s"));
  std::vector<Entry> others = {message("other", "e1"),    entryOf("custom", R"({"text":"m1"})", "e1"),
                               message("m1", "e1", "e2"), message("m1", "e1"),
                               message("m1", "e1"),       message("m1", "e1")};
  others[3].meta = "{}";
  others[4].extra = "\"x\":1";
  others[5].timestamp = "2001-01-01T00:00:00Z";
  for (const Entry& other : others) {
    const Error error = refused(store->appendSessionEntries("s", {message("fresh", "f"), other}));
    EXPECT_EQ(error.code, ErrorCode::IdConflict);
    EXPECT_TRUE(error.message.contains("e1"));
    EXPECT_EQ(error.batchPlace, 2U);
    EXPECT_EQ(slurp(logPath("s")), before);
  }
  EXPECT_EQ(refused(store->appendSessionEntries("s", {message("a", "n"), message("b", "n")})).code,
            ErrorCode::IdConflict);
  EXPECT_EQ(slurp(logPath("s")), before);
}

TEST_F(StoreTest, ABatchRepeatedAfterALostAnswerIsRecognized) {
  fill("s", 1);
  const std::vector<Entry> batch = {message("x", "x1"), message("y", "x2")};
  must(store->appendSessionEntries("s", batch, {.expectedTail = "e1"}));
  const std::string before = slurp(logPath("s"));
  for (const AppendOptions& options : {AppendOptions{.expectedTail = "e1"}, AppendOptions{}}) {
    const auto again = must(open()->appendSessionEntries("s", batch, options));
    EXPECT_EQ(again.appendedCount, 0U);
    EXPECT_EQ(again.duplicateCount, 2U);
    EXPECT_EQ(again.lastAppendedEntryId, "x2");
    EXPECT_EQ(slurp(logPath("s")), before);
  }
}

TEST_F(StoreTest, ADuplicateIsOneWhereverItsPayloadIsKept) {
  fill("s", 0);
  const Entry entry = message(std::string(2000, 'p'), "p");
  must(store->appendSessionEntries("s", {entry}));
  EXPECT_EQ(must(open({.attachmentBytes = 100})->appendSessionEntries("s", {entry})).duplicateCount, 1U);
  const Entry apart = message(std::string(2000, 'q'), "q");
  must(open({.attachmentBytes = 100})->appendSessionEntries("s", {apart}));
  EXPECT_EQ(must(store->appendSessionEntries("s", {apart})).duplicateCount, 1U);
  EXPECT_EQ(refused(store->appendSessionEntries("s", {message(std::string(2000, 'r'), "q")})).code,
            ErrorCode::IdConflict);
}

TEST_F(StoreTest, BlanksAroundWhatAnEntryHoldsMakeNoOtherEntry) {
  fill("s", 0);
  std::vector<Entry> entries(6, message("a"));
  entries[0].payload = "{\"a\":1}\n";
  entries[1].payload = " \t{\"a\":\r\n1}";
  entries[2].meta = "{\"q\":1}\n";
  entries[3].extra = " \"q\": 1 , \"r\" :2\n";
  entries[4].extra = " ";
  entries[5].payload = "\n" + message(std::string(3000, 'x')).payload + "\n";
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i].id = "x" + std::to_string(i);
  must(store->appendSessionEntries("s", entries));
  for (const std::size_t most : {std::size_t{256} << 10, std::size_t{1000}}) {
    const auto again = must(open({.attachmentBytes = most})->appendSessionEntries("s", entries));
    EXPECT_EQ(again.duplicateCount, entries.size());
  }
  const auto buffered = open({.durability = Durability::Buffered});
  for (Entry& entry : entries) entry.id += "b";
  must(buffered->appendSessionEntries("s", entries));
  EXPECT_EQ(must(buffered->appendSessionEntries("s", entries)).duplicateCount, entries.size());
  EXPECT_EQ(must(store->loadEntry("s", "x0")).payload, "{\"a\":1}");
  EXPECT_EQ(must(store->loadEntry("s", "x4")).extra, "");
  EXPECT_EQ(must(store->verifySession("s")).problemCount, 0U);
}

TEST_F(StoreTest, ParentsMustBeEarlierEntries) {
  fill("s", 2);
  const std::string before = slurp(logPath("s"));
  const auto why = [&](const std::vector<Entry>& batch) {
    const Error error = refused(store->appendSessionEntries("s", batch));
    EXPECT_EQ(error.code, ErrorCode::InvalidArgument);
    EXPECT_EQ(error.batchPlace, batch.empty() ? 0U : 1U);
    EXPECT_FALSE(error.hint.empty()) << error.message;
    return error.message;
  };
  EXPECT_TRUE(why({message("x", "x", "nobody")}).contains("nobody"));
  EXPECT_TRUE(why({message("x", "x", "x")}).contains("itself"));
  EXPECT_TRUE(why({message("x", "x", "y"), message("y", "y")}).contains("later in the batch"));
  EXPECT_TRUE(why({}).contains("without entries"));
  EXPECT_TRUE(why({entryOf(entry_type::kSessionHeader, "{}")}).contains("one header"));
  EXPECT_EQ(slurp(logPath("s")), before);
  EXPECT_TRUE(store->appendSessionEntries("s", {message("x", "x", "e1"), message("r", "r", "")}));
  EXPECT_EQ(must(store->loadEntry("s", "r")).parentId, "");
}

TEST_F(StoreTest, EntriesThatBreakTheFormatAreRefusedAndNothingIsWritten) {
  fill("s", 1);
  const std::string before = slurp(logPath("s"));
  for (const std::string& payload :
       {std::string("not json"), std::string("[1]"), std::string("{\"a\":\"\xFF\"}"),
        std::string("{\"a\":\"") + '\0' + "\"}", std::string("{}{}"),
        "{\"a\":" + std::string(10'000, '[') + std::string(10'000, ']') + "}", std::string(300'000, '{'),
        "[\"" + std::string(300'000, 'x') + "\"]", "{\"$attachment\":" + std::string(10, '[')}) {
    const Error error = refused(store->appendSessionEntries("s", {message("ok"), entryOf("custom", payload)}));
    EXPECT_EQ(error.code, ErrorCode::InvalidArgument);
    EXPECT_EQ(error.batchPlace, 2U) << error.message;
    EXPECT_FALSE(error.hint.empty()) << error.message;
    EXPECT_EQ(slurp(logPath("s")), before);
  }
}

TEST_F(StoreTest, EveryRefusedEntrySaysWhatToDo) {
  fill("s", 1);
  std::vector<Entry> wrong = {message("x", "no id"),
                              message("x", "x", "no id"),
                              entryOf("no type", "{}"),
                              entryOf("", "{}"),
                              message("x"),
                              message("x"),
                              message("x"),
                              entryOf("redaction", "{}"),
                              entryOf("branch_summary", "{}")};
  wrong[4].timestamp = "yesterday";
  wrong[5].runId = std::string(300, 'r');
  wrong[6].extra = R"("seal":1)";
  for (const Entry& entry : wrong) {
    const Error error = refused(store->appendSessionEntries("s", {message("ok"), message("ok"), entry}));
    EXPECT_EQ(error.code, ErrorCode::InvalidArgument);
    EXPECT_EQ(error.batchPlace, 3U) << error.message;
    EXPECT_FALSE(error.hint.empty()) << error.message;
  }
}

TEST_F(StoreTest, SummariesMustSayWhatTheySummarize) {
  fill("s", 1);
  EXPECT_FALSE(store->appendSessionEntries("s", {entryOf(entry_type::kCompactionSummary, "{}")}));
  EXPECT_TRUE(
      store->appendSessionEntries("s", {entryOf(entry_type::kCompactionSummary, R"({"firstKeptEntryId":"e1"})")}));
  EXPECT_FALSE(store->appendSessionEntries("s", {entryOf(entry_type::kBranchSummary, R"({"sourceSessionId":"s"})")}));
  EXPECT_TRUE(store->appendSessionEntries(
      "s", {entryOf(entry_type::kBranchSummary, R"({"sourceSessionId":"s","sourceEntryId":"e1"})")}));
}

TEST_F(StoreTest, EveryTypeOfTheSpecificationIsStored) {
  fill("s", 1);
  const std::vector<Entry> all = {entryOf("message", "{}"),
                                  entryOf("message_delta_batch", "{}"),
                                  entryOf("model_change", "{}"),
                                  entryOf("thinking_level_change", "{}"),
                                  entryOf("runtime_init", "{}"),
                                  entryOf("system_prompt_override", "{}"),
                                  entryOf("compaction_summary", R"({"firstKeptEntryId":"e1"})"),
                                  entryOf("branch_summary", R"({"sourceSessionId":"s","sourceEntryId":"e1"})"),
                                  entryOf("custom", "{}"),
                                  entryOf("tool_start", "{}"),
                                  entryOf("head", R"({"entryId":"e1"})"),
                                  entryOf("label", R"({"entryId":"e1","name":"start"})"),
                                  entryOf("session_info", R"({"title":"t"})"),
                                  entryOf("redaction", R"({"entryId":"e1","by":"me","reason":"why"})"),
                                  entryOf("x.vendor:new-type", "{}")};
  EXPECT_EQ(must(store->appendSessionEntries("s", all)).appendedCount, all.size());
  for (const Entry& entry : all) {
    EXPECT_GE(must(store->loadSessionEntries("s", {.type = entry.type})).size(), 1U) << entry.type;
  }
}

TEST_F(StoreTest, WhatASessionSaysOfItselfHasTheRightKinds) {
  fill("s", 1);
  for (const char* payload :
       {R"({"title":5})", R"({"titleSource":[]})", R"({"pinned":"yes"})", R"({"pinned":1})", R"({"timeToLiveMs":-5})",
        R"({"timeToLiveMs":"1"})", R"({"title":"t","timeToLiveMs":0.5})"}) {
    const Error error = refused(store->appendSessionEntries("s", {entryOf("session_info", payload)}));
    EXPECT_EQ(error.code, ErrorCode::InvalidArgument) << payload;
    EXPECT_TRUE(error.message.contains("pinned is true or false")) << error.message;
  }
  for (const char* payload :
       {"{}", R"({"title":null,"pinned":null,"timeToLiveMs":null,"titleSource":null})",
        R"({"title":"t","titleSource":"generated","pinned":true,"timeToLiveMs":0,"other":[1]})"}) {
    must(store->appendSessionEntries("s", {entryOf("session_info", payload)}));
  }
}

TEST_F(StoreTest, UnknownFieldsAndTypesSurviveByteForByte) {
  fill("s", 0);
  Entry entry = entryOf("vendor.thing", R"({"n":1.00,"n":2e+01,"s":"\u00e9\/"})", "v");
  entry.meta = R"({ "k" : [1,  2] })";
  entry.extra = R"("zz":{"deep":[1.0]},"aa":null)";
  entry.runId = "run-1";
  must(store->appendSessionEntries("s", {entry}));
  const std::string stored = slurp(logPath("s"));
  for (int round = 0; round < 2; ++round) {
    const Entry back = must(open()->loadEntry("s", "v"));
    EXPECT_EQ(back.type, entry.type);
    EXPECT_EQ(back.payload, entry.payload);
    EXPECT_EQ(back.meta, entry.meta);
    EXPECT_EQ(back.extra, entry.extra);
    EXPECT_EQ(back.runId, entry.runId);
    must(store->archiveSession("s"));
  }
  must(store->appendSessionEntries("s", {message("x")}));
  EXPECT_TRUE(slurp(logPath("s")).starts_with(stored));
}

}  // namespace
}  // namespace bough
