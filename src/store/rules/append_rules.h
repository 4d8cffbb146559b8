// The rules of an append, the same for every backend: what a batch may contain, which values are filled in, when an
// entry is a duplicate, and when the tail has moved. A backend calls these functions while it holds the session.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/model/ids.h"
#include "base/system/environment.h"
#include "bough/entry.h"
#include "bough/error.h"
#include "bough/storage_backend.h"
#include "log/session_log.h"

namespace bough {

/// Entries that a session shares with other sessions.
class SharedEntries {
 public:
  virtual ~SharedEntries() = default;
  /// Returns std::nullopt when there is no such entry.
  [[nodiscard]] virtual Result<std::optional<Entry>> entryOf(std::string_view entryId) const = 0;
  [[nodiscard]] virtual Result<bool> contains(std::string_view entryId) const = 0;
};

/// A batch, and what else it is checked against besides the session's own log.
struct SessionBatch {
  const std::string& sessionId;
  AppendRequest& request;
  const SharedEntries* shared = nullptr;  ///< The shared entries of a fork; null when there are none to check.
  std::uint64_t turn = 0;                 ///< The last turn that has begun; needed when the request names a turn.
};

/// Checks a batch against the log and against `lines`, which are written before it, and adds the batch's lines to them.
/// The result counts the entries that will be appended. When it fails, the caller discards the added lines.
Result<AppendResult> prepareBatch(LogView& log, const SessionBatch& batch, const EntrySerializer& serializer,
                                  IdGenerator& ids, Clock& clock, BatchLines& lines);

/// Applies the rules for a session's first batch: the header and the entries directly after it.
Result<BatchLines> prepareFirstBatch(const std::vector<Entry>& entries, const EntrySerializer& serializer);

}  // namespace bough
