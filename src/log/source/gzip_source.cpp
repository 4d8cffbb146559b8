#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "base/bytes/decompression_memory.h"
#include "base/check.h"
#include "base/system/file_io.h"
#include "base/try.h"
#include "log/source/byte_source.h"

namespace bough {
namespace {

SysResult<bool> beginsMember(File& file, std::uint64_t offset) {
  std::array<char, 2> magic{};
  const auto got = readFully(file, offset, magic);
  if (!got) return std::unexpected(got.error());
  return *got == 2 && magic[0] == '\x1F' && magic[1] == '\x8B';
}

class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(std::shared_ptr<File> file) : file_(std::move(file)) { restart(); }
  ~GzipSource() override { inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  // The size is known after everything was unpacked once.
  SysResult<std::uint64_t> size() override {
    std::array<char, 16384> scratch{};
    while (!size_) {
      BOUGH_TRY(readAt(plainAt_, scratch));
    }
    return *size_;
  }

  SysResult<std::size_t> readAt(std::uint64_t offset, std::span<char> out) override {
    if (out.empty() || (size_ && offset >= *size_)) return 0;
    if (!started_ || offset < plainAt_) restart();
    std::array<char, 16384> skipped{};
    while (plainAt_ < offset) {
      const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(skipped.size(), offset - plainAt_));
      const auto got = inflateSome(std::span(skipped).first(want));
      if (!got) return got;
      if (*got == 0) return 0;
    }
    return inflateSome(out);
  }

  [[nodiscard]] std::optional<std::uint64_t> damagedAt() const override { return damagedAt_; }

 private:
  void restart() {
    inflateEnd(&stream_);
    stream_ = {};
    started_ = false;
    constexpr int kGzipWindow = 15 + 16;
    BOUGH_CHECK(zlibResult(inflateInit2(&stream_, kGzipWindow)) == Z_OK);
    started_ = true;
    betweenMembers_ = false;
    packedAt_ = 0;
    plainAt_ = 0;
  }

  // The offset of the next packed byte.
  [[nodiscard]] std::uint64_t at() const { return packedAt_ - stream_.avail_in; }

  SysResult<std::size_t> end() {
    size_ = plainAt_;
    return 0;
  }

  // Ends the source here: what was unpacked so far stays readable. Fails when nothing was unpacked.
  SysResult<std::size_t> damage() {
    damagedAt_ = at();
    if (plainAt_ == 0) return std::unexpected(EILSEQ);
    return end();
  }

  // When memory runs out in the middle, zlib cannot continue: the next read starts from the beginning.
  int inflateStep() {
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) started_ = false;
    return zlibResult(status);
  }

  // Unpacks at least one byte; returns 0 at the end. A file that ends in the middle of a member is damaged.
  SysResult<std::size_t> inflateSome(std::span<char> out) {
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(out.size(), 1U << 30));
    const uInt room = stream_.avail_out;
    while (stream_.avail_out == room) {
      if (stream_.avail_in == 0) {
        BOUGH_TRY(const auto got, readFully(*file_, packedAt_, packed_));
        if (got == 0 && betweenMembers_) return end();
        if (got == 0) {
          // zlib may still hold output for which there was no room.
          (void)inflateStep();
          if (stream_.avail_out == room) return damage();
          break;
        }
        packedAt_ += got;
        stream_.next_in = reinterpret_cast<Bytef*>(packed_.data());
        stream_.avail_in = static_cast<uInt>(got);
      }
      if (betweenMembers_) {
        BOUGH_TRY(const auto another, beginsMember(*file_, at()));
        if (!another) return damage();
        inflateReset(&stream_);
        betweenMembers_ = false;
      }
      const int status = inflateStep();
      if (status == Z_STREAM_END) {
        betweenMembers_ = true;
      } else if (status != Z_OK && status != Z_BUF_ERROR && stream_.avail_out == room) {
        return damage();
      }
    }
    const std::size_t made = room - stream_.avail_out;
    plainAt_ += made;
    return made;
  }

  std::shared_ptr<File> file_;
  z_stream stream_{};
  bool started_ = false;  // and inflate() can continue
  bool betweenMembers_ = false;
  std::array<char, 65536> packed_{};
  std::uint64_t packedAt_ = 0;
  std::uint64_t plainAt_ = 0;
  std::optional<std::uint64_t> size_;
  std::optional<std::uint64_t> damagedAt_;
};

}  // namespace

SysResult<std::unique_ptr<ByteSource>> gzipSource(std::shared_ptr<File> file) {
  BOUGH_TRY(const auto begins, beginsMember(*file, 0));
  if (!begins) return std::unexpected(EILSEQ);
  return std::make_unique<GzipSource>(std::move(file));
}

}  // namespace bough
