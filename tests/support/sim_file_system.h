// A file system in memory that can lose power, fail and run out of space on request, for tests of durability.
//
// It implements the interface of base/system/file_system.h and behaves like Linux. It counts two things, both from 1.
// Calls are all calls of the interface; faults are assigned to calls. Operations are the calls that changed the disk;
// crashes happen between operations or inside a write. A test of faults runs a scenario once, takes callCount(), and
// repeats the scenario on a fresh simulator for each call. A test of crashes runs it once, notes operationCount() at
// each acknowledgement, and examines every image that forEachCrash builds.
//
// Names with a slash, "." and ".." fail with EINVAL, because callers must not use them. Folders that openRoot creates
// are durable at once, since the interface has no call to sync them. watch() returns ENOTSUP.
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

/// The position of a crash: after `operation` operations. When `bytes` is set, the last of these is a write of which
/// only the first `bytes` bytes were made.
struct CrashPoint {
  std::uint64_t operation = 0;
  std::optional<std::uint64_t> bytes;

  /// Returns how many operations had returned to their caller.
  [[nodiscard]] std::uint64_t completed() const { return bytes ? operation - 1 : operation; }
};

/// The same fate for everything that was not synced.
struct CrashChoice {
  sim::PageFate pages = sim::PageFate::Dropped;
  bool newSizes = false;  ///< The last sizes of files reached the disk; otherwise those of the last sync.
  bool newNames = false;  ///< All changes of names reached the disk; otherwise only the synced ones.
};

struct CrashOptions {
  std::uint64_t firstOperation = 0;     ///< Earlier crash points are left out.
  std::uint64_t writeStepBytes = 0;     ///< Distance of the crash points inside a write; 0 for none.
  std::size_t exhaustivePages = 6;      ///< Up to this many unsynced pages, every combination is built,
  std::size_t exhaustiveImages = 4096;  ///< unless that makes more than this many images at one crash point.
  std::size_t samples = 48;             ///< Otherwise, this many random combinations are built at a crash point.
  std::uint64_t seed = 1;
};

struct CrashImage {
  CrashPoint point;
  std::string description;               ///< The crash point and what was left, for messages.
  std::unique_ptr<SimFileSystem> files;  ///< A new simulator with what was on the disk.
};

enum class FaultReach : std::uint8_t {
  Once,     ///< Only that call fails.
  Forever,  ///< That call and all later ones fail, as after the loss of the disk.
};

class SimFileSystem final : public FileSystem {
 public:
  SimFileSystem();
  ~SimFileSystem() override;

  SysResult<std::unique_ptr<Directory>> openRoot(const std::string& path, bool create) override;

  /// Returns the number of calls, and a description of one ("read sessions/a.jsonl 0+512").
  [[nodiscard]] std::uint64_t callCount() const;
  [[nodiscard]] std::string callName(std::uint64_t call) const;
  /// Returns the number of operations that changed the disk, and a description of one.
  [[nodiscard]] std::uint64_t operationCount() const;
  [[nodiscard]] std::string operationName(std::uint64_t operation) const;
  /// Returns all changes and locks in order, one per line. A line for an injected failure ends in "-> EIO". Calls that
  /// failed without a fault are left out.
  [[nodiscard]] std::string trace() const;
  void clearTrace();

  /// Makes a call fail with an errno. A failing sync of a file (except with EINTR) loses the unsynced pages.
  void failOperation(std::uint64_t call, int error, FaultReach reach = FaultReach::Once);
  /// Limits a write or a read to `bytes`.
  void shortWrite(std::uint64_t call, std::uint64_t bytes);
  void shortRead(std::uint64_t call, std::uint64_t bytes);
  /// Makes the nth file sync from now fail with EIO and lose the unsynced pages.
  void failSync(std::uint64_t nth = 1);
  /// Calls `act` right before the next file sync, to simulate another process.
  void beforeSync(std::function<void()> act);
  /// The same before the nth file read from now.
  void beforeRead(std::uint64_t nth, std::function<void()> act);
  /// Limits how much files may grow in total; truncated or removed bytes become free again. std::nullopt: no limit.
  void limitSpace(std::optional<std::uint64_t> freeBytes);
  /// Removes all faults and limits.
  void clearFaults();

  /// Returns the state after the process died, now or at `point`: everything written is there, but nothing more is
  /// synced.
  [[nodiscard]] std::unique_ptr<SimFileSystem> processCrash() const;
  [[nodiscard]] std::unique_ptr<SimFileSystem> processCrash(const CrashPoint& point) const;
  /// Returns the state after a power loss at `point`.
  [[nodiscard]] std::unique_ptr<SimFileSystem> powerLoss(const CrashPoint& point, const CrashChoice& choice) const;
  /// Builds every distinct image (or a sample) of a power loss at `point`.
  void forEachCrashAt(const CrashPoint& point, const CrashOptions& options,
                      const std::function<void(CrashImage&)>& visit) const;
  /// The same for every crash point.
  void forEachCrash(const CrashOptions& options, const std::function<void(CrashImage&)>& visit) const;

  /// Access without counting calls. Paths are absolute. put() creates parent folders, and what it writes is durable.
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
