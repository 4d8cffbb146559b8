// Keys from a terminal, one by one.
#include "cli/terminal/screen.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

namespace bough::cli {
namespace {

// During its lifetime, stdin is a pipe and output is discarded.
class Typed {
 public:
  explicit Typed(std::string_view bytes) : stdin_(::dup(STDIN_FILENO)), stdout_(::dup(STDOUT_FILENO)) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    EXPECT_EQ(::write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    (void)::dup2(ends[0], STDIN_FILENO);
    (void)::dup2(nowhere, STDOUT_FILENO);
    for (const int each : {ends[0], ends[1], nowhere}) (void)::close(each);
  }
  ~Typed() {
    (void)::dup2(stdin_, STDIN_FILENO);
    (void)::dup2(stdout_, STDOUT_FILENO);
    for (const int each : {stdin_, stdout_}) (void)::close(each);
  }
  Typed(const Typed&) = delete;
  Typed& operator=(const Typed&) = delete;

 private:
  int stdin_;
  int stdout_;
};

TEST(Screen, AKeyThatComesTogetherWithANewSizeIsNotLost) {
  const Typed typed("東\033[Bx");
  Screen screen;
  (void)::raise(SIGWINCH);
  EXPECT_EQ(screen.next().kind, Key::Kind::Resize);
  const Key wide = screen.next();
  EXPECT_EQ(wide.kind, Key::Kind::Text);
  EXPECT_EQ(wide.text, "東");
  (void)::raise(SIGWINCH);
  EXPECT_EQ(screen.next().kind, Key::Kind::Resize);
  EXPECT_EQ(screen.next().kind, Key::Kind::Down);
  EXPECT_EQ(screen.next().text, "x");
  EXPECT_EQ(screen.next().kind, Key::Kind::Closed);
}

}  // namespace
}  // namespace bough::cli
