#include "base/bytes/long_hash.h"

#include <bit>
#include <cstddef>
#include <functional>

#include "base/bytes/crc32c_step.h"

namespace bough {
namespace {

#ifdef BOUGH_CRC_TARGET
// Computes four independent sums, each over a quarter of the text, so that the processor runs them in parallel.
BOUGH_CRC_TARGET std::uint64_t hashBySums(std::string_view text) {
  const std::size_t quarter = text.size() / 4 / 8 * 8;
  const char* at = text.data();
  std::uint32_t a = 1;
  std::uint32_t b = 2;
  std::uint32_t c = 3;
  std::uint32_t d = 4;
  for (const char* const end = at + quarter; at != end; at += 8) {
    a = crc32cStep8(a, at);
    b = crc32cStep8(b, at + quarter);
    c = crc32cStep8(c, at + 2 * quarter);
    d = crc32cStep8(d, at + 3 * quarter);
  }
  std::uint64_t hash = std::hash<std::string_view>{}(text.substr(4 * quarter));
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;  // odd, with well-mixed bits
  for (const std::uint32_t sum : {a, b, c, d}) hash = std::rotl((hash ^ sum) * kFactor, 31);
  return hash ^ text.size();
}
#endif

}  // namespace

std::uint64_t hashOfLong(std::string_view text) {
#ifdef BOUGH_CRC_TARGET
  static const bool hasInstruction = hasCrc32cInstruction();
  if (hasInstruction) return hashBySums(text);
#endif
  return std::hash<std::string_view>{}(text);
}

}  // namespace bough
