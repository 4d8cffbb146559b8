// A store with a custom serializer: the choices that it may make work everywhere; open rejects the others.
#include <gtest/gtest.h>

#include <climits>
#include <filesystem>
#include <functional>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "bough/torn.h"
#include "store_support.h"

namespace bough {
namespace {

// Writes members after the fixed ones under other names and in another order, and reads them back.
class OwnSerializer : public EntrySerializer {
 public:
  [[nodiscard]] int schemaVersion() const override { return 1; }
  Result<void> encode(const Entry& entry, std::string& out) const override {
    out += text(entry);
    return {};
  }
  [[nodiscard]] Result<Entry> decode(std::string_view text) const override {
    if (!json::check(text)) return fail(ErrorCode::Damaged, "not an entry");
    const auto object = [&](std::string_view name) { return std::string(json::findMember(text, name).value_or("")); };
    Entry entry;
    entry.id = json::findString(text, "id").value_or("");
    entry.parentId = json::findString(text, "parentId").value_or("");
    entry.type = json::findString(text, "type").value_or("");
    entry.timestamp = json::findString(text, "at").value_or("");
    entry.runId = json::findString(text, "run").value_or("");
    entry.payload = object(payloadName());
    entry.meta = object("about");
    if (std::string more = object("more"); more.size() > 2) entry.extra = more.substr(1, more.size() - 2);
    return entry;
  }

 protected:
  [[nodiscard]] virtual std::string_view payloadName() const { return "payload"; }
  [[nodiscard]] virtual std::string beginning(const Entry& entry) const {
    return "{\"id\":" + json::quoted(entry.id) +
           ",\"parentId\":" + (entry.parentId.value_or("").empty() ? "null" : json::quoted(*entry.parentId)) +
           ",\"type\":" + json::quoted(entry.type);
  }
  [[nodiscard]] virtual std::string text(const Entry& entry) const {
    return beginning(entry) + ",\"about\":" + (entry.meta.empty() ? "\"\"" : entry.meta) + ",\"more\":{" + entry.extra +
           "},\"" + std::string(payloadName()) + "\":" + entry.payload + ",\"run\":" + json::quoted(entry.runId) +
           ",\"at\":" + json::quoted(entry.timestamp) + "}";
  }
};

// A missing `meta` must still be missing after a round trip.
class GoodSerializer final : public OwnSerializer {
 public:
  [[nodiscard]] Result<Entry> decode(std::string_view text) const override {
    auto entry = OwnSerializer::decode(text);
    if (entry && !entry->meta.starts_with('{')) entry->meta.clear();
    return entry;
  }
};

class OtherPayloadName final : public OwnSerializer {
  [[nodiscard]] std::string_view payloadName() const override { return "body"; }
};

class OtherOrder final : public OwnSerializer {
  [[nodiscard]] std::string beginning(const Entry& entry) const override {
    return "{\"type\":" + json::quoted(entry.type) + ",\"id\":" + json::quoted(entry.id) +
           ",\"parentId\":" + (entry.parentId.value_or("").empty() ? "null" : json::quoted(*entry.parentId));
  }
};

// Encodes messages differently from the entries that open tries.
class LateBreaker final : public OwnSerializer {
 public:
  [[nodiscard]] Result<Entry> decode(std::string_view text) const override { return GoodSerializer().decode(text); }

 private:
  [[nodiscard]] std::string text(const Entry& entry) const override {
    std::string line = OwnSerializer::text(entry);
    if (entry.payload.contains("secret")) line.replace(line.find("secret"), 6, "hidden");
    return line;
  }
};

// Reports a version that a header cannot have.
class OddVersion final : public OwnSerializer {
 public:
  explicit OddVersion(int version) : version_(version) {}
  [[nodiscard]] int schemaVersion() const override { return version_; }
  [[nodiscard]] Result<Entry> decode(std::string_view text) const override { return GoodSerializer().decode(text); }

