// CRC-32C (Castagnoli), the checksum of a seal, and the one pass over a log that finds line ends and sums at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bough {

/// A running CRC-32C: add bytes in any number of pieces, then take the value.
class Crc32c {
 public:
  void add(std::string_view bytes);
  [[nodiscard]] std::uint32_t value() const { return ~state_; }

  /// The register itself, for loops that sum on their own; see crc32c_step.h.
  [[nodiscard]] std::uint32_t state() const { return state_; }
  void setState(std::uint32_t state) { state_ = state; }

 private:
  std::uint32_t state_ = 0xFFFFFFFF;
};

/// What one sweep over a line found.
struct LineSweep {
  /// Length of the line, without its end; npos when `text` holds no line end.
  std::size_t length = std::string_view::npos;
  /// How many bytes from the line's start are in `crc`. At least kHeldBack of the line's last bytes are not, so that
  /// the caller can stop the sum where the seal begins.
  std::size_t summed = 0;
  Crc32c crc;

  static constexpr std::size_t kHeldBack = 64;

  /// Looks for '\n' from the start of `text` and sums on the way, beginning with `crc`.
  static LineSweep run(std::string_view text, Crc32c crc);
};

/// How both are done: by the processor's instruction (crc32c_step.h), or without it.
struct Crc32cWay {
  std::uint32_t (*add)(std::uint32_t state, std::string_view bytes);
  LineSweep (*sweep)(std::string_view text, std::uint32_t state);
};
const Crc32cWay& crc32cWay(bool hardware);

}  // namespace bough
