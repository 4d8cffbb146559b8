#include "log/torn_tail.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/system/file_io.h"
#include "base/text/timestamp.h"
#include "base/try.h"

namespace bough {

Result<void> TornTail::setAside(LogFile& file, std::uint64_t begin, std::uint64_t end, Clock& clock) {
  constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
  const OpenLog& log = file.opened();
  const std::string name = tornName(file.sessionId());
  const std::string path = log.folder->path() + "/" + name;
  BOUGH_TRY(const std::unique_ptr<File> torn, orError(log.folder->open(name, OpenMode::OpenOrCreate), "open", path));
  BOUGH_TRY(const FileInfo info, orError(torn->info(), "look at", path));

  std::uint64_t at = info.sizeBytes;
  const auto put = [&](std::string_view bytes) {
    auto written = writeFully(*torn, at, bytes);
    at += bytes.size();
    return orError(std::move(written), "write", path);
  };
  BOUGH_TRY(put(fmt::format("{{\"torn\":{{\"offset\":{},\"bytes\":{},\"timestamp\":\"{}\"}}}}\n", begin, end - begin,
                            formatTimestamp(clock.nowMs()))));
  std::string piece;
  for (std::uint64_t from = begin; from < end; from += piece.size()) {
    piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, end - from)));
    const auto got = readFully(file.source(), from, piece);
    if (!got) return std::unexpected(file.ioError(got.error(), "read"));
    if (*got == 0) break;
    piece.resize(*got);
    BOUGH_TRY(put(piece));
  }
  BOUGH_TRY(put("\n"));
  BOUGH_TRY(orError(torn->sync(), "sync", path));
  BOUGH_TRY(orError(log.folder->sync(), "sync the folder of", path));
  if (const auto cut = log.file->truncate(begin); !cut) return std::unexpected(file.ioError(cut.error(), "cut"));
  BOUGH_TRY(file.sync());
  unreportedBytes_ += end - begin;
  file.synced().bytes = 0;
  return {};
}

}  // namespace bough
