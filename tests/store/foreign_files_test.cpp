// Files that other tools made or changed, and files that are not sessions.

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "log/format/line.h"
#include "store/file/file_backend.h"
#include "store/store_support.h"
#include "support/sim_environment.h"

namespace bough {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

TEST_F(StoreTest, ASealedLogWithCrlfAndAByteOrderMarkIsReadAndAppendedTo) {
  fill("s", 3);
  const std::string before = "\xEF\xBB\xBF" + replaced(slurp(logPath("s")), "\n", "\r\n");
  spill(logPath("s"), before);
  EXPECT_EQ(idsOf(*open(), "s"), (Ids{"e1", "e2", "e3"}));
  must(store->appendSessionEntries("s", {message("x", "e4")}));
  EXPECT_EQ(idsOf(*open(), "s"), (Ids{"e1", "e2", "e3", "e4"}));
  EXPECT_TRUE(slurp(logPath("s")).starts_with(before));
  const auto report = must(store->verifySession("s"));
  EXPECT_EQ(report.problemCount, 0U);
  EXPECT_GT(report.noteCount, 0U);
}

// An entry that only the tolerant reader accepts can still be referenced, buffered or not.
TEST_F(StoreTest, AnEntryWithoutATimeCanBeTheHead) {
  fill("s", 1);
  must(store->close());
  spill(logPath("s"), slurp(logPath("s")) + R"({"id":"bare","parentId":"e1","type":"message","payload":{}})" + "\n");
  store = open();
  for (const Durability durability : {Durability::Buffered, Durability::Sync}) {
    must(store->appendSessionEntries("s", {entryOf("head", R"({"entryId":"bare"})")}, {.durability = durability}));
  }
  must(store->flush());
  EXPECT_EQ(must(store->sessionState("s")).headId, "bare");
}

// A head that is not a valid id must not become a parent or be copied into a line.
TEST_F(StoreTest, AHeadThatIsNoIdIsNotContinuedFrom) {
  fill("o", 1);
  must(store->branchFromEntry("o", "e1", {.sessionId = "s"}));
  must(store->close());
  const std::string head = R"({"id":"h","parentId":"e1","type":"head","payload":{"entryId":"a\",\"type\":\"x"}})";
  spill(logPath("s"), slurp(logPath("s")) + head + "\n");
  store = open();
  for (const Durability durability : {Durability::Sync, Durability::Buffered}) {
    const Error error = store->appendSessionEntries("s", {message("x", "e2")}, {.durability = durability}).error();
    EXPECT_EQ(error.code, ErrorCode::InvalidArgument);
    EXPECT_TRUE(error.message.contains("the session's head is not an entry's id")) << error.message;
  }
  must(store->appendSessionEntries("s", {message("x", "e3", "e1"), message("x", "e4")}));
  EXPECT_EQ(must(store->loadEntry("s", "e4")).parentId, "e3");
  // Restore the invalid head, then use the remedy that the error names.
  must(store->close());
  spill(logPath("s"), slurp(logPath("s")) + replaced(head, "\"h\"", "\"h2\"") + "\n");
  store = open();
  must(store->moveHead("s", "e1"));
  must(store->appendSessionEntries("s", {message("x", "e5")}));
  EXPECT_EQ(must(store->loadEntry("s", "e5")).parentId, "e1");
}

TEST_F(StoreTest, ALineThatEndsInATextIsNotTakenForASeal) {
  fill("s", 1);
  must(store->close());
  const std::string hand = R"({"type":"message","parentId":"e1","payload":{},"id":"018f-made-by-hand-12345678"})";
  spill(logPath("s"), slurp(logPath("s")) + hand + "\n");
  store = open();
  must(store->appendSessionEntries("s", {message("x", "e2")}));
  EXPECT_EQ(idsOf(*open(), "s"), (Ids{"e1", "018f-made-by-hand-12345678", "e2"}));
  EXPECT_EQ(must(open()->loadEntry("s", "e2")).parentId, "018f-made-by-hand-12345678");
}

TEST_F(StoreTest, AnIdWithEscapesIsThatId) {
  fill("s", 1);
  must(store->close());
  spill(logPath("s"), slurp(logPath("s")) +
                          R"({"id":"\u0061b","parentId":"e1","type":"message","timestamp":"2026-01-01T00:00:00Z",)"
                          R"("payload":{"text":"m"}})" +
                          "\n" + R"({"id":"z","parentId":"ab","type":"message","payload":{}})" + "\n");
  store = open();
  EXPECT_EQ(must(store->loadEntry("s", "ab")).id, "ab");
  EXPECT_EQ(must(store->appendSessionEntries("s", {message("m", "ab")})).duplicateCount, 1U);
  EXPECT_EQ(idsOf(*store, "s", {.branch = "z"}), (Ids{"e1", "ab", "z"}));
}

