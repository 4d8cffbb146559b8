#include "agent/tools/process_keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>

namespace bough::agent {
namespace {

constexpr int kCommands = 3;  // where the keeper has its ends of the pipes
constexpr int kReports = 4;
constexpr int kKeeperPollMs = 10;
constexpr int kKillRounds = 2'000;  // of a few milliseconds each; a process that survives them cannot be killed
constexpr int kLeaveRounds = 100;   // of as many milliseconds

void report(int descriptor, KeeperReport::Kind kind, int value) {
  const KeeperReport text{.kind = kind, .value = value};
  (void)!::write(descriptor, &text, sizeof text);
}

// Closes all descriptors from `first` on, so that the program inherits none of ours.
void closeFrom(unsigned first, bool whenExecuted) {
  const unsigned flags = whenExecuted ? CLOSE_RANGE_CLOEXEC : 0U;
  if (::close_range(first, UINT_MAX, static_cast<int>(flags)) == 0) return;
  for (int each = static_cast<int>(first); each < 4'096; ++each) {  // kernels before 5.11
    if (whenExecuted) {
      (void)::fcntl(each, F_SETFD, FD_CLOEXEC);
    } else {
      (void)::close(each);
    }
  }
}

void setSignals(bool blocked) {
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) (void)::sigaction(number, &standard, nullptr);
  sigset_t set;
  blocked ? sigfillset(&set) : sigemptyset(&set);
  (void)::sigprocmask(SIG_SETMASK, &set, nullptr);
}

[[noreturn]] void execute(const KeptProgram& program) {
  (void)::setsid();                          // no terminal to read from or to take over
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a command that kills its keeper ends with it
  setSignals(/*blocked=*/false);
  const int input = program.input >= 0 ? program.input : ::open("/dev/null", O_RDONLY);
  const int reports = ::fcntl(program.reports, F_DUPFD_CLOEXEC, 10);
  // Copy the output first: its number may be one that is about to be replaced.
  const int output = ::fcntl(program.output, F_DUPFD_CLOEXEC, 10);
  const bool ready = ::dup2(input, STDIN_FILENO) >= 0 && ::dup2(output, STDOUT_FILENO) >= 0 &&
                     ::dup2(output, STDERR_FILENO) >= 0 && ::fchdir(program.folder) == 0;
  if (ready) {
    closeFrom(3, /*whenExecuted=*/true);
    (void)::execve(program.path, program.arguments, program.variables);
  }
  report(reports, KeeperReport::NotStarted, errno);
  ::_exit(127);
}

// Sends a signal to every child. Returns false when the system does not list the children.
bool signalChildren(int number) {
  const int list = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (list < 0) return false;
  char text[4'096];
  pid_t id = 0;
  for (ssize_t got = ::read(list, text, sizeof text); got > 0; got = ::read(list, text, sizeof text)) {
    for (ssize_t i = 0; i < got; ++i) {
      if (text[i] >= '0' && text[i] <= '9') {
        id = id * 10 + (text[i] - '0');
      } else {
        if (id > 0) (void)::kill(id, number);
        id = 0;
      }
    }
  }
  if (id > 0) (void)::kill(id, number);
  (void)::close(list);
  return true;
}

class Keeper {
 public:
  explicit Keeper(pid_t program) : program_(program) {}

  [[noreturn]] void run() {
    while (!programEnded_) {
      obeyCommand();
      reap();
    }
    reportOthers();
    endAll();
    ::_exit(0);
  }

  // Waits for the keeper that watches the program, and ends the processes that it left.
  [[noreturn]] void runAfterKeeper() {
    int status = 0;
    for (pid_t changed = 0; !(changed < 0 && errno == ECHILD); changed = ::waitpid(-1, &status, WUNTRACED)) {
      if (changed != program_) continue;
      if (!WIFSTOPPED(status)) break;
      report(kReports, KeeperReport::KeeperStopped, 0);
      (void)::kill(program_, SIGKILL);
    }
    programEnded_ = true;
    endAll();
    ::_exit(0);
  }

 private:
  void obeyCommand() {
    pollfd ready{.fd = kCommands, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, kKeeperPollMs) <= 0) return;
    char command = kKeeperKill;
    const ssize_t got = ::read(kCommands, &command, 1);
    if (got == 1 && command == kKeeperTerminate) {
      (void)::kill(-program_, SIGTERM);
      return;
    }
    if (got < 0) return;
    endAll();
  }

  // Reaps all processes that have ended, and reports the end of the program. Returns false when no child is left.
  bool reap() {
    int status = 0;
    pid_t id = ::waitpid(-1, &status, WNOHANG);
    for (; id > 0; id = ::waitpid(-1, &status, WNOHANG)) {
      if (id != program_) continue;
      programEnded_ = true;
      report(kReports, KeeperReport::Ended, status);
    }
    return id == 0;
  }

  // Reports processes that the program left running and that will be killed. First gives them a moment to end by
  // themselves.
  void reportOthers() {
    for (int round = 0; round < kLeaveRounds; ++round) {
      if (!reap()) return;
      (void)::poll(nullptr, 0, 2);
    }
    report(kReports, KeeperReport::LeftOthers, 0);
  }

  // Kills all children. Their children become ours and are killed in the next round, until none is left.
  void endAll() {
    for (int round = 0; round < kKillRounds; ++round) {
      if (!programEnded_) (void)::kill(-program_, SIGKILL);
      (void)signalChildren(SIGKILL);
      if (!reap()) return;
      (void)::poll(nullptr, 0, 2);
    }
  }

  pid_t program_;
  bool programEnded_ = false;
};

// Makes this process a keeper in its own session, and forks the process that it keeps. Ends this process on failure.
pid_t forkKeeper(const KeptProgram& program) {
  (void)::setsid();  // Ctrl-C in the terminal must not reach the keeper
  setSignals(/*blocked=*/true);
  (void)::prctl(PR_SET_DUMPABLE, 0);  // this copy of our memory holds secrets that the program must not read
  (void)::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t id = ::fork();
  if (id >= 0) return id;
  report(program.reports, KeeperReport::NotStarted, errno);
  ::_exit(1);
}

[[noreturn]] void watchProgram(const KeptProgram& program) {
  (void)::prctl(PR_SET_PDEATHSIG, SIGCONT);  // wakes a keeper that was stopped when its own keeper died; otherwise it
                                             // would never end
  const pid_t id = forkKeeper(program);
  if (id == 0) execute(program);
  const int commands = ::fcntl(program.commands, F_DUPFD, 10);
  const int reports = ::fcntl(program.reports, F_DUPFD, 10);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (int each = 0; each < 3; ++each) (void)::dup2(nothing, each);
  (void)::dup2(commands, kCommands);
  (void)::dup2(reports, kReports);
  closeFrom(5, /*whenExecuted=*/false);
  Keeper(id).run();
}

}  // namespace

void keepProgram(const KeptProgram& program) {
  const pid_t keeper = forkKeeper(program);
  if (keeper == 0) watchProgram(program);
  // Stays open until everything has ended: the end of the reports tells the reader so.
  (void)::dup2(program.reports, kReports);
  for (int each = 0; each < kReports; ++each) (void)::close(each);
  closeFrom(kReports + 1, /*whenExecuted=*/false);
  Keeper(keeper).runAfterKeeper();
}

}  // namespace bough::agent
