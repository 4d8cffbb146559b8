// The outline of a log, made from its index. It is kept, and extended when the log has grown, because each turn of a
// long session asks for it.
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
  SessionOutline outline_;        // of the log in that generation, or of its first entries
  std::uint64_t generation_ = 0;  // 0: outline_ is not valid
};

/// The control entries of a log, made from its index. They are kept and extended like the outline, because every load
/// asks for the redactions.
class LogControls {
 public:
  /// Returns the sequences of the control entries of these kinds, ascending.
  Indexed<std::vector<Sequence>> get(LogIndex& index, std::span<const EntryKind> kinds);

 private:
  Indexed<void> continueTo(LogIndex& index);

  std::array<std::vector<Sequence>, 4> byKind_;  // of the log in that generation, or of its first entries
  Sequence last_ = kNoSequence;                  // the last sequence in byKind_
  std::uint64_t generation_ = 0;                 // 0: byKind_ is not valid
};

/// Returns the ids that begin with `prefix`, in log order, at most `limit`. Reads the beginning of every line.
Indexed<std::vector<std::string>> findIdsIn(LogFile& file, LogIndex& index, StoredLines& lines, std::string_view prefix,
                                            std::size_t limit);

}  // namespace bough
