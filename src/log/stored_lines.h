// Reads lines of a log at the places that the index gives, and checks each line against its seal each time.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bough/entry.h"
#include "bough/error.h"
#include "log/index/log_index.h"
#include "log/index/recent_lines.h"

namespace bough {

/// Why lines could not be read: either the index does not match the file (the caller rebuilds the index and retries),
/// or an error.
class ReadFailure {
 public:
  static ReadFailure staleIndex() { return ReadFailure(); }
  ReadFailure(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor): for BOUGH_TRY

  [[nodiscard]] bool isStaleIndex() const { return !error_; }
  /// Must not be called for a stale index.
  [[nodiscard]] const Error& error() const { return *error_; }

 private:
  ReadFailure() = default;
  std::optional<Error> error_;
};

template <typename T>
using Indexed = std::expected<T, ReadFailure>;

/// A line as it is in the file, with what is needed to check it. The text is valid only during the call that passes it.
struct StoredLine {
  std::string_view text;
  bool chained = false;                // the line has a seal that can be checked against `previous`
  bool verified = false;               // the line was checked before and matched its seal
  std::uint64_t recentAt = 0;          // its offset if it is one of the recent lines
  std::optional<SealDigits> previous;  // digits of the seal before it; std::nullopt when they are not known

  /// Returns true when the line matches its seal, as far as that can be checked.
  [[nodiscard]] bool matchesSeal() const;
};

class StoredLines {
 public:
  /// Called for each line in turn. Returns false when the line does not match its seal.
  using Use = std::function<bool(const StoredLine&)>;

  StoredLines(LogFile& file, LogIndex& index, const EntrySerializer& serializer)
      : file_(file), index_(index), serializer_(serializer) {}

  /// Passes the lines at these sequences to `use`, which must not keep them.
  Indexed<void> forEach(const std::vector<Sequence>& sequences, const Use& use);
  /// Returns the lines at these sequences; an empty text for each line that cannot be read.
  Indexed<std::vector<std::string>> texts(const std::vector<Sequence>& sequences);
  /// Returns the entries at these sequences. For entries that cannot be read, see base/model/unreadable.h.
  Indexed<std::vector<Entry>> entries(const std::vector<Sequence>& sequences);
  Indexed<std::string> text(Sequence sequence);
  Indexed<std::string> idOf(Sequence sequence);
  /// Empty for a root.
  Indexed<std::string> parentIdOf(Sequence sequence);
  /// Returns the first line; empty when there is none.
  Indexed<const std::string*> header();
  /// Reads the ids of the tail and the head into the index's ends, unless they are known.
  Indexed<void> loadEnds();
  /// Returns the lines that match their seals but are not entries. A scan looks only at the beginning of a sealed line,
  /// so such a line is discovered when it is read.
  const std::set<Sequence>& notEntries();
  /// Returns the head of a fork. Unlike in the index's ends, a head entry has no effect if it names an entry that
  /// exists nowhere.
  Indexed<std::string> headOfFork(const IsShared& isShared);

 private:
  // Memory for one read. A buffer of the usual size is kept, because recently used memory is in the processor's cache.
  struct Buffer {
    static constexpr std::size_t kUsualBytes = std::size_t{128} << 10;
    std::unique_ptr<char[]> usual;
    std::unique_ptr<char[]> large;
    std::span<char> take(std::size_t size);
  };

  Indexed<void> readRun(std::span<const IndexRecord> records, const Use& use);
  Indexed<void> readRecent(std::span<const IndexRecord> records, const Use& use);
  Indexed<void> useRun(std::string_view bytes, std::uint64_t begin, std::span<const IndexRecord> records,
                       std::uint64_t verifiedUntil, const Use& use);
  [[nodiscard]] bool isUnreadable(Sequence sequence);
  /// Returns the head after this entry; std::nullopt when the entry does not move it.
  Indexed<std::optional<std::string>> headAfter(Sequence sequence, const IsShared& isShared);
  Indexed<Entry> lostEntry(Sequence sequence);
  Indexed<std::string> unreadableIdOf(Sequence sequence, const IndexRecord& record);
  Indexed<std::vector<Entry>> readableEntries(const std::vector<Sequence>& sequences);
  /// Adds the entry of a line. Returns false when the line does not match its seal.
  Result<bool> decode(const StoredLine& line, std::vector<Entry>& entries);

  LogFile& file_;
  LogIndex& index_;
  const EntrySerializer& serializer_;
  Buffer buffer_;
  RecentLines recent_;
  std::string header_;
  std::uint64_t headerGeneration_ = 0;
  std::set<Sequence> notEntries_;
  std::uint64_t notEntriesGeneration_ = 0;
};

}  // namespace bough
