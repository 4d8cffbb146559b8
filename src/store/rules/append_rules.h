// The rules of an append, the same for every backend: what a batch may hold, what is filled in, when an entry counts as
// a duplicate, and when the tail has moved. A backend calls this while it holds the session.
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

/// Entries that a session shares with others.
class SharedEntries {
 public:
  virtual ~SharedEntries() = default;
  /// None when there is no such entry.
  [[nodiscard]] virtual Result<std::optional<Entry>> entryOf(std::string_view entryId) const = 0;
  [[nodiscard]] virtual Result<bool> contains(std::string_view entryId) const = 0;
};

/// A batch, and what it must be checked against beyond the session's own log.
struct SessionBatch {
  const std::string& sessionId;
  AppendRequest& request;
  const SharedEntries* shared = nullptr;  ///< What a fork shares; null when there is nothing else to look into.
  std::uint64_t turn = 0;                 ///< The last turn that has begun; wanted when the request names one.
};

/// Checks a batch against the log as it is, and what is to be written before it, which `lines` holds; adds what it
/// would write to them. The result counts what would be appended. When it fails, what it added is of no use.
Result<AppendResult> prepareBatch(LogView& log, const SessionBatch& batch, const EntrySerializer& serializer,
                                  IdGenerator& ids, Clock& clock, BatchLines& lines);

/// The rules for a session's first batch: the header and what follows right after it.
Result<BatchLines> prepareFirstBatch(const std::vector<Entry>& entries, const EntrySerializer& serializer);

}  // namespace bough
