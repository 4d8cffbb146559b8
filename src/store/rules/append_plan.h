// An append as data: what a backend needs that judges a batch where its sessions are, in one statement.
//
// Everything that needs no stored session is decided here: types, payloads, sizes, ids, times. What is left for the
// backend to judge while it holds the session:
//   1. each entry whose id was given: the session (or what it shares) has none of that id, or one with the same
//      contentHash, and the same parent and timestamp where those were given. Else IdConflict;
//   2. each parent that was given: an earlier entry of the batch, of the session, or of what it shares. Else
//      InvalidArgument;
//   3. each target: judgeTarget (entry_rules.h) with the type of the entry that it names;
//   4. unless all entries are duplicates: expectedTail is the tail. Else Conflict (tailConflict);
//   5. entries without a parent continue from the head at their point of the batch: `movesHead` says how each moves it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/model/ids.h"
#include "base/system/environment.h"
#include "bough/storage_backend.h"
#include "store/rules/entry_rules.h"

namespace bough {

struct PlannedEntry {
  /// Complete except for a parent that was not given. Its bytes are those that a line would give back.
  Entry entry;
  EntryKind kind = EntryKind::Other;
  std::string contentHash;  ///< Of what the caller says: type, run, payload, meta, extra. 64 hex digits.
  bool idGiven = false;
  bool timestampGiven = false;
  std::optional<ControlTarget> target;
  /// The head after this entry: its own id, or what a head entry names (empty: before the first); none: not moved.
  std::optional<std::string> movesHead;
};

/// The same for two deliveries of an entry, and for the entry as it was stored, attachment or not.
std::string contentHashOf(const Entry& entry);

/// InvalidArgument, with Error::batchPlace, when an entry breaks a rule.
Result<std::vector<PlannedEntry>> planAppend(const AppendRequest& request, const EntrySerializer& serializer,
                                             IdGenerator& ids, Clock& clock);

}  // namespace bough
