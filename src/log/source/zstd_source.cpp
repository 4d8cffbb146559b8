#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/bytes/decompression_memory.h"
#include "base/check.h"
#include "base/system/file_io.h"
#include "base/try.h"
#include "log/source/byte_source.h"
#include "log/source/zstd_frames.h"

namespace bough {
namespace {

constexpr std::uint32_t kTableMagic = 0x184D2A5E;
constexpr std::uint32_t kSeekableMagic = 0x8F92EAB1;
constexpr std::size_t kEntryBytes = 8;
constexpr std::uint32_t kMaxFrameBytes = 16U << 20;  // limit for files of other writers of the format
constexpr std::uint32_t kMaxPackedBytes = 2 * kMaxFrameBytes;
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
  ZstdSource(std::shared_ptr<File> file, std::vector<Frame> frames, std::optional<std::uint64_t> damagedAt = {})
      : file_(std::move(file)), frames_(std::move(frames)), damagedAt_(damagedAt) {}

  SysResult<std::uint64_t> size() override {
    return frames_.empty() ? 0 : frames_.back().plainOffset + frames_.back().sizes.plain;
  }

  SysResult<std::size_t> readAt(std::uint64_t offset, std::span<char> out) override {
    const auto after = std::ranges::upper_bound(frames_, offset, {}, &Frame::plainOffset);
    if (after == frames_.begin()) return 0;
    const auto index = static_cast<std::size_t>(after - frames_.begin()) - 1;
    BOUGH_TRY(unpack(index));
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
    BOUGH_TRY(const auto got, readFully(*file_, frame.packedOffset, packed));
    plain_.resize(frame.sizes.plain);
    const std::size_t size = zstdResult(ZSTD_decompress(plain_.data(), plain_.size(), packed.data(), got));
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

// Returns true when a frame is intact but has another size than the table says: then the table is damaged.
SysResult<bool> contradictsTable(File& file, const Frame& frame) {
  constexpr std::size_t kMostHeaderBytes = 18;
  std::string packed(std::min<std::size_t>(frame.sizes.packed, kMostHeaderBytes), '\0');
  auto got = readFully(file, frame.packedOffset, packed);
  if (!got) return std::unexpected(got.error());
  const unsigned long long says = ZSTD_getFrameContentSize(packed.data(), *got);
  if (says == frame.sizes.plain || says > kMaxFrameBytes) return false;
  packed.resize(frame.sizes.packed);
  got = readFully(file, frame.packedOffset, packed);
  if (!got) return std::unexpected(got.error());
  std::string plain(static_cast<std::size_t>(says), '\0');
  return ZSTD_isError(zstdResult(ZSTD_decompress(plain.data(), plain.size(), packed.data(), *got))) == 0;
}

// Returns the frames that the table lists. EILSEQ when the table is missing or wrong.
SysResult<std::vector<Frame>> readTable(File& file, std::uint64_t fileBytes) {
  std::array<char, kFrameTableFooterBytes> footer{};
  if (fileBytes < kFrameTableFooterBytes + kEntryBytes) return std::unexpected(EILSEQ);
  BOUGH_TRY(readFully(file, fileBytes - kFrameTableFooterBytes, footer));
  if (readNumber(footer.data() + 5) != kSeekableMagic) return std::unexpected(EILSEQ);
  const std::size_t entryBytes = (footer[4] & 0x80) != 0 ? kEntryBytes + 4 : kEntryBytes;
  const std::uint64_t tableBytes = std::uint64_t{readNumber(footer.data())} * entryBytes;
  if (tableBytes + kFrameTableFooterBytes + 8 > fileBytes) return std::unexpected(EILSEQ);

  std::string table(static_cast<std::size_t>(tableBytes), '\0');
  const std::uint64_t tableOffset = fileBytes - kFrameTableFooterBytes - tableBytes;
  BOUGH_TRY(readFully(file, tableOffset, table));
  std::vector<Frame> frames;
  std::uint64_t packed = 0;
  std::uint64_t plain = 0;
  for (std::size_t at = 0; at < table.size(); at += entryBytes) {
    const FrameSizes sizes{.packed = readNumber(table.data() + at), .plain = readNumber(table.data() + at + 4)};
    // An empty frame would be skipped without being read, so a damaged table could hide data behind one. And no frame
    // compresses this well: a small file must not claim to contain a huge one.
    const bool impossible = (sizes.plain >> 16) > sizes.packed || sizes.packed == 0;
    if (sizes.plain == 0 || sizes.plain > kMaxFrameBytes || sizes.packed > kMaxPackedBytes || impossible) {
      return std::unexpected(EILSEQ);
    }
    frames.push_back({.packedOffset = packed, .plainOffset = plain, .sizes = sizes});
    packed += sizes.packed;
    plain += sizes.plain;
  }
  if (packed + 8 != tableOffset) return std::unexpected(EILSEQ);
  for (const Frame& frame : frames) {
    BOUGH_TRY(const auto other, contradictsTable(file, frame));
    if (other) return std::unexpected(EILSEQ);
  }
  return frames;
}

// Finds the frames of a file without its table, from the beginning up to the first bytes that are not a complete frame.
class FrameWalk {
 public:
  FrameWalk(File& file, std::uint64_t fileBytes) : file_(file), fileBytes_(fileBytes) {}

  SysResult<void> run() {
    while (at_ < fileBytes_) {
      BOUGH_TRY(const auto packed, frameBytes());
      if (packed == 0) break;
      if (!add(packed)) break;
      at_ += packed;
    }
    return {};
  }

  [[nodiscard]] std::vector<Frame> takeFrames() { return std::move(frames_); }
  // Returns the offset of the first bytes that are not a frame, or, when all bytes are frames, the offset of the wrong
  // table. A file that never had a table is not damaged. A file that lost its table together with frames is recognized
  // by its last frame: in a file of bough, only the last frame is smaller than kFramePlainBytes.
  [[nodiscard]] std::optional<std::uint64_t> damagedAt() const {
    if (at_ < fileBytes_ || tableAt_) return at_ < fileBytes_ ? at_ : *tableAt_;
    return !frames_.empty() && frames_.back().sizes.plain == kFramePlainBytes ? std::optional(at_) : std::nullopt;
  }

 private:
  [[nodiscard]] std::string_view rest() const {
    return std::string_view(window_).substr(static_cast<std::size_t>(at_ - windowAt_));
  }

  // Returns the size of the frame at at_; 0 when there is no complete frame.
  SysResult<std::size_t> frameBytes() {
    for (std::size_t want = kFirstWindow;; want *= 2) {
      const std::size_t size = ZSTD_findFrameCompressedSize(rest().data(), rest().size());
      if (ZSTD_isError(size) == 0) return size;
      if (windowAt_ + window_.size() == fileBytes_ || rest().size() >= kMaxWholeBytes) return 0;
      if (want <= rest().size()) continue;
      window_.assign(static_cast<std::size_t>(std::min<std::uint64_t>(want, fileBytes_ - at_)), '\0');
      windowAt_ = at_;
      BOUGH_TRY(const auto got, readFully(file_, at_, window_));
      if (got < window_.size()) return 0;
    }
  }

  // Returns the unpacked size of a frame; 0 when the frame cannot be unpacked or is too large.
  static std::uint64_t unpackedBytes(std::string_view packed) {
    const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(zstdContext(ZSTD_createDStream()),
                                                                            &ZSTD_freeDStream);
    std::string piece(ZSTD_DStreamOutSize(), '\0');
    ZSTD_inBuffer in{.src = packed.data(), .size = packed.size(), .pos = 0};
    for (std::uint64_t total = 0; total <= kMaxWholeBytes;) {
      ZSTD_outBuffer out{.dst = piece.data(), .size = piece.size(), .pos = 0};
      const std::size_t left = zstdResult(ZSTD_decompressStream(stream.get(), &out, &in));
      if (ZSTD_isError(left) != 0 || (left > 0 && in.pos == in.size && out.pos == 0)) return 0;
      total += out.pos;
      if (left == 0) return total;
    }
    return 0;
  }

  // Returns false when the frame cannot be read.
  bool add(std::size_t packed) {
    unsigned long long plain = ZSTD_getFrameContentSize(rest().data(), rest().size());
    if (plain == 0) {  // a skippable frame, such as the table
      tableAt_ = at_;
      return true;
    }
    // The size of a frame that was packed from a pipe is unknown until it is unpacked.
    if (plain == ZSTD_CONTENTSIZE_UNKNOWN) plain = unpackedBytes(rest().substr(0, packed));
    if (plain == 0 || plain > kMaxWholeBytes || packed > kMaxWholeBytes || (plain >> 16) > packed) return false;
    frames_.push_back(
        {.packedOffset = at_,
         .plainOffset = plainAt_,
         .sizes = {.packed = static_cast<std::uint32_t>(packed), .plain = static_cast<std::uint32_t>(plain)}});
    plainAt_ += plain;
    return true;
  }

  static constexpr std::size_t kFirstWindow = std::size_t{1} << 20;
  static constexpr std::size_t kMaxWholeBytes = std::size_t{256} << 20;  // zstd itself packs a file into one frame

  File& file_;
  std::uint64_t fileBytes_;
  std::uint64_t at_ = 0;
  std::uint64_t plainAt_ = 0;
  std::string window_;  // the file's bytes from windowAt_ on
  std::uint64_t windowAt_ = 0;
  std::optional<std::uint64_t> tableAt_;
  std::vector<Frame> frames_;
};

}  // namespace

std::string packFrame(std::string_view plain) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(zstdContext(ZSTD_createCCtx()), &ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  const std::size_t size =
      zstdResult(ZSTD_compress2(context.get(), packed.data(), packed.size(), plain.data(), plain.size()));
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
  BOUGH_TRY(const auto info, file->info());
  auto frames = readTable(*file, info.sizeBytes);
  if (frames) return std::make_unique<ZstdSource>(std::move(file), std::move(*frames));
  if (frames.error() != EILSEQ) return std::unexpected(frames.error());
  FrameWalk walk(*file, info.sizeBytes);
  BOUGH_TRY(walk.run());
  auto found = walk.takeFrames();
  if (found.empty()) return std::unexpected(EILSEQ);
  return std::make_unique<ZstdSource>(std::move(file), std::move(found), walk.damagedAt());
}

}  // namespace bough
