// Tells which sessions may have changed without looking at each: `<store>/changes`, a file of counters that every
// process maps into memory.
//
// Word 0 is a random number that identifies this map, word 1 the version. Two words for each group of sessions follow,
// and two more for the creation and removal of sessions: how many changes began, and how many ended. A writer
// increments the first word before it changes a session and the second when it is done, which takes some hundred
// nanoseconds. A reader copies all words into its token. A group may have changed since a token was made if its words
// differ from the token's, or if more changes have begun than ended: then a process is writing at this moment, or died
// while writing.
//
// So that a reader finds a new session without listing the folder, each of the last kSlots creations and removals has a
// slot. A slot contains the number of the change, when it ended (as the number of changes that had ended by then; 0: it
// has not ended), a checksum, and the session's id. A reader takes the ids of all changes that had not ended when its
// token was made. If some of these slots were reused or not completely written, the reader reports that the folder must
// be listed.
//
// After a power failure the counters may have any older values, so a token also contains the boot id of the machine.
// Deleting or truncating the file only makes the next reader look at all sessions once. To notice that, each change
// checks before it starts that the file is complete, and before it ends that the file still has its name. If not, a new
// file replaces it.
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

/// Thread-safe.
class ChangeMap {
 public:
  static constexpr std::uint32_t kGroups = 4096;

  ChangeMap(std::shared_ptr<Directory> root, Environment& environment);

  static std::uint32_t groupOf(std::string_view sessionId);
  Result<ChangeSet> since(std::string_view token);
  /// Returns how often sessions were created or removed; std::nullopt while that is in progress, or when there are no
  /// counters.
  std::optional<std::uint64_t> nameChanges();

 private:
  friend class ChangeMark;
  struct Change {
    std::uint32_t group = 0;
    ChangeKind kind = ChangeKind::Content;
    std::string sessionId = {};  ///< Set for Names.
  };
  /// The map in which a change was counted.
  struct CountedChange {
    SharedWords* shared = nullptr;
    std::uint64_t number = 0;  ///< The number of a change of names, from 1.
  };

  /// Returns null when there is no map and none can be created.
  SharedWords* map();
  CountedChange beginChange(const Change& change);
  static CountedChange countBegun(SharedWords* shared, const Change& change);
  /// Counts the change again when its map has lost its name or was cut short.
  CountedChange confirmChange(CountedChange counted, const Change& change);
  static void endChange(CountedChange counted, const Change& change);

  struct Mapped {
    std::mutex mutex;
    std::unique_ptr<SharedWords> shared;
    std::vector<std::unique_ptr<SharedWords>> retired;  ///< Kept, because another thread may be about to read them.
    std::atomic<SharedWords*> ready = nullptr;
  };

  std::shared_ptr<Directory> root_;
  Environment& environment_;
  PerProcess<Mapped> mapped_;
};

/// Marks a change of a session from its beginning to its end.
class ChangeMark {
 public:
  ChangeMark(ChangeMap& map, std::string_view sessionId, ChangeKind kind = ChangeKind::Content)
      : map_(map),
        change_{.group = ChangeMap::groupOf(sessionId),
                .kind = kind,
                .sessionId = std::string(kind == ChangeKind::Names ? sessionId : "")},
        counted_(map.beginChange(change_)) {}
  /// Marks a change of a session's content.
  ChangeMark(ChangeMap& map, std::uint32_t group)
      : map_(map), change_{.group = group}, counted_(map.beginChange(change_)) {}
  ChangeMark(const ChangeMark&) = delete;
  ChangeMark& operator=(const ChangeMark&) = delete;
  ~ChangeMark() {
    if (!confirmed_) confirm();
    ChangeMap::endChange(counted_, change_);
  }

  /// Checks that others see the mark. The destructor does so at the latest; call it earlier where there is time to
  /// spare.
  void confirm() {
    confirmed_ = true;
    counted_ = map_.confirmChange(counted_, change_);
  }

 private:
  ChangeMap& map_;
  ChangeMap::Change change_;
  ChangeMap::CountedChange counted_;
  bool confirmed_ = false;
};

}  // namespace bough
