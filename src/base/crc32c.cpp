#include "base/crc32c.h"

#include <array>
#include <cstring>

#include "base/byte_block.h"
#include "base/crc32c_step.h"

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

LineSweep sweepPortable(std::string_view text, std::uint32_t& /*state*/) {
  LineSweep sweep;
  sweep.length = text.find('\n');
  return sweep;
}

#ifdef BOUGH_CRC_TARGET

BOUGH_CRC_TARGET std::uint32_t addHardware(std::uint32_t state, std::string_view bytes) {
  const char* p = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 64; left -= 64, p += 64) state = crc32cStep64(state, p);
  for (; left >= 8; left -= 8, p += 8) state = crc32cStep8(state, p);
  for (; left > 0; --left, ++p) {
#if defined(__aarch64__)
    state = __crc32cb(state, static_cast<std::uint8_t>(*p));
#else
    state = _mm_crc32_u8(state, static_cast<std::uint8_t>(*p));
#endif
  }
  return state;
}

// Whether one of the 64 bytes at p is a line end.
BOUGH_CRC_TARGET inline bool hasLineEnd(const char* p) {
  const ByteBlock block(p);
  const Bytes end = fillBytes('\n');
  return any(
      either(either(equal(block.a, end), equal(block.b, end)), either(equal(block.c, end), equal(block.d, end))));
}

// The sum follows one block behind the search: a block is added once the next one is known to hold no line end, so a
// line's last 64 bytes, where its seal stands, are never in the sum.
BOUGH_CRC_TARGET LineSweep sweepHardware(std::string_view text, std::uint32_t& state) {
  constexpr std::size_t kBlock = LineSweep::kHeldBack;
  static_assert(kBlock == ByteBlock::kSize);
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* p = begin;
  std::uint32_t sum = state;  // in a register: the text might alias `state`
  if (end - p >= static_cast<std::ptrdiff_t>(2 * kBlock) && !hasLineEnd(p)) {
    while (end - p >= static_cast<std::ptrdiff_t>(2 * kBlock) && !hasLineEnd(p + kBlock)) {
      sum = crc32cStep64(sum, p);
      p += kBlock;
    }
  }
  state = sum;
  LineSweep sweep;
  sweep.summed = static_cast<std::size_t>(p - begin);
  if (const void* found = std::memchr(p, '\n', static_cast<std::size_t>(end - p))) {
    sweep.length = static_cast<std::size_t>(static_cast<const char*>(found) - begin);
  }
  return sweep;
}

bool detectHardware() {
#if defined(__aarch64__)
  return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#else
  return __builtin_cpu_supports("sse4.2");
#endif
}
#else
std::uint32_t addHardware(std::uint32_t state, std::string_view bytes) {
  return addPortable(state, bytes);
}
LineSweep sweepHardware(std::string_view text, std::uint32_t& state) {
  return sweepPortable(text, state);
}
bool detectHardware() {
  return false;
}
#endif

const bool kHasHardware = detectHardware();

}  // namespace

bool hasCrc32cInstruction() {
  return kHasHardware;
}

void Crc32c::add(std::string_view bytes) {
  state_ = kHasHardware ? addHardware(state_, bytes) : addPortable(state_, bytes);
}

LineSweep LineSweep::run(std::string_view text, Crc32c crc) {
  LineSweep sweep = kHasHardware ? sweepHardware(text, crc.state_) : sweepPortable(text, crc.state_);
  sweep.crc = crc;
  return sweep;
}

}  // namespace bough
