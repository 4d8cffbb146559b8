// A part of a log that was read recently: continuing a conversation reads the end of the log again on each turn. See
// docs/decisions/0016.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>

#include "log/format/line.h"
#include "log/index/offset_index.h"
#include "log/source/byte_source.h"

namespace bough {

class RecentLines {
 public:
  /// The state of the log that the lines were read from. Lines of another version are dropped.
  struct Version {
    std::uint64_t generation = 0;
    std::uint64_t foreignWrites = 0;
    bool operator==(const Version&) const = default;
  };

  /// Returns true for sealed, adjacent lines when there are enough of them to make keeping worthwhile, but not too many
  /// bytes.
  static bool isWorthKeeping(std::span<const IndexRecord> records);

  /// Makes bytes() cover the log from before `first`, where a line begins, to `end`. Returns false when the log is
  /// shorter.
  SysResult<bool> cover(ByteSource& source, Version version, std::uint64_t first, std::uint64_t end);
  void clear() { *this = {}; }

  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  /// The offset in the log where bytes() begin.
  [[nodiscard]] std::uint64_t begin() const { return begin_; }
  /// All seals before this offset were checked and match.
  [[nodiscard]] std::uint64_t verifiedUntil() const { return verifiedUntil_; }
  void noteVerified(std::uint64_t end) { verifiedUntil_ = std::max(verifiedUntil_, end); }
  /// Returns true when the line at this offset has nothing between its payload and its seal.
  [[nodiscard]] bool isPayloadLast(std::uint64_t offset) const { return payloadLast_.contains(offset); }
  void notePayloadLast(std::uint64_t offset) { payloadLast_.insert(offset); }

 private:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{3} << 19;

  [[nodiscard]] std::uint64_t end() const { return begin_ + bytes_.size(); }

  Version version_;
  std::uint64_t begin_ = 0;
  std::uint64_t verifiedUntil_ = 0;
  std::string bytes_;
  std::unordered_set<std::uint64_t> payloadLast_;
};

}  // namespace bough
