// State shared by all open files and folders of one simulator. Included only by the simulator's own sources.
#pragma once

#include <map>
#include <mutex>

#include "support/sim_file_system.h"

namespace bough {

/// The initial disk and every change since.
struct SimFileSystem::History {
  sim::Disk start;
  std::vector<sim::Operation> operations;

  [[nodiscard]] sim::Disk diskAt(const CrashPoint& point) const;
};

struct SimFileSystem::State {
  /// The fault planned for a call.
  struct Verdict {
    int error = 0;
    std::optional<std::uint64_t> shortBytes;
  };

  std::mutex mutex;
  sim::Disk disk;
  sim::Disk start;
  std::vector<sim::Operation> operations;
  std::vector<std::string> calls;
  std::string trace;

  std::map<std::uint64_t, int> failures;
  std::map<std::uint64_t, std::uint64_t> shortCalls;
  std::optional<std::pair<std::uint64_t, int>> goneFrom;
  std::uint64_t syncsUntilFailure = 0;
  std::function<void()> beforeSync;
  std::uint64_t readsUntilAct = 0;
  std::function<void()> beforeRead;
  std::optional<std::uint64_t> freeBytes;

  /// By file, then by open file.
  std::map<std::uint64_t, std::map<const File*, LockKind>> locks;
  /// By file: the open file that waits first for its lock.
  std::map<std::uint64_t, const File*> turns;

  /// Counts a call and returns its fault. Writes the trace line of a traced call that must fail.
  Verdict enter(std::string text, bool traced);
  /// Changes the disk, and records and traces the change.
  void commit(sim::Operation operation);
  void traceLine(std::string_view text, int error = 0);
  [[nodiscard]] FileInfo infoOf(std::uint64_t inode) const;
  void unlock(std::uint64_t inode, const File* holder, const std::string& label);
};

}  // namespace bough
