// What sync does with labels, redactions and titles that two stores set independently.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "bough/catalog.h"
#include "store/copy_support.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

Entry labelAt(const std::string& name, const std::string& entryId, int second, const std::string& id = {}) {
  Entry entry;
  entry.id = id;
  entry.type = entry_type::kLabel;
  entry.payload = R"({"name":")" + name + R"(","entryId":)" + (entryId.empty() ? "null" : '"' + entryId + '"') + "}";
  entry.timestamp = "2026-01-01T00:00:" + std::to_string(10 + second) + ".000Z";
  return entry;
}

// Returns what a list of labels shows.
std::vector<std::string> labelsOf(const StoreSide& side) {
  std::vector<std::string> shown;
  for (const SessionLabel& label : must(side.store->labels("s"))) {
    shown.push_back(label.name + " " + label.entryId + " " + label.timestamp);
  }
  return shown;
}

TEST(Sync, ALabelThatBothStoresGaveToOneEntryHasOneAge) {
  for (const bool leftIsOlder : {true, false}) {
    StoreSide left = openSide("memory:");
    StoreSide right = openSide("memory:");
    must(left.store->createSession({.sessionId = "s"}));
    must(left.store->appendSessionEntries("s", {message("a"), message("b")}));
    must(syncSession(left, right, "s"));
    must(left.store->appendSessionEntries("s", {labelAt("here", "a", leftIsOlder ? 1 : 5)}));
    must(right.store->appendSessionEntries(
        "s", {labelAt("here", "b", 2), labelAt("here", "a", 3), labelAt("gone", "a", 3), labelAt("gone", "", 4)}));
    const auto synced = must(syncSession(left, right, "s"));
    EXPECT_TRUE(synced.front().notes.empty()) << "nobody's word is lost";
    EXPECT_EQ(labelsOf(left),
              std::vector{std::string("here a 2026-01-01T00:00:1") + (leftIsOlder ? "3" : "5") + ".000Z"});
    EXPECT_EQ(labelsOf(left), labelsOf(right));
    const auto again = must(syncSession(right, left, "s"));
    EXPECT_EQ(again.front().toLeft + again.front().toRight, 0U);
  }
}

// When one store redacted an entry, its words must not come back in another entry that is not redacted.
TEST(Sync, ALabelThatWasRedactedStaysHidden) {
  StoreSide left = openSide("memory:");
  StoreSide right = openSide("memory:");
  must(left.store->createSession({.sessionId = "s"}));
  must(left.store->appendSessionEntries("s", {message("a"), message("b")}));
  must(syncSession(left, right, "s"));
  must(right.store->appendSessionEntries("s", {labelAt("secret", "b", 1)}));
  must(left.store->appendSessionEntries("s", {labelAt("secret", "a", 2, "named")}));
  must(left.store->redactEntry("s", "named", "me", "a name"));
  Entry title;
  title.id = "titled";
  title.type = entry_type::kSessionInfo;
  title.payload = R"({"title":"a secret title"})";
  must(left.store->appendSessionEntries("s", {title}));
  must(left.store->redactEntry("s", "titled", "me", "a title"));
  must(right.store->setTitle("s", "another title"));
  must(syncSession(left, right, "s"));
  EXPECT_EQ(labelsOf(left), std::vector<std::string>{"secret b 2026-01-01T00:00:11.000Z"});
  EXPECT_EQ(labelsOf(left), labelsOf(right));
  for (const StoreSide* side : {&left, &right}) {
    std::size_t said = 0;
    for (const Entry& entry : must(side->store->loadSessionEntries("s", {.showRedacted = true}))) {
      if (entry.payload.contains("a secret title")) ++said;
    }
    EXPECT_EQ(said, 1U);
  }
}

// Both stores show the same reason, that of the first redaction, whichever log it was in.
TEST(Sync, AnEntryThatBothStoresRedactedHasOneReason) {
  StoreSide left = openSide("memory:");
  StoreSide right = openSide("memory:");
  must(left.store->createSession({.sessionId = "s"}));
  must(left.store->appendSessionEntries("s", {message("a"), message("b")}));
  must(syncSession(left, right, "s"));
  const auto redact = [](StoreSide& side, const std::string& entryId, const std::string& reason, int second) {
    Entry entry;
    entry.type = entry_type::kRedaction;
    entry.payload = R"({"entryId":")" + entryId + R"(","by":"me","reason":")" + reason + R"("})";
    entry.timestamp = "2026-01-01T00:00:" + std::to_string(10 + second) + ".000Z";
    must(side.store->appendSessionEntries("s", {entry}));
  };
  redact(left, "a", "first", 1);
  redact(left, "b", "second", 4);
  redact(right, "a", "second", 3);
  redact(right, "b", "first", 2);
  must(syncSession(left, right, "s"));
  for (const StoreSide* side : {&left, &right}) {
    for (const char* const id : {"a", "b"}) {
      EXPECT_TRUE(must(side->store->loadEntry("s", id)).payload.contains(R"("reason":"first")")) << id;
    }
  }
}

