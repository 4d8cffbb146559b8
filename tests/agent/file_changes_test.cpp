// Changes of files: questions before a change, and what is known after it.
#include <sys/stat.h>
#include <unistd.h>

#include "agent/loop/file_copies.h"
#include "agent/tools_fixture.h"
#include "support/not_root.h"

namespace bough::agent {
namespace {

using FileChanges = ToolsTest;

// Only the beginning of a long file is compared line by line, but a change anywhere counts.
TEST_F(FileChanges, AChangeBehindTheReadLimitIsNoticedBeforeTheFileIsReplaced) {
  environment_->limits.fileBytes = 8;
  environment_->askBeforeChanges = true;
  put("work/long.txt", "one\ntwo\nthree\n");
  const std::string arguments = R"({"path":"long.txt","content":"one\ntwo\n"})";
  const PreparedCall late = prepare("write", arguments);
  EXPECT_NE(late.diff.find("the file had 14 bytes, of which the first 8 are compared"), std::string::npos) << late.diff;
  put("work/long.txt", "one\ntwo\nTHREE\n");
  const ToolOutcome refused = late.run(cancel_);
  EXPECT_TRUE(refused.isError);
  EXPECT_NE(refused.text.find("changed after the user was asked"), std::string::npos) << refused.text;
  EXPECT_EQ(get("work/long.txt"), "one\ntwo\nTHREE\n");
  const ToolOutcome done = run("write", arguments);
  EXPECT_FALSE(done.isError);
  EXPECT_NE(done.text.find("all of them are replaced"), std::string::npos) << done.text;
}

TEST_F(FileChanges, NobodyIsAskedAboutAChangeThatCannotBeMade) {
  environment_->askBeforeChanges = true;
  put("work/a.txt", "one\n");
  put("outside.txt", "one\n");
  const PreparedCall wrong = prepare("edit", R"({"path":"a.txt","oldText":"two","newText":"three"})");
  EXPECT_FALSE(wrong.question);
  EXPECT_FALSE(wrong.changes) << "there is nothing to undo";
  put("work/a.txt", "two\n");
  EXPECT_TRUE(wrong.run(cancel_).isError) << "nobody has allowed it";
  EXPECT_EQ(get("work/a.txt"), "two\n");
  EXPECT_FALSE(prepare("edit", R"({"path":"a.txt"})").question);
  EXPECT_TRUE(prepare("edit", R"({"path":"a.txt","oldText":"two","newText":"three"})").question);
  // The content of a file outside of the folder is not shown without a question.
  EXPECT_TRUE(prepare("edit", R"({"path":"../outside.txt","oldText":"two","newText":"three"})").question);
}

TEST_F(FileChanges, WhatAFileHoldsAfterAChangeIsKnownToItsEnd) {
  std::string text(kMostCopiedBytes + 100, 'x');
  put("work/long.txt", text);
  const auto place = environment_->folder.resolve("long.txt");
  ASSERT_TRUE(place);
  EXPECT_NE(run("write", R"({"path":"long.txt","content":"short"})").text.find("this cannot be undone"),
            std::string::npos);
  put("work/long.txt", text);
  const std::string before = changedFileMeta(*place);
  EXPECT_EQ(changedFileMeta(*place), before);
  text.back() = 'y';
  put("work/long.txt", text);
  EXPECT_NE(changedFileMeta(*place), before);
}

TEST_F(FileChanges, AFileWithAKeyIsNotCopied) {
  environment_->secrets.add("sk-0123456789abcdef");
  put("work/.env", "KEY=sk-0123456789abcdef\n");
  put("work/plain.txt", "KEY=other\n");
  const auto copyOf = [&](const char* name) {
    return fileCopyPayload("c", *environment_->folder.resolve(name), environment_->secrets);
  };
  EXPECT_TRUE(copyOf(".env").contains("\"existed\":true,\"notCopied\":true,\"heldKey\":true,\"sha256\":"))
      << copyOf(".env");
  EXPECT_FALSE(copyOf(".env").contains("sk-"));
  EXPECT_TRUE(copyOf("plain.txt").contains("KEY=other"));
  const std::string said = run("write", R"({"path":".env","content":"KEY=none\n"})").text;
  EXPECT_TRUE(said.contains("no copy of it is kept: this cannot be undone")) << said;
  EXPECT_FALSE(said.contains("sk-")) << said;
}

TEST_F(FileChanges, AFileThatCannotBeReadIsNotReplaced) {
  put("work/locked.txt", "mine");
  const NotRoot notRoot(folder_.path());
  ::chmod((folder_ / "work/locked.txt").c_str(), 0);
  const ToolOutcome refused = run("write", R"({"path":"locked.txt","content":"other"})");
  EXPECT_TRUE(refused.isError);
  EXPECT_NE(refused.text.find("cannot read"), std::string::npos) << refused.text;
  ::chmod((folder_ / "work/locked.txt").c_str(), 0600);
  EXPECT_EQ(get("work/locked.txt"), "mine");
}

}  // namespace
}  // namespace bough::agent
