// The last bytes that an index covers. They show whether a file is the one that was indexed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes/crc32c.h"
#include "base/try.h"
#include "log/source/byte_source.h"

namespace bough {

class CoveredEnd {
 public:
  static constexpr std::size_t kBytes = 4096;

  /// Reads the bytes before `offset`.
  static SysResult<CoveredEnd> read(ByteSource& source, std::uint64_t offset) {
    CoveredEnd end;
    end.bytes_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(offset, kBytes)));
    BOUGH_TRY(const auto got, readFully(source, offset - end.bytes_.size(), end.bytes_));
    end.bytes_.resize(got);
    return end;
  }

  /// Returns true when these bytes end with `other`, which was read just now.
  [[nodiscard]] bool endsWith(const CoveredEnd& other) const { return bytes_.ends_with(other.bytes_); }

  /// Adds bytes that are now covered. Old bytes are dropped only now and then: doing that on each append would cost
  /// more than the rest of the append.
  void add(std::string_view bytes) {
    bytes_.append(bytes.substr(bytes.size() - std::min(bytes.size(), kBytes)));
    if (bytes_.size() > 4 * kBytes) bytes_.erase(0, bytes_.size() - kBytes);
  }

  void clear() { bytes_.clear(); }

  [[nodiscard]] std::uint32_t sum() const {
    const std::string_view bytes = bytes_;
    Crc32c crc;
    crc.add(bytes.substr(bytes.size() - std::min(bytes.size(), kBytes)));
    return crc.value();
  }

 private:
  std::string bytes_;  // at least the last kBytes, if the log is that long
};

}  // namespace bough
