// Which files need a question because git runs or obeys them.
#include <pwd.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "agent/rules/places/git_settings.h"
#include "agent/tools_fixture.h"
#include "base/json/json_write.h"

namespace bough::agent {
namespace {

// The places of the user's own settings.
class UsersFolders {
 public:
  explicit UsersFolders(const std::string& home) : home_("HOME", home), config_("XDG_CONFIG_HOME", home + "/.config") {}

 private:
  Variable home_;
  Variable config_;
};

class GitFilesTest : public ToolsTest {
 protected:
  bool asksFor(const std::string& path) {
    return question("write", R"({"path":)" + json::quoted(path) + R"(,"content":"x"})").has_value();
  }
  void link(const std::string& target, const std::string& name) const {
    std::filesystem::create_symlink(target, folder_ / name);
  }
};

TEST_F(GitFilesTest, WritesBelowGitAreAskedFor) {
  std::filesystem::create_directories(folder_ / "work/.git/hooks");
  std::filesystem::create_directories(folder_ / "work/sub/.git");
  put("work/.git/config", "x");
  for (const char* path :
       {".git/hooks/pre-commit", ".git/config", "sub/.git/config", ".GIT/config", "new/.git/config"}) {
    const std::string arguments = std::string(R"({"path":)") + json::quoted(path) + "}";
    EXPECT_TRUE(question("write", arguments).has_value()) << path;
    EXPECT_TRUE(question("edit", arguments).has_value()) << path;
    EXPECT_FALSE(question("read", arguments).has_value()) << path;
  }
  EXPECT_FALSE(question("write", R"({"path":".gitignore"})").has_value());
  EXPECT_FALSE(question("write", R"({"path":"a.git/x"})").has_value());
}

TEST_F(GitFilesTest, AWriteThatMakesTheFolderARepositoryIsAskedFor) {
  const auto asks = [&](const char* path) {
    const std::string arguments = std::string(R"({"path":)") + json::quoted(path) + R"(,"content":"x"})";
    return question("write", arguments).has_value();
  };
  EXPECT_FALSE(asks("config"));
  EXPECT_FALSE(asks("sub/HEAD"));
  EXPECT_TRUE(asks("HEAD"));
  EXPECT_TRUE(asks("head"));
  put("work/HEAD", "ref: refs/heads/main");
  for (const char* path : {"config", "Config", "config.worktree", "commondir", "hooks/pre-commit", "info/attributes"}) {
    EXPECT_TRUE(asks(path)) << path;
  }
  EXPECT_FALSE(asks("config.txt"));
  EXPECT_FALSE(asks("sub/config"));
}

TEST_F(GitFilesTest, WritesThatLeadIntoARepositoryByAnotherNameAreAskedFor) {
  const auto asks = [&](const std::string& path) {
    return question("write", R"({"path":)" + json::quoted(path) + R"(,"content":"x"})").has_value();
  };
  // A .git folder that is a link, links in it, and a .git file that names the repository.
  std::filesystem::create_directories(folder_ / "work/meta");
  std::filesystem::create_directory_symlink("meta", folder_ / "work/.git");
  std::filesystem::create_directories(folder_ / "work/tools");
  std::filesystem::create_directory_symlink("../tools/hooks", folder_ / "work/meta/hooks");
  std::filesystem::create_symlink("../settings", folder_ / "work/meta/config");
  std::filesystem::create_directories(folder_ / "work/sub/real");
  put("work/sub/.git", "gitdir: real\n");
  for (const char* path : {"meta/config", "meta/new", "tools/hooks/pre-commit", "settings", "sub/real/config",
                           "sub/.git", ".git/hooks/pre-commit", "meta/hooks/pre-commit"}) {
    EXPECT_TRUE(asks(path)) << path;
  }
  for (const char* path : {"tools/x", "settings.txt", "sub/reality", "metal"}) EXPECT_FALSE(asks(path)) << path;
  // A bare repository, without a .git folder, below the working folder; HEAD may be created last.
  std::filesystem::create_directories(folder_ / "work/bare/objects");
  EXPECT_FALSE(asks("bare/config"));
  EXPECT_TRUE(asks("bare/HEAD"));
  put("work/bare/HEAD", "ref: refs/heads/main");
  EXPECT_TRUE(asks("bare/config"));
  EXPECT_TRUE(asks("bare/hooks/pre-commit"));
  EXPECT_FALSE(asks("bare/README"));
  // The working folder is the root folder, or inside a repository.
  environment_->folder = *WorkingFolder::open("/");
  EXPECT_TRUE(asks("/.git/config"));
  EXPECT_TRUE(asks(".git/config"));
  std::filesystem::create_directories(folder_ / "work/own/.git/hooks");
  std::filesystem::create_directories(folder_ / "work/tools/hooks");
  std::filesystem::create_directories(folder_ / "work/bare/hooks");
  for (const char* path : {"work/own/.git", "work/own/.git/hooks", "work/meta/hooks", "work/bare/hooks"}) {
    environment_->folder = *WorkingFolder::open(folder_ / path);
    EXPECT_TRUE(asks("pre-commit")) << path;
    EXPECT_TRUE(asks("sub/x")) << path;
  }
}

TEST_F(GitFilesTest, WhatALinkAmongTheHooksLeadsToIsAskedFor) {
  std::filesystem::create_directories(folder_ / "work/.git/hooks");
  std::filesystem::create_directories(folder_ / "work/.git/info");
  std::filesystem::create_directories(folder_ / "work/scripts/lib");
  put("work/scripts/real", "x");
  link("real", "work/scripts/chained");
  link("../../scripts/pre-commit", "work/.git/hooks/pre-commit");
  link("../../scripts/chained", "work/.git/hooks/pre-push");
  link("../../scripts/lib", "work/.git/hooks/lib");
  link("../../attributes", "work/.git/info/attributes");
  for (const char* path : {"scripts/pre-commit", "scripts/real", "scripts/chained", "scripts/lib/new", "attributes"}) {
    EXPECT_TRUE(asksFor(path)) << path;
  }
  for (const char* path : {"scripts/pre-commit.md", "scripts/other", "real"}) EXPECT_FALSE(asksFor(path)) << path;
  // A worktree uses the hooks of its main repository.
  std::filesystem::create_directories(folder_ / "work/tree/scripts");
  std::filesystem::create_directories(folder_ / "work/main/.git/worktrees/tree");
  std::filesystem::create_directories(folder_ / "work/main/.git/hooks");
  put("work/tree/.git", "gitdir: ../main/.git/worktrees/tree\n");
  put("work/main/.git/worktrees/tree/commondir", "../..\n");
  link("../../../tree/scripts/check", "work/main/.git/hooks/pre-commit");
  EXPECT_TRUE(asksFor("tree/scripts/check"));
  EXPECT_FALSE(asksFor("tree/scripts/other"));
  // More hooks than are examined.
  for (int i = 0; i < 1'001; ++i) put("work/.git/hooks/" + std::to_string(i), "");
  EXPECT_TRUE(asksFor("scripts/other"));
}

TEST_F(GitFilesTest, TheFolderOfHooksThatSettingsNameIsAskedFor) {
  std::filesystem::create_directories(folder_ / "work/.git");
  std::filesystem::create_directories(folder_ / "work/ci");
  std::filesystem::create_directories(folder_ / "work/.githooks");
  link("../ci/check", "work/.githooks/pre-push");
  EXPECT_FALSE(asksFor(".githooks/pre-commit"));
  put("work/.git/config", "[core]\n\tbare = false\n\thooksPath = .githooks\n");
  for (const char* path : {".githooks/pre-commit", ".githooks/lib/x", "ci/check"}) EXPECT_TRUE(asksFor(path)) << path;
  for (const char* path : {"githooks/pre-commit", ".githooks.md", "ci/other"}) EXPECT_FALSE(asksFor(path)) << path;
  put("work/.git/config", "");
  put("work/.git/config.worktree", "[core] hookspath=" + folder_ / "work/absolute" + "\n");
  EXPECT_TRUE(asksFor("absolute/pre-commit"));
  // Settings may be in a file of the working tree, which includes others.
  put("work/.git/config.worktree", "");
  put("work/.git/config", "[include]\n\tpath = ../shared/settings\n");
  EXPECT_TRUE(asksFor("shared/settings"));
  EXPECT_FALSE(asksFor("hooks2/pre-commit"));
  std::filesystem::create_directories(folder_ / "work/shared");
  put("work/shared/settings", "[core]\nhooksPath = hooks2\n[include]\npath = settings\n");
  EXPECT_TRUE(asksFor("hooks2/pre-commit"));
  EXPECT_FALSE(asksFor("other"));
  // More includes than are examined.
  std::string many = "[include]\n";
  for (int i = 0; i < 60; ++i) many += "path = " + std::to_string(i) + "\n";
  put("work/shared/settings", many);
  EXPECT_TRUE(asksFor("other"));
}

// Environment variables that git reads.
TEST_F(GitFilesTest, WhatTheEnvironmentTellsGitIsAskedFor) {
  std::filesystem::create_directories(folder_ / "work/.git");
  std::filesystem::create_directories(folder_ / "work/meta/hooks");
  EXPECT_FALSE(asksFor("hooks/pre-commit"));
  {
    const Variable count("GIT_CONFIG_COUNT", "2");
    const Variable key("GIT_CONFIG_KEY_1", "Core.HooksPath");
    const Variable value("GIT_CONFIG_VALUE_1", "hooks");
    EXPECT_TRUE(asksFor("hooks/pre-commit"));
    EXPECT_FALSE(asksFor("other"));
  }
  {
    const Variable parameters("GIT_CONFIG_PARAMETERS",
                              "'a.b'='c' 'core.hooksPath=hooks' 'include.path'='it'\\''s' "
                              "'includeIf.gitdir:/a=b/.path'='if'");
    EXPECT_TRUE(asksFor("if"));
    EXPECT_TRUE(asksFor("hooks/pre-commit"));
    EXPECT_TRUE(asksFor("it's"));
    EXPECT_FALSE(asksFor("other"));
  }
  {
    const Variable count("GIT_CONFIG_COUNT", "1001");  // more than are examined
    EXPECT_TRUE(asksFor("other"));
  }
  for (const char* name : {"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"}) {
    const Variable file(name, folder_ / "work/settings");
    EXPECT_TRUE(asksFor("settings")) << name;
    put("work/settings", "[core]\nhooksPath = hooks\n");
    EXPECT_TRUE(asksFor("hooks/pre-commit")) << name;
    EXPECT_FALSE(asksFor("other")) << name;
  }
  for (const char* name : {"GIT_DIR", "GIT_COMMON_DIR"}) {
    const Variable repository(name, "meta");
    link("../../scripts/check", "work/meta/hooks/pre-push");
    for (const char* path : {"meta/config", "meta/new", "scripts/check"}) EXPECT_TRUE(asksFor(path)) << name << path;
    EXPECT_FALSE(asksFor("scripts/other")) << name;
    std::filesystem::remove(folder_ / "work/meta/hooks/pre-push");
  }
  EXPECT_FALSE(asksFor("meta/new"));
}

TEST_F(GitFilesTest, TheUsersOwnSettingsOfGitAreAskedFor) {
  const UsersFolders users(folder_ / "work");
  EXPECT_TRUE(asksFor(".gitconfig"));
  EXPECT_TRUE(asksFor(".config/git/config"));
  EXPECT_FALSE(asksFor(".gitconfig.md"));
  put("work/.gitconfig", "[include]\npath = ~/mine\n");
  EXPECT_TRUE(asksFor("mine"));
}

TEST_F(GitFilesTest, HooksBelowTheHomeOfANamedUserAreAskedFor) {
  const passwd* user = ::getpwuid(::getuid());
  if (user == nullptr) GTEST_SKIP() << "the user has no name";
  std::filesystem::create_directories(folder_ / "work/.git");
  put("work/.git/config", "[core]\nhooksPath = ~" + std::string(user->pw_name) + "/bough-test-hooks\n");
  auto home = WorkingFolder::open(user->pw_dir);
  if (!home) GTEST_SKIP() << "the user has no home folder";
  environment_->folder = std::move(*home);
  const Variable count("GIT_DIR", folder_ / "work/.git");
  EXPECT_TRUE(asksFor("bough-test-hooks/pre-commit"));
  EXPECT_FALSE(asksFor("bough-test-other/pre-commit"));
}

TEST_F(GitFilesTest, WhatHooksOfAFolderBesideItLeadToIsAskedFor) {
  std::filesystem::create_directories(folder_ / "work/sub/.git");
  std::filesystem::create_directories(folder_ / "work/lib/deep");
  std::filesystem::create_directory_symlink("../../lib/deep", folder_ / "work/sub/.git/hooks");
  for (const char* path : {"lib/deep/pre-commit", "lib/deep/more/x"}) EXPECT_TRUE(asksFor(path)) << path;
  for (const char* path : {"lib/x", "sub/x", "x"}) EXPECT_FALSE(asksFor(path)) << path;
  std::filesystem::remove(folder_ / "work/sub/.git/hooks");
  put("work/sub/.git/config", "[core]\nhooksPath = ../lib/deep\n");
  EXPECT_TRUE(asksFor("lib/deep/pre-commit"));
}

TEST_F(GitFilesTest, RepositoriesFurtherDownAndAmongManyFoldersCount) {
  const auto repository = [&](const std::string& name, const std::string& linkedFrom) {
    std::filesystem::create_directories(folder_ / ("work/" + name + "/hooks"));
    link(linkedFrom + "scripts/" + std::filesystem::path(name).filename().string(), "work/" + name + "/hooks/update");
    return "scripts/" + std::filesystem::path(name).filename().string();
  };
  std::filesystem::create_directories(folder_ / "work/scripts");
  const std::string nested = repository("sub/dir/deep/.git", "../../../../../");
  EXPECT_TRUE(asksFor(nested));
  // A bare repository: a push to it runs its hooks.
  std::filesystem::create_directories(folder_ / "work/other/bare.git/objects/ab/hooks");
  put("work/other/bare.git/HEAD", "ref: refs/heads/main\n");
  EXPECT_TRUE(asksFor(repository("other/bare.git", "../../../")));
  EXPECT_FALSE(asksFor("scripts/none"));
  // One of many.
  for (int i = 0; i < 1'200; ++i) std::filesystem::create_directories(folder_ / ("work/many/" + std::to_string(i)));
  for (int i = 0; i < 1'200; i += 100) {
    const std::string name = "many/" + std::to_string(i);
    std::filesystem::create_directories(folder_ / ("work/" + name + "/.git/hooks"));
    link("../../../../scripts/m" + std::to_string(i), "work/" + name + "/.git/hooks/update");
    EXPECT_TRUE(asksFor("scripts/m" + std::to_string(i)));
  }
  EXPECT_FALSE(asksFor("scripts/none"));
}

TEST_F(GitFilesTest, HooksOfARepositoryThatIsPushedToCount) {
  std::filesystem::create_directories(folder_ / "work/.git");
  std::filesystem::create_directories(folder_ / "outside/origin.git/hooks");
  put("outside/origin.git/HEAD", "ref: refs/heads/main\n");
  link(folder_ / "work/scripts/check", "outside/origin.git/hooks/pre-receive");
  EXPECT_FALSE(asksFor("scripts/check"));
  for (const std::string& address : {std::string("../outside/origin"), "file://" + folder_ / "outside/origin.git"}) {
    put("work/.git/config", "[remote \"origin\"]\n\turl = https://example.org/a\n\tpushurl = " + address + "\n");
    EXPECT_TRUE(asksFor("scripts/check")) << address;
    EXPECT_FALSE(asksFor("scripts/other")) << address;
  }
  // Such paths are relative to the repository itself, not to its parent folder.
  put("work/.git/config", "[core]\nhooksPath = hooks2\n");
  std::filesystem::create_directories(folder_ / "work/.git/hooks2");
  link("../../scripts/check", "work/.git/hooks2/update");
  EXPECT_TRUE(asksFor("scripts/check"));
}

TEST_F(GitFilesTest, WhatOtherProgramsOfVersionControlObeyIsAskedFor) {
  for (const char* path : {".hg/hgrc", "sub/.hg/hgrc", ".HG/hgrc", ".jj/repo/config.toml", ".sl/config",
                           "_darcs/prefs/defaults", ".pijul/config"}) {
    EXPECT_TRUE(asksFor(path)) << path;
  }
  EXPECT_EQ(question("write", R"({"path":".hg/hgrc","content":"x"})"),
            "write to " + folder_ / "work/.hg/hgrc" + ", which hg may run or obey");
  for (const char* path : {".hgignore", "a.hg/x", "meta/hgrc"}) EXPECT_FALSE(asksFor(path)) << path;
  // The target of a link counts, not its name.
  std::filesystem::create_directories(folder_ / "work/meta");
  std::filesystem::create_directories(folder_ / "work/repo");
  std::filesystem::create_directories(folder_ / "work/elsewhere");
  std::filesystem::create_directory_symlink("../meta", folder_ / "work/repo/.hg");
  std::filesystem::create_directory_symlink("elsewhere", folder_ / "work/.jj");
  EXPECT_TRUE(asksFor("meta/hgrc"));
  EXPECT_TRUE(asksFor("elsewhere/repo"));
  put("work/meta/hgrc", "[hooks]\n%include ../tools/settings\n%include  ~/mine\r\n");
  EXPECT_TRUE(asksFor("tools/settings"));
  EXPECT_FALSE(asksFor("tools/other"));
  // A clone that shares the store of another one.
  std::filesystem::create_directories(folder_ / "work/copy/.hg");
  std::filesystem::create_directories(folder_ / "work/shared");
  put("work/copy/.hg/sharedpath", "../../shared\n");
  link("../settings", "work/shared/hgrc");
  EXPECT_FALSE(asksFor("shared-other/hgrc"));
  put("work/copy/.hg/sharedpath", "../../shared\n");
  EXPECT_TRUE(asksFor("shared/hgrc"));
  EXPECT_TRUE(asksFor("settings"));
  std::string many;
  for (int i = 0; i < 60; ++i) many += "%include " + std::to_string(i) + "\n";
  put("work/meta/hgrc", many);
  EXPECT_TRUE(asksFor("anything"));
}

TEST_F(GitFilesTest, TheUsersOwnSettingsOfHgAreAskedFor) {
  const UsersFolders users(folder_ / "work");
  EXPECT_TRUE(asksFor(".hgrc"));
  EXPECT_TRUE(asksFor(".config/hg/hgrc"));
  EXPECT_FALSE(asksFor("mine/a.rc"));
  const Variable named("HGRCPATH", folder_ / "work/mine" + ":sub/b");
  EXPECT_TRUE(asksFor("mine/a.rc"));
  EXPECT_TRUE(asksFor("sub/b"));
}

TEST(GitSettingsTest, AreReadAsGitReadsThem) {
  using Names = std::vector<std::string>;
  const GitSettings read = readGitSettings(
      "\xEF\xBB\xBF; hooksPath = no\r\n[Core] HooksPath = one two \t; three\r\n"
      "hookspath = \" three \" four\\\n five\n[core \"x\"]\nhooksPath = no\n[core.y]\nhooksPath = no\n"
      "[other]\nhooksPath = no\n[core]\nhooksPath\nhooksPath =\nhooksPathX = no\n"
      "hooksPath=a\\\"b#no\nworktree = \"x # [core]\"\nhooksPath = \"open\n"
      "[include]path=~/x\n[includeIf \"gitdir:a]\\\"b/\"]path = y\nother = no\n[include \"a\"]\npath = no\n");
  EXPECT_EQ(read.hookFolders, (Names{"one two", " three  four five", "a\"b", "open"}));
  EXPECT_EQ(read.includes, (Names{"~/x", "y"}));
  const GitSettings remotes = readGitSettings(
      "[remote \"a\"]\nurl = ../x\npushUrl = /y\n[remote \"b\"]\nurl = git@host:x\nurl = https://host/x\n"
      "url = file:///z\nfetch = +refs/heads/*:refs/remotes/b/*\n[remote]\nurl = no\n[branch \"c\"]\nurl = no\n");
  EXPECT_EQ(remotes.localRemotes, (Names{"../x", "/y", "file:///z"}));
  for (const char* text : {"", "[", "[core", "[core]hooksPath", "[core]\nhooksPath=\\", "=", "]", "[core]=x\n"}) {
    EXPECT_TRUE(readGitSettings(text).hookFolders.size() <= 1) << text;
  }
}

}  // namespace
}  // namespace bough::agent