TEST(Sync, AnEntryThatBothStoresErasedHasOneReason) {
  const TempFolder folder;
  StoreSide left = openSide(folder / "left");
  StoreSide right = openSide(folder / "right");
  must(left.store->createSession({.sessionId = "s"}));
  must(left.store->appendSessionEntries("s", {message("a"), message("b")}));
  must(syncSession(left, right, "s"));
  must(left.store->maintenance().erase({.sessionId = "s", .entryIds = {"a"}, .by = "me", .reason = "mine"}));
  must(right.store->maintenance().erase({.sessionId = "s", .entryIds = {"a"}, .by = "you", .reason = "yours"}));
  must(syncSession(left, right, "s"));
  EXPECT_EQ(must(left.store->loadEntry("s", "a")).payload, must(right.store->loadEntry("s", "a")).payload);
}

std::string titleOf(const StoreSide& side) {
  auto catalog = must(Catalog::open(*side.store));
  must(catalog->catchUp());
  return must(catalog->session("s")).title;
}

// The title of a session without a given one is its first message, which differs between the logs.
TEST(Sync, ATitleThatIsMadeFromAMessageIsTheSameInBothStores) {
  for (const bool leftIsFirst : {true, false}) {
    const TempFolder folder;
    StoreSide left = openSide(folder / "left");
    StoreSide right = openSide(folder / "right");
    must(left.store->createSession({.sessionId = "s"}));
    must(syncSession(left, right, "s"));
    const auto say = [](StoreSide& side, const std::string& text, int second) {
      Entry entry;
      entry.type = "message";
      entry.payload = R"({"dialect":"bough","message":{"role":"user","content":")" + text + R"("}})";
      entry.timestamp = "2126-01-01T00:00:" + std::to_string(10 + second) + ".000Z";
      must(side.store->appendSessionEntries("s", {entry}));
    };
    say(left, "of the left", leftIsFirst ? 1 : 5);
    say(left, "later", 7);
    say(right, "of the right", 3);
    EXPECT_EQ(titleOf(left), "of the left");
    EXPECT_EQ(titleOf(right), "of the right");
    must(syncSession(left, right, "s"));
    const std::string first = leftIsFirst ? "of the left" : "of the right";
    EXPECT_EQ(titleOf(left), first);
    EXPECT_EQ(titleOf(right), first);
    auto anew = must(Catalog::open(*left.store, {.inMemory = true}));
    must(anew->catchUp());
    EXPECT_EQ(must(anew->session("s")).title, first);
  }
}

// Titles from users and from agents are separate: a newer one from an agent must not affect which user title counts.
TEST(Sync, TitlesOfPeopleAndOfAgentsAreBroughtTogetherApart) {
  const TempFolder folder;
  StoreSide left = openSide(folder / "left");
  StoreSide right = openSide(folder / "right");
  must(left.store->createSession({.sessionId = "s"}));
  must(syncSession(left, right, "s"));
  const auto title = [](StoreSide& side, const std::string& text, bool generated, int second) {
    Entry entry;
    entry.type = entry_type::kSessionInfo;
    entry.payload = R"({"title":")" + text + R"(")" + (generated ? R"(,"titleSource":"generated"})" : "}");
    entry.timestamp = "2026-01-01T00:00:" + std::to_string(10 + second) + ".000Z";
    must(side.store->appendSessionEntries("s", {entry}));
  };
  title(left, "older", false, 1);
  title(left, "an agent's", true, 5);
  title(right, "newer", false, 3);
  must(syncSession(left, right, "s"));
  EXPECT_EQ(titleOf(left), "newer");
  EXPECT_EQ(titleOf(right), "newer");
}

TEST(Sync, ThreeStoresThatAreWrittenToInAnyOrderEndAlike) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::minstd_rand random(seed);
    std::vector<StoreSide> stores;
    for (int i = 0; i < 3; ++i) stores.push_back(openSide("memory:"));
    ASSERT_TRUE(stores[0].store->createSession({.sessionId = "s"}));
    ASSERT_TRUE(stores[0].store->appendSessionEntries("s", {message("start")}));
    for (std::size_t other = 1; other < 3; ++other) ASSERT_TRUE(syncSession(stores[0], stores[other], "s"));
    int made = 0;
    for (int step = 0; step < 30; ++step) {
      const std::size_t one = random() % 3;
      if (random() % 2 == 0) {
        std::vector<Entry> batch;
        for (auto left = random() % 5 + 1; left-- > 0;) batch.push_back(message("e" + std::to_string(made++)));
        for (auto left = random() % 3; left-- > 0;) {
          const std::string entry = random() % 4 == 0 ? "" : batch[random() % batch.size()].id;
          const std::string again = random() % 2 == 0 ? entry : "start";
          batch.push_back(labelAt(random() % 2 == 0 ? "x" : "y", again, static_cast<int>(random() % 50)));
        }
        ASSERT_TRUE(stores[one].store->appendSessionEntries("s", std::move(batch)));
        continue;
      }
      StoreSide& other = stores[(one + 1) % 3];
      const auto synced = syncSession(stores[one], other, "s");
      ASSERT_TRUE(synced) << synced.error().message;
      auto left = lines(stores[one], "s");
      auto right = lines(other, "s");
      std::ranges::sort(left);
      std::ranges::sort(right);
      ASSERT_EQ(left, right);
      ASSERT_EQ(labelsOf(stores[one]), labelsOf(other));
      const auto again = syncSession(stores[one], other, "s");
      ASSERT_TRUE(again);
      EXPECT_EQ(again->front().toLeft + again->front().toRight, 0U);
    }
  }
}
}  // namespace
}  // namespace bough
