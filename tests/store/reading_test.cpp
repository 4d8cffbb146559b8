#include <gtest/gtest.h>

#include <algorithm>

#include "store/store_support.h"

namespace bough {
namespace {

TEST_F(StoreTest, LoadTakesParts) {
  fill("s", 6);
  EXPECT_EQ(idsOf(*store, "s"), (Ids{"e1", "e2", "e3", "e4", "e5", "e6"}));
  EXPECT_EQ(idsOf(*store, "s", {.fromSequence = 3}), (Ids{"e3", "e4", "e5", "e6"}));
  EXPECT_EQ(idsOf(*store, "s", {.fromSequence = 3, .limit = 2}), (Ids{"e3", "e4"}));
  EXPECT_EQ(idsOf(*store, "s", {.last = 2}), (Ids{"e5", "e6"}));
  EXPECT_EQ(idsOf(*store, "s", {.fromSequence = 2, .limit = 3, .last = 1}), (Ids{"e4"}));
  EXPECT_EQ(idsOf(*store, "s", {.fromSequence = 99}), Ids{});
  EXPECT_EQ(idsOf(*store, "s", {.limit = 0}), Ids{});
  EXPECT_EQ(idsOf(*store, "s", {.last = 0}), Ids{});
  EXPECT_EQ(idsOf(*store, "s", {.last = 99}).size(), 6U);
}

TEST_F(StoreTest, LoadFollowsOneBranch) {
  fill("s", 3);
  must(store->appendSessionEntries("s", {message("b", "b1", "e1"), message("b", "b2")}));
  EXPECT_EQ(idsOf(*store, "s", {.branch = "b2"}), (Ids{"e1", "b1", "b2"}));
  EXPECT_EQ(idsOf(*store, "s", {.branch = "e3"}), (Ids{"e1", "e2", "e3"}));
  EXPECT_EQ(idsOf(*store, "s", {.last = 2, .branch = "b2"}), (Ids{"b1", "b2"}));
  EXPECT_EQ(idsOf(*store, "s", {.fromSequence = 1, .limit = 1, .branch = "b2"}), (Ids{"b1"}));
  EXPECT_EQ(refused(store->loadSessionEntries("s", {.branch = "nobody"})).code, ErrorCode::NotFound);
}

TEST_F(StoreTest, AnEmptyBranchIsTheHeads) {
  fill("s", 3);
  must(store->branchFromEntry("s", "e2", {.sessionId = "f"}));
  fill("nothing", 0);
  must(store->moveHead("s", "e2"));
  EXPECT_EQ(idsOf(*store, "s", {.branch = ""}), (Ids{"e1", "e2"}));
  EXPECT_EQ(idsOf(*store, "s", {.last = 1, .branch = ""}), (Ids{"e2"}));
  EXPECT_EQ(idsOf(*store, "f", {.branch = ""}), (Ids{"e1", "e2"}));
  EXPECT_EQ(idsOf(*store, "nothing", {.branch = ""}), Ids{});
}

TEST_F(StoreTest, LoadSkipsOnABranchBeforeItChoosesByType) {
  fill("s", 0);
  must(store->appendSessionEntries("s", {entryOf("custom", "{}", "q1"), message("x", "m1"),
                                         entryOf("custom", "{}", "q2"), message("x", "m2"), message("x", "m3")}));
  must(store->branchFromEntry("s", "m3", {.sessionId = "f"}));
  for (const std::string session : {"s", "f"}) {
    EXPECT_EQ(idsOf(*store, session, {.fromSequence = 2, .branch = "m3", .type = "message"}), (Ids{"m2", "m3"}));
    EXPECT_EQ(idsOf(*store, session, {.fromSequence = 2, .branch = "m3", .types = {"message"}}), (Ids{"m2", "m3"}));
    EXPECT_EQ(idsOf(*store, session, {.fromSequence = 1, .limit = 2, .branch = "m3", .types = {"message"}}),
              (Ids{"m1", "m2"}));
  }
}

// What load() does without an index: reads all entries and tests one condition after another.
Ids chosenByHand(const std::vector<Entry>& all, const LoadOptions& wanted) {
  Ids ids;
  for (const Entry& entry : all) {
    const bool isOneOf = wanted.types.empty() || std::ranges::find(wanted.types, entry.type) != wanted.types.end();
    if (isOneOf && (wanted.type.empty() || entry.type == wanted.type)) ids.push_back(entry.id);
  }
  ids.resize(std::min(ids.size(), wanted.limit));
  if (wanted.last && ids.size() > *wanted.last) ids.erase(ids.begin(), ids.end() - static_cast<long>(*wanted.last));
  return ids;
}

TEST_F(StoreTest, EveryChoiceOfTypesAndNumbersIsTheOneMadeByHand) {
  fill("s", 0);
  for (int i = 0; i < 12; ++i) {
    const std::string id = std::to_string(i);
    const char* const types[] = {"message", "custom", "user", "note"};
    must(store->appendSessionEntries("s", {entryOf(types[i % 4], "{}", "s" + id)}));
  }
  must(store->branchFromEntry("s", "s9", {.sessionId = "f"}));
  must(store->appendSessionEntries("f", {message("x", "f1"), entryOf("user", "{}", "f2"), message("x", "f3")}));
  const std::vector<std::vector<std::string>> choices = {
      {}, {"message"}, {"message", "user"}, {"user"}, {"session_header", "message"}, {"nothing"}};
  for (const std::string session : {"s", "f"}) {
    for (const std::optional<std::string>& branch :
         {std::optional<std::string>(), std::optional<std::string>("s5"), std::optional<std::string>("")}) {
      const auto all = must(store->loadSessionEntries(session, {.branch = branch}));
      for (const auto& types : choices) {
        for (const std::string type : {"", "message", "user"}) {
          for (const std::size_t limit : {std::size_t{0}, std::size_t{1}, std::size_t{3}, SIZE_MAX}) {
            for (const std::optional<std::size_t> last :
                 {std::optional<std::size_t>(), std::optional<std::size_t>(2)}) {
              const LoadOptions wanted{.limit = limit, .last = last, .branch = branch, .type = type, .types = types};
              EXPECT_EQ(idsOf(must(store->loadSessionEntries(session, wanted))), chosenByHand(all, wanted))
                  << session << " " << branch.value_or("-") << " " << type << " " << types.size() << " " << limit;
            }
          }
        }
      }
    }
  }
}

TEST_F(StoreTest, AMissingBranchIsNotFoundThoughNothingIsWantedOfIt) {
  fill("s", 2);
  EXPECT_EQ(refused(store->loadSessionEntries("s", {.last = 0, .branch = "nobody"})).code, ErrorCode::NotFound);
  EXPECT_EQ(refused(store->loadSessionEntries("s", {.limit = 0, .branch = "nobody"})).code, ErrorCode::NotFound);
  EXPECT_EQ(idsOf(*store, "s", {.last = 0, .branch = "e2"}), Ids{});
}

TEST_F(StoreTest, AHeaderIsOnNoBranch) {
  fill("s", 2);
  const std::string header = must(store->loadSessionEntries("s", {.limit = 1})).at(0).id;
  EXPECT_TRUE(must(store->loadSessionEntries("s", {.branch = header})).empty());
  EXPECT_TRUE(must(store->loadSessionEntries("s", {.branch = header, .types = {"session_header"}})).empty());
}

TEST_F(StoreTest, LoadChoosesByTypeAlsoUnknownOnes) {
  fill("s", 1);
  must(store->appendSessionEntries(
      "s", {entryOf("new_a", "{}", "a1"), entryOf("new_b", "{}", "b1"), entryOf("custom", "{}", "c1"),
            entryOf("new_a", "{}", "a2"), entryOf("new_a", "{}", "a3")}));
  EXPECT_EQ(idsOf(*store, "s", {.type = "new_a"}), (Ids{"a1", "a2", "a3"}));
  EXPECT_EQ(idsOf(*store, "s", {.last = 2, .type = "new_a"}), (Ids{"a2", "a3"}));
  EXPECT_EQ(idsOf(*store, "s", {.limit = 2, .type = "new_a"}), (Ids{"a1", "a2"}));
  EXPECT_EQ(idsOf(*store, "s", {.fromSequence = 3, .type = "new_a"}), (Ids{"a2", "a3"}));
  EXPECT_EQ(idsOf(*store, "s", {.branch = "a2", .type = "new_a"}), (Ids{"a1", "a2"}));
  EXPECT_EQ(idsOf(*store, "s", {.type = "custom"}), (Ids{"c1"}));
  EXPECT_EQ(idsOf(*store, "s", {.type = "never"}), Ids{});
  EXPECT_EQ(must(store->loadSessionEntries("s", {.type = "session_header"})).size(), 1U);
}

TEST_F(StoreTest, AMissingSessionOrEntryIsNotFound) {
  EXPECT_EQ(refused(store->loadSessionEntries("nobody")).code, ErrorCode::NotFound);
  EXPECT_EQ(refused(store->sessionState("nobody")).code, ErrorCode::NotFound);
  EXPECT_EQ(refused(store->appendSessionEntries("nobody", {message("x")})).code, ErrorCode::NotFound);
  EXPECT_EQ(refused(store->openCursor("nobody", "x")).code, ErrorCode::NotFound);
  EXPECT_EQ(refused(store->deleteSession("nobody")).code, ErrorCode::NotFound);
  fill("s", 1);
  EXPECT_EQ(refused(store->loadEntry("s", "nobody")).code, ErrorCode::NotFound);
  EXPECT_EQ(refused(store->openCursor("s", "nobody")).code, ErrorCode::NotFound);
  EXPECT_EQ(refused(store->branchFromEntry("s", "nobody")).code, ErrorCode::NotFound);
}

TEST_F(StoreTest, ControlEntriesAreNeverTheHead) {
  fill("s", 2);
  must(store->appendSessionEntries(
      "s", {entryOf("label", R"({"entryId":"e1","name":"x"})", "l"), entryOf("session_info", R"({"title":"t"})"),
            entryOf("redaction", R"({"entryId":"e1","by":"me","reason":"why"})")}));
  EXPECT_EQ(must(store->sessionState("s")).headId, "e2");
  must(store->appendSessionEntries("s", {message("x", "e3")}));
  EXPECT_EQ(must(store->loadEntry("s", "e3")).parentId, "e2");
  EXPECT_EQ(refused(store->moveHead("s", "l")).code, ErrorCode::InvalidArgument);
  EXPECT_EQ(refused(store->branchFromEntry("s", "l")).code, ErrorCode::InvalidArgument);
  for (const std::string& id : {std::string("l"), must(store->loadSessionEntries("s", {.limit = 1})).front().id}) {
    for (const std::string type : {"head", "label"}) {
      const Entry raw = entryOf(type, R"({"entryId":")" + id + R"(","name":"x"})");
      EXPECT_EQ(refused(store->appendSessionEntries("s", {raw})).code, ErrorCode::InvalidArgument) << type;
    }
  }
  EXPECT_EQ(must(store->sessionState("s")).headId, "e3");
}

TEST_F(StoreTest, TheHeadMovesDurablyAlsoToNothing) {
  fill("s", 3);
  must(store->moveHead("s", "e1"));
  EXPECT_EQ(must(open()->sessionState("s")).headId, "e1");
  must(open()->appendSessionEntries("s", {message("x", "x")}));
  EXPECT_EQ(must(store->loadEntry("s", "x")).parentId, "e1");
  must(store->moveHead("s", ""));
  EXPECT_EQ(must(open()->sessionState("s")).headId, "");
  must(store->appendSessionEntries("s", {message("r", "r")}));
  EXPECT_EQ(must(store->loadEntry("s", "r")).parentId, "");
  EXPECT_EQ(refused(store->moveHead("s", "nobody")).code, ErrorCode::NotFound);
  must(
      store->appendSessionEntries("s", {message("y", "y"), entryOf("head", R"({"entryId":"e2"})"), message("z", "z")}));
  EXPECT_EQ(must(store->loadEntry("s", "z")).parentId, "e2") << "a head move counts inside its batch";
}

TEST_F(StoreTest, LabelsMustNameEntries) {
  fill("s", 1);
  EXPECT_TRUE(store->appendSessionEntries("s", {entryOf("label", R"({"entryId":"e1","name":"a"})")}));
  EXPECT_TRUE(store->appendSessionEntries("s", {entryOf("label", R"({"entryId":null,"name":"a"})")}));
  EXPECT_EQ(refused(store->appendSessionEntries("s", {entryOf("label", R"({"entryId":"no","name":"a"})")})).code,
            ErrorCode::NotFound);
  EXPECT_EQ(refused(store->appendSessionEntries("s", {entryOf("label", "{}")})).code, ErrorCode::InvalidArgument);
  EXPECT_EQ(refused(store->labelEntry("s", "", "a")).code, ErrorCode::NotFound) << "that would take a label away";
}

TEST_F(StoreTest, ARedactedPayloadIsHiddenFromEveryViewAndKeptInTheLog) {
  fill("s", 3);
  must(store->branchFromEntry("s", "e3", {.sessionId = "f"}));
  must(store->redactEntry("s", "e2", "alice", "a secret"));
  const auto check = [&](const std::string& session, const Entry& entry) {
    EXPECT_EQ(entry.id, "e2") << session;
    EXPECT_TRUE(entry.redacted);
    EXPECT_FALSE(entry.payload.contains("m2"));
    EXPECT_TRUE(entry.payload.contains("alice") && entry.payload.contains("a secret"));
  };
  for (const std::string session : {"s", "f"}) {
    check(session, must(store->loadSessionEntries(session)).at(2));
    check(session, must(store->loadSessionEntries(session, {.branch = "e3"})).at(1));
    check(session, must(store->loadEntry(session, "e2")));
    auto cursor = must(store->openCursor(session, "e1"));
    check(session, must(cursor.next(1)).at(0));
    auto follower = must(store->follow(session, "e1"));
    check(session, must(follower.next(1000)).at(0));
    const auto shown = must(store->loadSessionEntries(session, {.showRedacted = true}));
    EXPECT_EQ(shown.at(2).payload, R"({"text":"m2"})");
    EXPECT_FALSE(shown.at(2).redacted);
  }
  EXPECT_TRUE(slurp(logPath("s")).contains(R"({"text":"m2"})"));
  EXPECT_EQ(refused(store->redactEntry("s", "nobody", "a", "b")).code, ErrorCode::NotFound);
}

TEST_F(StoreTest, ARedactionInAForkLeavesTheParentAlone) {
  fill("s", 2);
  must(store->branchFromEntry("s", "e2", {.sessionId = "f"}));
  must(store->redactEntry("f", "e1", "bob", "why"));
  EXPECT_TRUE(must(store->loadEntry("f", "e1")).redacted);
  EXPECT_FALSE(must(store->loadEntry("s", "e1")).redacted);
}

TEST_F(StoreTest, ARedactedLabelIsNone) {
  fill("s", 2);
  must(store->labelEntry("s", "e1", "kept"));
  const auto label = must(store->labelEntry("s", "e2", "secret"));
  must(store->redactEntry("s", label.lastAppendedEntryId, "bob", "why"));
  const auto labels = must(store->labels("s"));
  ASSERT_EQ(labels.size(), 1U);
  EXPECT_EQ(labels[0].name, "kept");
}

TEST_F(StoreTest, ARedactedTitleOrLabelIsHiddenFromEveryView) {
  fill("s", 1);
  const std::string before = must(store->sessionState("s")).tailId;
  const std::string title = must(store->setTitle("s", "SECRET")).lastAppendedEntryId;
  const std::string label = must(store->labelEntry("s", "e1", "SECRET")).lastAppendedEntryId;
  for (const std::string& id : {title, label}) must(store->redactEntry("s", id, "bob", "why"));
  const auto check = [&](const std::vector<Entry>& entries) {
    for (const Entry& entry : entries) {
      EXPECT_FALSE(entry.payload.contains("SECRET"));
      EXPECT_EQ(entry.redacted, entry.id == title || entry.id == label) << entry.type;
    }
  };
  check(must(store->loadSessionEntries("s")));
  check(must(store->loadSessionEntries("s", {.type = "label"})));
  check({must(store->loadEntry("s", title)), must(store->loadEntry("s", label))});
  check(must(must(store->openCursor("s")).next(10)));
  check(must(must(store->follow("s", before)).next(1000)));
  const auto shown = must(store->loadSessionEntries("s", {.type = "session_info", .showRedacted = true}));
  EXPECT_EQ(shown.at(0).payload, R"({"title":"SECRET"})");
}

// An older version accepted such a redaction.
TEST_F(StoreTest, WhatASessionIsReadByIsShownWhateverIsSaidOfIt) {
  fill("s", 1);
  const std::string header = must(store->loadSessionEntries("s", {.limit = 1})).front().id;
  std::ofstream(logPath("s"), std::ios::app)
      << R"({"id":"r","parentId":"e1","type":"redaction","timestamp":"2026-01-01T00:00:00Z","payload":{"entryId":")"
      << header << "\"}}\n";
  EXPECT_FALSE(must(open()->loadEntry("s", header)).redacted);
}

TEST_F(StoreTest, WhatASessionIsReadByIsNotRedacted) {
  fill("s", 2);
  const auto head = must(store->moveHead("s", "e1"));
  const std::string header = must(store->loadSessionEntries("s", {.limit = 1})).front().id;
  EXPECT_EQ(refused(store->redactEntry("s", "none", "bob", "why")).code, ErrorCode::NotFound);
  const auto redaction = must(store->redactEntry("s", "e2", "bob", "why"));
  for (const std::string& id : {head.lastAppendedEntryId, header, redaction.lastAppendedEntryId}) {
    EXPECT_EQ(refused(store->redactEntry("s", id, "bob", "why")).code, ErrorCode::InvalidArgument);
    const Entry raw = entryOf("redaction", R"({"entryId":")" + id + R"(","by":"bob","reason":"why"})");
    EXPECT_EQ(refused(store->appendSessionEntries("s", {raw})).code, ErrorCode::InvalidArgument);
  }
  EXPECT_EQ(refused(store->redactEntry("s", "e1", "", "why")).code, ErrorCode::InvalidArgument);
  EXPECT_EQ(refused(store->redactEntry("s", "e1", "bob", "")).code, ErrorCode::InvalidArgument);
}

TEST_F(StoreTest, ARedactedAttachmentIsNotEvenRead) {
  fill("s", 0);
  must(store->appendSessionEntries("s", {message(std::string(300'000, 'x'), "big")}));
  must(store->redactEntry("s", "big", "a", "b"));
  std::filesystem::remove_all(folder / "attachments/sha256");
  EXPECT_TRUE(must(store->loadEntry("s", "big")).redacted);
}

TEST_F(StoreTest, ACursorGivesEverythingInBatches) {
  fill("s", 5);
  auto cursor = must(store->openCursor("s"));
  EXPECT_EQ(cursor.position(), "");
  Ids seen;
  while (must(cursor.hasMore())) {
    const auto part = must(cursor.next(2));
    ASSERT_FALSE(part.empty());
    ASSERT_LE(part.size(), 2U);
    for (const Entry& entry : part) seen.push_back(entry.id);
  }
  EXPECT_EQ(Ids(seen.begin() + 1, seen.end()), (Ids{"e1", "e2", "e3", "e4", "e5"}));
  EXPECT_TRUE(must(cursor.next(2)).empty());
  EXPECT_EQ(cursor.position(), "e5");
  must(open()->appendSessionEntries("s", {message("x", "e6")}));
  EXPECT_TRUE(must(cursor.hasMore()));
  EXPECT_EQ(idsOf(must(cursor.next(9))), (Ids{"e6"}));
  cursor.reset();
  EXPECT_EQ(must(cursor.next(99)).size(), 7U);
}

TEST_F(StoreTest, APositionIsResumedAnywhereInAForkToo) {
  fill("s", 4);
  must(store->branchFromEntry("s", "e3", {.sessionId = "f"}));
  must(store->appendSessionEntries("f", {message("x", "f1"), message("y", "f2")}));
  const auto all = must(store->loadSessionEntries("f"));
  EXPECT_EQ(Ids(idsOf(*store, "f")), (Ids{"e1", "e2", "e3", "f1", "f2"}));
  for (std::size_t cut = 0; cut <= all.size(); ++cut) {
    auto cursor = must(store->openCursor("f"));
    auto seen = must(cursor.next(cut));
    auto other = open();
    auto resumed = must(other->openCursor("f", cursor.position()));
    EXPECT_EQ(must(resumed.hasMore()), cut < all.size());
    for (Entry& entry : must(resumed.next(99))) seen.push_back(std::move(entry));
    EXPECT_EQ(idsOf(seen), idsOf(all)) << cut;
  }
}

TEST_F(StoreTest, ACursorGoesOnByItsPositionInALogThatWasCutOrReplaced) {
  fill("s", 0);
  for (int i = 1; i <= 4; ++i) must(store->appendSessionEntries("s", {message("m", "e" + std::to_string(i))}));
  auto cursor = must(store->openCursor("s"));
  EXPECT_EQ(must(cursor.next(3)).back().id, "e2");
  auto last = must(store->openCursor("s", "e4"));
  auto follower = must(store->follow("s", "e4"));
  const std::string bytes = slurp(logPath("s"));
  std::filesystem::resize_file(logPath("s"), bytes.find("{\"id\":\"e3\""));
  must(open()->appendSessionEntries("s", {message("x", "e9")}));

  EXPECT_EQ(idsOf(must(cursor.next(9))), (Ids{"e9"}));
  EXPECT_EQ(refused(last.hasMore()).code, ErrorCode::NotFound);
  EXPECT_EQ(refused(last.next(9)).code, ErrorCode::NotFound);
  EXPECT_EQ(refused(follower.next(0)).code, ErrorCode::NotFound);

  fill("t", 0);
  for (const char* id : {"t1", "e9", "t2"}) must(store->appendSessionEntries("t", {message("m", id)}));
  std::filesystem::rename(logPath("t"), logPath("s"));
  EXPECT_EQ(idsOf(must(cursor.next(9))), (Ids{"t2"}));
  last.reset();
  EXPECT_EQ(must(last.next(9)).size(), 4U);
}

}  // namespace
}  // namespace bough
