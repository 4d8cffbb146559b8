// The tools: what they do, where they stop, and what they never do.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "agent/loop/file_copies.h"
#include "agent/rules/command_rules.h"
#include "agent/tools/builtin.h"
#include "agent/tools/diff.h"
#include "agent/tools_fixture.h"
#include "base/json/json_scan.h"
#include "base/json/json_write.h"

namespace bough::agent {
namespace {

TEST_F(ToolsTest, FilesAreReadInPartsWrittenWholeAndEditedOnce) {
  EXPECT_FALSE(run("write", R"({"path":"a/b/c.txt","content":"one\ntwo\nthree\n"})").isError);
  EXPECT_EQ(get("work/a/b/c.txt"), "one\ntwo\nthree\n");
  EXPECT_EQ(run("read", R"({"path":"a/b/c.txt"})").text, "one\ntwo\nthree\n");
  EXPECT_TRUE(run("read", R"({"path":"a/b/c.txt","offset":2,"limit":1})").text.starts_with("two\n\n[there is more"));
  EXPECT_TRUE(run("read", R"({"path":"a/b/c.txt","offset":9})").isError);
  EXPECT_FALSE(run("read", R"({"path":"a/b/c.txt","offset":null,"limit":null})").isError);
  EXPECT_TRUE(run("read", R"({"path":"a/b/c.txt","limit":0})").text.starts_with("one\n\n[there is more"));
  for (const char* wrong : {R"("2")", "-1", "1.5", "18446744073709551615", "[1]"}) {
    for (const char* name : {"offset", "limit"}) {
      const std::string arguments = R"({"path":"a/b/c.txt",")" + std::string(name) + "\":" + wrong + "}";
      EXPECT_TRUE(run("read", arguments).isError) << arguments;
    }
  }
  const ToolOutcome edited = run("edit", R"({"path":"a/b/c.txt","oldText":"two","newText":"zwei\n2"})");
  EXPECT_FALSE(edited.isError);
  EXPECT_NE(edited.text.find("-two\n+zwei\n+2\n three"), std::string::npos) << edited.text;
  EXPECT_EQ(get("work/a/b/c.txt"), "one\nzwei\n2\nthree\n");
  EXPECT_TRUE(run("edit", R"({"path":"a/b/c.txt","oldText":"two","newText":"x"})").isError);
  EXPECT_TRUE(run("edit", R"({"path":"a/b/c.txt","oldText":"e","newText":"x"})").isError);
  EXPECT_EQ(get("work/a/b/c.txt"), "one\nzwei\n2\nthree\n");
  EXPECT_EQ(run("ls", R"({"path":"a"})").text, "b/\n");
  EXPECT_EQ(run("grep", R"({"pattern":"zw.i"})").text, "./a/b/c.txt:2:zwei\n");
  EXPECT_EQ(run("grep", R"({"pattern":"zw.i","path":"a"})").text, "a/b/c.txt:2:zwei\n");
  EXPECT_EQ(run("grep", R"({"pattern":"zw.i","path":"a/b/c.txt"})").text, "a/b/c.txt:2:zwei\n");
}

TEST_F(ToolsTest, AChangeOfABinaryFileSaysWhatWasDone) {
  put("work/binary", std::string("a\0b\n", 4));
  EXPECT_EQ(run("edit", R"({"path":"binary","oldText":"b","newText":"c"})").text.find("changed "), 0U);
  EXPECT_EQ(get("work/binary"), std::string("a\0c\n", 4));
  const std::string written = run("write", R"({"path":"binary","content":"text\n"})").text;
  EXPECT_TRUE(written.starts_with("wrote 5 bytes")) << written;
  EXPECT_TRUE(written.ends_with("[binary: the differences are not shown]\n")) << written;
}

TEST_F(ToolsTest, WriteThatFailsTakesAwayTheFoldersItMade) {
  const std::string longName(300, 'n');
  for (const std::string& path : {"new/deep/" + longName, "new/" + longName + "/file.txt", "sub/new/" + longName}) {
    EXPECT_TRUE(run("write", R"({"content":"x","path":")" + path + "\"}").isError) << path;
    EXPECT_EQ(run("ls", "{}").text, "sub/\n") << path;
    EXPECT_EQ(run("ls", R"({"path":"sub"})").text, "[the folder is empty]") << path;
  }
  // A disk that accepts only part of the bytes.
  struct rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit few{.rlim_cur = 10, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &few), 0);
  const bool failed = run("write", R"({"path":"new/deep/file.txt","content":"more than ten bytes"})").isError;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  (void)::signal(SIGXFSZ, handler);
  EXPECT_TRUE(failed);
  EXPECT_EQ(run("ls", "{}").text, "sub/\n");
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
  const auto dangling = question("write", R"({"path":"dangling","content":"x"})");
  ASSERT_TRUE(dangling.has_value());
  EXPECT_NE(dangling->find(outside + "/new.txt"), std::string::npos) << *dangling;
  EXPECT_TRUE(question("grep", R"({"pattern":"x","path":"link"})").has_value());
  EXPECT_FALSE(question("read", R"({"path":"sub/../a.txt"})").has_value());
  EXPECT_FALSE(question("write", R"({"path":"new/deep.txt"})").has_value());
  EXPECT_FALSE(question("ls", "{}").has_value());
  // A search finds the link and does not follow it.
  EXPECT_EQ(run("grep", R"({"pattern":"outside"})").text, "[nothing found]");
}

