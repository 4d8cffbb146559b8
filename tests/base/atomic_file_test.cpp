#include "base/system/atomic_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <set>

#include "support/temp_folder.h"

namespace bough {
namespace {

namespace fs = std::filesystem;

class WholeFiles : public testing::Test {
 protected:
  void SetUp() override { opened_ = ::open(folder_.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); }
  void TearDown() override { ::close(opened_); }

  void put(const std::string& name, std::string_view bytes) const { std::ofstream(folder_ / name) << bytes; }
  std::string get(const std::string& name) const {
    std::ifstream in(folder_ / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& each : fs::directory_iterator(folder_.path())) found.insert(each.path().filename().string());
    return found;
  }
  SysResult<void> write(std::string_view bytes, IfPresent ifPresent) const {
    auto file = AtomicFile::create(opened_, "a", 0600);
    if (!file) return std::unexpected(file.error());
    if (auto written = file->write(bytes); !written) return written;
    return file->publish(ifPresent);
  }
  bool canBeWithoutName() const {
    const int file = ::openat(opened_, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (file >= 0) ::close(file);
    return file >= 0;
  }

  TempFolder folder_;
  int opened_ = -1;
};

TEST_F(WholeFiles, AKilledWriterLeavesNothing) {
  if (!canBeWithoutName()) GTEST_SKIP() << "files need a name on this file system";
  put("a", "as it was");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // The system kills a program whose file grows beyond its limit.
    const rlimit limit{.rlim_cur = 4'096, .rlim_max = 4'096};
    (void)::setrlimit(RLIMIT_FSIZE, &limit);
    (void)std::signal(SIGXFSZ, SIG_DFL);
    (void)write(std::string(65'536, 'x'), IfPresent::Replace);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(names(), std::set<std::string>{"a"});
  EXPECT_EQ(get("a"), "as it was");
}

TEST_F(WholeFiles, ItReplacesOrRefusesWhatHasItsName) {
  ASSERT_TRUE(write("one", IfPresent::Refuse));
  EXPECT_EQ(write("two", IfPresent::Refuse).error(), EEXIST);
  EXPECT_EQ(get("a"), "one");
  ASSERT_TRUE(write("three", IfPresent::Replace));
  EXPECT_EQ(get("a"), "three");
  EXPECT_EQ(names(), std::set<std::string>{"a"});
}

// Simulates file systems that can create a file without a name but cannot give it a name later.
void refuseLinks() {
  sock_filter steps[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_linkat, 0, 1),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{.len = std::size(steps), .filter = steps};
  (void)::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  (void)::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

TEST_F(WholeFiles, ItIsThereAlsoWhereAFileWithoutANameCannotGetOne) {
  const std::string bytes(200'000, 'x');
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    refuseLinks();
    const bool made = write("one", IfPresent::Refuse).has_value();
    const bool refused = !write("two", IfPresent::Refuse);
    ::_exit(made && refused && write(bytes, IfPresent::Replace) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(get("a"), bytes);
  EXPECT_EQ(names(), std::set<std::string>{"a"});
}

TEST_F(WholeFiles, WhatWasNotPlacedIsGone) {
  {
    auto file = AtomicFile::create(opened_, "a", 0600);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write("half"));
  }
  EXPECT_TRUE(names().empty());
}

TEST_F(WholeFiles, TheNextWriterRemovesOldTemporaryFilesOfThatNameAlone) {
  const std::string old = ".a.0123456789abcdef.tmp";
  const std::string young = ".a.0123456789abcdee.tmp";
  const std::set<std::string> others = {".b.0123456789abcdef.tmp", "a.0123456789abcdef.tmp", ".a.tmp",
                                        ".a.b.0123456789abcdef.tmp", young};
  for (const std::string& each : others) put(each, "");
  put(old, "");
  for (const auto& each : fs::directory_iterator(folder_.path())) {
    if (each.path().filename() == young) continue;
    fs::last_write_time(each.path(), fs::file_time_type::clock::now() - std::chrono::hours(2));
  }
  auto file = AtomicFile::create(opened_, "a", 0600);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->publish(IfPresent::Refuse));
  file->removeLeftovers();
  std::set<std::string> expected = others;
  expected.insert("a");
  EXPECT_EQ(names(), expected);
}

}  // namespace
}  // namespace bough
