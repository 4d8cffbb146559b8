// Bytes after the last complete batch. They were never acknowledged, and are moved aside before anything is appended.
#pragma once

#include <cstdint>
#include <utility>

#include "base/system/environment.h"
#include "bough/error.h"
#include "log/file/log_file.h"

namespace bough {

class TornTail {
 public:
  /// Copies the bytes to <session>.torn, after a line that states where they were, and only then truncates the log. The
  /// caller holds the log's lock.
  Result<void> setAside(LogFile& file, std::uint64_t begin, std::uint64_t end, Clock& clock);
  /// Returns the number of bytes that were set aside and not yet reported by an append.
  [[nodiscard]] std::uint64_t unreportedBytes() const { return unreportedBytes_; }
  /// Returns the same number, and counts those bytes as reported.
  std::uint64_t takeUnreportedBytes() { return std::exchange(unreportedBytes_, 0); }

 private:
  std::uint64_t unreportedBytes_ = 0;
};

}  // namespace bough
