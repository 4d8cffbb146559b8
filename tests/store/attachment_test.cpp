#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/bytes/sha256.h"
#include "store/store_support.h"
#include "support/not_root.h"

namespace bough {
namespace {

class AttachmentTest : public StoreTest {
 protected:
  AttachmentTest() {
    fill("s", 1);
    payload = message(std::string(300'000, 'x')).payload;
    sha256 = Sha256::of(payload);
    path = folder / ("attachments/sha256/" + sha256.substr(0, 2) + "/" + sha256.substr(2));
  }
  void append(const std::string& session = "s") {
    must(store->appendSessionEntries(session, {entryOf("message", payload, "big")}));
  }
  std::string payload;
  std::string sha256;
  std::string path;
};

TEST_F(AttachmentTest, PayloadsAboveTheThresholdLiveApart) {
  auto small = open({.attachmentBytes = 100});
  const std::string at = R"({"t":")" + std::string(92, 'a') + R"("})";
  ASSERT_EQ(at.size(), 100U);
  const std::string above = R"({"t":")" + std::string(93, 'a') + R"("})";
  must(small->appendSessionEntries("s", {entryOf("message", at, "at"), entryOf("message", above, "above")}));
  EXPECT_TRUE(slurp(logPath("s")).contains(at));
  EXPECT_FALSE(slurp(logPath("s")).contains(above));
  EXPECT_EQ(must(small->loadEntry("s", "at")).payload, at);
  EXPECT_EQ(must(store->loadEntry("s", "above")).payload, above);
  EXPECT_EQ(must(store->loadSessionEntries("s")).back().payload, above);
}

TEST_F(AttachmentTest, LargeSummariesAreCheckedAsSmallOnesAre) {
  auto small = open({.attachmentBytes = 100});
  must(small->appendSessionEntries("s", {entryOf("message", R"({"t":"a"})", "a")}));
  const std::string filler(200, 'x');
  const std::string compaction = R"({"summary":")" + filler + R"(","firstKeptEntryId":"a"})";
  const std::string branch = R"({"summary":")" + filler + R"(","sourceSessionId":"s","sourceEntryId":"a"})";
  must(small->appendSessionEntries(
      "s", {entryOf("compaction_summary", compaction, "c"), entryOf("branch_summary", branch, "b")}));
  EXPECT_EQ(must(store->loadEntry("s", "c")).payload, compaction);
  EXPECT_EQ(must(store->loadEntry("s", "b")).payload, branch);
  const auto refused = small->appendSessionEntries(
      "s", {entryOf("compaction_summary", R"({"summary":")" + filler + R"("})", "without")});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
}

TEST_F(AttachmentTest, TheSameBytesAreStoredOnceAndSharedByForks) {
  append();
  must(store->branchFromEntry("s", "big", {.sessionId = "f"}));
  must(store->createSession({.sessionId = "t"}));
  append("t");
  EXPECT_EQ(must(store->loadEntry("f", "big")).payload, payload);
  int files = 0;
  for (const auto& item : std::filesystem::recursive_directory_iterator(folder / "attachments")) {
    files += item.is_regular_file() && item.path().filename() != "lock" ? 1 : 0;
  }
  EXPECT_EQ(files, 1);
  EXPECT_EQ(slurp(path), payload);
}

TEST_F(AttachmentTest, APayloadThatLooksLikeAReferenceComesBackAsItWas) {
  append();
  const std::string imitation = R"({"$attachment":{"sha256":")" + sha256 + R"(","bytes":1}})";
  must(store->appendSessionEntries(
      "s", {entryOf("message", imitation, "i"), entryOf("message", R"({"$attachment":1})", "j"),
            entryOf("session_info", R"({"$attachment":{}})", "k"), entryOf("message", "\n " + imitation, "l")}));
  EXPECT_EQ(must(store->loadEntry("s", "i")).payload, imitation);
  EXPECT_EQ(must(store->loadEntry("s", "j")).payload, R"({"$attachment":1})");
  EXPECT_EQ(must(store->loadEntry("s", "k")).payload, R"({"$attachment":{}})");
  EXPECT_EQ(must(store->loadEntry("s", "l")).payload, imitation);
}

TEST_F(AttachmentTest, AMissingOrDamagedAttachmentCostsItsEntryAlone) {
  append();
  const Entry whole = must(store->loadEntry("s", "big"));
  const std::size_t count = must(store->loadSessionEntries("s")).size();
  EXPECT_EQ(must(store->sessionState("s")).lostPayloads, 0U);
  std::string damaged = payload;
  damaged[1000] = 'y';
  spill(path, damaged);
  Entry lost = must(store->loadEntry("s", "big"));
  EXPECT_EQ(lost.type, "unreadable");
  EXPECT_EQ(lost.parentId, whole.parentId);
  EXPECT_EQ(lost.timestamp, whole.timestamp);
  EXPECT_TRUE(lost.payload.contains(sha256) && lost.payload.contains("is not what its name says")) << lost.payload;
  EXPECT_EQ(must(store->verifySession("s")).problemCount, 1U);
  std::filesystem::remove(path);
  const auto entries = must(store->loadSessionEntries("s"));
  EXPECT_EQ(entries.size(), count);
  lost = *std::ranges::find(entries, "big", &Entry::id);
  EXPECT_EQ(lost.type, "unreadable");
  EXPECT_TRUE(lost.payload.contains(fmt::format(R"("bytes":{})", payload.size()))) << lost.payload;
  EXPECT_TRUE(lost.payload.contains("is missing")) << lost.payload;
  EXPECT_EQ(must(store->sessionState("s")).lostPayloads, 1U);
  EXPECT_EQ(must(store->loadSessionEntries("s", {.branch = "big"})).back().type, "unreadable");
  // A fork that shares the entry sees the same.
  const auto fork = must(store->branchFromEntry("s", "big"));
  EXPECT_EQ(must(store->loadEntry(fork.sessionId, "big")).type, "unreadable");
  EXPECT_EQ(must(store->sessionState(fork.sessionId)).lostPayloads, 1U);
  spill(path, payload);
  EXPECT_EQ(must(store->loadEntry("s", "big")).payload, payload);
  EXPECT_EQ(must(store->sessionState("s")).lostPayloads, 0U);
  std::filesystem::remove(path);
  must(store->redactEntry("s", "big", "test", "its attachment is gone"));
  EXPECT_TRUE(must(store->loadEntry("s", "big")).redacted);
  EXPECT_EQ(must(store->loadSessionEntries("s")).size(), 4U);
}

TEST_F(AttachmentTest, ALostOneThatWasRedactedNoLongerCounts) {
  append();
  std::filesystem::remove(path);
  EXPECT_EQ(must(store->loadEntry("s", "big")).type, "unreadable");
  EXPECT_EQ(must(store->sessionState("s")).lostPayloads, 1U);
  must(store->redactEntry("s", "big", "test", "its attachment is gone"));
  must(store->loadSessionEntries("s"));
  EXPECT_EQ(must(store->sessionState("s")).lostPayloads, 0U);
}

TEST_F(AttachmentTest, OneThatMayNotBeReadNowIsAnErrorNotALoss) {
  append();
  const NotRoot notRoot(folder.path());
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  int entries = 0;
  const Session session = must(store->session("s"));
  const auto read = session.readOwn(0, UINT64_MAX, [&](std::uint64_t, Entry&) { ++entries; });
  ASSERT_FALSE(read) << entries << " entries were read, one with a reference in place of its payload";
  EXPECT_NE(read.error().code, ErrorCode::NotFound);
  EXPECT_FALSE(store->loadSessionEntries("s"));
  EXPECT_EQ(must(store->sessionState("s")).lostPayloads, 0U);
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  must(session.readOwn(0, UINT64_MAX, [&](std::uint64_t, Entry&) { ++entries; }));
  EXPECT_EQ(must(store->loadEntry("s", "big")).payload, payload);
}

// However many entries are requested, the memory used at a time is bounded.
TEST_F(AttachmentTest, ReadingInPartsEndsAPartWhenItsPayloadsAreLarge) {
  const std::string large(std::size_t{33} << 20, 'x');
  must(store->appendSessionEntries("s", {message(large, "l1"), message(large, "l2"), message(large, "l3")}));
  const auto idsIn = [](const std::vector<Entry>& entries) {
    Ids ids;
    for (const Entry& entry : entries) ids.push_back(entry.id);
    return ids;
  };
  SessionCursor cursor = must(store->openCursor("s", "e1"));
  EXPECT_EQ(idsIn(must(cursor.next(10))), (Ids{"l1", "l2"}));
  EXPECT_TRUE(must(cursor.hasMore()));
  EXPECT_EQ(idsIn(must(cursor.next(10))), (Ids{"l3"}));
  EXPECT_TRUE(must(cursor.next(10)).empty());
  EXPECT_EQ(idsIn(must(store->loadSessionEntries("s", {.fromSequence = 1, .limitBytes = 10}))), (Ids{"e1"}));
  EXPECT_EQ(must(store->loadSessionEntries("s", {.limitBytes = large.size()})).size(), 3U);
}

TEST_F(AttachmentTest, AppendingTheBytesAgainHealsADamagedOne) {
  append();
  std::string damaged = payload;
  damaged[1000] = 'y';
  spill(path, damaged);
  must(store->createSession({.sessionId = "t"}));
  append("t");
  EXPECT_EQ(must(store->loadEntry("t", "big")).payload, payload);
  EXPECT_EQ(must(store->loadEntry("s", "big")).payload, payload);
}

TEST_F(AttachmentTest, UnusedOnesAreFoundAndRemovedOnlyOnRequest) {
  append();
  const std::string free = must(store->putAttachment("free bytes"));
  const std::string named = must(store->putAttachment("named bytes"));
  EXPECT_EQ(must(store->readAttachment(free)), "free bytes");
  must(store->appendSessionEntries("s", {entryOf("custom", R"({"file":")" + named + R"("})")}));
  EXPECT_EQ(must(store->findUnusedAttachments()), (Ids{free}));
  EXPECT_EQ(must(store->readAttachment(free)), "free bytes");
  EXPECT_EQ(must(store->removeUnusedAttachments({free, named, sha256})), 1U) << "the others are in use";
  EXPECT_EQ(refused(store->readAttachment(free)).code, ErrorCode::NotFound);
  EXPECT_EQ(must(store->readAttachment(named)), "named bytes");
  EXPECT_EQ(must(store->loadEntry("s", "big")).payload, payload);
  must(store->archiveSession("s"));
  EXPECT_TRUE(must(store->findUnusedAttachments()).empty()) << "archived sessions count";
}

TEST_F(AttachmentTest, WhatAnInterruptedWritingLeftIsUnused) {
  append();
  const std::string left = sha256 + ".00000000075bcd15.tmp";
  spill(path + ".00000000075bcd15.tmp", "half of i");
  spill(path + ".notes.tmp", "somebody else's");
  EXPECT_EQ(must(store->findUnusedAttachments()), (Ids{left}));
  EXPECT_EQ(must(store->removeUnusedAttachments({left})), 1U);
  EXPECT_FALSE(std::filesystem::exists(path + ".00000000075bcd15.tmp"));
  EXPECT_TRUE(std::filesystem::exists(path + ".notes.tmp"));
  EXPECT_EQ(must(store->loadEntry("s", "big")).payload, payload);
}

TEST_F(AttachmentTest, NothingIsRemovedWhileASessionCannotBeRead) {
  const std::string free = must(store->putAttachment("free bytes"));
  spill(logPath("broken"), "garbage\n");
  EXPECT_FALSE(store->removeUnusedAttachments({free}));
  EXPECT_EQ(must(store->readAttachment(free)), "free bytes");
}

// A compressed copy contains more than the log beside it: only the owner knows which of the two is right.
TEST_F(AttachmentTest, NothingIsRemovedWhileASecondCopyOfASessionHoldsSomethingElse) {
  const std::string named = must(store->putAttachment("named bytes"));
  const std::string before = slurp(logPath("s"));
  must(store->appendSessionEntries("s", {entryOf("custom", R"({"file":")" + named + R"("})")}));
  must(store->archiveSession("s"));
  spill(logPath("s"), before);
  const Error error = refused(store->removeUnusedAttachments({named}));
  EXPECT_EQ(error.code, ErrorCode::Damaged);
  EXPECT_TRUE(error.message.contains("s.jsonl.zst")) << error.message;
  must(store->trashSession("s"));
  EXPECT_EQ(refused(store->removeUnusedAttachments({named})).code, ErrorCode::Damaged) << "in the trash neither";
  EXPECT_EQ(must(store->readAttachment(named)), "named bytes");
}

TEST_F(AttachmentTest, NamesFromOutsideAreChecked) {
  for (const std::string bad : {"", "../../../etc/passwd", "xyz", "AA"}) {
    EXPECT_EQ(refused(store->readAttachment(bad)).code, ErrorCode::InvalidArgument);
    EXPECT_EQ(refused(store->removeUnusedAttachments({bad})).code, ErrorCode::InvalidArgument);
  }
  EXPECT_EQ(refused(store->readAttachment(std::string(64, 'A'))).code, ErrorCode::InvalidArgument);
}

TEST_F(AttachmentTest, LinksAreNotFollowedOutOfTheStore) {
  TempFolder outside;
  spill(outside / "secret", payload);
  const std::string bucket = std::filesystem::path(path).parent_path();
  // Case 1: the file is a link.
  std::filesystem::create_directories(bucket);
  std::filesystem::create_symlink(outside / "secret", path);
  EXPECT_FALSE(store->readAttachment(sha256));
  append();
  EXPECT_EQ(slurp(outside / "secret"), payload);
  EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(path)));
  EXPECT_EQ(must(store->loadEntry("s", "big")).payload, payload);
  // Case 2: its folder is a link.
  std::filesystem::remove_all(bucket);
  std::filesystem::create_directory(outside / "bucket");
  std::filesystem::create_directory_symlink(outside / "bucket", bucket);
  must(store->createSession({.sessionId = "t"}));
  EXPECT_FALSE(store->appendSessionEntries("t", {entryOf("message", payload)}));
  EXPECT_TRUE(std::filesystem::is_empty(outside / "bucket"));
  EXPECT_EQ(must(store->loadSessionEntries("t")).size(), 1U);
}

}  // namespace
}  // namespace bough
