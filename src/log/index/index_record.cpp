#include "log/index/index_record.h"

#include <cstring>

namespace bough {

// Multiplies and folds, eight bytes at a time. The seed makes the hash unpredictable; the length separates prefixes.
std::uint64_t hashId(std::string_view id, std::uint64_t seed) {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
  const auto fold = [](std::uint64_t a, std::uint64_t b) {
    const Uint128 product = static_cast<Uint128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  };
  std::uint64_t hash = seed ^ (id.size() * kOdd);
  for (; id.size() >= 8; id.remove_prefix(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, id.data(), 8);
    hash = fold(hash ^ word, kOdd) + seed;
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, id.data(), id.size());
  hash = fold(hash ^ rest, kOdd ^ (seed >> 1));
  return hash ^ hash >> 29;
}

std::string beginningOf(ByteSource& source, const IndexRecord& record, std::size_t mostBytes) {
  std::string bytes(std::min<std::size_t>(record.length, mostBytes), '\0');
  bytes.resize(readFully(source, record.offset, bytes).value_or(0));
  return bytes;
}

bool isPlausible(const IndexRecord& record, Sequence sequence, const IndexSummary& summary) {
  return record.offset <= summary.coveredBytes && record.length <= summary.coveredBytes - record.offset &&
         (record.parent < sequence || record.parent >= kElsewhere) &&
         (record.previousControl < sequence || record.previousControl == kNoSequence);
}

}  // namespace bough
