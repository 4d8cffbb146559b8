// What others have counted of a log. A batch that was counted was complete once, so what is wrong in it now is damage,
// not the rest of an interrupted write.
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
  std::uint64_t bytes = 0;                 ///< Everything before this offset was counted: by a catalog, in an archive.
  std::vector<std::string> entryIds = {};  ///< Entries that others continue: their batches were counted.
  std::optional<Error> unasked = {};       ///< Why somebody could not be asked: then this need not be all.
};

/// Asked with the log's first line, by which an answer for another log of the same name is told apart. Must not use the
/// log, whose lock is held meanwhile.
using AskElsewhere = std::function<CountedElsewhere(std::string_view firstLine)>;

/// When others are asked. Whoever holds the log's lock asks always: nobody else is writing then.
enum class AskWhen : std::uint8_t { NobodyWrites, Always };

/// Up to which offset a log was counted; 0 when nobody has. `from` is where the batches begin that are in doubt, and
/// `counted` names only entries that are not before it.
SysResult<std::uint64_t> endOfCounted(ByteSource& source, std::uint64_t from, const CountedElsewhere& counted);

}  // namespace bough
