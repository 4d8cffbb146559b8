// Bytes after the last complete batch: they were never acknowledged, and are set aside before anything is appended.
#pragma once

#include <cstdint>
#include <utility>

#include "base/system/environment.h"
#include "bough/error.h"
#include "log/file/log_file.h"

namespace bough {

class TornTail {
 public:
  /// Copies the bytes to <session>.torn, each time after a line that says where they stood, and only then cuts them off
  /// the log. The caller holds the log's lock.
  Result<void> setAside(LogFile& file, std::uint64_t begin, std::uint64_t end, Clock& clock);
  /// How many bytes were set aside since the last append that could tell of them.
  [[nodiscard]] std::uint64_t untoldBytes() const { return untoldBytes_; }
  std::uint64_t tell() { return std::exchange(untoldBytes_, 0); }

 private:
  std::uint64_t untoldBytes_ = 0;
};

}  // namespace bough
