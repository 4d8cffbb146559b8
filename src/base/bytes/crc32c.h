// CRC-32C (Castagnoli), the checksum in a seal, and the single pass over a log that finds line ends and sums at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bough {

/// A running CRC-32C: add bytes in any number of pieces, then read the value.
class Crc32c {
 public:
  void add(std::string_view bytes);
  [[nodiscard]] std::uint32_t value() const { return ~state_; }

  /// The register itself, for loops that compute the sum themselves; see crc32c_step.h.
  [[nodiscard]] std::uint32_t state() const { return state_; }
  void setState(std::uint32_t state) { state_ = state; }

 private:
  std::uint32_t state_ = 0xFFFFFFFF;
};

/// The result of one sweep over a line.
struct LineSweep {
  /// Length of the line without its '\n'; npos when `text` has no '\n'.
  std::size_t length = std::string_view::npos;
  /// How many bytes from the start of the line are in `crc`. At least the last kHeldBack bytes of the line are not, so
  /// that the caller can stop the sum where the seal begins.
  std::size_t summed = 0;
  Crc32c crc;

  static constexpr std::size_t kHeldBack = 64;

  /// Looks for '\n' from the start of `text` and adds the bytes on the way to `crc`.
  static LineSweep run(std::string_view text, Crc32c crc);
};

/// The two implementations of these functions: with the processor's instruction (crc32c_step.h), and without.
struct Crc32cImplementation {
  std::uint32_t (*add)(std::uint32_t state, std::string_view bytes);
  LineSweep (*sweep)(std::string_view text, std::uint32_t state);
};
const Crc32cImplementation& crc32cImplementation(bool hardware);

}  // namespace bough
