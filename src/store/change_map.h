// Which sessions may have changed, without looking at each: `<store>/changes`, a file of counters that every process
// maps.
//
// Word 0 is a random number that tells one map from another, word 1 the version. Then come two words a group, and a
// last pair for the making and removing of sessions: how many changes of that group began, and how many ended. A writer
// adds to the first before it touches a session and to the second when it is done: some nanoseconds, no system call. A
// reader copies all of them into its token. A group may have changed since when its pair differs from the token's, or
// when more changes began than ended: somebody is writing at this moment, or died while writing.
//
// After a loss of power the counters may be any older ones, so a token names the start of the machine as well. Deleting
// the file costs one look at all sessions. It is never truncated; who does that while it is mapped kills the processes
// that map it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/file_system.h"
#include "bough/storage_backend.h"

namespace bough {

enum class ChangeKind : std::uint8_t { Content, Names };

/// All calls may come from any thread.
class ChangeMap {
 public:
  static constexpr std::uint32_t kGroups = 4096;

  ChangeMap(std::shared_ptr<Directory> root, Environment& environment);

  static std::uint32_t groupOf(std::string_view sessionId);
  Result<ChangeSet> since(std::string_view token);

 private:
  friend class ChangeMark;
  /// Null when there is none and none can be made.
  SharedWords* map();
  void began(std::uint32_t group, ChangeKind kind) { count(group, kind, 0); }
  void ended(std::uint32_t group, ChangeKind kind) { count(group, kind, 1); }
  void count(std::uint32_t group, ChangeKind kind, std::size_t which);

  std::shared_ptr<Directory> root_;
  Environment& environment_;
  std::mutex mutex_;
  std::unique_ptr<SharedWords> shared_;
  std::atomic<SharedWords*> ready_ = nullptr;
};

/// Stands around every change of a session.
class ChangeMark {
 public:
  ChangeMark(ChangeMap& map, std::string_view sessionId, ChangeKind kind = ChangeKind::Content)
      : map_(map), group_(ChangeMap::groupOf(sessionId)), kind_(kind) {
    map_.began(group_, kind_);
  }
  ChangeMark(const ChangeMark&) = delete;
  ChangeMark& operator=(const ChangeMark&) = delete;
  ~ChangeMark() { map_.ended(group_, kind_); }

 private:
  ChangeMap& map_;
  std::uint32_t group_;
  ChangeKind kind_;
};

}  // namespace bough
