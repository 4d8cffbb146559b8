// The outline of a log, from its index: kept, and continued when the log has grown, because a long session is asked for
// it with every turn.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "bough/entry.h"
#include "log/stored_lines.h"

namespace bough {

class LogOutline {
 public:
  Indexed<SessionOutline> get(LogIndex& index);

 private:
  SessionOutline outline_;        // of the log in that generation, or of its beginning
  std::uint64_t generation_ = 0;  // 0: of none
};

/// The control entries of a log, from its index: kept and continued like the outline, because every load asks for the
/// redactions.
class LogControls {
 public:
  /// The sequences of those of some kinds, ascending.
  Indexed<std::vector<Sequence>> get(LogIndex& index, std::span<const EntryKind> kinds);

 private:
  Indexed<void> continueTo(LogIndex& index);

  std::array<std::vector<Sequence>, 4> byKind_;  // of the log in that generation, or of its beginning
  Sequence last_ = kNoSequence;                  // of them
  std::uint64_t generation_ = 0;                 // 0: of none
};

/// Entries whose id begins with `prefix`, in log order, at most `limit`. Reads the beginning of every line.
Indexed<std::vector<std::string>> findIdsIn(LogFile& file, LogIndex& index, StoredLines& lines, std::string_view prefix,
                                            std::size_t limit);

}  // namespace bough