TEST_F(StoreTest, AMissingLastLineEndIsAddedByTheNextAppend) {
  fill("s", 2);
  std::string bytes = slurp(logPath("s"));
  bytes.pop_back();
  spill(logPath("s"), bytes);
  store = open();
  must(store->appendSessionEntries("s", {message("x", "e3")}));
  EXPECT_EQ(idsOf(*open(), "s"), (Ids{"e1", "e2", "e3"}));
  EXPECT_EQ(must(store->verifySession("s")).problemCount, 0U);
}

TEST_F(StoreTest, DamageInTheMiddleCostsItsLineAndIsReported) {
  fill("s", 0);
  for (int i = 1; i <= 5; ++i) must(store->appendSessionEntries("s", {message("m", "e" + std::to_string(i), "")}));
  std::string bytes = slurp(logPath("s"));
  bytes[bytes.find("\"id\":\"e3\"") + 60] = '\0';
  spill(logPath("s"), bytes);
  EXPECT_EQ(idsOf(*store, "s"), (Ids{"e1", "e2", "e3", "e4", "e5"})) << "also where it was read before";
  EXPECT_EQ(must(store->loadEntry("s", "e3")).type, "unreadable");
  store = open();
  const auto report = must(store->verifySession("s"));
  EXPECT_EQ(report.problemCount, 1U);
  EXPECT_EQ(report.problems.at(0).kind, ProblemKind::Damage);
  EXPECT_EQ(report.problems.at(0).offset, bytes.find("{\"id\":\"e3\""));
  must(store->appendSessionEntries("s", {message("x", "e6")}));
  EXPECT_EQ(idsOf(*store, "s"), (Ids{"e1", "e2", "e3", "e4", "e5", "e6"}));
  EXPECT_TRUE(slurp(logPath("s")).starts_with(bytes)) << "damaged bytes stay";
}

TEST_F(StoreTest, ATornTailMovesAsideAtTheNextAppendAndNotBefore) {
  fill("s", 2);
  const std::string good = slurp(logPath("s"));
  const std::string torn = "{\"id\":\"e3\",\"parentId\":\"e2\",\"ty";
  spill(logPath("s"), good + torn);
  store = open();
  EXPECT_EQ(idsOf(*store, "s"), (Ids{"e1", "e2"}));
  EXPECT_EQ(must(store->sessionState("s")).trailingBytes, torn.size());
  EXPECT_EQ(must(store->verifySession("s")).problems.at(0).kind, ProblemKind::Torn);
  EXPECT_EQ(slurp(logPath("s")), good + torn) << "reading changes nothing";
  must(store->appendSessionEntries("s", {message("x", "e3")}));
  EXPECT_EQ(idsOf(*open(), "s"), (Ids{"e1", "e2", "e3"}));
  EXPECT_TRUE(slurp(folder / "sessions/s.torn").contains(torn));
  spill(logPath("s"), slurp(logPath("s")) + "rest");
  EXPECT_EQ(must(open()->repairSession("s")).tornBytes, 4U);
  EXPECT_TRUE(slurp(folder / "sessions/s.torn").contains(torn)) << "what was moved before stays";
}

TEST_F(StoreTest, FilesThatAreNoSessionSayWhat) {
  spill(logPath("empty"), "");
  spill(logPath("garbage"), std::string(5000, '\0') + "\nxx\n");
  std::filesystem::create_directory(logPath("folder"));
  for (const std::string id : {"empty", "garbage"}) {
    const std::string before = slurp(logPath(id));
    const Error error = refused(store->loadSessionEntries(id));
    EXPECT_EQ(error.code, ErrorCode::Damaged);
    EXPECT_TRUE(error.message.contains(id)) << error.message;
    EXPECT_FALSE(error.hint.empty());
    EXPECT_EQ(refused(store->appendSessionEntries(id, {message("x")})).code, ErrorCode::Damaged);
    EXPECT_GT(must(store->verifySession(id)).problemCount, 0U);
    EXPECT_EQ(refused(store->migrateSession(id)).code, ErrorCode::Damaged);
    EXPECT_FALSE(store->repairSession(id));
    EXPECT_EQ(slurp(logPath(id)), before);
  }
  const Error error = refused(store->loadSessionEntries("folder"));
  EXPECT_TRUE(error.message.contains("folder.jsonl")) << error.message;
  EXPECT_FALSE(store->appendSessionEntries("folder", {message("x")}));
  EXPECT_FALSE(store->createSession({.sessionId = "folder"}));
  EXPECT_TRUE(std::filesystem::is_directory(logPath("folder")));
}

