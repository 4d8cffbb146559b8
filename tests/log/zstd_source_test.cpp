// Compressed logs whose table of frames is not right.

#include <gtest/gtest.h>

#include <cerrno>

#include "log/byte_source.h"
#include "log/zstd_frames.h"
#include "support/sim_file_system.h"

namespace bough {
namespace {

SysResult<std::unique_ptr<ByteSource>> sourceOf(const std::string& bytes) {
  SimFileSystem files;
  files.put("/store/log", bytes);
  return zstdSource(files.openRoot("/store", false).value()->open("log", OpenMode::Read).value());
}

TEST(ZstdSource, ATableThatSkipsAFrameIsRefused) {
  const std::string first = packFrame("first\n");
  const std::string second = packFrame("second\n");
  const auto sizeOf = [](const std::string& frame) { return static_cast<std::uint32_t>(frame.size()); };
  EXPECT_TRUE(sourceOf(first + second + packFrameTable({{sizeOf(first), 6}, {sizeOf(second), 7}})));
  const auto damaged = sourceOf(first + second + packFrameTable({{sizeOf(first), 0}, {sizeOf(second), 7}}));
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error(), EILSEQ);
}

TEST(ZstdSource, AnEmptyLogIsReadAsEmpty) {
  const auto source = sourceOf(packFrameTable({}));
  ASSERT_TRUE(source);
  EXPECT_EQ((*source)->size(), 0U);
}

}  // namespace
}  // namespace bough
