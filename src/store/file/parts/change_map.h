// Which sessions may have changed, without looking at each: `<store>/changes`, a file of counters that every process
// maps.
//
// Word 0 is a random number that tells one map from another, word 1 the version. Then come two words a group, and a
// last pair for the making and removing of sessions: how many changes of that group began, and how many ended. A writer
// adds to the first before it touches a session and to the second when it is done: some hundred nanoseconds. A
// reader copies all of them into its token. A group may have changed since when its pair differs from the token's, or
// when more changes began than ended: somebody is writing at this moment, or died while writing.
//
// After a loss of power the counters may be any older ones, so a token names the start of the machine as well. Deleting
// the file costs one look at all sessions, and so does cutting it short: each change looks first whether the file is
// whole, and before it ends whether it has still its name. When not, another takes its place.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/system/environment.h"
#include "base/system/file_system.h"
#include "base/system/process_state.h"
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
  /// How many times sessions were made or removed; none while somebody is at it, or when nothing is counted.
  std::optional<std::uint64_t> nameChanges();

 private:
  friend class ChangeMark;
  /// Null when there is none and none can be made.
  SharedWords* map();
  /// Returns where it counted, for ended().
  SharedWords* began(std::uint32_t group, ChangeKind kind);
  /// Counts again when the file is gone where it was counted.
  SharedWords* confirmed(SharedWords* begun, std::uint32_t group, ChangeKind kind);
  void ended(SharedWords* begun, std::uint32_t group, ChangeKind kind);

  struct Mapped {
    std::mutex mutex;
    std::unique_ptr<SharedWords> shared;
    std::vector<std::unique_ptr<SharedWords>> retired;  ///< Another thread may be about to look at them.
    std::atomic<SharedWords*> ready = nullptr;
  };

  std::shared_ptr<Directory> root_;
  Environment& environment_;
  PerProcess<Mapped> mapped_;
};

/// Stands around every change of a session.
class ChangeMark {
 public:
  ChangeMark(ChangeMap& map, std::string_view sessionId, ChangeKind kind = ChangeKind::Content)
      : ChangeMark(map, ChangeMap::groupOf(sessionId), kind) {}
  ChangeMark(ChangeMap& map, std::uint32_t group, ChangeKind kind = ChangeKind::Content)
      : map_(map), group_(group), kind_(kind), begun_(map.began(group, kind)) {}
  ChangeMark(const ChangeMark&) = delete;
  ChangeMark& operator=(const ChangeMark&) = delete;
  ~ChangeMark() {
    if (!confirmed_) confirm();
    map_.ended(begun_, group_, kind_);
  }

  /// Looks whether others see the mark. Done at the end at the latest; who has a moment before that calls it then.
  void confirm() {
    confirmed_ = true;
    begun_ = map_.confirmed(begun_, group_, kind_);
  }

 private:
  ChangeMap& map_;
  std::uint32_t group_;
  ChangeKind kind_;
  SharedWords* begun_;
  bool confirmed_ = false;
};

}  // namespace bough
