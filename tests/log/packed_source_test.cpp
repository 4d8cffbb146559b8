#include <gtest/gtest.h>
#include <zlib.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

#include "base/system/file_io.h"
#include "log/source/byte_source.h"
#include "log/source/zstd_frames.h"
#include "support/sim_file_system.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

std::string readAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

std::string text(std::size_t bytes) {
  std::mt19937 random(9);
  std::string all;
  while (all.size() < bytes) all += "line " + std::to_string(random() % 100'000) + " of a log\n";
  all.resize(bytes);
  return all;
}

std::string zstdFile(const std::string& plain) {
  std::string packed;
  std::vector<FrameSizes> frames;
  for (std::size_t at = 0; at < plain.size(); at += kFramePlainBytes) {
    const std::string piece = plain.substr(at, kFramePlainBytes);
    const std::string frame = packFrame(piece);
    frames.push_back(
        {.packed = static_cast<std::uint32_t>(frame.size()), .plain = static_cast<std::uint32_t>(piece.size())});
    packed += frame;
  }
  return packed + packFrameTable(frames);
}

std::string gzipFile(const std::string& plain) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, plain.size()) + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

class PackedSource : public testing::Test {
 protected:
  std::shared_ptr<File> file(const std::string& bytes) {
    files.put("/store/packed", bytes);
    return files.openRoot("/store", true).value()->open("packed", OpenMode::Read).value();
  }
  // Returns everything that a source contains, or the errno at which it ended.
  static SysResult<std::string> drain(SysResult<std::unique_ptr<ByteSource>> source) {
    if (!source) return std::unexpected(source.error());
    std::string all;
    std::string piece(10'000, '\0');
    for (;;) {
      const auto got = (*source)->readAt(all.size(), piece);
      if (!got) return std::unexpected(got.error());
      if (*got == 0) return all;
      all.append(piece, 0, *got);
    }
  }
  static void checkRandomAccess(ByteSource& source, const std::string& plain, int rounds) {
    EXPECT_EQ(source.size().value(), plain.size());
    std::mt19937_64 random(4);
    for (int round = 0; round < rounds; ++round) {
      const std::size_t offset = random() % (plain.size() + 10);
      std::string out(random() % 3000, '\0');
      const auto got = readFully(source, offset, out);
      ASSERT_TRUE(got);
      const std::string expected = offset < plain.size() ? plain.substr(offset, out.size()) : "";
      ASSERT_EQ(out.substr(0, *got), expected);
    }
  }
  SimFileSystem files;
};

TEST_F(PackedSource, ZstdReadsAnywhereAsThePlainFileDoes) {
  const std::string plain = text(1'500'000);
  auto source = zstdSource(file(zstdFile(plain)));
  ASSERT_TRUE(source);
  checkRandomAccess(**source, plain, 500);
}

TEST_F(PackedSource, GzipReadsAnywhereAsThePlainFileDoes) {
  const std::string plain = text(400'000);
  auto source = gzipSource(file(gzipFile(plain)));
  ASSERT_TRUE(source);
  checkRandomAccess(**source, plain, 60);
}

TEST_F(PackedSource, GzipOfSeveralMembersIsOneFile) {
  const std::string plain = text(100'000);
  const auto all = drain(gzipSource(file(gzipFile(plain) + gzipFile("middle\n") + gzipFile(plain))));
  ASSERT_TRUE(all);
  EXPECT_EQ(*all, plain + "middle\n" + plain);
}

TEST_F(PackedSource, WhatStandsBehindAGzipFileIsLeftOut) {
  const std::string plain = text(100'000);
  const std::string packed = gzipFile(plain);
  for (const std::string& garbage : {std::string("garbage"), std::string("\x1F"), std::string(100'000, '\0')}) {
    auto source = gzipSource(file(packed + garbage));
    ASSERT_TRUE(source);
    EXPECT_EQ((*source)->size(), plain.size());
    EXPECT_EQ((*source)->damagedAt(), packed.size());
    EXPECT_EQ(drain(std::move(source)), plain);
  }
}

TEST_F(PackedSource, OfAFileThatBreaksOffWhatIsThereIsRead) {
  const std::string plain = text(600'000);
  const std::string zstd = zstdFile(plain);
  const std::size_t firstFrame = packFrame(plain.substr(0, kFramePlainBytes)).size();
  for (std::size_t cut = 0; cut < zstd.size(); cut += zstd.size() / 50 + 1) {
    auto source = zstdSource(file(zstd.substr(0, cut)));
    ASSERT_EQ(source.has_value(), cut >= firstFrame) << cut;
    if (!source) continue;
    EXPECT_GE((*source)->damagedAt(), firstFrame);
    EXPECT_LE((*source)->damagedAt(), cut);
    const std::string all = drain(std::move(source)).value();
    EXPECT_EQ(all, plain.substr(
                       0, all.size() == plain.size() ? all.size() : all.size() / kFramePlainBytes * kFramePlainBytes));
    EXPECT_GE(all.size(), kFramePlainBytes);
  }
  const std::string gzip = gzipFile(plain);
  for (std::size_t cut = 0; cut < gzip.size(); cut += gzip.size() / 50 + 1) {
    auto source = gzipSource(file(gzip.substr(0, cut)));
    if (cut < 1000) continue;
    const std::size_t size = (*source)->size().value();
    EXPECT_EQ((*source)->damagedAt(), cut);
    EXPECT_GE(size, cut / 2);
    EXPECT_EQ(drain(std::move(source)), plain.substr(0, size));
  }
}

TEST_F(PackedSource, DamageInOrBehindTheTableOfAZstdFileCostsNothing) {
  const std::string plain = text(600'000);
  const std::string zstd = zstdFile(plain);
  const std::size_t table = packFrameTable(std::vector<FrameSizes>(3)).size();
  std::vector<std::string> all{zstd + "garbage", zstd.substr(0, zstd.size() - 1), zstd.substr(0, zstd.size() - table)};
  for (std::size_t at = zstd.size() - table; at < zstd.size(); ++at) {
    all.push_back(zstd);
    all.back()[at] ^= 1;
  }
  for (const std::string& damaged : all) {
    auto source = zstdSource(file(damaged));
    ASSERT_TRUE(source);
    const auto damagedAt = (*source)->damagedAt();
    EXPECT_GE(damagedAt.value_or(zstd.size()), zstd.size() - table);
    EXPECT_EQ(drain(std::move(source)), plain);
  }
  EXPECT_EQ(zstdSource(file(zstd + "garbage")).value()->damagedAt(), zstd.size());
}

TEST_F(PackedSource, AWrongChecksumAtTheEndOfAGzipFileIsDamageAndCostsNothing) {
  const std::string plain = text(100'000);
  std::string gzip = gzipFile(plain);
  gzip[gzip.size() - 6] ^= 1;
  auto source = gzipSource(file(gzip));
  EXPECT_EQ((*source)->size(), plain.size());
  EXPECT_GE((*source)->damagedAt(), gzip.size() - 8);
  checkRandomAccess(**source, plain, 20);
}

TEST_F(PackedSource, DamageIsNeverOtherBytesWithoutAWord) {
  const std::string plain = text(600'000);
  const std::string zstd = zstdFile(plain);
  const std::string gzip = gzipFile(plain);
  for (std::size_t at = 0; at < zstd.size(); at += zstd.size() / 97) {
    std::string damaged = zstd;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    auto source = zstdSource(file(damaged));
    if (!source) {
      EXPECT_EQ(source.error(), EILSEQ);
      continue;
    }
    std::string all(plain.size(), 'x');
    ASSERT_EQ(readFully(**source, 0, all), plain.size());
    // Frames that cannot be decompressed read as NUL bytes, each as a whole.
    for (std::size_t from = 0; from < plain.size(); from += kFramePlainBytes) {
      const std::string frame = all.substr(from, kFramePlainBytes);
      if (frame == plain.substr(from, kFramePlainBytes)) continue;
      EXPECT_EQ(frame, std::string(frame.size(), '\0')) << at;
      EXPECT_LE((*source)->damagedAt(), at);
    }
    EXPECT_EQ((*source)->damagedAt().has_value(), all != plain) << at;
  }
  for (std::size_t at = 10; at < gzip.size(); at += gzip.size() / 97) {
    std::string damaged = gzip;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    auto source = gzipSource(file(damaged));
    const auto size = (*source)->size();
    const bool known = (*source)->damagedAt().has_value();
    const auto all = drain(std::move(source));
    EXPECT_EQ(all.has_value(), size.has_value());
    EXPECT_TRUE(known || all == plain) << at;
  }
}

TEST_F(PackedSource, ATableThatClaimsTooMuchIsRefused) {
  const std::vector<FrameSizes> huge(3, FrameSizes{.packed = 5, .plain = 0xFFFFFFFF});
  const auto source = zstdSource(file(std::string(15, 'x') + packFrameTable(huge)));
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error(), EILSEQ);
}

TEST_F(PackedSource, OtherToolsReadAndWriteTheSame) {
  if (std::system("command -v zstd >/dev/null && command -v gzip >/dev/null") != 0) GTEST_SKIP() << "no zstd, gzip";
  TempFolder folder;
  const std::string plain = text(700'000);
  const auto put = [&](const std::string& name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  };
  put("ours.zst", zstdFile(plain));
  ASSERT_EQ(std::system(("zstd -q -d " + (folder / "ours.zst") + " -o " + (folder / "ours.txt")).c_str()), 0);
  EXPECT_EQ(readAll(folder / "ours.txt"), plain);

  put("theirs.txt", plain);
  ASSERT_EQ(std::system(("gzip -k " + (folder / "theirs.txt")).c_str()), 0);
  const auto all = drain(gzipSource(file(readAll(folder / "theirs.txt.gz"))));
  ASSERT_TRUE(all);
  EXPECT_EQ(*all, plain);
}

}  // namespace
}  // namespace bough
