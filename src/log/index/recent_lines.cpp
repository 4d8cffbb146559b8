#include "log/index/recent_lines.h"

#include "base/try.h"

namespace bough {

bool RecentLines::isWorthKeeping(std::span<const IndexRecord> records) {
  constexpr std::size_t kFewest = 16;
  if (records.size() < kFewest || records.front().offset < kSealTailBytes) return false;
  if (records.back().offset + records.back().length - records.front().offset > kMostBytes) return false;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].chained == 0) return false;
    if (i > 0 && records[i].offset != records[i - 1].offset + records[i - 1].length + 1) return false;
  }
  return true;
}

SysResult<bool> RecentLines::cover(ByteSource& source, Version version, std::uint64_t first, std::uint64_t last) {
  const std::uint64_t begin = first - kSealTailBytes;
  const bool continues = version_ == version && begin >= begin_ && first <= end() + 1;
  if (!continues) {
    version_ = version;
    begin_ = begin;
    verifiedUntil_ = 0;
    bytes_.clear();
    payloadLast_.clear();
  } else if (last > begin_ + kMostBytes + kMostBytes / 4) {
    bytes_.erase(0, static_cast<std::size_t>(begin - begin_));
    begin_ = begin;
    std::erase_if(payloadLast_, [&](std::uint64_t offset) { return offset < begin; });
  }
  if (last <= end()) return true;
  const std::size_t had = bytes_.size();
  bytes_.resize(static_cast<std::size_t>(last - begin_));
  BOUGH_TRY(const auto got, readFully(source, begin_ + had, std::span(bytes_).subspan(had)));
  return had + got == bytes_.size();
}

}  // namespace bough
