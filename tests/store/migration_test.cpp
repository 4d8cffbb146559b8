#include <gtest/gtest.h>

#include <functional>

#include "base/json/json_scan.h"
#include "store/store_support.h"

namespace bough {
namespace {

constexpr const char* kDraft =
    R"({"type":"session_header","id":"h","timestamp":"2025-01-01T00:00:00Z","payload":{"version":3,"key":"k","x":1.0}})"
    "\n"
    R"({"payload":{"n":1.00,"n":2},"id":"a","parentId":null,"type":"message","timestamp":1735689600123,"new":[1, 2]})"
    "\n"
    R"({"id":"b","parentId":"a","type":"vendor.x","timestamp":"about noon","payload":{},"runId":"r","meta":{"m":1}})"
    "\n";

TEST_F(StoreTest, ADraftIsReadAsItIsAndWrittenOnlyAfterMigration) {
  spill(logPath("d"), kDraft);
  EXPECT_EQ(idsOf(*store, "d"), (Ids{"a", "b"}));
  EXPECT_EQ(must(store->sessionState("d")).format, 0);
  const Error error = refused(store->appendSessionEntries("d", {message("x")}));
  EXPECT_EQ(error.code, ErrorCode::MigrationNeeded);
  EXPECT_TRUE(error.hint.contains("migrate"));
  EXPECT_EQ(slurp(logPath("d")), kDraft);

  const auto result = must(store->migrateSession("d"));
  EXPECT_EQ(result.fromFormat, 0);
  EXPECT_EQ(result.toFormat, 1);
  EXPECT_EQ(result.entries, 3U);
  EXPECT_TRUE(result.problems.empty());
  EXPECT_EQ(slurp(result.keptAs), kDraft);
  EXPECT_EQ(slurp(folder / "sessions/d.v0"), kDraft);

  const auto entries = must(store->loadSessionEntries("d"));
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].payload, R"({"format":1,"sessionId":"d","version":3,"key":"k","x":1.0})");
  EXPECT_EQ(entries[1].payload, R"({"n":1.00,"n":2})");
  EXPECT_EQ(entries[1].extra, R"("new":[1, 2])");
  EXPECT_EQ(entries[1].timestamp, "2025-01-01T00:00:00.123Z");
  EXPECT_EQ(entries[2].timestamp, entries[1].timestamp);
  EXPECT_TRUE(entries[2].extra.contains(R"("originalTimestamp":"about noon")"));
  EXPECT_EQ(entries[2].runId, "r");
  EXPECT_EQ(entries[2].parentId, "a");
  const auto report = must(store->verifySession("d"));
  EXPECT_EQ(report.problemCount + report.noteCount, 0U);
  must(store->appendSessionEntries("d", {message("x", "c")}));
  EXPECT_EQ(idsOf(*open(), "d"), (Ids{"a", "b", "c"}));
}

TEST_F(StoreTest, TypesThatMayNotBeAppendedAreMigratedAsTheyAre) {
  const std::string types[] = {R"(my type/é)", R"(a \"quoted\" \\ one)", R"(tab\tand\u0001)", std::string(300, 't')};
  std::string draft = R"({"type":"session_header","id":"h","timestamp":"2025-01-01T00:00:00Z","payload":{}})"
                      "\n";
  for (std::size_t i = 0; i < std::size(types); ++i) {
    draft += R"({"id":"e)" + std::to_string(i) + R"(","parentId":null,"type":")" + types[i] +
             R"(","timestamp":"2025-01-01T00:00:00Z","payload":{"i":1}})" + "\n";
  }
  spill(logPath("d"), draft);
  const auto before = must(store->loadSessionEntries("d"));
  must(store->migrateSession("d"));
  const auto fresh = open();
  for (SessionStore* reopened : {store.get(), fresh.get()}) {
    const auto after = must(reopened->loadSessionEntries("d"));
    ASSERT_EQ(after.size(), before.size());
    for (std::size_t i = 1; i < after.size(); ++i) {
      EXPECT_EQ(after[i].type, before[i].type);
      EXPECT_EQ(after[i].payload, before[i].payload);
      EXPECT_EQ(must(reopened->loadSessionEntries("d", {.type = before[i].type})).size(), 1U) << before[i].type;
    }
  }
  EXPECT_EQ(must(store->verifySession("d")).problemCount, 0U);
  must(store->appendSessionEntries("d", {message("x", "c")}));
  Entry odd = message("x");
  odd.type = "my type";
  EXPECT_EQ(refused(store->appendSessionEntries("d", {odd})).code, ErrorCode::InvalidArgument);
}

