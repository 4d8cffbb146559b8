#include "agent/tools/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <optional>

#include "base/file_io.h"
#include "base/try.h"
#include "bough/agent/tools.h"
#include "bough/agent/working_folder.h"

namespace bough::agent {
namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr int kLookMs = 20;
constexpr std::chrono::milliseconds kGrace{1'000};

// Keeps the beginning and the end of what passes through.
class Excerpt {
 public:
  explicit Excerpt(std::size_t limit) : headLimit_(limit / 3), tailLimit_(limit - limit / 3) {}

  void add(std::string_view bytes) {
    total_ += bytes.size();
    const std::size_t room = headLimit_ - head_.size();
    head_.append(bytes.substr(0, room));
    if (bytes.size() <= room) return;
    tail_.append(bytes.substr(room));
    if (tail_.size() > 2 * tailLimit_) tail_.erase(0, tail_.size() - tailLimit_);
  }

  [[nodiscard]] std::uint64_t total() const { return total_; }

  [[nodiscard]] std::string text() const {
    const std::string_view end = std::string_view(tail_).substr(tail_.size() - std::min(tail_.size(), tailLimit_));
    const std::uint64_t leftOut = total_ - head_.size() - end.size();
    if (leftOut == 0) return head_ + std::string(end);
    return fmt::format("{}\n[… {} bytes left out …]\n{}", head_, leftOut, end);
  }

 private:
  std::size_t headLimit_;
  std::size_t tailLimit_;
  std::string head_;
  std::string tail_;
  std::uint64_t total_ = 0;
};

std::vector<char*> environmentWithoutKeys() {
  std::vector<char*> out;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view entry(*each);
    const std::string_view name = entry.substr(0, entry.find('='));
    if (std::ranges::find(Secrets::variables(), name) == Secrets::variables().end()) out.push_back(*each);
  }
  out.push_back(nullptr);
  return out;
}

// A child, and everything in its process group.
class Child {
 public:
  explicit Child(pid_t id) : id_(id) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    signal(SIGKILL);
    if (!status_) (void)::waitpid(id_, nullptr, 0);
  }

  void signal(int number) const { (void)::kill(-id_, number); }

  bool ended() {
    int status = 0;
    if (!status_ && ::waitpid(id_, &status, WNOHANG) == id_) status_ = status;
    return status_.has_value();
  }

  [[nodiscard]] int exitCode() const {
    if (!status_) return 128 + SIGKILL;
    return WIFSIGNALED(*status_) ? 128 + WTERMSIG(*status_) : WEXITSTATUS(*status_);
  }

 private:
  pid_t id_;
  std::optional<int> status_;
};

Result<pid_t> spawn(const ProcessRequest& request, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (request.input >= 0) {
    posix_spawn_file_actions_adddup2(&actions, request.input, STDIN_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  posix_spawn_file_actions_addfchdir_np(&actions, request.folder);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A session of its own: no terminal to read from or to take over. Signals as a fresh program has them.
  sigset_t all;
  sigset_t none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  std::vector<char*> words;
  for (const std::string& each : request.arguments) words.push_back(const_cast<char*>(each.c_str()));
  words.push_back(nullptr);
  std::vector<char*> variables = environmentWithoutKeys();
  pid_t id = 0;
  const int problem = ::posix_spawnp(&id, words[0], &actions, &attributes, words.data(), variables.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) return std::unexpected(systemError(problem, "start", request.arguments[0]));
  return id;
}

// Takes what is there to read; false when all writers are gone.
bool drain(int descriptor, Excerpt& output) {
  char part[65'536];
  for (int round = 0; round < 64; ++round) {
    const ssize_t got = ::read(descriptor, part, sizeof part);
    if (got > 0) {
      output.add({part, static_cast<std::size_t>(got)});
      continue;
    }
    return !(got == 0 || (errno != EAGAIN && errno != EINTR));
  }
  return true;
}

}  // namespace

Result<ProcessOutcome> runProcess(const ProcessRequest& request, const CancelToken& cancel) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return std::unexpected(systemError(errno, "make a pipe for", request.arguments[0]));
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  (void)::fcntl(reading.get(), F_SETFL, O_NONBLOCK);
  BOUGH_TRY(const pid_t id, spawn(request, writing.get()));
  writing.close();
  Child child(id);
  Excerpt output(request.outputBytes);
  ProcessOutcome outcome;
  const auto end = SteadyClock::now() + request.time;
  std::optional<SteadyClock::time_point> killAt;
  bool open = true;
  while (!child.ended()) {
    if (!killAt) {
      outcome.cancelled = cancel.requested();
      outcome.timedOut = !outcome.cancelled && SteadyClock::now() >= end;
      if (outcome.cancelled || outcome.timedOut) {
        child.signal(SIGTERM);
        killAt = SteadyClock::now() + kGrace;
      }
    } else if (SteadyClock::now() >= *killAt) {
      child.signal(SIGKILL);
    }
    pollfd ready{.fd = open ? reading.get() : -1, .events = POLLIN, .revents = 0};
    (void)::poll(&ready, 1, kLookMs);
    if (open && ready.revents != 0) open = drain(reading.get(), output);
  }
  child.signal(SIGKILL);  // what it left in the background would hold the pipe
  if (open) (void)drain(reading.get(), output);
  outcome.output = output.text();
  outcome.outputBytes = output.total();
  outcome.exitCode = child.exitCode();
  return outcome;
}

}  // namespace bough::agent