// The path that is checked is the path that is used: between the question and the work, every part of the path is
// replaced by a link.
TEST_F(ToolsTest, LinkThatAppearsAfterThePathWasJudgedIsNotFollowed) {
  const std::string outside = folder_ / "outside";
  const std::string work = folder_ / "work";
  struct Case {
    const char* tool;
    const char* arguments;
    const char* swapped;  // becomes a link to
    const char* target;   // this
  };
  for (const Case& each : {Case{"read", R"({"path":"sub/secret.txt"})", "sub", ""},
                           Case{"read", R"({"path":"secret.txt"})", "secret.txt", "/secret.txt"},
                           Case{"read", R"({"path":"new/secret.txt"})", "new", ""},
                           Case{"write", R"({"path":"sub/made.txt","content":"x"})", "sub", ""},
                           Case{"write", R"({"path":"made.txt","content":"x"})", "made.txt", "/made.txt"},
                           Case{"write", R"({"path":"secret.txt","content":"x"})", "secret.txt", "/secret.txt"},
                           Case{"write", R"({"path":"new/deep/made.txt","content":"x"})", "new", ""},
                           Case{"edit", R"({"path":"sub/secret.txt","oldText":"outside","newText":"x"})", "sub", ""},
                           Case{"ls", R"({"path":"sub"})", "sub", ""}, Case{"ls", R"({"path":"sub/below"})", "sub", ""},
                           Case{"grep", R"({"pattern":"outside","path":"sub"})", "sub", ""},
                           Case{"grep", R"({"pattern":"outside","path":"sub/secret.txt"})", "sub", ""},
                           Case{"grep", R"({"pattern":"outside","path":"secret.txt"})", "secret.txt", "/secret.txt"}}) {
    std::filesystem::remove_all(work);
    std::filesystem::create_directories(work + "/sub/below");
    put("work/sub/secret.txt", "inside\n");
    put("work/secret.txt", "inside\n");
    environment_->folder = *WorkingFolder::open(work);
    PreparedCall prepared = prepare(each.tool, each.arguments);
    EXPECT_FALSE(prepared.question.has_value());
    std::filesystem::remove_all(work + "/" + each.swapped);
    std::filesystem::create_symlink(outside + each.target, work + "/" + each.swapped);
    const ToolOutcome outcome = prepared.run(cancel_);
    EXPECT_EQ(outcome.text.find("outside\n"), std::string::npos) << each.tool << each.arguments << outcome.text;
    EXPECT_EQ(outcome.text.find("secret.txt  "), std::string::npos) << each.tool << each.arguments << outcome.text;
    EXPECT_EQ(get("outside/secret.txt"), "outside\n") << each.tool << each.arguments;
    EXPECT_FALSE(std::filesystem::exists(outside + "/made.txt")) << each.tool << each.arguments;
    EXPECT_FALSE(std::filesystem::exists(outside + "/deep")) << each.tool << each.arguments;
  }
}

