#include "store/file/parts/removed_list.h"

#include <array>

#include "base/system/file_io.h"

namespace bough {
namespace {

constexpr const char* kRemovedName = "removed";
constexpr std::size_t kLongestId = 256;

}  // namespace

// Holds the file's lock, because two processes that remove sessions at once would write at the same place.
SysResult<void> noteRemoved(Directory& root, const std::string& sessionId) {
  constexpr int kLockTimeoutMs = 1000;
  auto file = root.open(kRemovedName, OpenMode::OpenOrCreate);
  if (!file) return std::unexpected(file.error());
  if (!lockWithin(**file, LockKind::Exclusive, kLockTimeoutMs, kRemovedName)) return std::unexpected(EWOULDBLOCK);
  const FileLock lock(**file);
  const auto info = (*file)->info();
  if (!info) return std::unexpected(info.error());
  // The first line end terminates a line that a crash cut short; no session has such an id.
  if (auto written = writeFully(**file, info->sizeBytes, "\n" + sessionId + "\n"); !written) return written;
  return (*file)->sync();
}

SysResult<void> eraseRemoved(Directory& root, std::unordered_set<std::string>& ids) {
  auto file = root.open(kRemovedName, OpenMode::Read);
  if (!file && file.error() == ENOENT) return {};
  if (!file) return std::unexpected(file.error());
  std::array<char, std::size_t{64} << 10> buffer;
  std::string line;
  for (std::uint64_t offset = 0;;) {
    const auto read = (*file)->readAt(offset, buffer);
    if (!read) return std::unexpected(read.error());
    if (*read == 0) return {};
    offset += *read;
    for (const char c : std::string_view(buffer.data(), *read)) {
      if (c == '\n') {
        ids.erase(line);
        line.clear();
      } else if (line.size() < kLongestId) {
        line += c;
      }
    }
  }
}

}  // namespace bough
