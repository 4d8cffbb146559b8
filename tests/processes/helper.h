// Child processes for tests: this program in another role, with a pipe for reports.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

namespace bough {

/// Runs a role in a new process: `role store session name seed`. The process is killed when this object is destroyed.
class Child {
 public:
  Child(const std::string& role, const std::string& store, const std::string& session, const std::string& name,
        unsigned seed) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    const std::string seedText = std::to_string(seed);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ends[1], 3);
      ::execl("/proc/self/exe", "processes_test", "--role", role.c_str(), store.c_str(), session.c_str(), name.c_str(),
              seedText.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    pipe_ = ends[0];
    ::fcntl(pipe_, F_SETFL, O_NONBLOCK);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    kill();
    ::close(pipe_);
  }

  [[nodiscard]] int pipe() const { return pipe_; }

  /// Returns the new reports, line by line. A report is a single write, so no line is incomplete.
  std::vector<std::string> reports() {
    char bytes[4096];
    for (;;) {
      const ssize_t got = ::read(pipe_, bytes, sizeof bytes);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      text_.append(bytes, static_cast<std::size_t>(got));
    }
    std::vector<std::string> lines;
    for (std::size_t end = 0; (end = text_.find('\n')) != std::string::npos; text_.erase(0, end + 1)) {
      lines.push_back(text_.substr(0, end));
    }
    return lines;
  }

  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    (void)wait();
  }
  /// Waits for the end of the process. Returns its exit code.
  int wait() {
    if (pid_ <= 0) return -1;
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = -1;
  int pipe_ = -1;
  std::string text_;
};

/// Waits until one of the children has a report, at most `timeoutMs`.
template <typename Children>
void waitForAny(const Children& children, int timeoutMs) {
  std::vector<pollfd> polled;
  for (const auto& child : children) polled.push_back({.fd = child->pipe(), .events = POLLIN, .revents = 0});
  (void)::poll(polled.data(), polled.size(), timeoutMs);
}

/// Called in a child: reports one line to the parent.
inline void report(const std::string& line) {
  const std::string text = line + "\n";
  if (::write(3, text.data(), text.size()) != static_cast<ssize_t>(text.size())) ::_exit(3);
}

}  // namespace bough
