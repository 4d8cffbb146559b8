// Entries whose attachment is missing or damaged. Each is shown as `unreadable` (base/model/unreadable.h), the rest of
// the session as always, and the state of the session tells how many were met.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "bough/entry.h"
#include "bough/error.h"

namespace bough {

/// Of the sessions of a store. May be called from any thread.
class LostPayloads {
 public:
  /// Whether an attachment that cannot be read is lost. What the system refuses now, it may allow later.
  static bool isLoss(const Error& error);

  /// Makes an entry that names a lost attachment unreadable. `why`: what reading the attachment said.
  void replace(const std::string& sessionId, Entry& entry, const Error& why);
  /// The attachment of this entry was read.
  void forget(const std::string& sessionId, const std::string& entryId);
  /// How many were met in this session, and in what it shares.
  [[nodiscard]] std::uint64_t count(const std::string& sessionId);

 private:
  std::mutex mutex_;
  std::map<std::string, std::set<std::string>> ids_;  // of entries, by session
};

}  // namespace bough
