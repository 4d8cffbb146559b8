#include "log/index/index_sink.h"

#include <algorithm>

#include "base/json/json_scan.h"
#include "base/model/head.h"
#include "base/model/ids.h"
#include "base/model/unreadable.h"
#include "base/try.h"
#include "log/format/line.h"

namespace bough {
namespace {

constexpr std::string_view kForkMember = R"("parentSession")";

// Returns the end of a damaged line. If its line end was destroyed, the next line begins at a `{` after a byte that
// cannot precede it inside JSON.
std::size_t endOfLine(std::string_view run, std::size_t begin) {
  const std::size_t end = std::min(run.find('\n', begin), run.size() - 1) + 1;
  const std::string_view line = run.substr(begin, end - begin);
  constexpr std::string_view kBegin = R"({"id":")";
  for (std::size_t at = line.find(kBegin, 1); at != std::string_view::npos; at = line.find(kBegin, at + 1)) {
    const bool isNested = std::string_view("[,: \t").contains(line[at - 1]);
    if (!isNested && readCanonicalKeys(line.substr(at))) return begin + at;
  }
  return end;
}

}  // namespace

IndexSink::IndexSink(const Parts& parts)
    : parts_(parts),
      confirmId_([&file = parts.file, &ends = parts.ends](const IndexRecord& record, std::string_view id) {
        return confirmId(file.source(), ends, record, id);
      }) {
  if (parts_.index.summary().count == 0) return;
  constexpr std::size_t kHeaderBytes = std::size_t{64} << 10;
  isFork_ = beginningOf(parts_.file.source(), parts_.index.record(0), kHeaderBytes).contains(kForkMember);
}

void IndexSink::onLine(const ScannedLine& line) {
  if (parts_.index.summary().count == 0) isFork_ = line.text.contains(kForkMember);
  nameUnreadableBefore(line);
  const Sequence head = parts_.index.summary().head;
  const Sequence headEntry = parts_.index.summary().headEntry;
  if (parts_.index.summary().problemCount > 0) dropIdOfDamagedCopy(line.keys.id);
  const Sequence lost = isFork_ ? kElsewhere : lastUnreadable_.value_or(kElsewhere);
  if (!parts_.index.add(line, confirmId_, parts_.ends.tailId, lost)) {
    parts_.index.addProblem();
    return;
  }
  if (!isFork_ && parts_.index.summary().head == kElsewhere) parts_.index.restoreHead(head, headEntry);
  parts_.ends.tailId = line.keys.id;
  parts_.ends.tailOffset = line.offset;
}

Result<std::uint64_t> IndexSink::scan(ScanState& state) {
  const auto trailing = scanLog(parts_.file.source(), parts_.serializer, state, *this);
  if (!trailing) return std::unexpected(parts_.file.ioError(trailing.error(), "read"));
  return *trailing;
}

Result<std::uint64_t> IndexSink::scanCounted(ScanState& state, std::uint64_t trailing,
                                             const AskElsewhere& askElsewhere) {
  BOUGH_TRY(state.countedBytes, countedEnd(state.offset, askElsewhere));
  if (state.countedBytes <= state.offset) return trailing;
  trustsCountedElsewhere_ = true;
  return scan(state);
}

void IndexSink::onProblem(ProblemKind kind, std::uint64_t offset, std::uint64_t bytes, std::string_view /*message*/) {
  if (isNote(kind)) return;
  parts_.index.addProblem();
  // Unreadable bytes before the first entry are handled with the header.
  if (kind == ProblemKind::Damage && parts_.index.summary().count > 0) addDamagedRun(offset, bytes);
}

// Returns the offset up to which others have counted the log; 0 when nobody has.
Result<std::uint64_t> IndexSink::countedEnd(std::uint64_t from, const AskElsewhere& askElsewhere) {
  OffsetIndex& index = parts_.index;
  ByteSource& source = parts_.file.source();
  if (!askElsewhere || index.summary().count == 0) return 0;
  std::string firstLine(index.record(0).length, '\0');
  const auto got = readFully(source, index.record(0).offset, firstLine);
  if (!got) return std::unexpected(parts_.file.ioError(got.error(), "read"));
  CountedElsewhere counted = askElsewhere(firstLine);
  askFailure_ = std::move(counted.askFailure);
  std::erase_if(counted.entryIds, [&](const std::string& id) { return index.find(id, confirmId_).has_value(); });
  const auto end = endOfCounted(source, from, counted);
  if (!end) return std::unexpected(parts_.file.ioError(end.error(), "read"));
  return *end;
}

// Returns true when this index and the earlier one agree on the last entry that this index has.
bool IndexSink::agreesWithEarlierIndex() {
  OffsetIndex& index = parts_.index;
  const Sequence count = index.summary().count;
  if (!parts_.earlier || count == 0 || count > parts_.earlier->summary().count) return false;
  const IndexRecord mine = index.record(count - 1);
  const IndexRecord before = parts_.earlier->record(count - 1);
  return !parts_.earlier->damaged() && mine.offset == before.offset && mine.idHash == before.idHash;
}