TEST_F(StoreTest, MigratingTwiceDoesNothingTheSecondTime) {
  spill(logPath("d"), kDraft);
  must(store->migrateSession("d"));
  const std::string after = slurp(logPath("d"));
  const auto again = must(store->migrateSession("d"));
  EXPECT_EQ(again.fromFormat, 1);
  EXPECT_TRUE(again.keptAs.empty());
  EXPECT_EQ(slurp(logPath("d")), after);
}

TEST_F(StoreTest, ADraftWithoutAHeaderGetsOne) {
  spill(logPath("d"), R"({"id":"a","type":"message","timestamp":"2025-01-01T00:00:00Z","payload":{}})"
                      "\n");
  must(store->migrateSession("d"));
  const auto entries = must(store->loadSessionEntries("d"));
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].type, entry_type::kSessionHeader);
  EXPECT_EQ(entries[0].timestamp, "2025-01-01T00:00:00Z");
  EXPECT_EQ(entries[1].id, "a");
}

TEST_F(StoreTest, DamagedLinesOfADraftAreReportedAndKept) {
  const std::string damaged = std::string(kDraft) + "not json\n" +
                              R"({"id":"c","parentId":"b","type":"message","timestamp":"2025-01-01T00:00:00Z"})" +
                              "\n" + "torn";
  spill(logPath("d"), damaged);
  const auto result = must(store->migrateSession("d"));
  ASSERT_EQ(result.problems.size(), 2U);
  EXPECT_EQ(result.problems[0].kind, ProblemKind::Damage);
  EXPECT_EQ(result.problems[0].offset, damaged.find("not json"));
  EXPECT_EQ(result.problems[1].kind, ProblemKind::Torn);
  EXPECT_EQ(slurp(result.keptAs), damaged);
  EXPECT_EQ(idsOf(*store, "d"), (Ids{"a", "b", "c"}));
}

TEST_F(StoreTest, AnInterruptedMigrationIsFinishedByTheNext) {
  spill(logPath("d"), kDraft);
  // Simulates a crash right before the swap: the new file is half written, the old one is linked.
  spill(logPath("d") + ".tmp", "half");
  std::filesystem::create_hard_link(logPath("d"), folder / "sessions/d.v0");
  EXPECT_EQ(idsOf(*store, "d"), (Ids{"a", "b"}));
  must(store->migrateSession("d"));
  EXPECT_EQ(slurp(folder / "sessions/d.v0"), kDraft);
  EXPECT_FALSE(std::filesystem::exists(logPath("d") + ".tmp"));
  EXPECT_EQ(must(store->sessionState("d")).format, 1);
}

TEST_F(StoreTest, AnotherFileUnderTheKeptNameIsNotOverwritten) {
  spill(logPath("d"), kDraft);
  spill(folder / "sessions/d.v0", "precious");
  EXPECT_EQ(refused(store->migrateSession("d")).code, ErrorCode::AlreadyExists);
  EXPECT_EQ(slurp(folder / "sessions/d.v0"), "precious");
  EXPECT_EQ(slurp(logPath("d")), kDraft);
  EXPECT_EQ(idsOf(*store, "d"), (Ids{"a", "b"}));
}

// A fork whose header is damaged: migration creates a new header.
class ForkMigration : public StoreTest {
 protected:
  ForkMigration() {
    fill("p", 2);
    must(store->branchFromEntry("p", "e2", {.sessionId = "f"}));
    must(store->appendSessionEntries("f", {message("own", "f1")}));
  }
  void damage(const std::string& text, const std::string& with) {
    std::string bytes = slurp(logPath("f"));
    spill(logPath("f"), bytes.replace(bytes.find(text), text.size(), with));
    store = open();
  }
};

