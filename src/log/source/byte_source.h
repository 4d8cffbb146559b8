// The bytes of a log: a plain file, or a compressed one that reads like a plain one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/system/file_system.h"

namespace bough {

/// A sequence of bytes that can be read at any offset. Not thread-safe.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual SysResult<std::uint64_t> size() = 0;
  /// Reads at most out.size() bytes; fewer at the end of the source, 0 after it. EILSEQ when compressed bytes are
  /// damaged.
  virtual SysResult<std::size_t> readAt(std::uint64_t offset, std::span<char> out) = 0;
  /// Returns the file offset of the first bytes that could not be unpacked, among those that were read so far.
  [[nodiscard]] virtual std::optional<std::uint64_t> damagedAt() const { return std::nullopt; }
};

/// Reads until `out` is full or the source ends. Returns the number of bytes that were read.
SysResult<std::size_t> readFully(ByteSource& source, std::uint64_t offset, std::span<char> out);

/// Reads the file as it is.
std::unique_ptr<ByteSource> plainSource(std::shared_ptr<File> file);

/// Stands for a file that cannot be unpacked at all: every read returns EILSEQ.
std::unique_ptr<ByteSource> unreadableSource();

/// Reads a zstd file of independent frames with a seek table at its end (docs/format.md). Unpacks only the frames that
/// are needed. A frame that cannot be unpacked reads as NUL bytes, so that a scan reports damage there and continues
/// after it. A missing or wrong table counts as damage, and the source then reads the complete frames from the
/// beginning of the file. EILSEQ when there is no complete frame.
SysResult<std::unique_ptr<ByteSource>> zstdSource(std::shared_ptr<File> file);

/// Reads a gzip file of one or several members. Unpacks the file from its start up to the requested bytes. Reading
/// backwards starts from the beginning again, so read in order. The source ends at the first bytes that cannot be
/// unpacked (a wrong checksum, a truncated file, no valid next member), and those bytes are damage. The bytes unpacked
/// just before them may be wrong. EILSEQ when nothing can be unpacked.
SysResult<std::unique_ptr<ByteSource>> gzipSource(std::shared_ptr<File> file);

}  // namespace bough
