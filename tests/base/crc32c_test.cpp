#include "base/bytes/crc32c.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/bytes/crc32c_step.h"

namespace bough {
namespace {

std::uint32_t crcOf(std::string_view bytes) {
  Crc32c crc;
  crc.add(bytes);
  return crc.value();
}

// With the processor's instruction, where available, and without.
std::vector<Crc32cImplementation> allImplementations() {
  std::vector<Crc32cImplementation> implementations = {crc32cImplementation(false)};
  if (hasCrc32cInstruction()) implementations.push_back(crc32cImplementation(true));
  return implementations;
}

// Bit by bit, following the definition.
std::uint32_t referenceCrc(std::string_view bytes) {
  std::uint32_t state = 0xFFFFFFFF;
  for (const char c : bytes) {
    state ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1) != 0 ? 0x82F63B78 : 0);
  }
  return ~state;
}

std::string randomBytes(std::mt19937_64& random, std::size_t size) {
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

// Completes the sum of a line like a caller, and compares it with the reference.
void expectSweepIsRight(std::string_view text, std::string_view before) {
  Crc32c crc;
  crc.add(before);
  for (const Crc32cImplementation& implementation : allImplementations()) {
    const LineSweep sweep = implementation.sweep(text, crc.state());
    ASSERT_EQ(sweep.length, text.find('\n'));
    const std::string_view line = text.substr(0, sweep.length);
    ASSERT_LE(sweep.summed, line.size());
    if (sweep.summed > 0 && sweep.length != std::string_view::npos) {
      ASSERT_GE(line.size() - sweep.summed, LineSweep::kHeldBack);
    }
    Crc32c rest = sweep.crc;
    rest.add(line.substr(sweep.summed));
    ASSERT_EQ(rest.value(), referenceCrc(std::string(before) + std::string(line)));
  }
}

TEST(Crc32c, MatchesThePublishedVectors) {
  EXPECT_EQ(crcOf(""), 0U);
  EXPECT_EQ(crcOf("123456789"), 0xE3069283U);
  // RFC 3720, B.4.
  EXPECT_EQ(crcOf(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crcOf(std::string(32, '\xFF')), 0x62A8AB43U);
  std::string ascending(32, '\0');
  for (std::size_t i = 0; i < 32; ++i) ascending[i] = static_cast<char>(i);
  EXPECT_EQ(crcOf(ascending), 0x46DD794EU);
  EXPECT_EQ(crcOf(std::string(ascending.rbegin(), ascending.rend())), 0x113FDB5CU);
}

TEST(Crc32c, MatchesTheReferenceAtEveryLengthAndAlignment) {
  std::mt19937_64 random(1);
  const std::string bytes = randomBytes(random, 300);
  for (std::size_t begin = 0; begin < 9; ++begin) {
    for (std::size_t size = 0; size + begin <= 150; ++size) {
      const std::string_view part = std::string_view(bytes).substr(begin, size);
      for (const Crc32cImplementation& implementation : allImplementations()) {
        ASSERT_EQ(~implementation.add(0xFFFFFFFF, part), referenceCrc(part)) << begin << "+" << size;
      }
    }
  }
}

TEST(Crc32c, IsTheSameInPieces) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 200; ++round) {
    const std::string bytes = randomBytes(random, random() % 2000);
    Crc32c crc;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t size = std::min<std::size_t>(random() % 100, bytes.size() - at);
      crc.add(std::string_view(bytes).substr(at, size));
      at += size;
    }
    ASSERT_EQ(crc.value(), referenceCrc(bytes));
  }
}

TEST(LineSweep, IsRightForLinesOfEveryLength) {
  std::mt19937_64 random(3);
  for (std::size_t length = 0; length <= 400; ++length) {
    std::string line = randomBytes(random, length);
    for (char& c : line) c = c == '\n' ? ' ' : c;
    SCOPED_TRACE(length);
    expectSweepIsRight(line, "");
    expectSweepIsRight(line + "\n", "9ae0daaf");
    expectSweepIsRight(line + "\n" + std::string(300, 'x'), "");
    expectSweepIsRight(line + "\nshort\n" + line, "9ae0daaf");
  }
}

TEST(LineSweep, IsRightInRandomBuffers) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 2000; ++round) {
    const std::string text = randomBytes(random, random() % 1500);
    // Random bytes contain a line end about every 256 bytes; with different starts, the lines have different
    // alignments.
    const std::size_t begin = text.empty() ? 0 : random() % text.size();
    expectSweepIsRight(std::string_view(text).substr(begin), "");
  }
}

TEST(LineSweep, DoesNotReadBehindTheText) {
  // Heap buffers of the exact size, so that a sanitizer detects a read beyond the end.
  for (std::size_t size = 0; size <= 260; ++size) {
    const std::unique_ptr<char[]> buffer(new char[size]);
    std::fill_n(buffer.get(), size, 'x');
    expectSweepIsRight(std::string_view(buffer.get(), size), "");
  }
}

TEST(LineSweep, SumsTheGreaterPartOfALongLineOnTheWay) {
  const std::string line(100'000, 'x');
  const LineSweep sweep = LineSweep::run(line + "\n", Crc32c());
  EXPECT_EQ(sweep.length, line.size());
  // Without hardware support, nothing is summed in advance, which is allowed.
  if (sweep.summed > 0) {
    EXPECT_GE(sweep.summed, line.size() - 3 * LineSweep::kHeldBack);
  }
}

}  // namespace
}  // namespace bough
