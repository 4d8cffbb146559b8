#include "log/source/byte_source.h"

#include <cerrno>

#include "base/system/file_io.h"
#include "base/try.h"

namespace bough {
namespace {

class PlainSource final : public ByteSource {
 public:
  explicit PlainSource(std::shared_ptr<File> file) : file_(std::move(file)) {}

  SysResult<std::uint64_t> size() override {
    BOUGH_TRY(const auto info, file_->info());
    return info.sizeBytes;
  }
  SysResult<std::size_t> readAt(std::uint64_t offset, std::span<char> out) override {
    return readFully(*file_, offset, out);
  }

 private:
  std::shared_ptr<File> file_;
};

class UnreadableSource final : public ByteSource {
 public:
  SysResult<std::uint64_t> size() override { return std::unexpected(EILSEQ); }
  SysResult<std::size_t> readAt(std::uint64_t /*offset*/, std::span<char> /*out*/) override {
    return std::unexpected(EILSEQ);
  }
  [[nodiscard]] std::optional<std::uint64_t> damagedAt() const override { return 0; }
};

}  // namespace

std::unique_ptr<ByteSource> unreadableSource() {
  return std::make_unique<UnreadableSource>();
}

std::unique_ptr<ByteSource> plainSource(std::shared_ptr<File> file) {
  return std::make_unique<PlainSource>(std::move(file));
}

SysResult<std::size_t> readFully(ByteSource& source, std::uint64_t offset, std::span<char> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const auto got = source.readAt(offset + done, out.subspan(done));
    if (!got && got.error() == EINTR) continue;
    if (!got) return std::unexpected(got.error());
    if (*got == 0) break;
    done += *got;
  }
  return done;
}

}  // namespace bough
