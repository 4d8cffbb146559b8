// How much of a log others (a catalog, an archive, a fork) have counted. A batch that was counted was complete once, so
// anything wrong in it now is damage, not the rest of an interrupted write.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bough/error.h"
#include "log/source/byte_source.h"

namespace bough {

struct CountedElsewhere {
  std::uint64_t bytes = 0;                 ///< A catalog or an archive counted all bytes before this offset.
  std::vector<std::string> entryIds = {};  ///< Entries that forks continue: their batches were counted.
  std::optional<Error> askFailure = {};    ///< Why somebody could not be asked; then the answer may be incomplete.
};

/// Asks others how much of a log they have counted. The first line of the log distinguishes it from another log of the
/// same name. Must not use the log, because the log's lock is held during the call.
using AskElsewhere = std::function<CountedElsewhere(std::string_view firstLine)>;

/// When others are asked. A caller that holds the log's lock always asks, because nobody else can be writing.
enum class AskWhen : std::uint8_t { NobodyWrites, Always };

/// Returns the offset up to which a log was counted; 0 when nobody has counted it. `from` is where the doubtful batches
/// begin. The entries in `counted` must not be before `from`.
SysResult<std::uint64_t> endOfCounted(ByteSource& source, std::uint64_t from, const CountedElsewhere& counted);

}  // namespace bough
