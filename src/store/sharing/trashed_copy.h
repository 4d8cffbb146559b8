// What a session in the trash holds that the one that has its id now does not.
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

  [[nodiscard]] bool holds(const std::string& entryId) const { return entries_.contains(entryId); }
  /// Whether who shares this history would miss something that only lies here.
  [[nodiscard]] bool isNeededBy(SharingBackend& backend, const SeenOrigin& sharer) const;

 private:
  struct Held {
    std::string parentId;
    bool lives;  // the live session has it just so
  };
  void take(SharingBackend& backend, const Entry& entry);
  [[nodiscard]] bool onlyHere(const std::string& leafId) const;

  std::string sessionId_;
  bool whole_ = false;  // all of it can be read
  bool isFork_ = false;
  std::unordered_map<std::string, Held> entries_;
};

}  // namespace bough
