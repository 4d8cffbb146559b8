// Reads a session file from front to back (lines, seals, batches) and decides which of its bytes count.
//
// The rule that a scan enforces: a batch is visible whole or not at all. Lines are held back until their batch is
// complete.
//
//   1. Lines of a complete batch count, in order.
//   2. Lines that cannot be verified, and lines of an incomplete batch, are suspects.
//   3. A complete batch after suspects proves that the suspects are damage in the middle of the file, because a writer
//      syncs the existing bytes before it writes. The readable suspects then count; the others are reported and
//      skipped.
//   4. Suspects at the end are torn: they were never acknowledged. A scan stops before them, and the next scan starts
//      there again. So a reader that meets a half-written batch sees the batch as soon as it is complete. There are two
//      exceptions, in which suspects at the end are damage as in 3: bytes of a compressed log among them could not be
//      unpacked; or an index has already counted them, so they were complete once.
//
// When a seal does not match, the damage may be in the seal of the line before. So the scan checks the line again with
// the checksum that the line before should have had. A line that follows one without a seal is accepted when all of it
// is an entry, because the line before may have lost its seal. So one damaged line costs one line.
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

/// The position of a scan: everything before `offset` was given to a sink.
struct ScanState {
  std::uint64_t offset = 0;
  SealDigits lastSeal;
  /// The last line counts although its line end is missing. A writer writes the line end first.
  bool lacksLineEnd = false;
  /// The last line has no seal, so the next seal may be chained to a seal that is gone.
  bool sealLost = false;
  /// An index has counted the bytes before this offset. They were complete once, so anything wrong in them is damage.
  std::uint64_t countedBytes = 0;
};

struct ScannedLine {
  std::uint64_t offset = 0;
  std::uint32_t length = 0;  ///< Without the line end.
  LineKeys keys;
  /// The seal matches when it is checked with the previous seal, both as they are in the file.
  bool chained = false;
  /// The whole line for control entries and the header; empty for other entries.
  std::string_view text;
};

class ScanSink {
 public:
  virtual ~ScanSink() = default;
  /// One entry that counts. The views are valid only during the call.
  virtual void onLine(const ScannedLine& line) = 0;
  /// The text that comes next, as far as it is in the buffer. A hint that allows prefetching while the first line of it
  /// is checked.
  virtual void onUpcoming(std::string_view /*text*/) {}
  /// Returns true when the lines so far are the same as in the index of ScanState::countedBytes, so that this index
  /// describes this log.
  virtual bool agreesWithCountedIndex() { return true; }
  /// Called last, when bytes follow the counted ones. `reason` says why they do not count.
  virtual void onTorn(std::string_view /*reason*/) {}
  virtual void onProblem(ProblemKind kind, std::uint64_t offset, std::uint64_t bytes, std::string_view message) = 0;
};

/// Ignores all entries and problems, for a caller that only needs to know where the complete batches end.
class NullSink final : public ScanSink {
 public:
  void onLine(const ScannedLine& /*line*/) override {}
  void onProblem(ProblemKind /*kind*/, std::uint64_t /*offset*/, std::uint64_t /*bytes*/,
                 std::string_view /*message*/) override {}
};

/// Scans from `state` to the end of the source and moves `state` after the bytes that count. Returns the number of
/// bytes after them: they are torn, or are being written at this moment.
SysResult<std::uint64_t> scanLog(ByteSource& source, const EntrySerializer& serializer, ScanState& state,
                                 ScanSink& sink);

}  // namespace bough
