// Which files are asked about because git runs or obeys them.
#include <filesystem>
#include <string>
#include <string_view>

#include "agent/tools_fixture.h"
#include "base/json/json_write.h"

namespace bough::agent {
namespace {

using GitFilesTest = ToolsTest;

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
  // A folder .git that is a link, links in it, and a file .git that names the repository.
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
  // A repository without a folder .git, below the working folder; HEAD may come last.
  std::filesystem::create_directories(folder_ / "work/bare/objects");
  EXPECT_FALSE(asks("bare/config"));
  EXPECT_TRUE(asks("bare/HEAD"));
  put("work/bare/HEAD", "ref: refs/heads/main");
  EXPECT_TRUE(asks("bare/config"));
  EXPECT_TRUE(asks("bare/hooks/pre-commit"));
  EXPECT_FALSE(asks("bare/README"));
  // The working folder is the root, or within a repository.
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

}  // namespace
}  // namespace bough::agent
