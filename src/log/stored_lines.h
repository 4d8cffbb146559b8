// Lines of a log, read where its index says they are, and checked against their seals each time.
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

/// Why lines could not be read: either the index does not fit the file, so that the caller rebuilds it and asks again,
/// or an error.
class ReadFailure {
 public:
  static ReadFailure staleIndex() { return ReadFailure(); }
  ReadFailure(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor): for BOUGH_TRY

  [[nodiscard]] bool isStaleIndex() const { return !error_; }
  /// Not of a stale index.
  [[nodiscard]] const Error& error() const { return *error_; }

 private:
  ReadFailure() = default;
  std::optional<Error> error_;
};

template <typename T>
using Indexed = std::expected<T, ReadFailure>;

/// A line as it is in the file, with what is needed to check it. The text ends with the call that gives it.
struct StoredLine {
  std::string_view text;
  bool chained = false;                // it has a seal that must hold
  bool known = false;                  // it was found to hold before
  std::uint64_t recentAt = 0;          // its offset when it is one of the recent lines
  std::optional<SealDigits> previous;  // none: what it follows from is not known

  /// Whether the line is what its seal says, as far as that can be known.
  [[nodiscard]] bool holds() const;
};

class StoredLines {
 public:
  /// Called for every line in turn; false when the line is not what its seal says.
  using Use = std::function<bool(const StoredLine&)>;

  StoredLines(LogFile& file, LogIndex& index, const EntrySerializer& serializer)
      : file_(file), index_(index), serializer_(serializer) {}

  /// Gives the lines at these sequences to `use`, which must not keep them.
  Indexed<void> forEach(const std::vector<Sequence>& sequences, const Use& use);
  /// Empty for those that cannot be read.
  Indexed<std::vector<std::string>> texts(const std::vector<Sequence>& sequences);
  /// For those that cannot be read, see base/unreadable.h.
  Indexed<std::vector<Entry>> entries(const std::vector<Sequence>& sequences);
  /// One line.
  Indexed<std::string> text(Sequence sequence);
  Indexed<std::string> idOf(Sequence sequence);
  /// Empty for a root.
  Indexed<std::string> parentIdOf(Sequence sequence);
  /// The first line; empty when there is none.
  Indexed<const std::string*> header();
  /// Reads the ids of tail and head into the index's ends, unless they are known.
  Indexed<void> loadEnds();
  /// Lines that were what their seals say, and no entries. A scan looks at the beginning of such a line only, so they
  /// are known once they were read.
  const std::set<Sequence>& notEntries();
  /// The head of a fork. Unlike in the index's ends, a head entry that names an entry that is nowhere moves nothing.
  Indexed<std::string> headOfFork(const IsShared& isShared);

 private:
  // Memory for one read. What is usual is kept: memory that was used a moment ago is in the processor's cache.
  struct Buffer {
    static constexpr std::size_t kUsualBytes = std::size_t{128} << 10;
    std::unique_ptr<char[]> usual;
    std::unique_ptr<char[]> large;
    std::span<char> take(std::size_t size);
  };

  Indexed<void> readRun(std::span<const IndexRecord> records, const Use& use);
  Indexed<void> readRecent(std::span<const IndexRecord> records, const Use& use);
  Indexed<void> useRun(std::string_view bytes, std::uint64_t begin, std::span<const IndexRecord> records,
                       std::uint64_t knownUntil, const Use& use);
  [[nodiscard]] bool isUnreadable(Sequence sequence);
  /// Where an entry leaves the head; none when it does not move it.
  Indexed<std::optional<std::string>> headAfter(Sequence sequence, const IsShared& isShared);
  Indexed<Entry> lostEntry(Sequence sequence);
  Indexed<std::string> unreadableIdOf(Sequence sequence, const IndexRecord& record);
  Indexed<std::vector<Entry>> readableEntries(const std::vector<Sequence>& sequences);
  /// Adds the entry of a line; false when its seal does not hold.
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
