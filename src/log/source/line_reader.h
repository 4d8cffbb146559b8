// Cuts a source into lines with one large buffer. Computes the checksum of each line while it searches for the line's
// end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "log/format/line.h"
#include "log/source/byte_source.h"

namespace bough {

class LineReader {
 public:
  struct Line {
    std::uint64_t offset = 0;
    std::uint64_t length = 0;  ///< Without the line end. Greater than text.size() when the line is too long.
    std::string_view text;     ///< Valid until the next call.
    bool hasEnd = false;
    bool tooLong = false;  ///< Longer than kMaxLineBytes: `text` holds only its beginning.
    LineSweep sweep;       ///< Checksum of the first sweep.summed bytes, started with the value passed to next().
  };

  LineReader(ByteSource& source, std::uint64_t offset);

  /// Returns the next line, or std::nullopt at the end of the source. The last line need not have a line end.
  SysResult<std::optional<Line>> next(Crc32c begin);

  /// Returns the part of the following lines that is already in the buffer, without reading more.
  [[nodiscard]] std::string_view upcoming() const { return {buffer_.get() + begin_, end_ - begin_}; }

 private:
  SysResult<bool> fill();
  SysResult<Line> skipLongLine();

  static constexpr std::size_t kChunkBytes = std::size_t{512} << 10;  // stays in the processor's cache
  static constexpr std::size_t kSmallestBytes = std::size_t{4} << 10;
  static constexpr std::size_t kKeptBytes = 512;  // of a line that is too long

  ByteSource& source_;
  std::uint64_t bufferOffset_;  // of buffer_[begin_]
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool atEnd_ = false;
};

}  // namespace bough