TEST_F(ForkMigration, AForkStaysOne) {
  damage(R"("format":1)", R"("fXrmat":1)");
  const MigrationResult result = must(store->migrateSession("f"));
  EXPECT_EQ(result.fromFormat, 1) << "it was no other format";
  EXPECT_FALSE(result.keptAs.empty());
  EXPECT_EQ(idsOf(*store, "f"), (Ids{"e1", "e2", "f1"}));
  EXPECT_EQ(refused(store->trashSession("p")).code, ErrorCode::HasForks);
  must(store->appendSessionEntries("f", {message("more", "f2")}));
  EXPECT_EQ(must(store->verifySession("f")).problemCount, 0U);
}

TEST_F(ForkMigration, WhatCanBeReadOfADamagedHeaderIsTakenOver) {
  must(store->createSession({.sessionId = "s", .key = "main:cli:ada", .cwd = "/home/ada \"x\""}));
  must(store->appendSessionEntries("s", {message("1", "s1")}));
  must(store->branchFromEntry("s", "s1", {.sessionId = "t", .key = "main:cli:bea"}));
  must(store->appendSessionEntries("t", {message("2", "t1")}));
  must(store->maintenance().detach("t"));
  for (const std::string id : {"s", "t"}) {
    const std::string before = must(store->loadSessionEntries(id)).front().payload;
    std::string bytes = slurp(logPath(id));
    spill(logPath(id), bytes.replace(bytes.find("type"), 4, "tXpe"));
    store = open();
    must(store->migrateSession(id));
    EXPECT_EQ(must(store->loadSessionEntries(id)).front().payload, before);
    EXPECT_EQ(must(store->verifySession(id)).problemCount, 0U);
  }
  // The first line is not a header, so it must not be used as one.
  std::string bytes = slurp(logPath("s"));
  bytes.replace(0, bytes.find('\n'), R"({"id":"h","type":"message","payload":{"key":"main:cli:eve"}})");
  spill(logPath("s"), bytes);
  store = open();
  std::filesystem::remove(folder / "sessions/s.v0");
  must(store->migrateSession("s"));
  EXPECT_EQ(must(store->loadSessionEntries("s")).front().payload, R"({"format":1,"sessionId":"s"})");
}

TEST_F(ForkMigration, WhatMayBeAForkIsNotCutOff) {
  for (const std::string damaged :
       {R"("parentSession":{"sessionId":"p","entryId":"e9")", R"("parentSession":{"sessionId":"q","entryId":"e2")",
        R"("parentSessiXn":{"sessionId":"p","entryId":"e2")"}) {
    const std::string good = slurp(logPath("f"));
    damage(R"("parentSession":{"sessionId":"p","entryId":"e2")", damaged);
    const std::string before = slurp(logPath("f"));
    const Error error = refused(store->migrateSession("f"));
    EXPECT_EQ(error.code, ErrorCode::Damaged);
    EXPECT_TRUE(error.message.contains("byte 0")) << error.message;
    EXPECT_TRUE(error.hint.contains("first line")) << error.hint;
    EXPECT_EQ(slurp(logPath("f")), before);
    spill(logPath("f"), good);
  }
}

TEST_F(ForkMigration, ADraftOfAForkMayBeginWithSomethingElse) {
  spill(logPath("d"),
        "this is no entry\n"
        R"({"type":"session_header","id":"h","payload":{"parentSession":{"sessionId":"p","entryId":"e2"}}})"
        "\n"
        R"({"id":"d1","parentId":"e2","type":"message","payload":{}})"
        "\n");
  EXPECT_EQ(must(store->migrateSession("d")).fromFormat, 0);
  EXPECT_EQ(idsOf(*store, "d"), (Ids{"e1", "e2", "d1"}));
}

// The name of an attachment counts as a reference whether or not the attachment exists at the moment.
TEST_F(ForkMigration, ANewHeaderChangesNothingElse) {
  must(store->createSession({.sessionId = "s"}));
  const std::string large = R"({"text":")" + std::string(300'000, 'x') + R"("})";
  must(store->appendSessionEntries("s", {entryOf("custom", large, "big"), message("more", "more")}));
  const std::string attachments = folder / "attachments";
  std::filesystem::rename(attachments, folder / "aside");
  std::string bytes = slurp(logPath("s"));
  spill(logPath("s"), bytes.replace(bytes.find("format"), 6, "fXrmat"));
  store = open();
  must(store->migrateSession("s"));
  store.reset();
  std::filesystem::remove_all(attachments);
  std::filesystem::rename(folder / "aside", attachments);
  store = open();
  EXPECT_EQ(must(store->loadEntry("s", "big")).payload, large);
  EXPECT_EQ(must(store->verifySession("s")).problemCount, 0U);
}

