// A file system in memory that can lose power, fail and fill up on command, for tests of what survives.
//
// It follows the seam of base/system/file_system.h and behaves there as Linux does. It counts two things. Calls
// are all calls through the seam, from 1; faults are put on a call. Operations are the calls that changed the disk,
// from 1; crashes come between operations, or inside a write. A test of faults runs a scenario once, takes callCount(),
// and runs it again on a fresh simulator for each call. A test of crashes runs it once, notes operationCount() at each
// acknowledgement, and looks at every image that forEachCrash builds.
//
// Names with a slash, "." and ".." are refused with EINVAL: callers must not form them. Folders that openRoot makes are
// durable at once, since the seam has no call that would sync them. watch() gives ENOTSUP.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/system/file_system.h"
#include "support/sim_disk.h"

namespace bough {

class SimFileSystem;

/// Where a crash comes: after `operation` operations, the last of which, when `bytes` is set, is a write of which only
/// the first `bytes` were made.
struct CrashPoint {
  std::uint64_t operation = 0;
  std::optional<std::uint64_t> bytes;

  /// How many operations had returned to their caller.
  [[nodiscard]] std::uint64_t completed() const { return bytes ? operation - 1 : operation; }
};

/// One fate for all that was not synced.
struct CrashChoice {
  sim::PageFate pages = sim::PageFate::Dropped;
  bool newSizes = false;  ///< The files' last sizes reached the disk; else those of the last sync.
  bool newNames = false;  ///< All changes of folders reached the disk; else only the synced ones.
};

struct CrashOptions {
  std::uint64_t firstOperation = 0;     ///< Crashes before this one are left out.
  std::uint64_t writeStepBytes = 0;     ///< Cuts inside each write, this far apart; 0 for none.
  std::size_t exhaustivePages = 6;      ///< Up to so many unsynced pages, every combination is built.
  std::size_t exhaustiveImages = 4096;  ///< Unless that makes more images than this at one crash point.
  std::size_t samples = 48;             ///< Else so many combinations are drawn at a crash point.
  std::uint64_t seed = 1;
};

struct CrashImage {
  CrashPoint point;
  std::string description;               ///< Where the crash came and what it left, for messages.
  std::unique_ptr<SimFileSystem> files;  ///< A fresh simulator that holds what the disk held.
};

enum class FaultReach : std::uint8_t {
  Once,     ///< Only that call fails.
  Forever,  ///< That call and all later ones fail: the disk is gone.
};

class SimFileSystem final : public FileSystem {
 public:
  SimFileSystem();
  ~SimFileSystem() override;

  SysResult<std::unique_ptr<Directory>> openRoot(const std::string& path, bool create) override;

  /// How many calls were made, and what the call of that number was ("read sessions/a.jsonl 0+512").
  [[nodiscard]] std::uint64_t callCount() const;
  [[nodiscard]] std::string callName(std::uint64_t call) const;
  /// How many operations changed the disk, and what the one of that number was.
  [[nodiscard]] std::uint64_t operationCount() const;
  [[nodiscard]] std::string operationName(std::uint64_t operation) const;
  /// Changes and locks in order, a line each; what was made to fail ends in "-> EIO". Calls that failed by themselves
  /// are left out.
  [[nodiscard]] std::string trace() const;
  void clearTrace();

  /// Makes a call fail with an errno. A sync of a file that fails (except with EINTR) loses the unsynced pages.
  void failOperation(std::uint64_t call, int error, FaultReach reach = FaultReach::Once);
  /// Makes a write take, or a read give, no more than `bytes`.
  void shortWrite(std::uint64_t call, std::uint64_t bytes);
  void shortRead(std::uint64_t call, std::uint64_t bytes);
  /// Makes the nth sync of a file from now fail with EIO and lose the unsynced pages.
  void failSync(std::uint64_t nth = 1);
  /// Does something right before the next sync of a file: what another process does at that moment.
  void beforeSync(std::function<void()> act);
  /// The same before the nth read of a file from now.
  void beforeRead(std::uint64_t nth, std::function<void()> act);
  /// Lets files grow by no more than this in total; what is cut off or removed becomes free. None: no limit.
  void limitSpace(std::optional<std::uint64_t> freeBytes);
  /// Takes back all faults and limits.
  void clearFaults();

  /// The process died, now or at `point`: everything written is there, but no more synced than it was.
  [[nodiscard]] std::unique_ptr<SimFileSystem> processCrash() const;
  [[nodiscard]] std::unique_ptr<SimFileSystem> processCrash(const CrashPoint& point) const;
  /// The power went at `point`.
  [[nodiscard]] std::unique_ptr<SimFileSystem> powerLoss(const CrashPoint& point, const CrashChoice& choice) const;
  /// Builds every image (or a sample) of a power loss at `point`, each different one once.
  void forEachCrashAt(const CrashPoint& point, const CrashOptions& options,
                      const std::function<void(CrashImage&)>& visit) const;
  /// The same for every crash point.
  void forEachCrash(const CrashOptions& options, const std::function<void(CrashImage&)>& visit) const;

  /// Looking and laying out without a call being counted. Paths are absolute; put() makes parents and is durable.
  [[nodiscard]] std::optional<std::string> contents(std::string_view path) const;
  [[nodiscard]] std::vector<std::string> names(std::string_view folder) const;
  void put(std::string_view path, std::string_view bytes);

 private:
  friend class SimFile;
  friend class SimDirectory;
  struct State;
  struct History;

  explicit SimFileSystem(const sim::Disk& disk);
  [[nodiscard]] History history() const;
  static void visitCrashes(const sim::Disk& before, const CrashPoint& point, const std::string& where,
                           const CrashOptions& options, const std::function<void(CrashImage&)>& visit);

  std::shared_ptr<State> state_;
};

}  // namespace bough
