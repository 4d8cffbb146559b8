// Keeps watch over a program that a tool runs, in two small processes of their own.
//
// Everything the program starts, however far it moves away (setsid, double fork), has the keeper as its last ancestor:
// when its own parent ends, the system hands it to the keeper (PR_SET_CHILD_SUBREAPER). So the keeper can end all of
// it, and does when the program ends, when it is told to, and when the process that made it is gone. A program may kill
// its parent (`kill -9 $PPID`): a second keeper, the parent of the first, ends what is left then. It also ends a first
// keeper that was stopped (SIGSTOP), which could not obey any more; the process that made it wakes the second one.
//
// It begins with fork() in a program that may have threads, so it calls only what is safe there: no memory is
// allocated.
#pragma once

namespace bough::agent {

/// What the keeper is told: one byte each.
inline constexpr char kKeeperTerminate = 'T';  ///< SIGTERM to the program's group.
inline constexpr char kKeeperKill = 'K';       ///< SIGKILL to everything.

/// What it tells: first how the start went, then how the program ended, and whether it left others running; or that a
/// keeper was stopped, so that everything was ended.
struct KeeperReport {
  enum Kind : int { NotStarted, Ended, LeftOthers, KeeperStopped };
  int kind;
  int value;  ///< NotStarted: errno. Ended: the status that waitpid gave. Otherwise: nothing.
};

/// What the program gets. All pointers stay valid until the keeper was forked.
struct KeptProgram {
  const char* path;        ///< Absolute.
  char* const* arguments;  ///< Ends in a null pointer.
  char* const* variables;  ///< The same.
  int folder;              ///< Open folder to run in.
  int input;               ///< Standard input; negative: /dev/null.
  int output;              ///< Standard output and standard error.
  int commands;            ///< The keeper reads commands here; the end of it is a command to kill.
  int reports;             ///< The keeper writes KeeperReports here.
};

/// To be called in the child of fork(): starts the program, watches it, ends it. Does not return.
[[noreturn]] void keepProgram(const KeptProgram& program);

}  // namespace bough::agent
