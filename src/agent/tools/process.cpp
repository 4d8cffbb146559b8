#include "agent/tools/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <optional>

#include "agent/tools/process_keeper.h"
#include "agent/tools/tool_variables.h"
#include "base/system/file_io.h"
#include "base/text/counted.h"
#include "base/try.h"
#include "bough/agent/tools.h"

namespace bough::agent {
namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr int kPollMs = 20;
constexpr std::chrono::milliseconds kKillAfter{1'000};
constexpr std::chrono::milliseconds kAbandonAfter{30'000};

// Keeps the beginning and the end of the bytes that pass through.
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
    return fmt::format("{}\n[… {} left out …]\n{}", head_, counted(leftOut, "byte"), end);
  }

 private:
  std::size_t headLimit_;
  std::size_t tailLimit_;
  std::string head_;
  std::string tail_;
  std::uint64_t total_ = 0;
};

// Searches PATH before the fork, because a forked child must not.
Result<std::string> findProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* variable = std::getenv("PATH");
  std::string_view folders = variable == nullptr ? "/usr/bin:/bin" : variable;
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
    // Skip relative folders: they would be relative to the folder that the program runs in.
    if (!folder.starts_with('/')) continue;
    std::string path = fmt::format("{}/{}", folder, name);
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return std::unexpected(systemError(ENOENT, "start", name));
}

struct Pipe {
  Descriptor reading;
  Descriptor writing;
};

Result<Pipe> makePipe(const std::string& what) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::unexpected(systemError(errno, "make a pipe for", what));
  return Pipe{.reading = Descriptor(ends[0]), .writing = Descriptor(ends[1])};
}

// The running program, as its keeper reports it.
class KeptProcess {
 public:
  static Result<KeptProcess> start(const ProcessRequest& request, int output) {
    BOUGH_TRY(const std::string path, findProgram(request.arguments[0]));
    BOUGH_TRY(Pipe commands, makePipe(path));
    BOUGH_TRY(Pipe reports, makePipe(path));
    std::vector<char*> words;
    for (const std::string& each : request.arguments) words.push_back(const_cast<char*>(each.c_str()));
    words.push_back(nullptr);
    const ToolVariables variables;
    const KeptProgram program{.path = path.c_str(),
                              .arguments = words.data(),
                              .variables = variables.get(),
                              .folder = request.folder,
                              .input = request.input,
                              .output = output,
                              .commands = commands.reading.get(),
                              .reports = reports.writing.get()};
    const pid_t keeper = ::fork();
    if (keeper == 0) keepProgram(program);
    if (keeper < 0) return std::unexpected(systemError(errno, "start", path));
    (void)::fcntl(reports.reading.get(), F_SETFL, O_NONBLOCK);
    return KeptProcess(path, keeper, std::move(commands.writing), std::move(reports.reading));
  }

  KeptProcess(KeptProcess&&) = default;
  KeptProcess& operator=(KeptProcess&&) = delete;
  ~KeptProcess() {
    if (keeper_.get() < 0) return;
    commands_.close();  // ends everything that still runs
    while (!keeperEnded_) checkKeeper(0);
  }

  void sendCommand(char command) { (void)!::write(commands_.get(), &command, 1); }
  [[nodiscard]] int reports() const { return reports_.get(); }
  [[nodiscard]] bool hasEnded() const { return hasEnded_; }
  [[nodiscard]] bool hasLeftOthers() const { return leftOthers_; }

  // Wakes the keeper when the program has stopped it; no other process can.
  void checkKeeper(int options) {
    if (keeperEnded_) return;
    int status = 0;
    const pid_t changed = ::waitpid(keeper_.get(), &status, options | WUNTRACED);
    if (changed == 0 || (changed < 0 && errno == EINTR)) return;
    keeperEnded_ = changed < 0 || !WIFSTOPPED(status);
    if (!keeperEnded_) (void)::kill(keeper_.get(), SIGCONT);
  }
  // The last resort against a program that keeps its keepers from working.
  void abandon() {
    isAbandoned_ = true;
    hasEnded_ = true;
    if (!keeperEnded_) (void)::kill(keeper_.get(), SIGKILL);
  }

