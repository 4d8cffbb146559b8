#include "transcript/source/unpacked.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "base/bytes/decompression_memory.h"
#include "base/check.h"
#include "base/try.h"

namespace bough::transcript {
namespace {

constexpr std::string_view kZstdMagic = "\x28\xB5\x2F\xFD";
constexpr std::string_view kGzipMagic = "\x1F\x8B\x08";
constexpr int kMaxWindowLog = 26;  // 64 MiB; agents pack with less than 8 MiB

// Provides the bytes that were read to recognize the file, and then the rest of it.
class Begun : public ByteSource {
 public:
  Begun(std::string beginning, std::unique_ptr<ByteSource> rest)
      : beginning_(std::move(beginning)), left_(beginning_), rest_(std::move(rest)) {}

  Result<std::size_t> read(std::span<char> out) override {
    if (left_.empty()) return rest_->read(out);
    const std::size_t count = std::min(out.size(), left_.size());
    std::memcpy(out.data(), left_.data(), count);
    left_.remove_prefix(count);
    return count;
  }
  [[nodiscard]] std::optional<std::uint64_t> sizeBytes() const override { return rest_->sizeBytes(); }

 private:
  std::string beginning_;
  std::string_view left_;
  std::unique_ptr<ByteSource> rest_;
};

std::unexpected<Error> cannotUnpack(std::string_view path, std::string_view why, std::string_view program) {
  return fail(ErrorCode::Damaged, fmt::format("{} cannot be unpacked: {}", path, why),
              fmt::format("`{}` may recover its beginning", program));
}

class ZstdUnpacking : public ByteSource {
 public:
  ZstdUnpacking(std::unique_ptr<ByteSource> packed, std::string path)
      : packed_(std::move(packed)),
        path_(std::move(path)),
        context_(zstdContext(ZSTD_createDCtx())),
        buffer_(ZSTD_DStreamInSize(), '\0') {
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
  }

  Result<std::size_t> read(std::span<char> out) override {
    if (out.empty()) return std::size_t{0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    while (to.pos == 0) {
      if (in_.pos == in_.size) {
        BOUGH_TRY(const std::size_t got, packed_->read(std::span(buffer_)));
        if (got == 0 && !atEnd_) return damaged("it breaks off");
        if (got == 0) return std::size_t{0};
        in_ = {buffer_.data(), got, 0};
      }
      const std::size_t left = zstdResult(ZSTD_decompressStream(context_.get(), &to, &in_));
      if (ZSTD_isError(left) != 0) return damaged(ZSTD_getErrorName(left));
      atEnd_ = left == 0;
    }
    return to.pos;
  }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };

  std::unexpected<Error> damaged(std::string_view why) const { return cannotUnpack(path_, why, "zstd -d"); }

  std::unique_ptr<ByteSource> packed_;
  std::string path_;
  std::unique_ptr<ZSTD_DCtx, Free> context_;
  std::string buffer_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool atEnd_ = true;  // of a frame
};

// Several consecutive members form one file.
class GzipUnpacking : public ByteSource {
 public:
  GzipUnpacking(std::unique_ptr<ByteSource> packed, std::string path)
      : packed_(std::move(packed)), path_(std::move(path)), buffer_(kBufferBytes, '\0') {
    constexpr int kGzipWindow = 15 + 16;
    BOUGH_CHECK(zlibResult(inflateInit2(&stream_, kGzipWindow)) == Z_OK);
  }
  GzipUnpacking(const GzipUnpacking&) = delete;
  GzipUnpacking& operator=(const GzipUnpacking&) = delete;
  ~GzipUnpacking() override { inflateEnd(&stream_); }

  Result<std::size_t> read(std::span<char> out) override {
    const auto room = static_cast<uInt>(std::min<std::size_t>(out.size(), 1U << 30U));
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = room;
    while (room > 0 && stream_.avail_out == room) {
      if (stream_.avail_in == 0) {
        BOUGH_TRY(const std::size_t got, packed_->read(std::span(buffer_)));
        if (got == 0 && !atEnd_) return damaged("it breaks off");
        if (got == 0) return std::size_t{0};
        stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
        stream_.avail_in = static_cast<uInt>(got);
      }
      if (atEnd_) inflateReset(&stream_);
      const int status = zlibResult(inflate(&stream_, Z_NO_FLUSH));
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
        return damaged(stream_.msg == nullptr ? "it is damaged" : stream_.msg);
      }
      atEnd_ = status == Z_STREAM_END;
    }
    return std::size_t{room - stream_.avail_out};
  }

 private:
  static constexpr std::size_t kBufferBytes = std::size_t{64} << 10;

  std::unexpected<Error> damaged(std::string_view why) const { return cannotUnpack(path_, why, "gzip -dc"); }

  std::unique_ptr<ByteSource> packed_;
  std::string path_;
  std::string buffer_;
  z_stream stream_{};
  bool atEnd_ = true;  // of a member
};

}  // namespace

Result<std::unique_ptr<ByteSource>> unpacked(std::unique_ptr<ByteSource> file, const std::string& path) {
  std::string beginning(kZstdMagic.size(), '\0');
  std::size_t size = 0;
  while (size < beginning.size()) {
    BOUGH_TRY(const std::size_t got, file->read(std::span(beginning).subspan(size)));
    if (got == 0) break;
    size += got;
  }
  beginning.resize(size);
  const bool isZstd = beginning == kZstdMagic;
  const bool isGzip = beginning.starts_with(kGzipMagic);
  auto whole = std::make_unique<Begun>(std::move(beginning), std::move(file));
  if (isZstd) return std::make_unique<ZstdUnpacking>(std::move(whole), path);
  if (isGzip) return std::make_unique<GzipUnpacking>(std::move(whole), path);
  return whole;
}

}  // namespace bough::transcript
