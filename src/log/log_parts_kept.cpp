// Lines that were just read, kept for the next time; see docs/decisions/0016.

#include <algorithm>

#include "base/file_io.h"
#include "log/log_parts.h"

namespace bough {

// Sealed lines, one right behind the other, neither so few that they are somebody's single look nor too many to keep.
bool LogParts::mayKeep(std::span<const IndexRecord> records) {
  constexpr std::size_t kFewest = 16;
  if (records.size() < kFewest || records.front().offset < kSealTailBytes) return false;
  if (records.back().offset + records.back().length - records.front().offset > KeptLines::kMostBytes) return false;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].chained == 0) return false;
    if (i > 0 && records[i].offset != records[i - 1].offset + records[i - 1].length + 1) return false;
  }
  return true;
}

// Makes kept_ hold the log from `first`, where a line begins, to `end`. Sets readMismatch_ when the log is shorter.
Result<void> LogParts::keep(std::uint64_t first, std::uint64_t end) {
  const std::uint64_t begin = first - kSealTailBytes;
  const bool continues = kept_.generation == generation_ && begin >= kept_.begin && first <= kept_.end() + 1;
  if (!continues) {
    kept_.bytes.clear();
    kept_ = {.generation = generation_, .begin = begin, .good = 0, .bytes = std::move(kept_.bytes), .payloadLast = {}};
  } else if (end > kept_.begin + KeptLines::kMostBytes + KeptLines::kMostBytes / 4) {
    kept_.bytes.erase(0, static_cast<std::size_t>(begin - kept_.begin));
    kept_.begin = begin;
    std::erase_if(kept_.payloadLast, [&](std::uint64_t offset) { return offset < begin; });
  }
  if (end <= kept_.end()) return {};
  const std::size_t had = kept_.bytes.size();
  kept_.bytes.resize(static_cast<std::size_t>(end - kept_.begin));
  const auto got = readFully(*log_.source, kept_.begin + had, std::span(kept_.bytes).subspan(had));
  if (!got) return std::unexpected(ioError(got.error(), "read"));
  readMismatch_ = readMismatch_ || had + *got != kept_.bytes.size();
  return {};
}

// Reads only what was not read before. Nothing is kept of what does not hold.
Result<void> LogParts::readKept(std::span<const IndexRecord> records, const UseLine& use) {
  const std::uint64_t end = records.back().offset + records.back().length;
  auto kept = keep(records.front().offset, end);
  if (kept && !readMismatch_) useRun(kept_.bytes, kept_.begin, records, Kept::Yes, use);
  if (!kept || readMismatch_) {
    kept_ = {};
  } else {
    kept_.good = std::max(kept_.good, end);
  }
  return kept;
}

}  // namespace bough