TEST_F(ToolsTest, WorkingFolderThatIsReplacedByALinkIsAskedFor) {
  std::filesystem::rename(folder_ / "work", folder_ / "moved");
  std::filesystem::create_symlink(folder_ / "outside", folder_ / "work");
  EXPECT_TRUE(question("read", R"({"path":"secret.txt"})").has_value());
  EXPECT_EQ(run("bash", R"({"command":"ls"})").text, "sub\n");
}

TEST_F(ToolsTest, PathsAreWalkedAsTheSystemWalksThem) {
  put("work/sub/a.txt", "a\n");
  std::filesystem::create_symlink("sub", folder_ / "work/relative");
  std::filesystem::create_symlink(std::filesystem::canonical(folder_ / "work"), folder_ / "work/sub/absolute");
  std::filesystem::create_symlink("loop", folder_ / "work/loop");
  for (const char* path : {"sub/a.txt", "./sub//a.txt", "relative/a.txt", "sub/absolute/sub/a.txt",
                           "relative/../sub/a.txt", "../work/sub/a.txt"}) {
    const std::string arguments = std::string(R"({"path":)") + json::quoted(path) + "}";
    EXPECT_FALSE(question("read", arguments).has_value()) << path;
    EXPECT_EQ(run("read", arguments).text, "a\n") << path;
  }
  for (const char* path : {"loop", "loop/x", "sub/a.txt/x", "missing/../sub/a.txt"}) {
    EXPECT_TRUE(run("read", std::string(R"({"path":)") + json::quoted(path) + "}").isError) << path;
  }
}