TEST_F(StoreTest, LinksInTheStoreAreNotFollowed) {
  fill("s", 1);
  TempFolder outside;
  spill(outside / "log", slurp(logPath("s")));
  std::filesystem::create_symlink(outside / "log", logPath("link"));
  EXPECT_FALSE(store->loadSessionEntries("link"));
  EXPECT_FALSE(store->appendSessionEntries("link", {message("x")}));
  EXPECT_FALSE(store->createSession({.sessionId = "link"}));
  EXPECT_EQ(slurp(outside / "log"), slurp(logPath("s")));

  spill(logPath("s"), slurp(logPath("s")) + "torn");
  spill(outside / "target", "mine");
  std::filesystem::create_symlink(outside / "target", folder / "sessions/s.torn");
  EXPECT_FALSE(open()->appendSessionEntries("s", {message("x")}));
  EXPECT_EQ(slurp(outside / "target"), "mine");

  std::filesystem::create_directory(outside / "sessions");
  std::filesystem::create_directory(folder / "other");
  std::filesystem::create_directory_symlink(outside / "sessions", folder / "other/sessions");
  EXPECT_FALSE(SessionStore::open(folder / "other"));
}

TEST_F(StoreTest, AFileThatShrinksWhileOpenIsReadAsItIs) {
  fill("s", 0);
  for (int i = 1; i <= 4; ++i) must(store->appendSessionEntries("s", {message("m", "e" + std::to_string(i))}));
  EXPECT_EQ(idsOf(*store, "s").size(), 4U);
  const std::string bytes = slurp(logPath("s"));
  std::filesystem::resize_file(logPath("s"), bytes.find("{\"id\":\"e3\""));
  EXPECT_EQ(idsOf(*store, "s"), (Ids{"e1", "e2"}));
  must(store->appendSessionEntries("s", {message("x", "x")}));
  EXPECT_EQ(must(store->loadEntry("s", "x")).parentId, "e2");
  EXPECT_EQ(must(store->verifySession("s")).problemCount, 0U);
}

// Lines of two files must never be exported as one log.
TEST_F(StoreTest, AnExportEndsInAnErrorWhenTheLogIsReplacedOrCutInTheMiddle) {
  fill("other", 1000);
  const std::string all = slurp(logPath("other"));
  for (const std::string& instead : {all, all.substr(0, all.find(R"({"id":"e100")"))}) {
    const std::string id = "s" + std::to_string(instead.size());
    fill(id, 1000);
    std::vector<std::string> lines;
    const auto error = refused(store->exportSession(id, [&](std::string_view line) {
      lines.emplace_back(line);
      if (lines.size() == 10) {
        spill(folder / "sessions/new", instead);
        std::filesystem::rename(folder / "sessions/new", logPath(id));
      }
      return true;
    }));
    EXPECT_EQ(error.code, ErrorCode::Damaged);
    EXPECT_TRUE(error.retryable && error.message.contains(logPath(id))) << error.message;
    EXPECT_FALSE(std::ranges::any_of(lines, [&](const auto& line) { return instead.contains(line); }));
  }
}

TEST_F(StoreTest, AnExportGoesOnWhenTheLogIsArchivedInTheMiddle) {
  fill("s", 1000);
  std::size_t lines = 0;
  must(store->exportSession("s", [&](std::string_view) {
    if (++lines == 10) must(store->archiveSession("s"));
    return true;
  }));
  EXPECT_EQ(lines, 1001U);
}

TEST_F(StoreTest, AFileThatIsReplacedWhileOpenIsTheNewOne) {
  fill("s", 2);
  fill("t", 0);
  must(store->appendSessionEntries("t", {message("m", "t1")}));
  std::filesystem::rename(logPath("t"), logPath("s"));
  EXPECT_EQ(idsOf(*store, "s"), (Ids{"t1"}));
  must(store->appendSessionEntries("s", {message("x", "t2")}));
  EXPECT_EQ(idsOf(*open(), "s"), (Ids{"t1", "t2"}));
}

TEST_F(StoreTest, AFileThatIsMovedAwayWhileOpenGetsNothing) {
  fill("s", 2);
  must(store->appendSessionEntries("s", {message("x", "e3")}));
  const std::string bytes = slurp(logPath("s"));
  std::filesystem::rename(logPath("s"), folder / "aside");
  EXPECT_EQ(refused(store->appendSessionEntries("s", {message("x", "late")})).code, ErrorCode::NotFound);
  EXPECT_EQ(slurp(folder / "aside"), bytes);
  spill(logPath("s"), bytes);
  must(store->appendSessionEntries("s", {message("x", "e4")}));
  EXPECT_EQ(slurp(folder / "aside"), bytes);
  EXPECT_EQ(idsOf(*open(), "s"), (Ids{"e1", "e2", "e3", "e4"}));
}

