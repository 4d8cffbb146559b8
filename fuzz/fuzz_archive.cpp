// Reads arbitrary bytes as a compressed log, and valid archives that were damaged. Every read must return either the
// right bytes or a damage report.

#include <cerrno>

#include "base/check.h"
#include "fuzz/input.h"
#include "log/source/byte_source.h"
#include "log/source/zstd_frames.h"
#include "support/sim_file_system.h"

namespace bough {
namespace {

using fuzz::Input;

constexpr std::size_t kMostBytes = std::size_t{8} << 20;

SysResult<std::unique_ptr<ByteSource>> sourceOf(SimFileSystem& files, std::string_view bytes, bool gzip) {
  files.put("/store/log", bytes);
  std::shared_ptr<File> file = (*files.openRoot("/store", false))->open("log", OpenMode::Read).value();
  return gzip ? gzipSource(file) : zstdSource(file);
}

// Returns all bytes in order, up to the first error or kMostBytes.
std::string readAll(ByteSource& source, bool& failed) {
  std::string all;
  std::string piece(4096, '\0');
  for (;;) {
    const auto got = source.readAt(all.size(), piece);
    failed = !got;
    if (!got) BOUGH_CHECK(got.error() == EILSEQ);
    if (!got || *got == 0 || all.size() > kMostBytes) return all;
    all.append(piece, 0, *got);
  }
}

void checkReads(ByteSource& source, const std::string& all, bool failed, Input& input) {
  const auto size = source.size();
  if (!failed && all.size() <= kMostBytes) BOUGH_CHECK(size && *size == all.size());
  for (int i = 0; i < 4; ++i) {
    const std::size_t at = input.below(all.size() + 16);
    std::string piece(input.below(700), '\0');
    const auto got = source.readAt(at, piece);
    if (!got) BOUGH_CHECK(failed || all.size() > kMostBytes || at >= all.size());
    if (!got || at >= all.size()) continue;
    BOUGH_CHECK(piece.empty() || *got > 0);
    piece.resize(*got);
    BOUGH_CHECK(all.compare(at, std::min(piece.size(), all.size() - at), piece, 0, all.size() - at) == 0);
  }
}

void check(Input& input) {
  const std::uint8_t mode = input.byte();
  const std::string_view first = input.text(16);
  Input places(reinterpret_cast<const std::uint8_t*>(first.data()), first.size());
  SimFileSystem files;
  bool failed = false;
  if (mode % 4 < 2) {
    const auto source = sourceOf(files, input.rest(), mode % 4 == 0);
    if (!source) return;
    const std::string all = readAll(**source, failed);
    return checkReads(**source, all, failed, places);
  }
  // A valid archive, with changed bytes when the mode asks for them.
  const std::size_t frameBytes = 1 + places.byte() * std::size_t{8};
  const std::string plain(input.rest());
  std::string packed;
  std::vector<FrameSizes> frames;
  for (std::size_t at = 0; at < plain.size(); at += frameBytes) {
    const std::string_view piece = std::string_view(plain).substr(at, frameBytes);
    const std::string frame = packFrame(piece);
    frames.push_back(
        {.packed = static_cast<std::uint32_t>(frame.size()), .plain = static_cast<std::uint32_t>(piece.size())});
    packed.append(frame);
  }
  packed.append(packFrameTable(frames));
  const bool damaged = mode % 4 == 3;
  if (damaged) {
    const auto change = static_cast<char>(places.byte());
    packed[places.below(packed.size())] ^= change;
  }
  const auto source = sourceOf(files, packed, false);
  BOUGH_CHECK(source || damaged);
  if (!source) return;
  const std::string all = readAll(**source, failed);
  // Bytes that differ must be reported as damaged.
  BOUGH_CHECK(!failed && (all == plain || (damaged && (*source)->damagedAt())));
  checkReads(**source, all, failed, places);
}

}  // namespace
}  // namespace bough

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bough::fuzz::Input input(data, size);
  bough::check(input);
  return 0;
}
