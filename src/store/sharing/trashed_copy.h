// What a session in the trash contains that the live session with the same id does not.
#pragma once

#include <string>
#include <unordered_map>

#include "bough/entry.h"
#include "bough/error.h"
#include "store/sharing/sharing_backend.h"

namespace bough {

class TrashedCopy {
 public:
  static Result<TrashedCopy> read(SharingBackend& backend, const TrashedSession& trashed);

  [[nodiscard]] bool contains(const std::string& entryId) const { return entries_.contains(entryId); }
  /// Returns true when a session that shares this history would lose something that exists only here.
  [[nodiscard]] bool isNeededBy(SharingBackend& backend, const SeenOrigin& sharer) const;

 private:
  struct TrashedEntry {
    std::string parentId;
    bool isAlsoLive;  // the live session has an identical entry
  };
  void add(SharingBackend& backend, const Entry& entry);
  [[nodiscard]] bool hasTrashOnlyEntry(const std::string& leafId) const;

  std::string sessionId_;
  bool isComplete_ = false;  // all of it can be read
  bool isFork_ = false;
  std::unordered_map<std::string, TrashedEntry> entries_;
};

}  // namespace bough