TEST_F(ForkMigration, WhatWasOfANewerFormatStays) {
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("1", "s1")}));
  std::string bytes = slurp(logPath("s"));
  bytes.replace(bytes.find(R"("format":1)"), 10, R"("format":2)");
  spill(logPath("s"), bytes);
  store = open();
  EXPECT_EQ(refused(store->migrateSession("s")).code, ErrorCode::NewerFormat);
  EXPECT_EQ(slurp(logPath("s")), bytes);
}

TEST_F(ForkMigration, WhatIsNoForkGetsItsHeader) {
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("1", "s1"), message("2", "s2")}));
  std::string bytes = slurp(logPath("s"));
  spill(logPath("s"), bytes.replace(bytes.find("format"), 6, "fXrmat"));
  store = open();
  must(store->migrateSession("s"));
  must(store->appendSessionEntries("s", {message("3", "s3")}));
  EXPECT_EQ(idsOf(*store, "s"), (Ids{"s1", "s2", "s3"}));
}

// Its parent is an unreadable entry of this session, not an entry of another session.
TEST_F(ForkMigration, AnEntryBehindADamagedLineMakesNoForkOfIt) {
  must(store->createSession({.sessionId = "s"}));
  for (const char* id : {"s1", "s2", "s3"}) must(store->appendSessionEntries("s", {message(id, id)}));
  std::string bytes = slurp(logPath("s"));
  bytes.replace(bytes.find("format"), 6, "fXrmat");
  const std::size_t second = bytes.find(R"({"id":"s2")");
  spill(logPath("s"), bytes.replace(bytes.find("payload", second), 7, "pXyload"));
  store = open();
  EXPECT_EQ(refused(store->appendSessionEntries("s", {message("4", "s4")})).code, ErrorCode::MigrationNeeded);
  must(store->migrateSession("s"));
  must(store->appendSessionEntries("s", {message("4", "s4")}));
  EXPECT_EQ(idsOf(*store, "s"), (Ids{"s1", "s3", "s4"}));
}

class SecondVersion final : public EntrySerializer {
 public:
  [[nodiscard]] int schemaVersion() const override { return 2; }
  Result<void> encode(const Entry& entry, std::string& out) const override {
    return jsonEntrySerializer().encode(entry, out);
  }
  [[nodiscard]] Result<Entry> decode(std::string_view text) const override {
    return jsonEntrySerializer().decode(text);
  }
};

class VersionTest : public testing::TestWithParam<bool> {
 protected:
  VersionTest()
      : backend(GetParam() ? must(makeFileBackend(folder.path().string(), {}, serializer))
                           : makeMemoryBackend(serializer)),
        store(must(SessionStore::open({.backend = backend, .options = {}}))) {}

  // Creates a session as a writer of that format would.
  void plant(const std::string& id, int format) {
    Entry header = entryOf("session_header", "{\"format\":" + std::to_string(format) + ",\"key\":\"k\"}", "h");
    header.timestamp = "2026-01-01T00:00:00Z";
    Entry first = message("x", "x", "");
    first.timestamp = header.timestamp;
    must(backend->create({.sessionId = id, .entries = {header, first}}));
  }
  ErrorCode appendTo(const std::string& id, Durability durability = Durability::Sync) {
    return refused(store->appendSessionEntries(id, {message("y")}, {.durability = durability})).code;
  }

  TempFolder folder;
  SecondVersion serializer;
  std::shared_ptr<StorageBackend> backend;
  std::unique_ptr<SessionStore> store;
};

TEST_P(VersionTest, NewSessionsHaveTheVersionOfTheSerializer) {
  EXPECT_EQ(must(store->createSession({.sessionId = "s"})).schemaVersion, 2);
  must(store->appendSessionEntries("s", {message("a", "a")}));
  must(store->branchFromEntry("s", "a", {.sessionId = "f"}));
  must(store->appendSessionEntries("f", {message("b", "b")}, {.durability = Durability::Buffered}));
  EXPECT_EQ(idsOf(*store, "f"), (Ids{"a", "b"}));
  EXPECT_EQ(must(store->sessionState("f")).format, 2);
  EXPECT_EQ(must(store->verifySession("s")).problemCount, 0U);
  EXPECT_EQ(must(store->migrateSession("s")).fromFormat, 2);
}

