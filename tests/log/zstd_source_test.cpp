// Compressed logs with an invalid frame table.

#include <gtest/gtest.h>

#include "log/source/byte_source.h"
#include "log/source/zstd_frames.h"
#include "support/sim_file_system.h"

namespace bough {
namespace {

SysResult<std::unique_ptr<ByteSource>> sourceOf(const std::string& bytes) {
  SimFileSystem files;
  files.put("/store/log", bytes);
  return zstdSource(files.openRoot("/store", false).value()->open("log", OpenMode::Read).value());
}

TEST(ZstdSource, ATableThatSkipsAFrameIsDamage) {
  const std::string first = packFrame("first\n");
  const std::string second = packFrame("second\n");
  const auto sizeOf = [](const std::string& frame) { return static_cast<std::uint32_t>(frame.size()); };
  const auto good = sourceOf(first + second + packFrameTable({{sizeOf(first), 6}, {sizeOf(second), 7}}));
  ASSERT_TRUE(good);
  EXPECT_EQ((*good)->damagedAt(), std::nullopt);
  // The table must not claim bytes that no frame can contain either.
  const auto forged =
      sourceOf(first + second + packFrameTable({{sizeOf(first), 6}, {sizeOf(second), 7}, {0, 16U << 20}}));
  ASSERT_TRUE(forged);
  EXPECT_EQ((*forged)->size().value(), 13U);
  EXPECT_TRUE((*forged)->damagedAt());
  const auto damaged = sourceOf(first + second + packFrameTable({{sizeOf(first), 0}, {sizeOf(second), 7}}));
  ASSERT_TRUE(damaged);
  EXPECT_EQ((*damaged)->size(), 13U);
  EXPECT_EQ((*damaged)->damagedAt(), first.size() + second.size());
}

TEST(ZstdSource, AnEmptyLogIsReadAsEmpty) {
  const auto source = sourceOf(packFrameTable({}));
  ASSERT_TRUE(source);
  EXPECT_EQ((*source)->size(), 0U);
}

}  // namespace
}  // namespace bough