constexpr const char* kNewer =
    R"({"id":"h","parentId":null,"type":"session_header","timestamp":"2026-01-01T00:00:00Z","payload":{"format":2}})"
    "\n"
    R"({"id":"n1","parentId":null,"type":"message","timestamp":"2026-01-01T00:00:00Z","payload":{}})"
    "\n";

TEST_F(StoreTest, ANewerFormatIsReadAndNotWritten) {
  spill(logPath("n"), kNewer);
  EXPECT_EQ(idsOf(*store, "n"), (Ids{"n1"}));
  const Error error = refused(store->appendSessionEntries("n", {message("x")}));
  EXPECT_EQ(error.code, ErrorCode::NewerFormat);
  EXPECT_TRUE(error.message.contains("format 2"));
  EXPECT_EQ(refused(store->appendSessionEntries("n", {message("x")}, {.durability = Durability::Buffered})).code,
            ErrorCode::NewerFormat);
  EXPECT_EQ(refused(store->migrateSession("n")).code, ErrorCode::NewerFormat);
  EXPECT_EQ(slurp(logPath("n")), kNewer);
}

// The meaning of the last line of such a file is unknown.
TEST_F(StoreTest, ANewerFormatIsNotRepaired) {
  const std::string bytes = std::string(kNewer) + "a line of another kind\n";
  spill(logPath("n"), bytes);
  const RepairReport report = must(store->repairSession("n"));
  ASSERT_TRUE(report.refusal);
  EXPECT_EQ(report.refusal->code, ErrorCode::NewerFormat);
  EXPECT_EQ(report.tornBytes, 0U);
  EXPECT_EQ(slurp(logPath("n")), bytes);
}

std::string withFormat(const std::string& format) {
  return R"({"id":"h","parentId":null,"type":"session_header","timestamp":"2026-01-01T00:00:00Z","payload":{"format":)" +
         format + "}}\n";
}

TEST_F(StoreTest, AFormatThatIsNoSmallWholeNumberIsANewerOne) {
  for (const char* format : {"2147483647", "4294967297", "99999999999999999999", "\"2\"", "2.0", "1e1", "-1", "null"}) {
    SCOPED_TRACE(format);
    const std::string bytes = withFormat(format);
    spill(logPath("n"), bytes);
    EXPECT_EQ(refused(store->appendSessionEntries("n", {message("x")})).code, ErrorCode::NewerFormat);
    EXPECT_EQ(refused(store->migrateSession("n")).code, ErrorCode::NewerFormat);
    EXPECT_EQ(must(store->verifySession("n")).problemCount, 1U);
    EXPECT_EQ(slurp(logPath("n")), bytes);
  }
}

TEST_F(StoreTest, AForkInANewerFormatIsNotDetached) {
  fill("p", 1);
  std::string bytes = withFormat("2");
  bytes.insert(bytes.find("}}"), R"(,"parentSession":{"sessionId":"p","entryId":"e1"})");
  spill(logPath("f"), bytes + "a line of another kind\n");
  EXPECT_EQ(refused(store->deleteSession("p", {.detachForks = true})).code, ErrorCode::NewerFormat);
  EXPECT_EQ(slurp(logPath("f")), bytes + "a line of another kind\n");
  EXPECT_EQ(idsOf(*store, "p"), (Ids{"e1"}));
}

TEST_F(StoreTest, AnAppendTellsWhatItFound) {
  fill("s", 3);
  EXPECT_EQ(must(store->appendSessionEntries("s", {message("x")})).tornBytes, 0U);
  std::string bytes = slurp(logPath("s"));
  bytes[bytes.find("\"e2\"") + 1] = 'E';
  spill(logPath("s"), bytes + "torn");
  const AppendResult first = must(store->appendSessionEntries("s", {message("y")}));
  EXPECT_EQ(first.tornBytes, 4U);
  EXPECT_EQ(first.problemCount, 3U) << "the damaged line, and two that its batch lacks";
  EXPECT_EQ(must(store->appendSessionEntries("s", {message("z")})).tornBytes, 0U);
}

