// Copying sessions from one store to another.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "store/copy_support.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

std::uint64_t copiedEntries(StoreSide& from, StoreSide& to, const std::string& session) {
  const auto copied = copySession(from, to, session);
  EXPECT_TRUE(copied) << copied.error().message;
  std::uint64_t count = 0;
  for (const CopiedSession& each : *copied) count += each.copiedEntries;
  return count;
}

TEST(Copy, ASessionThatCannotBeReadLeavesNoneInTheOtherStore) {
  const TempFolder folder;
  {
    StoreSide from = openSide(folder / "from");
    ASSERT_TRUE(from.store->createSession({.sessionId = "s"}));
    ASSERT_TRUE(from.store->appendSessionEntries("s", {message("a", "damaged")}));
    ASSERT_TRUE(from.store->appendSessionEntries("s", {message("b")}));
  }
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder / "from")) {
    if (file.path().filename() != "s.jsonl") continue;
    std::fstream log(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(log), {}};
    log.seekp(static_cast<std::streamoff>(text.find("damaged")));
    log << 'D';
  }
  StoreSide from = openSide(folder / "from");
  StoreSide to = openSide(folder / "to");
  EXPECT_FALSE(copySession(from, to, "s"));
  EXPECT_FALSE(syncSession(from, to, "s"));
  EXPECT_FALSE(syncSession(to, from, "s"));
  const auto made = to.store->listSessions();
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->empty());
}

// A session of an older format is migrated in place before it is copied.
TEST(Copy, ASessionThatNobodyMayWriteToIsNotMadeInTheOtherStore) {
  const TempFolder folder;
  StoreSide from = openSide(folder / "from");
  StoreSide to = openSide(folder / "to");
  const std::string entry = R"("parentId":null,"timestamp":1600000000000,)";
  const auto put = [&](const std::string& first) {
    std::ofstream(folder / "from/sessions/s.jsonl")
        << first << '\n'
        << R"({"id":"a",)" << entry << R"("type":"message","payload":{"dialect":"bough","message":{"role":"user"}}})"
        << '\n';
    from = openSide(folder / "from");
  };
  for (const char* header : {R"({"version":0})", R"({"format":9,"sessionId":"s"})"}) {
    put(R"({"id":"h",)" + entry + R"("type":"session_header","payload":)" + header + "}");
    EXPECT_FALSE(copySession(from, to, "s"));
    EXPECT_FALSE(syncSession(from, to, "s"));
    EXPECT_FALSE(syncSession(to, from, "s"));
    EXPECT_TRUE(to.store->listSessions().value().empty()) << header;
  }
  put(R"({"id":"h",)" + entry + R"("type":"session_header","payload":{"version":0}})");
  ASSERT_TRUE(from.store->migrateSession("s"));
  EXPECT_EQ(copiedEntries(from, to, "s"), 1U);
}

TEST(Copy, TwoAtTheSameTimeAreBothDone) {
  const TempFolder folder;
  StoreSide from = openSide(folder / "from");
  for (int i = 0; i < 30; ++i) {
    const std::string id = "s" + std::to_string(i);
    ASSERT_TRUE(from.store->createSession({.sessionId = id}));
    ASSERT_TRUE(from.store->appendSessionEntries(id, {message("m")}, {.durability = Durability::Buffered}));
  }
  ASSERT_TRUE(from.store->flush());
  std::vector<std::jthread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      StoreSide source = openSide(folder / "from");
      StoreSide to = openSide(folder / "to");
      for (int session = 0; session < 30; ++session) {
        const auto copied = copySession(source, to, "s" + std::to_string(session));
        EXPECT_TRUE(copied) << copied.error().message;
      }
    });
  }
  threads.clear();
  StoreSide to = openSide(folder / "to");
  for (int i = 0; i < 30; ++i) EXPECT_EQ(lines(to, "s" + std::to_string(i)), lines(from, "s" + std::to_string(i)));
}

TEST(Copy, ASessionAndItsForkGoThereAndBack) {
  const TempFolder folder;
  StoreSide from = openSide(folder / "from");
  StoreSide other = openSide(folder / "other");
  StoreSide back = openSide(folder / "back");
  ASSERT_TRUE(from.store->createSession({.sessionId = "s", .title = "Title"}));
  for (int i = 0; i < 1200; ++i)
    ASSERT_TRUE(from.store->appendSessionEntries("s", {message("m" + std::to_string(i))},
                                                 {.durability = Durability::Buffered}));
  ASSERT_TRUE(from.store->appendSessionEntries("s", {message("big", std::string(300'000, 'x'))}));
  ASSERT_TRUE(from.store->labelEntry("s", "m5", "five"));
  ASSERT_TRUE(from.store->branchFromEntry("s", "m7", {.sessionId = "f"}));
  ASSERT_TRUE(from.store->appendSessionEntries("f", {message("x")}));

  EXPECT_GT(copiedEntries(from, other, "f"), 1200U);
  EXPECT_EQ(lines(other, "s"), lines(from, "s"));
  EXPECT_EQ(lines(other, "f"), lines(from, "f"));
  EXPECT_EQ(copiedEntries(from, other, "f"), 0U);  // nothing is copied twice
  ASSERT_TRUE(from.store->appendSessionEntries("s", {message("more")}));
  EXPECT_EQ(copiedEntries(from, other, "s"), 1U);

  EXPECT_GT(copiedEntries(other, back, "f"), 1200U);
  EXPECT_EQ(lines(back, "s"), lines(from, "s"));
  EXPECT_EQ(back.store->verifySession("s")->problemCount, 0U);
  EXPECT_EQ(other.store->verifySession("f")->problemCount, 0U);
}

TEST(Copy, ATargetThatHoldsSomethingElseIsLeftAlone) {
  const TempFolder folder;
  StoreSide left = openSide(folder / "left");
  StoreSide right = openSide(folder / "right");
  ASSERT_TRUE(left.store->createSession({.sessionId = "s"}));
  ASSERT_TRUE(left.store->appendSessionEntries("s", {message("a")}));
  EXPECT_EQ(copiedEntries(left, right, "s"), 1U);
  ASSERT_TRUE(left.store->appendSessionEntries("s", {message("l")}));
  ASSERT_TRUE(right.store->appendSessionEntries("s", {message("r")}));
  const auto before = lines(right, "s");
  EXPECT_EQ(copySession(left, right, "s").error().code, ErrorCode::Conflict);
  EXPECT_EQ(lines(right, "s"), before);
}

TEST(Copy, ATargetThatHasMoreIsToldWhateverTheSize) {
  const TempFolder folder;
  StoreSide left = openSide(folder / "left");
  StoreSide right = openSide(folder / "right");
  ASSERT_TRUE(left.store->createSession({.sessionId = "s"}));
  std::vector<Entry> many;
  for (int i = 1; i < 500; ++i) many.push_back(message("m" + std::to_string(i)));  // one part with the header
  ASSERT_TRUE(left.store->appendSessionEntries("s", many));
  EXPECT_EQ(copiedEntries(left, right, "s"), 499U);
  EXPECT_EQ(copiedEntries(left, right, "s"), 0U);
  ASSERT_TRUE(right.store->appendSessionEntries("s", {message("more")}));
  EXPECT_EQ(copySession(left, right, "s").error().code, ErrorCode::Conflict);
}
}  // namespace
}  // namespace bough
