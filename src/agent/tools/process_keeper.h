// Watches over a program that a tool runs, from two small helper processes, the keepers.
//
// The keeper is an ancestor of every process that the program starts, however far that process detaches (setsid, double
// fork): when its own parent ends, the system makes the keeper its parent (PR_SET_CHILD_SUBREAPER). So the keeper can
// end all of them. It does so when the program ends, on command, and when the process that made the keeper is gone. A
// program may kill its parent (`kill -9 $PPID`); then a second keeper, the parent of the first, ends the rest. The
// second keeper also ends a first keeper that was stopped (SIGSTOP) and could no longer obey. If the second keeper is
// stopped, the process that made it wakes it.
//
// The keeper starts with fork() in a program that may have threads, so it calls only functions that are safe there and
// allocates no memory.
#pragma once

namespace bough::agent {

/// Commands to the keeper: one byte each.
inline constexpr char kKeeperTerminate = 'T';  ///< SIGTERM to the program's group.
inline constexpr char kKeeperKill = 'K';       ///< SIGKILL to everything.

/// Reports from the keeper: first whether the program started, then how it ended and whether it left processes running;
/// or that a keeper was stopped, so that everything was ended.
struct KeeperReport {
  enum Kind : int { NotStarted, Ended, LeftOthers, KeeperStopped };
  int kind;
  int value;  ///< NotStarted: errno. Ended: the status from waitpid. Otherwise unused.
};

/// What the keeper needs to run the program. All pointers must stay valid until the keeper was forked.
struct KeptProgram {
  const char* path;        ///< Absolute.
  char* const* arguments;  ///< Ends in a null pointer.
  char* const* variables;  ///< Ends in a null pointer, too.
  int folder;              ///< Open folder to run in.
  int input;               ///< Standard input; negative: /dev/null.
  int output;              ///< Standard output and standard error.
  int commands;            ///< The keeper reads commands here; end of file means kill.
  int reports;             ///< The keeper writes KeeperReports here.
};

/// Starts the program, watches it and ends it. Call this in the child after fork(). Does not return.
[[noreturn]] void keepProgram(const KeptProgram& program);

}  // namespace bough::agent
