// Entries whose attachment is missing or damaged. Each is shown as `unreadable` (base/model/unreadable.h), the rest of
// the session as usual. The state of the session counts the ones that were met.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "bough/entry.h"
#include "bough/error.h"

namespace bough {

/// The lost payloads of a store's sessions. Thread-safe.
class LostPayloads {
 public:
  /// Returns true when an error means that an attachment is lost. An error of the operating system does not: the read
  /// may succeed later.
  static bool isLoss(const Error& error);

  /// Makes an entry with a lost attachment unreadable. `why` is the error from reading the attachment.
  void markLost(const std::string& sessionId, Entry& entry, const Error& why);
  /// Records that the attachment of this entry could be read.
  void noteReadable(const std::string& sessionId, const std::string& entryId);
  /// Returns the number of lost payloads that were met in this session and in its shared history.
  [[nodiscard]] std::uint64_t count(const std::string& sessionId);

 private:
  std::mutex mutex_;
  std::map<std::string, std::set<std::string>> ids_;  // of entries, by session
};

}  // namespace bough
