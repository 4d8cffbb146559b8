// Which sessions may have changed, without looking at each: `<store>/changes`, a file of counters that every process
// maps.
//
// Word 0 is a random number that tells one map from another, word 1 the version. Then come two words a group, and a
// last pair for the making and removing of sessions: how many changes of that group began, and how many ended. A writer
// adds to the first before it touches a session and to the second when it is done: some hundred nanoseconds. A
// reader copies all of them into its token. A group may have changed since when its pair differs from the token's, or
// when more changes began than ended: somebody is writing at this moment, or died while writing.
//
// So that a session which was made is found without listing the folder, the last kSlots changes of the last pair have a
// slot each: the change's number, when it ended (as the count of changes that had ended then; 0: it has not), a check
// sum, and the session's id. A reader takes the ids of all changes that had not ended when its token was made. Where
// slots are used again already, or were not written to the end, it says that the folder must be listed.
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
  struct Change {
    std::uint32_t group = 0;
    ChangeKind kind = ChangeKind::Content;
    std::string sessionId = {};  ///< With Names.
  };
  /// Where a change was counted.
  struct Begun {
    SharedWords* shared = nullptr;
    std::uint64_t number = 0;  ///< Of a change of names, from 1.
  };

  /// Null when there is none and none can be made.
  SharedWords* map();
  Begun began(const Change& change);
  static Begun countBegun(SharedWords* shared, const Change& change);
  /// Counts again when the file is gone where it was counted.
  Begun confirmed(Begun begun, const Change& change);
  static void ended(Begun begun, const Change& change);

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
      : map_(map),
        change_{.group = ChangeMap::groupOf(sessionId),
                .kind = kind,
                .sessionId = std::string(kind == ChangeKind::Names ? sessionId : "")},
        begun_(map.began(change_)) {}
  /// A change of what a session holds.
  ChangeMark(ChangeMap& map, std::uint32_t group) : map_(map), change_{.group = group}, begun_(map.began(change_)) {}
  ChangeMark(const ChangeMark&) = delete;
  ChangeMark& operator=(const ChangeMark&) = delete;
  ~ChangeMark() {
    if (!confirmed_) confirm();
    ChangeMap::ended(begun_, change_);
  }

  /// Looks whether others see the mark. Done at the end at the latest; who has a moment before that calls it then.
  void confirm() {
    confirmed_ = true;
    begun_ = map_.confirmed(begun_, change_);
  }

 private:
  ChangeMap& map_;
  ChangeMap::Change change_;
  ChangeMap::Begun begun_;
  bool confirmed_ = false;
};

}  // namespace bough
