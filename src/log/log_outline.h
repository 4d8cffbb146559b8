// The outline of a log, from its index: kept, and continued when the log has grown, because a long session is asked for
// it with every turn.
#pragma once

#include <cstdint>

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

/// Entries whose id begins with `prefix`, in log order, at most `limit`. Reads the beginning of every line.
Indexed<std::vector<std::string>> findIdsIn(LogFile& file, LogIndex& index, StoredLines& lines, std::string_view prefix,
                                            std::size_t limit);

}  // namespace bough
