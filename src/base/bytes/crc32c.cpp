#include "base/bytes/crc32c.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/bytes/byte_block.h"
#include "base/bytes/crc32c_step.h"

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace bough {
namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78;  // reflected

constexpr std::array<std::uint32_t, 256> makeTable() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ ((c & 1) != 0 ? kPolynomial : 0);
    table[i] = c;
  }
  return table;
}
constexpr auto kTable = makeTable();

std::uint32_t addPortable(std::uint32_t state, std::string_view bytes) {
  for (const char c : bytes) state = (state >> 8) ^ kTable[(state ^ static_cast<unsigned char>(c)) & 0xFF];
  return state;
}

LineSweep sweepPortable(std::string_view text, std::uint32_t state) {
  LineSweep sweep;
  sweep.length = text.find('\n');
  sweep.crc.setState(state);
  return sweep;
}

#ifdef BOUGH_CRC_TARGET

// Adds the last `count` bytes before `end`; `count` is less than eight, but eight bytes must be readable. There is no
// branch per byte, because the count is unpredictable. The bytes become the top of a word whose other bytes are zero,
// which add nothing to the sum. The state is shifted to the same position, and the part of the state that reaches
// beyond these bytes is added back at the end.
BOUGH_CRC_TARGET inline std::uint32_t addLast(std::uint32_t state, const char* end, std::size_t count) {
  const auto moveUp = [&](std::uint64_t word) { return word << (56 - 8 * count) << 8; };
  std::uint64_t word = 0;
  std::memcpy(&word, end - 8, 8);
  const std::uint64_t last = word & moveUp(~std::uint64_t{0});
  return crc32cStep(0, last ^ moveUp(state)) ^ static_cast<std::uint32_t>(std::uint64_t{state} >> (8 * count));
}

BOUGH_CRC_TARGET std::uint32_t addHardware(std::uint32_t state, std::string_view bytes) {
  const char* p = bytes.data();
  std::size_t left = bytes.size();
  if (left >= 8) {
    for (; left >= 128; left -= 64, p += 64) state = crc32cStep64(state, p);
    for (; left >= 8; left -= 8, p += 8) state = crc32cStep8(state, p);
    return addLast(state, p + left, left);
  }
  for (; left > 0; --left, ++p) {
#if defined(__aarch64__)
    state = __crc32cb(state, static_cast<std::uint8_t>(*p));
#else
    state = _mm_crc32_u8(state, static_cast<std::uint8_t>(*p));
#endif
  }
  return state;
}

constexpr std::size_t kBlock = LineSweep::kHeldBack;
static_assert(kBlock == ByteBlock::kSize);
constexpr std::ptrdiff_t kAhead = 1024;  // prefetch distance: data read before may not be in a near cache

// Returns true when one of the 64 bytes at p is a line end.
inline bool hasLineEnd(const char* p) {
  const ByteBlock block(p);
  const Bytes end = fillBytes('\n');
  return any(
      either(either(equal(block.a, end), equal(block.b, end)), either(equal(block.c, end), equal(block.d, end))));
}

// The sum lags one block behind the search: a block is added only when the next block has no line end. The last 64
// bytes of a line, which contain its seal, are therefore never in the sum.
BOUGH_CRC_TARGET LineSweep sweepHardware(std::string_view text, std::uint32_t state) {
  const char* p = text.data();
  const char* const end = p + text.size();
  const char* found = nullptr;
  const auto holdsTwoBlocks = [&] { return end - p >= static_cast<std::ptrdiff_t>(2 * kBlock); };
  if (holdsTwoBlocks() && !hasLineEnd(p)) {
    for (; holdsTwoBlocks(); p += kBlock) {
      if (hasLineEnd(p + kBlock)) {
        found = p + kBlock + std::countr_zero(ByteBlock(p + kBlock).where('\n'));
        break;
      }
      __builtin_prefetch(p + std::min(kAhead, end - p));
      state = crc32cStep64(state, p);
    }
  }
  if (found == nullptr) found = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
  LineSweep sweep;
  if (found != nullptr) sweep.length = static_cast<std::size_t>(found - text.data());
  sweep.summed = static_cast<std::size_t>(p - text.data());
  sweep.crc.setState(state);
  return sweep;
}
#endif

bool detectHardware() {
#if defined(__aarch64__)
  return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#elif defined(__x86_64__)
  return __builtin_cpu_supports("sse4.2") != 0;
#else
  return false;
#endif
}

const bool kHasHardware = detectHardware();

constexpr Crc32cImplementation kPortable{.add = addPortable, .sweep = sweepPortable};
#ifdef BOUGH_CRC_TARGET
constexpr Crc32cImplementation kHardware{.add = addHardware, .sweep = sweepHardware};
#else
constexpr Crc32cImplementation kHardware = kPortable;
#endif

}  // namespace

bool hasCrc32cInstruction() {
  return kHasHardware;
}

const Crc32cImplementation& crc32cImplementation(bool hardware) {
  return hardware ? kHardware : kPortable;
}

void Crc32c::add(std::string_view bytes) {
  state_ = crc32cImplementation(kHasHardware).add(state_, bytes);
}

LineSweep LineSweep::run(std::string_view text, Crc32c crc) {
  return crc32cImplementation(kHasHardware).sweep(text, crc.state());
}

}  // namespace bough
