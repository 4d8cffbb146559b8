// Reads a session file from front to back: lines, seals, batches; and says which of its bytes count.
//
// The rule a scan enforces: a batch is there whole or not at all. Lines are held back until their batch is complete.
//
//   1. Lines whose batch is complete count, in order.
//   2. Lines that cannot be verified, and lines of a batch that breaks off, are suspects.
//   3. A complete batch after suspects proves that they are damage in the middle of the file: writers sync what stands
//      before them before they write. The readable suspects then count, the others are reported and skipped.
//   4. Suspects at the end are torn: they were never acknowledged. A scan stops in front of them, and the next one
//      begins there again, so a reader that meets a half-written batch sees it as soon as it is whole. When bytes of a
//      compressed log among them could not be unpacked, they are damage as in 3. So are those that an index has
//      counted: they were complete once.
//
// A line whose seal does not match is tried again with the sum that the line before it should have had, since the
// damage may be in that line's seal; after a line without a seal, which may have had one, it is taken as it is when
// all of it is an entry. So one damaged line costs one line.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes/crc32c.h"
#include "bough/entry.h"
#include "bough/error.h"
#include "bough/maintenance.h"
#include "log/format/line.h"
#include "log/source/byte_source.h"

namespace bough {

/// Where a scan is: everything before `offset` has been given to a sink.
struct ScanState {
  std::uint64_t offset = 0;
  SealDigits lastSeal;
  /// The last line counts though its line end is missing; a writer adds it first.
  bool lacksLineEnd = false;
  /// The last line has no seal, so the one after it may follow from one that is gone.
  bool sealLost = false;
  /// An index has counted the bytes before this offset: they were complete once, so what is wrong in them is damage.
  std::uint64_t countedBytes = 0;
};

struct ScannedLine {
  std::uint64_t offset = 0;
  std::uint32_t length = 0;  ///< Without the line end.
  LineKeys keys;
  /// Its seal follows from the one before it as both are in the file.
  bool chained = false;
  /// The whole line for control entries and the header; empty for others.
  std::string_view text;
};

class ScanSink {
 public:
  virtual ~ScanSink() = default;
  /// One entry that counts. The views end with the call.
  virtual void onLine(const ScannedLine& line) = 0;
  /// The text that comes next, as far as it is at hand; a hint to get ready, while its first line is summed.
  virtual void onUpcoming(std::string_view /*text*/) {}
  /// Whether what was given so far is what the index of ScanState::countedBytes has, so that it speaks of this log.
  virtual bool isAsCounted() { return true; }
  /// Called last, when something follows what counted: why that does not count.
  virtual void onTorn(std::string_view /*reason*/) {}
  virtual void onProblem(ProblemKind kind, std::uint64_t offset, std::uint64_t bytes, std::string_view message) = 0;
};

/// Scans on from `state` to the end of the source and moves `state` after what counted. Returns how many bytes follow
/// there: torn, or being written at this moment.
SysResult<std::uint64_t> scanLog(ByteSource& source, const EntrySerializer& serializer, ScanState& state,
                                 ScanSink& sink);

}  // namespace bough