TEST_P(VersionTest, OlderSessionsAreMigratedToIt) {
  plant("s", 1);
  EXPECT_EQ(appendTo("s"), ErrorCode::MigrationNeeded);
  EXPECT_EQ(appendTo("s", Durability::Buffered), ErrorCode::MigrationNeeded);
  const auto migrated = must(store->migrateSession("s"));
  EXPECT_EQ(migrated.fromFormat, 1);
  EXPECT_EQ(migrated.toFormat, 2);
  must(store->appendSessionEntries("s", {message("y", "y")}));
  EXPECT_EQ(idsOf(*store, "s"), (Ids{"x", "y"}));
  EXPECT_EQ(must(store->loadEntry("s", "h")).payload, R"({"format":2,"sessionId":"s","key":"k"})");
}

TEST_P(VersionTest, NewerSessionsAreReadAndNotWritten) {
  plant("s", 3);
  EXPECT_EQ(appendTo("s"), ErrorCode::NewerFormat);
  EXPECT_EQ(appendTo("s", Durability::Buffered), ErrorCode::NewerFormat);
  EXPECT_EQ(refused(store->migrateSession("s")).code, ErrorCode::NewerFormat);
  EXPECT_EQ(idsOf(*store, "s"), (Ids{"x"}));
}

// Encodes one entry of format 2 wrongly when `spoil` is set.
class SpoilingSerializer final : public EntrySerializer {
 public:
  std::function<void(Entry&)> spoil;

  [[nodiscard]] int schemaVersion() const override { return 2; }
  Result<void> encode(const Entry& entry, std::string& out) const override {
    Entry written = entry;
    if (spoil && entry.id == "x") spoil(written);
    return jsonEntrySerializer().encode(written, out);
  }
  [[nodiscard]] Result<Entry> decode(std::string_view text) const override {
    return jsonEntrySerializer().decode(text);
  }
};

TEST(MigrationReadsBack, AnEntryThatIsNotWrittenAsItWasStopsTheMigration) {
  const std::vector<std::function<void(Entry&)>> spoilers = {
      [](Entry& entry) { entry.id = "z"; },
      [](Entry& entry) { entry.parentId = "h"; },
      [](Entry& entry) { entry.type = "custom"; },
      [](Entry& entry) { entry.timestamp = "2026-01-01T00:00:01Z"; },
      [](Entry& entry) { entry.runId = "other"; },
      [](Entry& entry) { entry.meta = R"({"m":2})"; },
      [](Entry& entry) { entry.payload = R"({"other":1})"; },
      [](Entry& entry) { entry.extra.clear(); },
  };
  for (std::size_t i = 0; i < spoilers.size(); ++i) {
    const TempFolder folder;
    SpoilingSerializer serializer;
    const auto backend = must(makeFileBackend(folder.path().string(), {}, serializer));
    Entry header = entryOf("session_header", R"({"format":1})", "h");
    header.timestamp = "2026-01-01T00:00:00Z";
    Entry first = message("x", "x", "");
    first.timestamp = header.timestamp;
    first.runId = "r";
    first.meta = R"({"m":1})";
    first.extra = R"("more":1)";
    must(backend->create({.sessionId = "s", .entries = {header, first}}));
    const auto store = must(SessionStore::open({.backend = backend, .options = {}}));
    const std::string path = (folder.path() / "sessions" / "s.jsonl").string();
    const std::string before = slurp(path);
    serializer.spoil = spoilers[i];
    const auto failed = store->migrateSession("s");
    ASSERT_FALSE(failed) << i;
    EXPECT_EQ(failed.error().code, ErrorCode::Io) << i;
    EXPECT_EQ(slurp(path), before) << i;
    serializer.spoil = {};
    must(store->migrateSession("s"));
    EXPECT_EQ(must(store->loadEntry("s", "x")).extra, first.extra) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, VersionTest, testing::Bool(),
                         [](const auto& each) { return each.param ? "Files" : "Memory"; });

}  // namespace
}  // namespace bough
