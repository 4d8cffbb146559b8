#include "log/index/counted_elsewhere.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/try.h"
#include "log/format/line.h"
#include "log/source/line_reader.h"

namespace bough {
namespace {

// Returns the end of the last batch that contains one of these entries. When none of them can be found, returns the end
// of the first batch: a writer appends only to complete batches, so the entries can be nowhere else.
SysResult<std::uint64_t> endOfBatchWith(ByteSource& source, std::uint64_t from, const std::vector<std::string>& ids) {
  LineReader reader(source, from);
  std::uint64_t firstEnd = 0;  // of the first batch
  std::uint64_t lastEnd = 0;   // of the last batch with one of the ids
  std::uint64_t end = from;
  bool found = false;  // in the current batch
  const auto endBatch = [&] {
    if (firstEnd == 0) firstEnd = end;
    if (std::exchange(found, false)) lastEnd = end;
  };
  for (;;) {
    BOUGH_TRY(const auto line, reader.next(Crc32c()));
    if (!line) break;
    const std::string_view text = bareLine(line->text);
    const auto seal = findSeal(text);
    if (seal && seal->place == 1 && end > from) endBatch();
    end = line->offset + line->length + (line->hasEnd ? 1 : 0);
    const auto keys = readCanonicalKeys(text);
    found = found || (keys && std::ranges::find(ids, keys->id) != ids.end());
    if (seal && seal->place == seal->count) endBatch();
  }
  if (end > std::max(firstEnd, lastEnd)) endBatch();
  return lastEnd > 0 ? lastEnd : firstEnd;
}

}  // namespace

SysResult<std::uint64_t> endOfCounted(ByteSource& source, std::uint64_t from, const CountedElsewhere& counted) {
  std::uint64_t end = counted.bytes;
  if (end > 0) {
    // In a log that was rewritten since, lines end at other offsets. Nothing can be read after the end of a shorter
    // log.
    char before = '\n';
    BOUGH_TRY(readFully(source, end - 1, std::span(&before, 1)));
    if (before != '\n') end = 0;
  }
  if (counted.entryIds.empty()) return end;
  BOUGH_TRY(const std::uint64_t batch, endOfBatchWith(source, from, counted.entryIds));
  return std::max(end, batch);
}

}  // namespace bough