// The session is not in an older format. Only its header is lost, and with it whether it is a fork.
TEST_F(StoreTest, ADamagedHeaderIsCalledThat) {
  fill("s", 2);
  std::string bytes = slurp(logPath("s"));
  bytes[2] = 'x';
  spill(logPath("s"), bytes);
  EXPECT_EQ(idsOf(*open(), "s"), (Ids{"e1", "e2"}));
  const Error error = refused(open()->appendSessionEntries("s", {message("x")}));
  EXPECT_EQ(error.code, ErrorCode::MigrationNeeded);
  EXPECT_TRUE(error.message.contains("header of session s cannot be read")) << error.message;
  EXPECT_TRUE(error.message.contains(logPath("s"))) << error.message;
}

TEST_F(StoreTest, VerifyingNamesThePlaceOfEachProblemInOrder) {
  const auto sealed = [](std::string& log, SealDigits last, const std::string& body) -> SealDigits {
    return appendSealedLine(log, body, last, 1, 1);
  };
  fill("s", 0);
  std::string log = slurp(logPath("s"));
  SealDigits last;
  std::ranges::copy(log.substr(log.size() - 11, 8), last.emplace().begin());
  last = sealed(log, last, R"({"id":"a","parentId":"nobody","type":"message","payload":{"n":1}})");
  const std::size_t bad = log.size();
  last = sealed(log, last, R"({"id":"b","parentId":"a","type":"message","payload":{n}})");
  const std::size_t second = log.size();
  last = sealed(log, last, R"({"id":"c","parentId":"nobody","type":"message","payload":{"n":1}})");
  spill(logPath("s"), log + "not JSON");
  const VerifyReport report = must(store->verifySession("s"));
  EXPECT_EQ(report.file, logPath("s"));
  ASSERT_EQ(report.problems.size(), 4U);
  EXPECT_TRUE(std::ranges::is_sorted(report.problems, {}, &Problem::offset));
  EXPECT_EQ(report.problems[1].kind, ProblemKind::Damage);
  EXPECT_EQ(report.problems[1].offset, bad);
  EXPECT_EQ(report.problems[2].offset, second);
  EXPECT_EQ(report.problems[3].kind, ProblemKind::Torn);
  EXPECT_TRUE(report.problems[3].message.contains("a value is expected")) << report.problems[3].message;
}

TEST_F(StoreTest, ASessionThatANewerVersionMigratedMeanwhileIsNotWritten) {
  fill("s", 1);
  spill(folder / "sessions/new", kNewer);
  std::filesystem::rename(folder / "sessions/new", logPath("s"));
  EXPECT_EQ(refused(store->appendSessionEntries("s", {message("x")})).code, ErrorCode::NewerFormat);
  EXPECT_EQ(slurp(logPath("s")), kNewer);
}

// Simulates a read-only mount, so that the result does not depend on the user who runs the test.
TEST(ReadOnlyStore, IsReadAndSaysWhyItIsNotWritten) {
  SimFileSystem files;
  SimEnvironment world(files);
  const auto openBackend = [&] { return FileBackend::open("/store", {}, jsonEntrySerializer(), world.environment()); };
  {
    auto store = must(SessionStore::open(SessionStoreInit{.backend = must(openBackend()), .options = {}}));
    must(store->createSession({.sessionId = "s"}));
    must(store->appendSessionEntries("s", {message("m", "e1")}));
  }
  const auto callOf = [&](const std::string& name, const auto& run) {
    const std::uint64_t from = files.callCount();
    run();
    for (std::uint64_t call = from + 1; call <= files.callCount(); ++call) {
      if (files.callName(call).contains(name)) return call - from;
    }
    return std::uint64_t{0};
  };
  const auto read = [&] {
    auto store = must(SessionStore::open(SessionStoreInit{.backend = must(openBackend()), .options = {}}));
    return must(store->loadSessionEntries("s")).size();
  };
  const std::uint64_t open = callOf("open sessions/s.jsonl", read);
  ASSERT_NE(open, 0U) << "the trace's words changed";
  for (const int error : {EROFS, EACCES}) {
    files.failOperation(files.callCount() + open, error);
    auto store = must(SessionStore::open(SessionStoreInit{.backend = must(openBackend()), .options = {}}));
    EXPECT_EQ(must(store->loadSessionEntries("s")).size(), 2U);
    const Error why = refused(store->appendSessionEntries("s", {message("x")}));
    EXPECT_EQ(why.code, ErrorCode::ReadOnly);
    EXPECT_TRUE(why.message.contains("sessions/s.jsonl")) << why.message;
    EXPECT_TRUE(why.message.contains(std::strerror(error))) << why.message;
    EXPECT_EQ(why.hint.contains("mounted read-only"), error == EROFS) << why.hint;
    files.clearFaults();
  }
}

}  // namespace
}  // namespace bough
