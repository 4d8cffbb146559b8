// Where a log's bytes are read from: a plain file, or a compressed one that reads as if it were plain.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/system/file_system.h"

namespace bough {

/// A sequence of bytes that can be read at any offset. One thread at a time.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual SysResult<std::uint64_t> size() = 0;
  /// Reads at most out.size() bytes; fewer at the end, 0 after it. EILSEQ when compressed bytes are damaged.
  virtual SysResult<std::size_t> readAt(std::uint64_t offset, std::span<char> out) = 0;
  /// Where in the file the first bytes stand that could not be unpacked, of those that were read so far.
  [[nodiscard]] virtual std::optional<std::uint64_t> damagedAt() const { return std::nullopt; }
};

/// Reads until `out` is full or the source ends; returns how much came.
SysResult<std::size_t> readFully(ByteSource& source, std::uint64_t offset, std::span<char> out);

/// The file as it is.
std::unique_ptr<ByteSource> plainSource(std::shared_ptr<File> file);

/// Stands for a file that cannot be unpacked at all: every read of it is EILSEQ.
std::unique_ptr<ByteSource> unreadableSource();

/// A zstd file of independent frames with a seek table after them (docs/format.md): only the frames that are asked
/// for are unpacked. A frame that cannot be unpacked reads as NUL bytes, so that a scan finds damage there and goes on
/// after it. When the table is missing or wrong, that is damage, and the whole frames from the beginning on are read
/// all the same. EILSEQ when there is none.
SysResult<std::unique_ptr<ByteSource>> zstdSource(std::shared_ptr<File> file);

/// A gzip file, of one member or several. It is unpacked from its start as far as is asked for; reading backwards
/// starts again, so read in order. It ends at the first bytes that cannot be unpacked (a wrong checksum, the file
/// breaks off, no other member follows), and those are damage. What was unpacked just before them may be wrong. EILSEQ
/// when nothing can be unpacked.
SysResult<std::unique_ptr<ByteSource>> gzipSource(std::shared_ptr<File> file);

}  // namespace bough
