#include "transcript/source/unpacked.h"

#include <fmt/format.h>
#include <zstd.h>

#include <cstring>

#include "base/try.h"

namespace bough::transcript {
namespace {

constexpr std::string_view kMagic = "\x28\xB5\x2F\xFD";
constexpr int kMaxWindowLog = 26;  // 64 MiB; agents pack with less than 8 MiB

// The bytes that were read to see what the file is, and then the rest.
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

class Unpacking : public ByteSource {
 public:
  Unpacking(std::unique_ptr<ByteSource> packed, std::string path)
      : packed_(std::move(packed)),
        path_(std::move(path)),
        context_(ZSTD_createDCtx()),
        buffer_(ZSTD_DStreamInSize(), '\0') {
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
  }

  Result<std::size_t> read(std::span<char> out) override {
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    while (to.pos == 0) {
      if (in_.pos == in_.size) {
        BOUGH_TRY(const std::size_t got, packed_->read(std::span(buffer_)));
        if (got == 0 && !atEnd_) return damaged("it breaks off");
        if (got == 0) return std::size_t{0};
        in_ = {buffer_.data(), got, 0};
      }
      const std::size_t left = ZSTD_decompressStream(context_.get(), &to, &in_);
      if (ZSTD_isError(left) != 0) return damaged(ZSTD_getErrorName(left));
      atEnd_ = left == 0;
    }
    return to.pos;
  }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };

  std::unexpected<Error> damaged(std::string_view why) const {
    return fail(ErrorCode::Damaged, fmt::format("{} cannot be unpacked: {}", path_, why),
                "`zstd -d` may recover its beginning");
  }

  std::unique_ptr<ByteSource> packed_;
  std::string path_;
  std::unique_ptr<ZSTD_DCtx, Free> context_;
  std::string buffer_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool atEnd_ = true;  // of a frame
};

}  // namespace

Result<std::unique_ptr<ByteSource>> unpacked(std::unique_ptr<ByteSource> file, const std::string& path) {
  std::string beginning(kMagic.size(), '\0');
  std::size_t size = 0;
  while (size < beginning.size()) {
    BOUGH_TRY(const std::size_t got, file->read(std::span(beginning).subspan(size)));
    if (got == 0) break;
    size += got;
  }
  beginning.resize(size);
  const bool isPacked = beginning == kMagic;
  auto whole = std::make_unique<Begun>(std::move(beginning), std::move(file));
  if (!isPacked) return whole;
  return std::make_unique<Unpacking>(std::move(whole), path);
}

}  // namespace bough::transcript
