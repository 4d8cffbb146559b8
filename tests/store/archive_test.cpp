#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "store/store_support.h"

namespace bough {
namespace {

class ArchiveTest : public StoreTest {
 protected:
  [[nodiscard]] std::string zstdPath(const std::string& id) const { return folder / ("archive/" + id + ".jsonl.zst"); }
};

TEST_F(ArchiveTest, AnArchivedSessionReadsAsBeforeAndComesBackWithTheNextAppend) {
  fill("s", 0);
  for (int part = 0; part < 4; ++part) {
    std::vector<Entry> batch;
    for (int i = 0; i < 500; ++i) batch.push_back(message(std::string(400, 'x'), "e" + std::to_string(part * 500 + i)));
    must(store->appendSessionEntries("s", batch));
  }
  const std::string plain = slurp(logPath("s"));
  const auto before = must(store->loadSessionEntries("s"));
  const auto sizes = must(store->archiveSession("s"));
  EXPECT_EQ(sizes.bytesBefore, plain.size());
  EXPECT_LT(sizes.bytesAfter, plain.size());
  EXPECT_FALSE(std::filesystem::exists(logPath("s")));
  EXPECT_TRUE(must(store->sessionState("s")).archived);
  for (auto* reader : {store.get(), open().release()}) {
    const auto after = must(reader->loadSessionEntries("s"));
    ASSERT_EQ(idsOf(after), idsOf(before));
    EXPECT_EQ(must(reader->loadEntry("s", "e1234")).payload, before[1235].payload);
    EXPECT_EQ(idsOf(*reader, "s", {.last = 2}), (Ids{"e1998", "e1999"}));
    if (reader != store.get()) delete reader;
  }
  must(store->archiveSession("s"));
  EXPECT_EQ(must(store->verifySession("s")).problemCount, 0U);
  EXPECT_EQ(must(store->listSessions()), (Ids{"s"}));
  must(store->appendSessionEntries("s", {message("x", "back")}));
  EXPECT_FALSE(std::filesystem::exists(zstdPath("s")));
  EXPECT_TRUE(slurp(logPath("s")).starts_with(plain));
  EXPECT_FALSE(must(store->sessionState("s")).archived);
}

TEST_F(ArchiveTest, TheParentOfAForkMayBeArchived) {
  fill("s", 2);
  must(store->branchFromEntry("s", "e2", {.sessionId = "f"}));
  must(store->archiveSession("s"));
  must(store->appendSessionEntries("f", {message("x", "f1")}));
  EXPECT_EQ(idsOf(*open(), "f"), (Ids{"e1", "e2", "f1"}));
  EXPECT_TRUE(must(store->sessionState("s")).archived) << "reading does not bring it back";
}

TEST_F(ArchiveTest, GzipFilesAreReadWhereverTheyLie) {
  if (std::system("command -v gzip >/dev/null") != 0) GTEST_SKIP() << "no gzip";
  for (const std::string place : {"sessions/", "archive/"}) {
    const std::string id = place == "sessions/" ? "a" : "b";
    fill(id, 3);
    const std::string plain = slurp(logPath(id));
    must(store->close());
    ASSERT_EQ(std::system(("gzip " + logPath(id)).c_str()), 0);
    if (place == "archive/") std::filesystem::rename(logPath(id) + ".gz", folder / (place + id + ".jsonl.gz"));
    store = open();
    EXPECT_EQ(idsOf(*store, id), (Ids{"e1", "e2", "e3"}));
    EXPECT_EQ(must(store->loadEntry(id, "e2")).id, "e2");
    must(store->appendSessionEntries(id, {message("x", "e4")}));
    EXPECT_TRUE(slurp(logPath(id)).starts_with(plain));
    EXPECT_FALSE(std::filesystem::exists(folder / (place + id + ".jsonl.gz")));
  }
}

TEST_F(ArchiveTest, ADamagedArchiveIsAnErrorAndStays) {
  fill("s", 50);
  must(store->archiveSession("s"));
  std::string bytes = slurp(zstdPath("s"));
  bytes[bytes.size() / 3] = static_cast<char>(bytes[bytes.size() / 3] ^ 0x55);
  spill(zstdPath("s"), bytes);
  std::filesystem::remove(folder / "sessions/s.idx");
  store = open();
  EXPECT_EQ(refused(store->loadSessionEntries("s")).code, ErrorCode::Damaged);
  EXPECT_EQ(refused(store->appendSessionEntries("s", {message("x")})).code, ErrorCode::Damaged);
  EXPECT_EQ(slurp(zstdPath("s")), bytes);
  EXPECT_FALSE(std::filesystem::exists(logPath("s")));
  const std::string half = bytes.substr(0, bytes.size() / 2);
  spill(zstdPath("s"), half);
  const Error error = refused(open()->loadSessionEntries("s"));
  EXPECT_EQ(error.code, ErrorCode::Damaged);
  EXPECT_NE(error.message.find("at byte 0"), std::string::npos) << error.message;
}

// A crash between the two steps of archiving leaves both files.
TEST_F(ArchiveTest, ADeletedSessionDoesNotComeBackFromAForgottenArchive) {
  fill("s", 2);
  must(store->archiveSession("s"));
  const std::string packed = slurp(zstdPath("s"));
  must(store->appendSessionEntries("s", {message("x", "e3")}));
  spill(zstdPath("s"), packed);
  EXPECT_EQ(idsOf(*open(), "s"), (Ids{"e1", "e2", "e3"})) << "the plain one counts";
  must(store->deleteSession("s"));
  EXPECT_EQ(refused(store->loadSessionEntries("s")).code, ErrorCode::NotFound);
  EXPECT_EQ(refused(open()->loadSessionEntries("s")).code, ErrorCode::NotFound);
  EXPECT_TRUE(must(store->listSessions()).empty());
}

TEST_F(ArchiveTest, RepairRemovesWhatIsThisSessionsAndNothingElse) {
  fill("a", 1);
  const std::vector<std::string> ours = {"a.jsonl.tmp", "a.jsonl.0123456789abcdef.tmp", "a.idx.0123456789abcdef.tmp"};
  const std::vector<std::string> others = {"a.idx.jsonl.tmp", "a.jsonl.b.jsonl.tmp", "a.jsonl.note", "ab.jsonl.tmp"};
  for (const std::string& name : ours) spill(folder / ("sessions/" + name), "x");
  for (const std::string& name : others) spill(folder / ("sessions/" + name), "x");
  EXPECT_EQ(must(store->repairSession("a")).removedFiles.size(), ours.size());
  for (const std::string& name : ours) EXPECT_FALSE(std::filesystem::exists(folder / ("sessions/" + name))) << name;
  for (const std::string& name : others) EXPECT_TRUE(std::filesystem::exists(folder / ("sessions/" + name))) << name;
}

// A user may put an older log beside an archive, or an older archive beside a log.
TEST_F(ArchiveTest, ACompressedFileThatHoldsSomethingElseStays) {
  fill("s", 2);
  const std::string older = slurp(logPath("s"));
  must(store->appendSessionEntries("s", {message("precious", "e3")}));
  must(store->archiveSession("s"));
  const std::string packed = slurp(zstdPath("s"));
  spill(logPath("s"), older);
  store = open();
  const Error error = refused(store->archiveSession("s"));
  EXPECT_EQ(error.code, ErrorCode::Damaged);
  for (const std::string& path : {logPath("s"), zstdPath("s")}) {
    EXPECT_NE(error.message.find(path), std::string::npos) << error.message;
  }
  const RepairReport repaired = must(store->repairSession("s"));
  EXPECT_TRUE(repaired.removedFiles.empty());
  EXPECT_EQ(repaired.otherCopies, (Ids{zstdPath("s")}));
  EXPECT_EQ(repaired.path, logPath("s"));
  const VerifyReport report = must(store->verifySession("s"));
  ASSERT_EQ(report.problemCount, 1U);
  EXPECT_EQ(report.problems.back().kind, ProblemKind::OtherCopy);
  EXPECT_EQ(slurp(zstdPath("s")), packed);
  EXPECT_EQ(slurp(logPath("s")), older);
}

TEST_F(ArchiveTest, ACompressedFileThatCannotBeReadStays) {
  fill("s", 2);
  const std::string plain = slurp(logPath("s"));
  must(store->archiveSession("s"));
  std::string packed = slurp(zstdPath("s"));
  spill(logPath("s"), plain);
  for (const std::size_t at : {std::size_t{20}, packed.size() - 3}) {
    std::string damaged = packed;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    spill(zstdPath("s"), damaged);
    store = open();
    EXPECT_EQ(must(store->repairSession("s")).otherCopies.size(), 1U);
    EXPECT_EQ(refused(store->archiveSession("s")).code, ErrorCode::Damaged);
    EXPECT_EQ(slurp(zstdPath("s")), damaged);
  }
}

TEST_F(ArchiveTest, ACompressedFileThatHoldsNothingMoreIsALeftover) {
  fill("s", 2);
  const std::string older = slurp(logPath("s"));
  must(store->archiveSession("s"));
  const std::string packed = slurp(zstdPath("s"));
  must(store->appendSessionEntries("s", {message("x", "e3")}));
  for (const bool archive : {false, true}) {
    spill(zstdPath("s"), packed);
    store = open();
    const VerifyReport report = must(store->verifySession("s"));
    EXPECT_EQ(report.problemCount, 0U);
    EXPECT_EQ(report.noteCount, 1U);
    if (archive) {
      must(store->archiveSession("s"));
    } else {
      EXPECT_EQ(must(store->repairSession("s")).removedFiles, (Ids{"s.jsonl.zst"}));
    }
    EXPECT_EQ(idsOf(*store, "s"), (Ids{"e1", "e2", "e3"}));
  }
}

// The trash would keep only one of the two files.
TEST_F(ArchiveTest, TwoGzipFilesOfASessionAreNotThrownAwayForOne) {
  if (std::system("command -v gzip >/dev/null") != 0) GTEST_SKIP() << "no gzip";
  fill("s", 2);
  ASSERT_EQ(std::system(("gzip " + logPath("s")).c_str()), 0);
  spill(folder / "archive/s.jsonl.gz", slurp(logPath("s") + ".gz"));
  store = open();
  EXPECT_EQ(refused(store->trashSession("s")).code, ErrorCode::AlreadyExists);
  EXPECT_EQ(must(store->listSessions()), (Ids{"s"}));
}

class DamagedFrame : public ArchiveTest {
 protected:
  // A log of several frames, one of which is damaged.
  DamagedFrame() {
    must(store->createSession({.sessionId = "s"}));
    for (int part = 0; part < 20; ++part) {
      std::vector<Entry> batch;
      for (int i = 0; i < 100; ++i) batch.push_back(message(words(), "e" + std::to_string(part * 100 + i)));
      must(store->appendSessionEntries("s", batch));
    }
    plain = slurp(logPath("s"));
    must(store->archiveSession("s"));
    bytes = slurp(zstdPath("s"));
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x55);
    spill(zstdPath("s"), bytes);
  }
  std::string words() {
    std::string text;
    while (text.size() < 500) text += std::to_string(random() % 1'000'000) + " ";
    return text;
  }
  std::mt19937 random{7};
  std::string plain;
  std::string bytes;
};

TEST_F(DamagedFrame, CostsWhatStandsInIt) {
  for (const bool index : {true, false}) {
    if (!index) std::filesystem::remove(folder / "sessions/s.idx");
    store = open();
    std::size_t lines = 0;
    must(store->exportSession("s", [&](std::string_view) { return ++lines > 0; }));
    EXPECT_GT(lines, 1000U);
    EXPECT_LT(lines, 2001U);
    store = open();
    const Ids ids = idsOf(*store, "s");
    EXPECT_EQ(ids.size(), lines) << "without the header, with one for the place that cannot be read";
    EXPECT_EQ(ids.front(), "e0");
    EXPECT_EQ(ids.back(), "e1999");
    EXPECT_EQ(refused(store->loadEntry("s", "e1000")).code, ErrorCode::NotFound);
    EXPECT_GT(must(store->sessionState("s")).problemCount, 0U);
    store = open();
    const VerifyReport report = must(store->verifySession("s"));
    EXPECT_EQ(report.entries, lines);
    EXPECT_GT(report.problemCount, 0U);
  }
}

// In an archive, what looks torn is damage: unlike a log file, it cannot be in the middle of a write.
TEST_F(DamagedFrame, CostsWhatStandsInItThoughAllIsOneBatch) {
  must(store->createSession({.sessionId = "b"}));
  std::vector<Entry> batch;
  for (int i = 0; i < 2000; ++i) batch.push_back(message(words(), "e" + std::to_string(i)));
  must(store->appendSessionEntries("b", batch));
  must(store->archiveSession("b"));
  std::string packed = slurp(zstdPath("b"));
  packed[packed.size() / 2] = static_cast<char>(packed[packed.size() / 2] ^ 0x55);
  spill(zstdPath("b"), packed);
  std::filesystem::remove(folder / "sessions/b.idx");
  store = open();
  const Ids ids = idsOf(*store, "b");
  EXPECT_GT(ids.size(), 1000U);
  EXPECT_EQ(ids.back(), "e1999");
  EXPECT_EQ(must(store->sessionState("b")).trailingBytes, 0U);
}

TEST_F(DamagedFrame, IsNotUnpackedForAnAppend) {
  store = open();
  for (const Error& error : {refused(store->appendSessionEntries("s", {message("x")})),
                             refused(store->appendSessionEntries("s", {message("x")}))}) {
    EXPECT_EQ(error.code, ErrorCode::Damaged);
    EXPECT_NE(error.message.find(zstdPath("s")), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("at byte "), std::string::npos) << error.message;
    EXPECT_FALSE(error.hint.empty());
  }
  EXPECT_EQ(slurp(zstdPath("s")), bytes);
  EXPECT_FALSE(std::filesystem::exists(logPath("s")));
}

TEST_F(DamagedFrame, AnArchiveThatIsCutShortIsReadAsFarAsItGoes) {
  bytes.resize(bytes.size() / 2);
  spill(zstdPath("s"), bytes);
  for (const bool index : {true, false}) {
    if (!index) std::filesystem::remove(folder / "sessions/s.idx");
    store = open();
    const Ids ids = idsOf(*store, "s");
    EXPECT_GT(ids.size(), 500U);
    EXPECT_EQ(ids.front(), "e0");
    EXPECT_GT(must(store->sessionState("s")).problemCount, 0U);
    EXPECT_EQ(must(store->sessionState("s")).trailingBytes, 0U);
    EXPECT_EQ(must(store->verifySession("s")).entries, ids.size())
        << "with the header, without the last, unreadable one";
    EXPECT_EQ(refused(store->appendSessionEntries("s", {message("x")})).code, ErrorCode::Damaged);
    EXPECT_EQ(slurp(zstdPath("s")), bytes);
  }
}

TEST_F(ArchiveTest, ADamagedTableOrChecksumCostsNothingAndIsReported) {
  if (std::system("command -v gzip >/dev/null") != 0) GTEST_SKIP() << "no gzip";
  for (const std::string id : {"z", "g"}) fill(id, 3);
  must(store->archiveSession("z"));
  ASSERT_EQ(std::system(("gzip " + logPath("g")).c_str()), 0);
  for (const auto& [id, path] :
       {std::pair<std::string, std::string>("z", zstdPath("z")), {"g", logPath("g") + ".gz"}}) {
    std::string packed = slurp(path);
    packed[packed.size() - 6] ^= 1;
    spill(path, packed);
    store = open();
    EXPECT_EQ(idsOf(*store, id), (Ids{"e1", "e2", "e3"}));
    EXPECT_EQ(must(store->sessionState(id)).problemCount, 1U);
    EXPECT_EQ(must(store->verifySession(id)).problemCount, 1U);
    EXPECT_EQ(refused(store->appendSessionEntries(id, {message("x")})).code, ErrorCode::Damaged);
    EXPECT_EQ(slurp(path), packed);
  }
}

TEST_F(ArchiveTest, BytesBehindAGzipFileAreReportedAndLeftOut) {
  if (std::system("command -v gzip >/dev/null") != 0) GTEST_SKIP() << "no gzip";
  fill("s", 3);
  ASSERT_EQ(std::system(("gzip " + logPath("s")).c_str()), 0);
  const std::string packed = slurp(logPath("s") + ".gz");
  spill(logPath("s") + ".gz", packed + "garbage");
  store = open();
  EXPECT_EQ(idsOf(*store, "s"), (Ids{"e1", "e2", "e3"}));
  const VerifyReport report = must(store->verifySession("s"));
  ASSERT_EQ(report.problemCount, 1U);
  EXPECT_NE(report.problems[0].message.find("at byte " + std::to_string(packed.size())), std::string::npos);
  EXPECT_EQ(refused(store->appendSessionEntries("s", {message("x")})).code, ErrorCode::Damaged);
  EXPECT_EQ(slurp(logPath("s") + ".gz"), packed + "garbage");
}

TEST_F(ArchiveTest, MigratingUnpacksOnlyWhatIsWrittenAnew) {
  spill(logPath("n"), R"({"id":"h","parentId":null,"type":"session_header","payload":{"format":9}})"
                      "\n");
  fill("s", 1);
  for (const std::string id : {"n", "s"}) must(store->archiveSession(id));
  EXPECT_EQ(refused(store->migrateSession("n")).code, ErrorCode::NewerFormat);
  EXPECT_TRUE(must(store->migrateSession("s")).keptAs.empty());
  for (const std::string id : {"n", "s"}) EXPECT_TRUE(std::filesystem::exists(zstdPath(id))) << id;
  spill(logPath("d"), R"({"id":"h","parentId":null,"type":"session_header","payload":{"version":0}})"
                      "\n");
  must(store->archiveSession("d"));
  EXPECT_FALSE(must(store->migrateSession("d")).keptAs.empty());
  EXPECT_FALSE(std::filesystem::exists(zstdPath("d")));
}

// The index may be missing, older, newer, damaged or from another file; the answers must be the same.
TEST_F(ArchiveTest, TheIndexFileNeverChangesAnAnswer) {
  const auto fillLarge = [&](const std::string& id, const std::string& prefix) {
    must(store->createSession({.sessionId = id}));
    for (int part = 0; part < 10; ++part) {
      std::vector<Entry> batch;
      for (int i = 0; i < 100; ++i)
        batch.push_back(message(std::string(900, 'x'), prefix + std::to_string(part * 100 + i)));
      must(store->appendSessionEntries(id, batch));
    }
  };
  fillLarge("s", "e");
  fillLarge("t", "f");
  (void)idsOf(*open(), "s");  // reading a long log without an index writes an index
  (void)idsOf(*open(), "t");
  const std::string path = folder / "sessions/s.idx";
  ASSERT_TRUE(std::filesystem::exists(path));
  const std::string good = slurp(path);
  const Ids expected = idsOf(*store, "s");
  must(store->appendSessionEntries("s", {message("x", "last", "e500")}));
  std::string damaged = good;
  for (std::size_t at = 4096; at < damaged.size(); at += 512) damaged[at] = static_cast<char>(damaged[at] + 1);
  std::string newer = good;
  newer[8] = 99;
  for (const std::string& index : {std::string(), good, damaged, newer, slurp(folder / "sessions/t.idx"),
                                   good.substr(0, good.size() / 2), good + std::string(100, '\0')}) {
    std::filesystem::remove(path);
    if (!index.empty()) spill(path, index);
    auto reader = open();
    EXPECT_EQ(must(reader->loadEntry("s", "e777")).id, "e777");
    EXPECT_EQ(must(reader->sessionState("s")).tailId, "last");
    EXPECT_EQ(idsOf(*reader, "s", {.last = 3, .branch = "last"}), (Ids{"e499", "e500", "last"}));
    EXPECT_EQ(idsOf(*reader, "s").size(), expected.size() + 1);
    EXPECT_EQ(must(reader->appendSessionEntries("s", {message("x", "last", "e500")})).duplicateCount, 1U);
    EXPECT_EQ(refused(reader->loadEntry("s", "f1")).code, ErrorCode::NotFound);
  }
}

}  // namespace
}  // namespace bough
