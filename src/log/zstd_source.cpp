#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "base/file_io.h"
#include "log/byte_source.h"
#include "log/zstd_frames.h"

namespace bough {
namespace {

constexpr std::uint32_t kTableMagic = 0x184D2A5E;
constexpr std::uint32_t kSeekableMagic = 0x8F92EAB1;
constexpr std::size_t kEntryBytes = 8;
constexpr std::uint32_t kMaxFrameBytes = 16U << 20;  // of other writers of the format
constexpr int kLevel = 3;

void appendNumber(std::string& out, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift & 0xFF);
}

std::uint32_t readNumber(const char* bytes) {
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

struct Frame {
  std::uint64_t packedOffset;
  std::uint64_t plainOffset;
  FrameSizes sizes;
};

class ZstdSource final : public ByteSource {
 public:
  ZstdSource(std::shared_ptr<File> file, std::vector<Frame> frames)
      : file_(std::move(file)), frames_(std::move(frames)) {}

  SysResult<std::uint64_t> size() override {
    return frames_.empty() ? 0 : frames_.back().plainOffset + frames_.back().sizes.plain;
  }

  SysResult<std::size_t> readAt(std::uint64_t offset, std::span<char> out) override {
    const auto after = std::ranges::upper_bound(frames_, offset, {}, &Frame::plainOffset);
    if (after == frames_.begin()) return 0;
    const auto index = static_cast<std::size_t>(after - frames_.begin()) - 1;
    if (auto unpacked = unpack(index); !unpacked) return std::unexpected(unpacked.error());
    const std::uint64_t inside = offset - frames_[index].plainOffset;
    if (inside >= plain_.size()) return 0;
    const std::size_t count = std::min<std::size_t>(out.size(), plain_.size() - static_cast<std::size_t>(inside));
    std::memcpy(out.data(), plain_.data() + inside, count);
    return count;
  }

  [[nodiscard]] std::optional<std::uint64_t> damagedAt() const override { return damagedAt_; }

 private:
  SysResult<void> unpack(std::size_t index) {
    if (index == unpacked_) return {};
    unpacked_ = SIZE_MAX;
    const Frame& frame = frames_[index];
    std::string packed(frame.sizes.packed, '\0');
    const auto got = readFully(*file_, frame.packedOffset, packed);
    if (!got) return std::unexpected(got.error());
    plain_.resize(frame.sizes.plain);
    const std::size_t size = ZSTD_decompress(plain_.data(), plain_.size(), packed.data(), *got);
    if (ZSTD_isError(size) != 0 || size != frame.sizes.plain) {
      plain_.assign(frame.sizes.plain, '\0');
      damagedAt_ = std::min(damagedAt_.value_or(frame.packedOffset), frame.packedOffset);
    }
    unpacked_ = index;
    return {};
  }

  std::shared_ptr<File> file_;
  std::vector<Frame> frames_;
  std::string plain_;
  std::size_t unpacked_ = SIZE_MAX;
  std::optional<std::uint64_t> damagedAt_;
};

}  // namespace

std::string packFrame(std::string_view plain) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  BOUGH_CHECK(context != nullptr);
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  const std::size_t size = ZSTD_compress2(context, packed.data(), packed.size(), plain.data(), plain.size());
  ZSTD_freeCCtx(context);
  BOUGH_CHECK(ZSTD_isError(size) == 0);
  packed.resize(size);
  return packed;
}

std::string packFrameTable(const std::vector<FrameSizes>& frames) {
  std::string table;
  appendNumber(table, kTableMagic);
  appendNumber(table, static_cast<std::uint32_t>(frames.size() * kEntryBytes + kFrameTableFooterBytes));
  for (const FrameSizes& frame : frames) {
    appendNumber(table, frame.packed);
    appendNumber(table, frame.plain);
  }
  appendNumber(table, static_cast<std::uint32_t>(frames.size()));
  table += '\0';
  appendNumber(table, kSeekableMagic);
  return table;
}

SysResult<std::unique_ptr<ByteSource>> zstdSource(std::shared_ptr<File> file) {
  const auto info = file->info();
  if (!info) return std::unexpected(info.error());
  std::array<char, kFrameTableFooterBytes> footer{};
  if (info->sizeBytes < kFrameTableFooterBytes + kEntryBytes) return std::unexpected(EILSEQ);
  const auto gotFooter = readFully(*file, info->sizeBytes - kFrameTableFooterBytes, footer);
  if (!gotFooter) return std::unexpected(gotFooter.error());
  if (readNumber(footer.data() + 5) != kSeekableMagic) return std::unexpected(EILSEQ);
  const std::size_t entryBytes = (footer[4] & 0x80) != 0 ? kEntryBytes + 4 : kEntryBytes;
  const std::uint64_t tableBytes = std::uint64_t{readNumber(footer.data())} * entryBytes;
  if (tableBytes + kFrameTableFooterBytes + 8 > info->sizeBytes) return std::unexpected(EILSEQ);

  std::string table(static_cast<std::size_t>(tableBytes), '\0');
  const std::uint64_t tableOffset = info->sizeBytes - kFrameTableFooterBytes - tableBytes;
  const auto gotTable = readFully(*file, tableOffset, table);
  if (!gotTable) return std::unexpected(gotTable.error());
  std::vector<Frame> frames;
  std::uint64_t packed = 0;
  std::uint64_t plain = 0;
  for (std::size_t at = 0; at < table.size(); at += entryBytes) {
    const FrameSizes sizes{.packed = readNumber(table.data() + at), .plain = readNumber(table.data() + at + 4)};
    // A frame of no bytes would be stepped over unread, so a table that was damaged into one could hide it.
    if (sizes.plain == 0 || sizes.plain > kMaxFrameBytes || sizes.packed > 2 * kMaxFrameBytes) {
      return std::unexpected(EILSEQ);
    }
    frames.push_back({.packedOffset = packed, .plainOffset = plain, .sizes = sizes});
    packed += sizes.packed;
    plain += sizes.plain;
  }
  if (packed + 8 != tableOffset) return std::unexpected(EILSEQ);
  return std::make_unique<ZstdSource>(std::move(file), std::move(frames));
}

}  // namespace bough