  void readReports() {
    KeeperReport report{};
    ssize_t got = 0;
    while ((got = ::read(reports_.get(), &report, sizeof report)) == static_cast<ssize_t>(sizeof report)) {
      if (report.kind == KeeperReport::NotStarted) notStarted_ = report.value;
      if (report.kind == KeeperReport::Ended) status_ = report.value;
      leftOthers_ = leftOthers_ || report.kind == KeeperReport::LeftOthers;
      stopped_ = stopped_ || report.kind == KeeperReport::KeeperStopped;
    }
    hasEnded_ = hasEnded_ || got == 0;  // the keeper is gone, and with it every process it kept
  }

  [[nodiscard]] Result<int> exitCode() const {
    if (notStarted_) return std::unexpected(systemError(*notStarted_, "start", path_));
    if (isAbandoned_) {
      return fail(ErrorCode::Io,
                  "the command cannot be ended and may still run: it stops the processes that watch over it");
    }
    if (stopped_) {
      return fail(ErrorCode::Io,
                  "the command stopped the process that watches over it, and was ended with everything it started");
    }
    if (!status_) return 128 + SIGKILL;
    return WIFSIGNALED(*status_) ? 128 + WTERMSIG(*status_) : WEXITSTATUS(*status_);
  }

 private:
  // A process id; negative after a move.
  class Id {
   public:
    explicit Id(pid_t id) : id_(id) {}
    Id(Id&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
    [[nodiscard]] pid_t get() const { return id_; }

   private:
    pid_t id_;
  };

  KeptProcess(std::string path, pid_t keeper, Descriptor commands, Descriptor reports)
      : path_(std::move(path)), keeper_(keeper), commands_(std::move(commands)), reports_(std::move(reports)) {}

  std::string path_;
  Id keeper_;
  Descriptor commands_;
  Descriptor reports_;
  std::optional<int> notStarted_;
  std::optional<int> status_;
  bool leftOthers_ = false;
  bool stopped_ = false;
  bool isAbandoned_ = false;
  bool keeperEnded_ = false;
  bool hasEnded_ = false;
};

// Reads the available output. Returns false when all writers have closed the pipe.
bool drain(int descriptor, Excerpt& output, const ProcessRequest& request) {
  char part[65'536];
  for (int round = 0; round < 64; ++round) {
    const ssize_t got = ::read(descriptor, part, sizeof part);
    if (got > 0) {
      output.add({part, static_cast<std::size_t>(got)});
      if (request.output) request.output({part, static_cast<std::size_t>(got)});
      continue;
    }
    return !(got == 0 || (errno != EAGAIN && errno != EINTR));
  }
  return true;
}

}  // namespace

Result<ProcessOutcome> runProcess(const ProcessRequest& request, const CancelToken& cancel) {
  BOUGH_TRY(Pipe pipe, makePipe(request.arguments[0]));
  const int reading = pipe.reading.get();
  (void)::fcntl(reading, F_SETFL, O_NONBLOCK);
  BOUGH_TRY(KeptProcess process, KeptProcess::start(request, pipe.writing.get()));
  pipe.writing.close();
  Excerpt output(request.outputBytes);
  ProcessOutcome outcome;
  const auto end = SteadyClock::now() + request.time;
  std::optional<SteadyClock::time_point> killAt;
  std::optional<SteadyClock::time_point> abandonAt;
  bool open = true;
  while (!process.hasEnded()) {
    process.checkKeeper(WNOHANG);
    if (abandonAt) {
      if (SteadyClock::now() >= *abandonAt) process.abandon();
    } else if (!killAt) {
      outcome.cancelled = cancel.requested();
      outcome.timedOut = !outcome.cancelled && SteadyClock::now() >= end;
      if (outcome.cancelled || outcome.timedOut) {
        process.sendCommand(kKeeperTerminate);
        killAt = SteadyClock::now() + kKillAfter;
      }
    } else if (SteadyClock::now() >= *killAt) {
      process.sendCommand(kKeeperKill);
      abandonAt = SteadyClock::now() + kAbandonAfter;
    }
    pollfd ready[] = {{.fd = open ? reading : -1, .events = POLLIN, .revents = 0},
                      {.fd = process.reports(), .events = POLLIN, .revents = 0}};
    (void)::poll(ready, 2, kPollMs);
    if (open && ready[0].revents != 0) open = drain(reading, output, request);
    if (ready[1].revents != 0) process.readReports();
  }
  if (open) (void)drain(reading, output, request);
  BOUGH_TRY(outcome.exitCode, process.exitCode());
  outcome.output = output.text();
  outcome.outputBytes = output.total();
  outcome.leftOthers = process.hasLeftOthers();
  return outcome;
}

}  // namespace bough::agent