// A scan reports adjacent damaged lines as one problem. Each line was an entry, which the earlier index may know. A run
// that is too long to be searched for lines stays one entry.
void IndexSink::addDamagedRun(std::uint64_t offset, std::uint64_t bytes) {
  if (addFromEarlierIndex(offset, offset + bytes)) return;
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;
  std::string run(bytes <= kMostBytes ? static_cast<std::size_t>(bytes) : 0, '\0');
  if (run.empty() || readFully(parts_.file.source(), offset, run) != run.size()) return addUnreadable(offset, bytes);
  for (std::size_t begin = 0; begin < run.size();) {
    const std::size_t end = endOfLine(run, begin);
    if (end - begin > 1) addUnreadable(offset + begin, end - begin);
    begin = end;
  }
}

// Adds the entries that the earlier index has between two offsets. Returns false when the earlier index does not know
// the first of them, or does not agree on the entry before it.
bool IndexSink::addFromEarlierIndex(std::uint64_t offset, std::uint64_t end) {
  if (!parts_.earlier) return false;
  OffsetIndex& earlier = *parts_.earlier;
  OffsetIndex& index = parts_.index;
  const auto found = recordAt(earlier, offset);
  if (!found || found->first == 0 || found->first != index.summary().count) return false;
  if (!agreesWithEarlierIndex()) return false;
  for (Sequence at = found->first; at < earlier.summary().count; ++at) {
    const IndexRecord record = earlier.record(at);
    if (earlier.damaged() || record.offset >= end) break;
    parts_.ends.tailId.clear();
    lastUnreadable_ = index.summary().count;
    const bool known = record.unreadable == 0;
    const std::uint64_t length = std::uint64_t{record.length} + (known ? 1 : 0);  // with its line end
    index.addUnreadable({.offset = record.offset,
                         .idHash = record.idHash,
                         .length = static_cast<std::uint32_t>(std::min<std::uint64_t>(length, end - record.offset)),
                         .parent = record.parent},
                        known ? isConversation(record.kind) : record.unreadable == kUnreadableTurn);
  }
  return true;
}

// Adds an entry for a gap. Its id and parent are taken from the beginning of the line if that is readable. Otherwise
// its parent is the current head.
void IndexSink::addUnreadable(std::uint64_t offset, std::uint64_t bytes) {
  OffsetIndex& index = parts_.index;
  IndexRecord record{.offset = offset,
                     .length = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX))};
  record.parent = index.summary().head;
  bool movesHead = true;
  const std::string beginning = beginningOf(parts_.file.source(), record);
  const auto keys = readCanonicalKeys(beginning);
  if (keys && isEntryId(keys->id) && !index.find(keys->id, confirmId_)) {
    record.idHash = hashId(keys->id, index.seed());
    const auto parent = keys->parentId ? index.find(*keys->parentId, confirmId_) : std::optional(kNoSequence);
    if (parent || isFork_) record.parent = parent.value_or(kElsewhere);
    movesHead = isConversation(entryKind(keys->type));
  } else {
    const std::string_view id = peekId(beginning);
    const bool isIts = !keys && isEntryId(id) && !index.find(id, confirmId_);
    record.idHash = hashId(isIts ? std::string(id) : unreadableId(offset), index.seed());
  }
  lastWithUncertainId_ = lastUnreadable_ = index.summary().count;  // the damage may have hit the id as well
  parts_.ends.tailId.clear();
  index.addUnreadable(record, movesHead);
}

// A damaged line may be a copy of a readable one. The readable line gets the id.
void IndexSink::dropIdOfDamagedCopy(std::string_view id) {
  const auto found = parts_.index.find(id, confirmId_);
  if (!found) return;
  const IndexRecord record = parts_.index.record(*found);
  if (record.unreadable != 0) parts_.index.nameUnreadable(*found, unreadableId(record.offset));
}

// If the line's parent, or the head that it names, does not exist, it is the last unreadable entry whose id is
// uncertain: gives that entry the id. Not in a fork, where the id may be one of the shared history.
void IndexSink::nameUnreadableBefore(const ScannedLine& line) {
  if (!lastWithUncertainId_ || isFork_) return;
  if (line.keys.parentId) nameUnreadableUnlessFound(*line.keys.parentId);
  if (!lastWithUncertainId_ || entryKind(line.keys.type) != EntryKind::Head) return;
  const std::string head = headNamedBy(json::findMember(line.text, "payload").value_or(""));
  if (!head.empty()) nameUnreadableUnlessFound(head);
}
void IndexSink::nameUnreadableUnlessFound(std::string_view id) {
  const auto found = parts_.index.find(id, confirmId_);
  if (!found) parts_.index.nameUnreadable(*lastWithUncertainId_, id);
  if (!found || found == lastWithUncertainId_) lastWithUncertainId_.reset();
}

}  // namespace bough
