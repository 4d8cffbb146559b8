// The ids at the two ends of a log, which most questions are about.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "log/index/offset_index.h"
#include "log/source/byte_source.h"

namespace bough {

/// The ids at the two ends of a log, as far as they were needed.
struct LogEnds {
  std::string tailId;  ///< Empty: not read yet, or the log is empty.
  std::uint64_t tailOffset = 0;
  std::string headId;  ///< Empty: not read yet, or there is none.

  void clear() {
    tailId.clear();
    headId.clear();
  }
};

/// Whether the entry of a record has that id. Reads it from the log unless it is the last one's.
IdMatch confirmId(ByteSource& source, const LogEnds& ends, const IndexRecord& record, std::string_view id);

}  // namespace bough
