// Cuts a transcript into records, whatever happened to it. Joined, the records' bytes are the file: none is left out.
//
// A record is one JSON object with the bytes around it, up to and including its line's end; or bytes that are not one:
// a blank line, damage, a torn end. Programs that crash or write at once leave two objects on one line (`}{`), a
// beginning with a whole object after it, runs of NUL bytes, lines without an end. Each object that is whole is found.
//
// Memory is bounded: a line of more than kMaxTranscriptLineBytes is skipped and counted.
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

/// Where a transcript's bytes come from.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Reads at most out.size() bytes, in order; 0 at the end.
  virtual Result<std::size_t> read(std::span<char> out) = 0;
  /// How many bytes there are altogether, where that is known beforehand; a file may still grow or shrink.
  [[nodiscard]] virtual std::optional<std::uint64_t> sizeBytes() const { return std::nullopt; }
};

/// A regular file, or a session in a database (database.h). Fails when there is none at `path`, or when it is something
/// else.
Result<std::unique_ptr<ByteSource>> openFile(const std::string& path);
/// Bytes in memory, which must outlive it.
std::unique_ptr<ByteSource> fromMemory(std::string_view bytes);

enum class RecordKind : std::uint8_t {
  Json,     ///< `text` is one JSON object.
  Blank,    ///< Nothing but blanks.
  Damaged,  ///< Bytes that are not an object.
  Torn,     ///< The same at the very end, without a line end: it may still be being written.
  Skipped,  ///< A line that was too long: `raw` is empty, `sizeBytes` says how long.
};

struct Record {
  RecordKind kind = RecordKind::Blank;
  std::uint64_t offset = 0;     ///< Of `raw` in the file.
  std::uint64_t sizeBytes = 0;  ///< Of `raw`; of a skipped line its length.
  std::string_view raw;         ///< All its bytes, line end included. Valid until the next record.
  /// The object: a part of `raw`; or, when bytes of `raw` are not UTF-8, a copy with U+FFFD in their place.
  std::string_view text;
  bool repaired = false;    ///< `text` is such a copy.
  std::string_view reason;  ///< What is wrong, when something is: also with a whole object that stood amid damage.
};

/// A copy with U+FFFD for each byte that is not UTF-8.
std::string repairUtf8(std::string_view text);

/// Whether an object that was found amid damage is a whole record of the agent, and not a part of one.
using IsRecord = std::function<bool(std::string_view object)>;

/// Gives the records of a file of lines.
class LineRecords {
 public:
  /// `cutAt`: a record ends there, also inside a line: where an earlier reading ended. `beginning`: bytes that were
  /// read from the source already.
  LineRecords(ByteSource& source, IsRecord isRecord, std::uint64_t cutAt = 0, std::string beginning = {});

  /// The next record; none at the end.
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
  std::string buffer_;  // bytes read and not yet given, from bufferOffset_ on
  std::uint64_t bufferOffset_ = 0;
  std::size_t begin_ = 0;     // of the line in buffer_
  std::size_t end_ = 0;       // after it
  std::size_t searched_ = 0;  // no line end before this
  bool ended_ = false;
  std::deque<Record> records_;  // of the line, not yet given
  std::string utf8_;            // what a repaired record's text points to
};

/// Gives the records of a file that is one JSON document: each element of the list `listName` (of the document itself
/// when empty) is a record; what is before, between and after them goes with them. Where the document is damaged, whole
/// records after the damage are found. `document` must outlive it. Fails with Damaged when it is not such a document.
Result<std::vector<Record>> documentRecords(std::string_view document, std::string_view listName,
                                            const IsRecord& isRecord);

}  // namespace bough::transcript