 private:
  int version_;
};

class SerializerTest : public testing::TestWithParam<bool> {
 protected:
  std::shared_ptr<StorageBackend> over(const EntrySerializer& serializer) {
    return GetParam() ? must(makeFileBackend(folder.path().string(), {}, serializer)) : makeMemoryBackend(serializer);
  }
  TempFolder folder;
};

TEST_P(SerializerTest, HeadsForksAndLabelsWorkWithOtherNamesAndAnotherOrder) {
  const GoodSerializer serializer;
  const auto backend = over(serializer);
  auto store = must(SessionStore::open({.backend = backend}));
  must(store->createSession({.sessionId = "s"}));
  Entry full = message("a", "a");
  full.meta = R"({"m":1})";
  full.runId = "run";
  must(store->appendSessionEntries("s", {full, message("b", "b"), message("c", "c")}));
  must(store->moveHead("s", "b"));
  must(store->labelEntry("s", "a", "start"));
  must(store->branchFromEntry("s", "b", {.sessionId = "f"}));
  must(store->appendSessionEntries("s", {message("d", "d")}));
  const auto look = [&](SessionStore& seen) {
    EXPECT_EQ(must(seen.sessionState("s")).headId, "d");
    EXPECT_EQ(must(seen.sessionState("f")).headId, "b");
    EXPECT_EQ(*must(seen.loadEntry("s", "d")).parentId, "b");
    EXPECT_EQ(must(seen.loadEntry("s", "a")).meta, full.meta);
    EXPECT_EQ(must(seen.labels("s")).front().entryId, "a");
    EXPECT_EQ(must(seen.verifySession("s")).problemCount, 0U);
    EXPECT_EQ(idsOf(seen, "f"), (Ids{"a", "b"}));
  };
  look(*store);
  store.reset();
  look(*must(SessionStore::open({.backend = GetParam() ? over(serializer) : backend})));
}

// Has every member that an entry may have.
Entry fullEntry(const std::string& id, const std::string& text) {
  Entry entry = message(text, id);
  entry.meta = R"({"m":1})";
  entry.extra = R"("own":[1])";
  entry.runId = "run-" + id;
  entry.timestamp = "2026-01-02T03:04:05.678Z";
  return entry;
}

void expectSame(SessionStore& store, const std::string& session, const Entry& expected) {
  SCOPED_TRACE(expected.id);
  const Entry entry = must(store.loadEntry(session, expected.id));
  EXPECT_EQ(entry.payload, expected.payload);
  EXPECT_EQ(entry.meta, expected.meta);
  EXPECT_EQ(entry.extra, expected.extra);
  EXPECT_EQ(entry.runId, expected.runId);
  EXPECT_EQ(entry.timestamp, expected.timestamp);
}

TEST_P(SerializerTest, UpkeepWorksWithIt) {
  const GoodSerializer serializer;
  StoreSide own{.backend = over(serializer)};
  own.store = must(SessionStore::open({.backend = own.backend}));
  const auto& store = own.store;
  EXPECT_EQ(&store->serializer(), static_cast<const EntrySerializer*>(&serializer));
  must(store->createSession({.sessionId = "s"}));
  const Entry first = fullEntry("a", "first");
  const Entry large = fullEntry("c", std::string(100'000, 'x'));
  must(store->appendSessionEntries("s", {first, fullEntry("b", "secret"), large}));
  must(store->branchFromEntry("s", "b", {.sessionId = "f"}));
  must(store->redactEntry("s", "b", "me", "r"));
  must(store->maintenance().erase({.sessionId = "s", .entryIds = {"b"}, .by = "me", .reason = "r"}));
  must(store->maintenance().detach("f"));
  must(store->repairSession("s"));
  must(store->migrateSession("s"));
  for (const std::string session : {"s", "f"}) {
    EXPECT_EQ(must(store->verifySession(session)).problemCount, 0U);
    expectSame(*store, session, first);
    EXPECT_FALSE(must(store->loadEntry(session, "b")).payload.contains("secret"));
  }
  expectSame(*store, "s", large);
  const auto moved = must(store->trashSession("f"));
  must(store->maintenance().restore(moved.trashId));
  expectSame(*store, "f", first);
  StoreSide plain{.backend = makeMemoryBackend()};
  plain.store = must(SessionStore::open({.backend = plain.backend}));
  must(copySession(own, plain, "s"));
  expectSame(*plain.store, "s", first);
  expectSame(*plain.store, "s", large);
  if (!GetParam()) return;
  must(store->archiveSession("s"));
  expectSame(*store, "s", first);
  must(store->appendSessionEntries("s", {fullEntry("d", "more")}));
  expectSame(*store, "s", large);
}

TEST_P(SerializerTest, WhatWasSetAsideComesBackAsItWas) {
  if (!GetParam()) return;
  const GoodSerializer serializer;
  const std::string path = folder / "sessions/s.jsonl";
  const Entry kept = fullEntry("a", "kept");
  {
    const auto store = must(SessionStore::open({.backend = over(serializer)}));
    must(store->createSession({.sessionId = "s"}));
    must(store->appendSessionEntries("s", {kept, fullEntry("b", "cut off")}));
  }
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 20);
  const auto store = must(SessionStore::open({.backend = over(serializer)}));
  must(store->appendSessionEntries("s", {message("on", "c")}));
  EXPECT_GT(tornBytes(*store, "s"), 0U);
  const auto torn = must(readTorn(*store, "s"));
  ASSERT_EQ(torn.records.size(), 1U);
  ASSERT_EQ(torn.records[0].entries.size(), 1U);
  EXPECT_EQ(must(putBackTorn(*store, "s")).appendedCount, 1U);
  expectSame(*store, "s", kept);
}

TEST_P(SerializerTest, OpenRefusesOneThatBreaksTheFixedBytes) {
  const OtherPayloadName otherName;
  const OtherOrder otherOrder;
  const OwnSerializer wrongMeta;
  for (const EntrySerializer* each :
       {static_cast<const EntrySerializer*>(&otherName), static_cast<const EntrySerializer*>(&otherOrder),
        static_cast<const EntrySerializer*>(&wrongMeta)}) {
    EXPECT_EQ(refused(SessionStore::open({.backend = over(*each)})).code, ErrorCode::InvalidArgument);
  }
}

TEST_P(SerializerTest, OpenRefusesAVersionThatNoHeaderCanHave) {
  for (const int version : {0, -1, INT_MIN, INT_MAX}) {
    const OddVersion serializer(version);
    EXPECT_EQ(refused(SessionStore::open({.backend = over(serializer)})).code, ErrorCode::InvalidArgument) << version;
  }
  const OddVersion later(2);
  const auto store = must(SessionStore::open({.backend = over(later)}));
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("m", "a")}));
  EXPECT_EQ(must(store->sessionState("s")).format, 2);
}

TEST_P(SerializerTest, AnAppendRefusesALineThatBreaksThem) {
  const LateBreaker serializer;
  auto store = must(SessionStore::open({.backend = over(serializer)}));
  must(store->createSession({.sessionId = "s"}));
  const Error error = refused(store->appendSessionEntries("s", {message("fine", "a"), message("a secret", "b")}));
  EXPECT_EQ(error.code, ErrorCode::InvalidArgument);
  EXPECT_TRUE(error.message.contains("payload")) << error.message;
  must(store->appendSessionEntries("s", {message("fine", "a")}));
  EXPECT_EQ(idsOf(*store, "s"), (Ids{"a"}));
}

INSTANTIATE_TEST_SUITE_P(Backends, SerializerTest, testing::Bool(),
                         [](const auto& each) { return each.param ? "Files" : "Memory"; });

}  // namespace
}  // namespace bough
