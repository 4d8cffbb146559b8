// The tools: what they do, where they stop, and what they never do.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "agent/diff.h"
#include "agent/tools.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "support/temp_folder.h"

namespace bough::agent {
namespace {

class ToolsTest : public ::testing::Test {
 protected:
  ToolsTest() {
    std::filesystem::create_directories(folder_ / "work/sub");
    std::filesystem::create_directories(folder_ / "outside");
    put("outside/secret.txt", "outside\n");
    environment_ = std::make_unique<ToolEnvironment>(ToolEnvironment{
        .folder = *WorkingFolder::open(folder_ / "work"), .limits = {}, .secrets = {}, .allowedCommands = {}});
  }

  void put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  [[nodiscard]] std::string get(const std::string& name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  ToolOutcome run(const std::string& tool, const std::string& arguments) {
    return runTool(builtInTools(), {.id = "c", .name = tool, .arguments = arguments}, *environment_, cancel_);
  }
  std::optional<std::string> question(const std::string& tool, const std::string& arguments) {
    return findTool(builtInTools(), tool)->question(arguments, *environment_);
  }

  TempFolder folder_;
  std::unique_ptr<ToolEnvironment> environment_;
  CancelToken cancel_;
};

TEST_F(ToolsTest, FilesAreReadInPartsWrittenWholeAndEditedOnce) {
  EXPECT_FALSE(run("write", R"({"path":"a/b/c.txt","content":"one\ntwo\nthree\n"})").isError);
  EXPECT_EQ(get("work/a/b/c.txt"), "one\ntwo\nthree\n");
  EXPECT_EQ(run("read", R"({"path":"a/b/c.txt"})").text, "one\ntwo\nthree\n");
  EXPECT_TRUE(run("read", R"({"path":"a/b/c.txt","offset":2,"limit":1})").text.starts_with("two\n\n[there is more"));
  EXPECT_TRUE(run("read", R"({"path":"a/b/c.txt","offset":9})").isError);
  const ToolOutcome edited = run("edit", R"({"path":"a/b/c.txt","oldText":"two","newText":"zwei\n2"})");
  EXPECT_FALSE(edited.isError);
  EXPECT_NE(edited.text.find("-two\n+zwei\n+2\n three"), std::string::npos) << edited.text;
  EXPECT_EQ(get("work/a/b/c.txt"), "one\nzwei\n2\nthree\n");
  EXPECT_TRUE(run("edit", R"({"path":"a/b/c.txt","oldText":"two","newText":"x"})").isError);
  EXPECT_TRUE(run("edit", R"({"path":"a/b/c.txt","oldText":"e","newText":"x"})").isError);
  EXPECT_EQ(get("work/a/b/c.txt"), "one\nzwei\n2\nthree\n");
  EXPECT_EQ(run("ls", R"({"path":"a"})").text, "b/\n");
  EXPECT_EQ(run("grep", R"({"pattern":"zw.i"})").text, "./a/b/c.txt:2:zwei\n");
}

TEST_F(ToolsTest, ModeOfAFileStaysAndNothingIsLeftBeside) {
  put("work/run.sh", "old");
  ::chmod((folder_ / "work/run.sh").c_str(), 0750);
  EXPECT_FALSE(run("write", R"({"path":"run.sh","content":"new"})").isError);
  struct stat info{};
  ASSERT_EQ(::stat((folder_ / "work/run.sh").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0750U);
  EXPECT_EQ(run("ls", "{}").text, "run.sh  3\nsub/\n");
}

TEST_F(ToolsTest, WhatLeadsOutOfTheFolderIsAskedForByItsRealName) {
  std::filesystem::create_symlink(folder_ / "outside", folder_ / "work/link");
  std::filesystem::create_symlink(folder_ / "outside/new.txt", folder_ / "work/dangling");
  const std::string outside = std::filesystem::canonical(folder_ / "outside");
  for (const char* path : {"../outside/secret.txt", "link/secret.txt", "sub/../link/secret.txt"}) {
    for (const char* tool : {"read", "write", "edit", "ls"}) {
      const auto asked = question(tool, std::string(R"({"path":)") + json::quoted(path) + "}");
      ASSERT_TRUE(asked.has_value()) << tool << " " << path;
      EXPECT_NE(asked->find(outside + "/secret.txt"), std::string::npos) << *asked;
    }
  }
  EXPECT_TRUE(run("write", R"({"path":"dangling","content":"x"})").isError);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "outside/new.txt"));
  EXPECT_TRUE(question("grep", R"({"pattern":"x","path":"link"})").has_value());
  EXPECT_FALSE(question("read", R"({"path":"sub/../a.txt"})").has_value());
  EXPECT_FALSE(question("write", R"({"path":"new/deep.txt"})").has_value());
  EXPECT_FALSE(question("ls", "{}").has_value());
  // A search meets the link and does not follow it.
  EXPECT_EQ(run("grep", R"({"pattern":"outside"})").text, "[nothing found]");
}

TEST_F(ToolsTest, LinkThatAppearsAfterThePathWasJudgedIsNotFollowed) {
  const auto place = environment_->folder.resolve("sub/file.txt");
  ASSERT_TRUE(place.has_value());
  std::filesystem::remove(folder_ / "work/sub");
  std::filesystem::create_symlink(folder_ / "outside", folder_ / "work/sub");
  EXPECT_FALSE(WorkingFolder::write(*place, "x").has_value());
  put("outside/file.txt", "x");
  EXPECT_FALSE(WorkingFolder::read(*place, 100).has_value());
  EXPECT_EQ(get("outside/file.txt"), "x");
}

TEST_F(ToolsTest, WrongArgumentsChangeNothingAndSayWhy) {
  struct Case {
    const char* tool;
    const char* arguments;
  };
  for (const Case& each :
       {Case{"read", "{}"}, Case{"read", "[]"}, Case{"read", ""}, Case{"read", "{\"path\":"},
        Case{"read", R"({"path":7})"}, Case{"read", R"({"path":""})"}, Case{"read", R"({"path":"\u0000"})"},
        Case{"write", R"({"path":"x"})"}, Case{"write", R"({"path":"sub","content":"x"})"},
        Case{"edit", R"({"path":"x","oldText":"a"})"}, Case{"bash", "{}"}, Case{"bash", R"({"command":["ls"]})"},
        Case{"grep", "{}"}, Case{"grep", R"({"pattern":"("})"}, Case{"ls", R"({"path":"missing"})"},
        Case{"read", R"({"path":"sub"})"}, Case{"teleport", "{}"}}) {
    const ToolOutcome outcome = run(each.tool, each.arguments);
    EXPECT_TRUE(outcome.isError) << each.tool << " " << each.arguments;
    EXPECT_FALSE(outcome.text.empty());
  }
  EXPECT_EQ(run("ls", "{}").text, "sub/\n");
}

TEST_F(ToolsTest, SpecialFilesAreNotRead) {
  ASSERT_EQ(::mkfifo((folder_ / "work/pipe").c_str(), 0600), 0);
  EXPECT_TRUE(run("read", R"({"path":"pipe"})").isError);
  put("work/binary", std::string("\0\1\2", 3));
  EXPECT_EQ(run("read", R"({"path":"binary"})").text, "[binary file, 3 bytes]");
}

TEST_F(ToolsTest, CommandThatNeverEndsIsStoppedWithAllItStarted) {
  const ToolOutcome outcome =
      run("bash",
          R"({"command":"sleep 1000 & echo $! > child.pid; trap '' TERM; echo begun; sleep 1000","timeoutMs":300})");
  EXPECT_TRUE(outcome.isError);
  EXPECT_NE(outcome.text.find("begun"), std::string::npos);
  EXPECT_NE(outcome.text.find("stopped after 300 ms"), std::string::npos);
  const pid_t child = static_cast<pid_t>(std::stol(get("work/child.pid")));
  bool gone = false;
  for (int i = 0; i < 1'000 && !gone; ++i) {
    std::ifstream status("/proc/" + std::to_string(child) + "/stat");
    std::string text;
    gone = !std::getline(status, text) || text.find(") Z") != std::string::npos;
    if (!gone) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(gone);
}

TEST_F(ToolsTest, BackgroundProcessDoesNotHoldTheResult) {
  const ToolOutcome outcome = run("bash", R"({"command":"sleep 1000 & echo done"})");
  EXPECT_EQ(outcome.text, "done\n");
}

TEST_F(ToolsTest, GigabytesOfOutputAreCutToTheirBeginningAndEnd) {
  const ToolOutcome outcome = run("bash", R"({"command":"echo FIRST; yes | head -c 300000000; echo LAST"})");
  EXPECT_FALSE(outcome.isError);
  EXPECT_TRUE(outcome.text.starts_with("FIRST\n"));
  EXPECT_TRUE(outcome.text.ends_with("LAST\n"));
  EXPECT_NE(outcome.text.find("bytes left out"), std::string::npos);
  EXPECT_LT(outcome.text.size(), 100'000U);
}

TEST_F(ToolsTest, BinaryOutputBecomesANote) {
  EXPECT_EQ(run("bash", R"({"command":"head -c 1000 /dev/urandom"})").text, "[binary data, 1000 bytes]");
  const std::string text = run("bash", R"({"command":"printf 'a\\377b'"})").text;
  EXPECT_EQ(text, "a\uFFFDb");
  EXPECT_TRUE(json::check(json::quoted(text)).has_value());
}

TEST_F(ToolsTest, CancellingStopsACommand) {
  std::jthread stopper([&] {
    while (!std::filesystem::exists(folder_ / "work/begun")) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    cancel_.request();
  });
  const ToolOutcome outcome = run("bash", R"({"command":"touch begun; sleep 1000"})");
  EXPECT_TRUE(outcome.isError);
  EXPECT_NE(outcome.text.find("stopped by the user"), std::string::npos);
}

TEST_F(ToolsTest, KeysReachNeitherCommandsNorResults) {
  ::setenv("ANTHROPIC_API_KEY", "sk-very-secret-key", 1);
  environment_->secrets = Secrets::fromEnvironment();
  put("work/leak.txt", "the key is sk-very-secret-key\n");
  const std::string variables = run("bash", R"({"command":"env; cat leak.txt"})").text;
  const std::string file = run("read", R"({"path":"leak.txt"})").text;
  ::unsetenv("ANTHROPIC_API_KEY");
  EXPECT_EQ(variables.find("sk-very-secret"), std::string::npos);
  EXPECT_EQ(variables.find("ANTHROPIC_API_KEY"), std::string::npos);
  EXPECT_EQ(file, "the key is [key]\n");
}

TEST_F(ToolsTest, AllowedCommandsTakeArgumentsButNoShellSyntax) {
  const std::vector<std::string> allowed = {"git status", "ls"};
  EXPECT_TRUE(isAllowedCommand("ls", allowed));
  EXPECT_TRUE(isAllowedCommand("ls -l src", allowed));
  EXPECT_TRUE(isAllowedCommand("git status --short", allowed));
  for (const char* command : {"lsof", "git push", "git", "ls; rm x", "ls && rm x", "ls | sh", "ls $(rm x)", "ls `rm x`",
                              "ls > x", "ls\nrm x", "ls \\\nrm"}) {
    EXPECT_FALSE(isAllowedCommand(command, allowed)) << command;
  }
  EXPECT_TRUE(question("bash", R"({"command":"ls"})").has_value());
  environment_->allowedCommands = allowed;
  EXPECT_FALSE(question("bash", R"({"command":"ls"})").has_value());
}

TEST_F(ToolsTest, ParallelEditsOfOneFileLoseNothing) {
  std::string text;
  for (int i = 0; i < 16; ++i) text += "line" + std::to_string(i) + ";\n";
  put("work/many.txt", text);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&, i] {
      const std::string old = "line" + std::to_string(i) + ";";
      EXPECT_FALSE(run("edit", R"({"path":"many.txt","oldText":")" + old + R"(","newText":"X"})").isError);
    });
  }
  threads.clear();
  const std::string after = get("work/many.txt");
  EXPECT_EQ(std::ranges::count(after, 'X'), 16);
}

TEST_F(ToolsTest, EachToolSaysWhetherItMayBeRepeated) {
  for (const Tool& tool : builtInTools()) {
    EXPECT_TRUE(json::check(tool.parameters).has_value()) << tool.name;
    EXPECT_EQ(tool.safeToRepeat, tool.name != "bash" && tool.name != "edit") << tool.name;
  }
}

TEST(Diff, ShowsWhatChangedAndALittleAround) {
  EXPECT_EQ(lineDiff("a\nb\nc\nd\ne\n", "a\nb\nX\nd\ne\n"), "@@ line 3 @@\n a\n b\n-c\n+X\n d\n e\n");
  EXPECT_EQ(lineDiff("", "a\n"), "@@ line 1 @@\n+a\n");
  EXPECT_EQ(lineDiff("a\n", "a\n"), "");
}

}  // namespace
}  // namespace bough::agent
