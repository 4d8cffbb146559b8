// Which files of an allowed command need a question because git runs or obeys them.
#include <filesystem>
#include <optional>
#include <string>

#include "agent/tools_fixture.h"
#include "base/json/json_write.h"

namespace bough::agent {
namespace {

class WrittenFilesTest : public ToolsTest {
 protected:
  WrittenFilesTest() {
    environment_->allowedCommands = {"cp",    "cp -r",    "mv",     "ln",      "install",  "tee",    "touch", "dd",
                                     "rsync", "prettier", "git mv", "git add", "git diff", "pytest", "cat",   "mkdir"};
    for (const char* path : {"bare.git/objects", "bare.git/refs", "bare.git/hooks", "src/deep", "docs"}) {
      std::filesystem::create_directories(folder_ / (std::string("work/") + path));
    }
    put("work/bare.git/HEAD", "ref: refs/heads/main\n");
    put("work/bare.git/config", "");
    for (const char* path : {"evil", "config", "src/config", "src/a.c", "src/deep/post-receive"}) {
      put(std::string("work/") + path, "x");
    }
  }

  std::optional<std::string> askedOf(const std::string& command) {
    return question("bash", R"({"command":)" + json::quoted(command) + "}");
  }
};

TEST_F(WrittenFilesTest, WhatIsWrittenIntoARepositoryWithoutAFolderOfItsOwnIsAskedAbout) {
  for (const char* command :
       {"cp evil bare.git/hooks/post-receive", "mv evil bare.git/hooks/update", "ln evil bare.git/hooks/update",
        "install evil bare.git/hooks/update", "tee bare.git/hooks/update", "tee -a bare.git/config",
        "touch bare.git/config", "dd if=evil of=bare.git/config", "mkdir bare.git/info",
        "rsync evil bare.git/hooks/update", "cp evil ./bare.git/../bare.git/config", "prettier bare.git/config",
        "git mv evil bare.git/hooks/update", "cp evil 'bare.git/config'"}) {
    EXPECT_TRUE(askedOf(command).has_value()) << command;
  }
  EXPECT_NE(askedOf("cp evil bare.git/config")->find("git may run or obey " + folder_ / "work/bare.git/config"),
            std::string::npos);
  // The copy keeps its name.
  for (const char* command : {"cp config bare.git", "cp src/config bare.git/", "mv src/config evil bare.git",
                              "cp evil bare.git/hooks", "cp ./src/* bare.git", "cp ./sr*/config bare.git",
                              "cp evil ./bare.gi?/hooks/update", "cp -r src/. bare.git", "rsync -a src/ bare.git"}) {
    EXPECT_TRUE(askedOf(command).has_value()) << command;
  }
}

TEST_F(WrittenFilesTest, CopiesOfTreesThatMeetARepositoryAreAskedAbout) {
  std::filesystem::create_directories(folder_ / "work/new/docs/mirror");
  EXPECT_FALSE(askedOf("cp -r new/docs docs"));
  EXPECT_FALSE(askedOf("cp -r new/docs ."));
  std::filesystem::create_directories(folder_ / "work/docs/mirror/hooks");
  put("work/docs/mirror/HEAD", "ref: refs/heads/main\n");
  EXPECT_TRUE(askedOf("cp -r new/docs .").has_value());
  EXPECT_FALSE(askedOf("cp -r new/docs src"));
  std::filesystem::create_directories(folder_ / "work/.git/hooks");
  EXPECT_TRUE(askedOf("rsync -r src/ .").has_value());
  EXPECT_FALSE(askedOf("rsync -r src/ new"));
}

TEST_F(WrittenFilesTest, NamesWithBlanksArePathsToo) {
  std::filesystem::create_directories(folder_ / "work/my bare/hooks");
  put("work/my bare/HEAD", "ref: refs/heads/main\n");
  for (const char* command : {"cp evil 'my bare/hooks/update'", "cp evil my\" \"bare/config", "cp config 'my bare'",
                              "touch \"my bare/config\"", "cp evil \"my bare\"/hooks/update"}) {
    EXPECT_TRUE(askedOf(command).has_value()) << command;
  }
  EXPECT_FALSE(askedOf("cp evil 'my bare/description'"));
  std::filesystem::create_directories(folder_ / "work/~/hooks");
  put("work/~/HEAD", "ref: refs/heads/main\n");
  EXPECT_TRUE(askedOf("cp evil '~/hooks/update'").has_value());
}

TEST_F(WrittenFilesTest, FoldersThatLeadIntoOneAreAskedAbout) {
  for (const char* name : {".git/hooks", "store/hg", "store/jj", "sub"}) {
    std::filesystem::create_directories(folder_ / (std::string("work/") + name));
  }
  std::filesystem::create_directory_symlink("../.git", folder_ / "work/sub/meta");
  std::filesystem::create_directory_symlink("store/hg", folder_ / "work/.hg");
  std::filesystem::create_directory_symlink("store/jj", folder_ / "work/.jj");
  std::filesystem::create_symlink("../.git/config", folder_ / "work/sub/config");
  put("work/.git/config", "[core]\nhooksPath = tools\n");
  for (const char* command :
       {"cp evil sub/meta/hooks/pre-commit", "cp evil store/hg/hgrc", "mv evil store/jj/x", "cp config sub",
        "cp evil tools/pre-commit", "tee tools/pre-push", "cp evil ./.g*/config", "cp evil ./sub/.h[g]/hgrc"}) {
    EXPECT_TRUE(askedOf(command).has_value()) << command;
  }
}

TEST_F(WrittenFilesTest, OtherFilesAreNot) {
  std::filesystem::create_directories(folder_ / "work/.git/hooks");
  put("work/.git/config", "[core]\nhooksPath = tools\n");
  put("work/tools", "x");
  for (const char* command :
       {"cp evil src", "cp evil src/config", "cp ./src/*.c docs", "mv evil good", "cp src/a.c src/b.c .", "touch new",
        "tee docs/x", "prettier ./src/*.c", "git add ./src/*.c tools", "git diff tools", "cat bare.git/config",
        "pytest src/deep", "rsync -r src docs", "cp -r src docs", "git mv evil src/good", "cp config src"}) {
    const auto asked = askedOf(command);
    EXPECT_FALSE(asked.has_value()) << *asked;
  }
}

}  // namespace
}  // namespace bough::agent
