// Divides a transcript into records, even when it is damaged. The records joined together are the whole file; no byte
// is left out.
//
// A record is one JSON object with the bytes around it, up to and including its line end; or bytes without an object: a
// blank line, damage, a torn end. Programs that crash, or that write at the same time, leave two objects on one line
// (`}{`), an incomplete object followed by a whole one, runs of NUL bytes, and lines without an end. Every whole object
// is found.
//
// Memory is bounded: a line longer than kMaxTranscriptLineBytes is skipped and counted.
#pragma once

#include <bough/error.h>
#include <bough/transcript.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bough::transcript {

/// Provides a transcript's bytes.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Reads at most out.size() bytes, in order; returns 0 at the end.
  virtual Result<std::size_t> read(std::span<char> out) = 0;
  /// Returns the total number of bytes when it is known beforehand. A file may still grow or shrink.
  [[nodiscard]] virtual std::optional<std::uint64_t> sizeBytes() const { return std::nullopt; }
};

/// Opens a regular file, or a session in a database (database.h). Fails when `path` does not exist or is something
/// else.
Result<std::unique_ptr<ByteSource>> openFile(const std::string& path);
/// Provides bytes in memory, which must outlive the result.
std::unique_ptr<ByteSource> fromMemory(std::string_view bytes);

enum class RecordKind : std::uint8_t {
  Json,     ///< `text` is one JSON object.
  Blank,    ///< Only white space.
  Damaged,  ///< Bytes that are not an object.
  Torn,     ///< Bytes at the very end without a line end: they may still be being written.
  Skipped,  ///< A line that was too long: `raw` is empty, `sizeBytes` is its length.
};

struct Record {
  RecordKind kind = RecordKind::Blank;
  std::uint64_t offset = 0;     ///< Offset of `raw` in the file.
  std::uint64_t sizeBytes = 0;  ///< Size of `raw`; for a skipped line, its length.
  std::string_view raw;         ///< All bytes of the record, with the line end. Valid until the next record.
  /// The object: a slice of `raw`, or a copy with U+FFFD in place of bytes that are not UTF-8.
  std::string_view text;
  bool repaired = false;    ///< Whether `text` is such a copy.
  std::string_view reason;  ///< The problem, if any; also set for a whole object that was found in damaged bytes.
};

/// Returns a copy with U+FFFD in place of each byte that is not UTF-8.
std::string repairUtf8(std::string_view text);

/// Returns whether an object found in damaged bytes is a whole record of the agent, and not a part of one.
using IsRecord = std::function<bool(std::string_view object)>;

/// Reads the records of a file of lines.
class LineRecords {
 public:
  /// `cutAt`: a record ends at this offset even inside a line, because an earlier read ended there. `beginning`: bytes
  /// that were already read from the source.
  LineRecords(ByteSource& source, IsRecord isRecord, std::uint64_t cutAt = 0, std::string beginning = {});

  /// Returns the next record; std::nullopt at the end.
  Result<std::optional<Record>> next();

 private:
  Result<bool> readLine();
  Result<bool> fill();
  Result<void> skipLongLine();
  void cutLine();
  void add(RecordKind kind, std::size_t begin, std::size_t end, std::string_view text = {},
           std::string_view reason = {});
  std::size_t findWhole(std::size_t from) const;

  ByteSource& source_;
  IsRecord isRecord_;
  std::uint64_t cutAt_;
  std::string buffer_;  // bytes that were read and not returned yet, from bufferOffset_ on
  std::uint64_t bufferOffset_ = 0;
  std::size_t begin_ = 0;     // start of the current line in buffer_
  std::size_t end_ = 0;       // end of the current line
  std::size_t searched_ = 0;  // there is no line end before this index
  bool ended_ = false;
  std::deque<Record> records_;  // records of the current line that were not returned yet
  std::string utf8_;            // the text of a repaired record
};

/// Returns the records of a file that is one JSON document: each element of the list `listName` (or of the document
/// itself when `listName` is empty) is a record. The bytes before, between and after the elements belong to the
/// records. When the document is damaged, whole records after the damage are found. `document` must outlive the result.
/// Fails with Damaged when `document` is not such a document.
Result<std::vector<Record>> documentRecords(std::string_view document, std::string_view listName,
                                            const IsRecord& isRecord);

}  // namespace bough::transcript
