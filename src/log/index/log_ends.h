// The ids of the tail and the head of a log, which most calls need.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "log/index/offset_index.h"
#include "log/source/byte_source.h"

namespace bough {

/// The ids of the tail and the head, as far as they were needed.
struct LogEnds {
  std::string tailId;  ///< Empty: not read yet, or the log is empty.
  std::uint64_t tailOffset = 0;
  std::string headId;  ///< Empty: not read yet, or there is no head.

  void clear() {
    tailId.clear();
    headId.clear();
  }
};

/// Checks whether the entry of a record has that id. Reads the id from the log unless the entry is the last one.
IdMatch confirmId(ByteSource& source, const LogEnds& ends, const IndexRecord& record, std::string_view id);

}  // namespace bough