TEST_F(ToolsTest, WrongArgumentsChangeNothingAndSayWhy) {
  struct Case {
    const char* tool;
    const char* arguments;
  };
  for (const Case& each : {Case{"read", "{}"},
                           Case{"read", "[]"},
                           Case{"read", ""},
                           Case{"read", "{\"path\":"},
                           Case{"read", R"({"path":7})"},
                           Case{"read", R"({"path":""})"},
                           Case{"read", R"({"path":"\u0000"})"},
                           Case{"write", R"({"path":"x"})"},
                           Case{"write", R"({"path":"sub","content":"x"})"},
                           Case{"edit", R"({"path":"x","oldText":"a"})"},
                           Case{"bash", "{}"},
                           Case{"bash", R"({"command":["ls"]})"},
                           Case{"bash", R"({"command":"touch x","timeoutMs":"9"})"},
                           Case{"grep", "{}"},
                           Case{"grep", R"({"pattern":"("})"},
                           Case{"ls", R"({"path":"missing"})"},
                           Case{"grep", R"({"pattern":"\u0000"})"},
                           Case{"grep", R"({"pattern":"x","files":"*\u0000"})"},
                           Case{"grep", R"({"pattern":"x","path":7})"},
                           Case{"grep", R"({"pattern":"x","files":7})"},
                           Case{"read", R"({"path":"sub"})"},
                           Case{"teleport", "{}"}}) {
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
  // Messages to the model about its files do not mention stores.
  ASSERT_EQ(::symlink("loop", (folder_ / "work/loop").c_str()), 0);
  for (const char* path : {"loop", "binary/x", "pipe"}) {
    const ToolOutcome outcome = run("read", fmt::format(R"({{"path":"{}"}})", path));
    EXPECT_TRUE(outcome.isError);
    EXPECT_FALSE(outcome.text.contains("store")) << outcome.text;
  }
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
  EXPECT_EQ(outcome.text, "done\n\n[the command left processes running in the background; they were ended with it]");
  EXPECT_FALSE(outcome.isError);
  // Processes that end by themselves are not mentioned.
  EXPECT_EQ(run("bash", R"({"command":"cat <(echo a); true & true"})").text, "a\n");
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
  EXPECT_EQ(run("bash", R"({"command":"head -c 1000000 /dev/urandom"})").text, "[binary data, 1000000 bytes]");
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

TEST_F(ToolsTest, TheEndOfAFileThatIsTooLongIsNotSaidToBeItsEnd) {
  environment_->limits.fileBytes = 20;
  put("work/long.txt", "1234\n1234\n1234\n1234\n1234\n");
  const ToolOutcome beyond = run("read", R"({"path":"long.txt","offset":5})");
  EXPECT_TRUE(beyond.isError);
  EXPECT_EQ(beyond.text, "only the first 20 of 25 bytes can be read here, which are 4 lines; `bash` can read the rest");
}

// Returns true when a process is gone or a zombie.
bool isGone(const std::string& id) {
  std::ifstream status("/proc/" + id + "/stat");
  std::string text;
  return !std::getline(status, text) || text.find(") Z") != std::string::npos;
}

TEST_F(ToolsTest, ChildrenThatLeftTheirGroupEndWithTheTool) {
  const char* commands[] = {
      "setsid sleep 1000 & echo $! > child.pid",
      "(setsid sleep 1000 & echo $! > child.pid) & while [ ! -s child.pid ]; do :; done",
      "setsid bash -c '(sleep 1000 & echo $! > child.pid); exec sleep 1000' & while [ ! -s child.pid ]; do :; done",
      ("nohup setsid bash -c 'trap \"\" TERM HUP INT; echo $$ > child.pid; while :; do sleep 1; done' & "
       "while [ ! -s child.pid ]; do :; done"),
      // The parent is the keeper itself.
      "setsid sleep 1000 & echo $! > child.pid; kill -9 $PPID; sleep 1000",
      "setsid bash -c 'echo $$ > child.pid; kill -9 '$PPID'; exec sleep 1000' & sleep 1000",
  };
  for (const char* command : commands) {
    std::filesystem::remove(folder_ / "work/child.pid");
    const ToolOutcome outcome = run("bash", "{\"command\":" + json::quoted(command) + "}");
    std::string id = get("work/child.pid");
    ASSERT_FALSE(id.empty()) << command << outcome.text;
    id.pop_back();
    EXPECT_TRUE(isGone(id)) << command;
  }
  // Also when the tool is stopped. On a busy machine, the child may not have started by then, so retry with a longer
  // timeout.
  std::filesystem::remove(folder_ / "work/child.pid");
  std::string id;
  for (int timeoutMs = 300; id.empty() && timeoutMs < 60'000; timeoutMs *= 3) {
    const std::string limit = std::to_string(timeoutMs);
    EXPECT_TRUE(
        run("bash", R"({"command":"setsid sleep 1000 & echo $! > child.pid; sleep 1000","timeoutMs":)" + limit + "}")
            .isError);
    id = get("work/child.pid");
  }
  ASSERT_FALSE(id.empty());
  id.pop_back();
  EXPECT_TRUE(isGone(id));
}

TEST_F(ToolsTest, AKeeperThatIsStoppedHangsNothing) {
  const std::string outer = "outer=$(cut -d' ' -f4 /proc/$PPID/stat); ";
  const auto bash = [&](const std::string& command) {
    return run("bash", "{\"command\":" + json::quoted(command) + "}");
  };
  const ToolOutcome woken = bash(outer + "kill -STOP $outer; echo done");
  EXPECT_EQ(woken.text, "done\n");
  for (const std::string& command : {std::string("kill -STOP $PPID"), outer + "kill -STOP $outer $PPID",
                                     outer + "kill -STOP $PPID; kill -STOP $outer"}) {
    const ToolOutcome stopped = bash("setsid sleep 1000 & echo $! > child.pid; " + command + "; sleep 1000");
    EXPECT_TRUE(stopped.isError) << command;
    EXPECT_TRUE(stopped.text.contains("stopped the process that watches over it")) << command << stopped.text;
    std::string id = get("work/child.pid");
    ASSERT_FALSE(id.empty());
    id.pop_back();
    EXPECT_TRUE(isGone(id)) << command;
  }
}

TEST_F(ToolsTest, NoOpenFileOfOursReachesACommand) {
  const int leaked = ::open((folder_ / "outside/secret.txt").c_str(), O_RDONLY);  // without O_CLOEXEC
  ASSERT_GE(leaked, 0);
  const std::string text = run("bash", R"({"command":"ls -l /proc/$$/fd"})").text;
  ::close(leaked);
  EXPECT_EQ(text.find("secret"), std::string::npos) << text;
  EXPECT_EQ(text.find("/work"), std::string::npos) << text;
}

TEST_F(ToolsTest, ProgramThatCannotStartSaysSo) {
  ::setenv("PATH", "/nowhere", 1);
  const ToolOutcome outcome = run("bash", R"({"command":"ls"})");
  ::setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
  EXPECT_TRUE(outcome.isError);
  EXPECT_NE(outcome.text.find("bash"), std::string::npos) << outcome.text;
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

// Its content is not read, because that would take long.
TEST_F(ToolsTest, AFileThatIsTooLargeIsNotPreparedToBeEdited) {
  put("work/large", "a");
  std::filesystem::resize_file(folder_ / "work/large", environment_->limits.fileBytes + 1);
  const PreparedCall prepared = prepare("edit", R"({"path":"large","oldText":"a","newText":"b"})");
  EXPECT_FALSE(prepared.changes.has_value());
  EXPECT_NE(prepared.run(cancel_).text.find("too large"), std::string::npos);
  std::filesystem::resize_file(folder_ / "work/large", 1);
  EXPECT_FALSE(run("edit", R"({"path":"large","oldText":"a","newText":"b"})").isError);
}

TEST_F(ToolsTest, ATildeIsTheHomeFolder) {
  const Variable home("HOME", folder_ / "outside");
  for (const char* tool : {"read", "write", "edit", "ls", "grep"}) {
    const auto asked = question(tool, R"({"path":"~/secret.txt","content":"x","pattern":"x","oldText":"o"})");
    ASSERT_TRUE(asked.has_value()) << tool;
    EXPECT_NE(asked->find(folder_ / "outside/secret.txt"), std::string::npos) << *asked;
  }
  EXPECT_FALSE(question("write", R"({"path":"~x","content":"x"})").has_value());
  std::filesystem::create_directories(folder_ / "work/~");
  EXPECT_FALSE(question("write", R"({"path":"~/x","content":"x"})").has_value());
}

TEST_F(ToolsTest, AFileOutsideThatIsTooLargeIsNotEdited) {
  environment_->limits.fileBytes = 4;
  const std::string arguments = R"({"path":"../outside/secret.txt","oldText":"out","newText":"x"})";
  EXPECT_TRUE(question("edit", arguments).has_value());
  EXPECT_NE(run("edit", arguments).text.find("too large to be edited"), std::string::npos);
  EXPECT_EQ(get("outside/secret.txt"), "outside\n");
}

TEST_F(ToolsTest, EachToolSaysWhetherItMayBeRepeated) {
  for (const Tool& tool : builtInTools()) {
    EXPECT_TRUE(json::check(tool.parameters).has_value()) << tool.name;
    EXPECT_EQ(tool.safeToRepeat, tool.name != "bash" && tool.name != "edit") << tool.name;
  }
}

TEST(Diff, IsCutOrWhole) {
  std::string lines;
  for (int i = 0; i < 60; ++i) lines += "line " + std::to_string(i) + "\n";
  EXPECT_TRUE(lineDiff("", lines).ends_with("+line 39\n+[… 20 more lines …]\n"));
  EXPECT_TRUE(lineDiff("", lines, kWholeDiff).ends_with("+line 58\n+line 59\n"));
  EXPECT_EQ(lineDiff("", std::string(5'000, 'a'), kWholeDiff).size(), 5'000 + std::string("@@ line 1 @@\n+\n").size());
}

TEST(Diff, ShowsWhatChangedAndALittleAround) {
  EXPECT_EQ(lineDiff("a\nb\nc\nd\ne\n", "a\nb\nX\nd\ne\n"), "@@ line 3 @@\n a\n b\n-c\n+X\n d\n e\n");
  EXPECT_EQ(lineDiff("", "a\n"), "@@ line 1 @@\n+a\n");
  EXPECT_EQ(lineDiff("a\n", "a\n"), "");
  EXPECT_EQ(lineDiff("", std::string(3'999, 'a') + "éb"),
            "@@ line 1 @@\n+" + std::string(3'999, 'a') + "[… 3 more bytes …]\n");
}

}  // namespace
}  // namespace bough::agent
