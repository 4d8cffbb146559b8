// The zstd seekable format: independent frames, then a skippable frame with a table of their sizes. `zstd -d` unpacks
// such a file like any other.
//
//   table frame: 5E 2A 4D 18, size (u32), one entry per frame: packed size, plain size (u32 each),
//                number of frames (u32), descriptor (u8, 0 here), B1 EA 92 8F; all little-endian
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/system/file_system.h"

namespace bough {

/// The number of bytes of a log in one frame. Reading a single entry has to unpack that many.
inline constexpr std::size_t kFramePlainBytes = std::size_t{256} << 10;

/// The size of the end of the file: number of frames, descriptor, magic number.
inline constexpr std::size_t kFrameTableFooterBytes = 9;

struct FrameSizes {
  std::uint32_t packed = 0;
  std::uint32_t plain = 0;
};

/// Compresses at most kFramePlainBytes into one frame with a checksum.
std::string packFrame(std::string_view plain);

/// Returns the table frame for these frames.
std::string packFrameTable(const std::vector<FrameSizes>& frames);

}  // namespace bough
