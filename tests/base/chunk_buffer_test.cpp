#include "base/bytes/chunk_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace bough {
namespace {

// Whatever is read, kept and dropped, the bytes held are the part of the file after the dropped bytes.
TEST(ChunkBufferTest, HoldsWhatWasReadAndNotDropped) {
  std::mt19937_64 random(20261117);
  std::string file;
  for (int i = 0; i < 200'000; ++i) file += static_cast<char>(random());
  for (int round = 0; round < 20; ++round) {
    ChunkBuffer buffer;
    std::size_t begin = 0;
    std::size_t end = 0;
    while (end < file.size()) {
      const auto room = buffer.room(end, 1 + random() % 3000);
      const std::size_t got = std::min<std::size_t>(random() % (room.size() + 1), file.size() - end);
      std::copy_n(file.begin() + static_cast<std::ptrdiff_t>(end), got, room.begin());
      buffer.add(got);
      end += got;
      ASSERT_EQ(buffer.held(), std::string_view(file).substr(begin, end - begin));
      const std::size_t dropped = random() % 4 == 0 ? random() % (end - begin + 1) : 0;
      buffer.drop(dropped);
      begin += dropped;
      ASSERT_EQ(buffer.held(), std::string_view(file).substr(begin, end - begin));
    }
  }
}

TEST(ChunkBufferTest, APieceLiesInALineOfTheCacheAsInItsFile) {
  ChunkBuffer buffer;
  for (const std::uint64_t offset : {0U, 1U, 63U, 64U, 4095U, 5000U}) {
    buffer.clear();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.room(offset, 4096).data()) % 64, offset % 64);
    buffer.add(100);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.room(offset + 100, 4096).data()) % 64, (offset + 100) % 64);
  }
}

}  // namespace
}  // namespace bough
