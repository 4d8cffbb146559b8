#include "log/stored_lines.h"

#include <algorithm>

#include "base/json/json_scan.h"
#include "base/model/head.h"
#include "base/model/unreadable.h"
#include "base/try.h"
#include "log/format/sealed_entry.h"

namespace bough {
namespace {

std::unexpected<ReadFailure> staleIndex() {
  return std::unexpected(ReadFailure::staleIndex());
}

}  // namespace

bool StoredLine::matchesSeal() const {
  if (verified) return true;
  if (!chained) return !text.contains('\0');  // NUL bytes: this part of the file could not be unpacked
  const auto seal = findSeal(text);
  if (!seal) return false;
  return !previous || sealDigits(*previous, text.substr(0, seal->bodyLength), seal->placeText) == seal->digits;
}

std::span<char> StoredLines::Buffer::take(std::size_t size) {
  if (size > kUsualBytes) {
    large = std::make_unique_for_overwrite<char[]>(size);
    return {large.get(), size};
  }
  if (!usual) usual = std::make_unique_for_overwrite<char[]>(kUsualBytes);
  return {usual.get(), size};
}

Indexed<void> StoredLines::forEach(const std::vector<Sequence>& sequences, const Use& use) {
  constexpr std::uint64_t kRunBytes = Buffer::kUsualBytes - kSealTailBytes;
  constexpr std::uint64_t kGapBytes = std::uint64_t{16} << 10;
  std::vector<IndexRecord> records;
  records.reserve(sequences.size());
  for (const Sequence sequence : sequences) records.push_back(index_.records().record(sequence));
  if (index_.records().damaged()) return staleIndex();
  if (file_.opened().form == LogForm::Plain && RecentLines::isWorthKeeping(records)) return readRecent(records, use);
  for (std::size_t first = 0; first < records.size();) {
    std::size_t last = first;
    while (last + 1 < records.size() && records[last + 1].offset > records[last].offset &&
           records[last + 1].offset - (records[last].offset + records[last].length) < kGapBytes &&
           records[last + 1].offset + records[last + 1].length - records[first].offset < kRunBytes) {
      ++last;
    }
    BOUGH_TRY(readRun(std::span(records).subspan(first, last - first + 1), use));
    first = last + 1;
  }
  buffer_.large.reset();
  return {};
}

// Reads records that are close together with one read.
Indexed<void> StoredLines::readRun(std::span<const IndexRecord> records, const Use& use) {
  const std::uint64_t begin = records.front().offset - std::min<std::uint64_t>(records.front().offset, kSealTailBytes);
  const auto size = static_cast<std::size_t>(records.back().offset + records.back().length - begin);
  const std::span<char> buffer = buffer_.take(size);
  const auto got = readFully(file_.source(), begin, buffer);
  if (!got) return std::unexpected(file_.ioError(got.error(), "read"));
  if (*got != size) return staleIndex();
  return useRun({buffer.data(), size}, begin, records, 0, use);
}

// Reads only the lines that are not among the recent ones. When a line does not match its seal, no line is kept.
Indexed<void> StoredLines::readRecent(std::span<const IndexRecord> records, const Use& use) {
  const std::uint64_t end = records.back().offset + records.back().length;
  const auto read = [&]() -> Indexed<void> {
    const auto whole =
        recent_.cover(file_.source(), {index_.generation(), index_.foreignWrites()}, records.front().offset, end);
    if (!whole) return std::unexpected(file_.ioError(whole.error(), "read"));
    if (!*whole) return staleIndex();
    return useRun(recent_.bytes(), recent_.begin(), records, recent_.verifiedUntil(), use);
  };
  auto done = read();
  done ? recent_.noteVerified(end) : recent_.clear();
  return done;
}

// Passes the lines in `bytes` to `use`. `bytes` begins at offset `begin` of the log. `verifiedUntil` is the offset up
// to which seals were already checked; 0 for bytes that are not those of recent_.
Indexed<void> StoredLines::useRun(std::string_view bytes, std::uint64_t begin, std::span<const IndexRecord> records,
                                  std::uint64_t verifiedUntil, const Use& use) {
  const bool recent = bytes.data() == recent_.bytes().data();
  for (const IndexRecord& record : records) {
    const auto at = static_cast<std::size_t>(record.offset - begin);
    StoredLine line{.text = bareLine(bytes.substr(at, record.length)),
                    .chained = record.chained != 0,
                    .verified = record.offset + record.length <= verifiedUntil,
                    .recentAt = recent ? record.offset : 0,
                    .previous = {}};
    if (line.chained && !line.verified) {
      const SealDigits previous = sealBefore(bytes.substr(0, at));
      if (previous || record.offset == 0) line.previous = previous;
    }
    if (!use(line)) return staleIndex();
  }
  return {};
}

Indexed<std::vector<std::string>> StoredLines::texts(const std::vector<Sequence>& sequences) {
  std::vector<std::string> texts;
  texts.reserve(sequences.size());
  if (index_.summary().problemCount > 0 &&
      std::ranges::any_of(sequences, [&](Sequence at) { return isUnreadable(at); })) {
    for (const Sequence sequence : sequences) {
      if (isUnreadable(sequence)) {
        texts.emplace_back();
      } else {
        BOUGH_TRY(texts.emplace_back(), text(sequence));
      }
    }
    return texts;
  }
  BOUGH_TRY(forEach(sequences, [&](const StoredLine& line) {
    texts.emplace_back(line.text);
    return line.matchesSeal();
  }));
  return texts;
}

Indexed<std::string> StoredLines::text(Sequence sequence) {
  BOUGH_TRY(auto lines, texts({sequence}));
  return std::move(lines.front());
}

Indexed<std::vector<Entry>> StoredLines::entries(const std::vector<Sequence>& sequences) {
  if (index_.summary().problemCount == 0) return readableEntries(sequences);
  std::vector<Sequence> readable;
  std::ranges::copy_if(sequences, std::back_inserter(readable),
                       [&](Sequence sequence) { return !isUnreadable(sequence); });
  if (readable.size() == sequences.size()) return readableEntries(sequences);
  BOUGH_TRY(auto read, readableEntries(readable));
  std::vector<Entry> entries;
  auto next = read.begin();
  for (const Sequence sequence : sequences) {
    if (isUnreadable(sequence)) {
      BOUGH_TRY(auto lost, lostEntry(sequence));
      entries.push_back(std::move(lost));
    } else {
      entries.push_back(std::move(*next++));
    }
  }
  return entries;
}

// A line whose seal is correct, but which is not an entry, becomes an unreadable entry.
Indexed<std::vector<Entry>> StoredLines::readableEntries(const std::vector<Sequence>& sequences) {
  std::vector<Entry> entries;
  entries.reserve(sequences.size());
  BOUGH_TRY(forEach(sequences, [&](const StoredLine& line) {
    auto decoded = decode(line, entries);
    if (decoded) return *decoded;
    const Sequence sequence = sequences[entries.size()];
    const IndexRecord record = index_.records().record(sequence);
    (void)notEntries();
    notEntries_.insert(sequence);
    const auto keys = readCanonicalKeys(line.text);
    entries.push_back(unreadableEntry(keys ? std::string(keys->id) : unreadableId(record.offset),
                                      std::string(keys ? keys->parentId.value_or("") : ""), record.offset,
                                      record.length, decoded.error().message));
    return true;
  }));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].parentId && offsetOfUnreadableId(*entries[i].parentId)) {
      BOUGH_TRY(entries[i].parentId, parentIdOf(sequences[i]));
    }
  }
  return entries;
}

const std::set<Sequence>& StoredLines::notEntries() {
  if (notEntriesGeneration_ != index_.generation()) notEntries_.clear();
  notEntriesGeneration_ = index_.generation();
  return notEntries_;
}

bool StoredLines::isUnreadable(Sequence sequence) {
  return index_.records().record(sequence).unreadable != 0;
}

Indexed<Entry> StoredLines::lostEntry(Sequence sequence) {
  const IndexRecord record = index_.records().record(sequence);
  BOUGH_TRY(std::string id, unreadableIdOf(sequence, record));
  BOUGH_TRY(std::string parentId, parentIdOf(sequence));
  return unreadableEntry(std::move(id), std::move(parentId), record.offset, record.length, "the bytes are damaged");
}

// Returns the id at the beginning of the line if it has the hash that the index knows. Otherwise, returns the id with
// that hash that a child names as its parent, or that a head entry names.
Indexed<std::string> StoredLines::unreadableIdOf(Sequence sequence, const IndexRecord& record) {
  constexpr Sequence kNear = 64;
  const std::uint64_t seed = index_.records().seed();
  const auto isIts = [&](std::string_view id) { return hashId(id, seed) == record.idHash; };
  const std::string beginning = beginningOf(file_.source(), record);
  if (const std::string_view id = peekId(beginning); !id.empty() && isIts(id)) return std::string(id);
  const Sequence end = std::min(index_.summary().count, sequence + kNear);
  for (Sequence child = sequence + 1; child < end; ++child) {
    const IndexRecord candidate = index_.records().record(child);
    if (candidate.parent != sequence && candidate.kind != EntryKind::Head) continue;
    const std::string text = beginningOf(file_.source(), candidate);
    const auto keys = readCanonicalKeys(text);
    if (keys && keys->parentId && isIts(*keys->parentId)) return std::string(*keys->parentId);
    if (candidate.kind != EntryKind::Head) continue;
    std::string head = headNamedBy(json::findMember(text, "payload").value_or(""));
    if (isIts(head)) return head;
  }
  return unreadableId(record.offset);
}

Indexed<std::string> StoredLines::parentIdOf(Sequence sequence) {
  const IndexRecord record = index_.records().record(sequence);
  if (record.parent == kNoSequence) return std::string();
  if (record.parent != kElsewhere) return idOf(record.parent);
  if (record.unreadable == 0) {
    BOUGH_TRY(const std::string line, text(sequence));
    return json::findString(line, "parentId").value_or("");
  }
  const std::string beginning = beginningOf(file_.source(), record);
  const auto keys = readCanonicalKeys(beginning);
  return std::string(keys ? keys->parentId.value_or("") : "");
}

Result<bool> StoredLines::decode(const StoredLine& line, std::vector<Entry>& entries) {
  if ((line.previous || line.verified) && &serializer_ == &jsonEntrySerializer()) {
    Entry& entry = entries.emplace_back();
    const auto tail = line.verified && recent_.isPayloadLast(line.recentAt) ? LineTail::Payload : LineTail::Unknown;
    const SealedRead read =
        line.verified ? readVerifiedEntry(line.text, tail, entry) : readSealedEntry(line.text, *line.previous, entry);
    if (read == SealedRead::Good) {
      if (line.recentAt != 0 && tail == LineTail::Unknown && entry.meta.empty()) recent_.notePayloadLast(line.recentAt);
      return true;
    }
    entries.pop_back();
    if (read == SealedRead::WrongSeal) return false;
  }
  if (!line.matchesSeal()) return false;
  BOUGH_TRY(auto entry, serializer_.decode(line.text));
  entries.push_back(std::move(entry));
  return true;
}

Indexed<std::string> StoredLines::idOf(Sequence sequence) {
  if (isUnreadable(sequence)) return unreadableIdOf(sequence, index_.records().record(sequence));
  BOUGH_TRY(const std::string line, text(sequence));
  std::string storage;
  std::string_view reason;
  auto keys = readCanonicalKeys(line);
  if (!keys) keys = readAnyKeys(line, storage, reason);
  if (!keys) return staleIndex();
  return std::string(keys->id);
}

Indexed<const std::string*> StoredLines::header() {
  if (headerGeneration_ != index_.generation()) {
    header_.clear();
    if (index_.summary().count > 0) {
      BOUGH_TRY(header_, text(0));
    }
    headerGeneration_ = index_.generation();
  }
  return &header_;
}

// The head is an entry of this log, or the entry that the last head entry or the header of a fork names.
Indexed<void> StoredLines::loadEnds() {
  const IndexSummary& summary = index_.summary();
  LogEnds& ends = index_.ends();
  if (ends.tailId.empty() && summary.count > 0) {
    BOUGH_TRY(ends.tailId, idOf(summary.count - 1));
    ends.tailOffset = index_.records().record(summary.count - 1).offset;
  }
  if (!ends.headId.empty() || summary.head == kNoSequence) return {};
  if (summary.head != kElsewhere) {
    if (summary.head + 1 == summary.count) {
      ends.headId = ends.tailId;
    } else {
      BOUGH_TRY(ends.headId, idOf(summary.head));
    }
    return {};
  }
  const bool moved = summary.headEntry != kNoSequence;
  BOUGH_TRY(const std::string line, text(moved ? summary.headEntry : Sequence{0}));
  auto payload = json::findMember(line, "payload").value_or("");
  if (!moved) payload = json::findMember(payload, "parentSession").value_or("");
  ends.headId = json::findString(payload, "entryId").value_or("");
  return {};
}

Indexed<std::optional<std::string>> StoredLines::headAfter(Sequence sequence, const IsShared& isShared) {
  const IndexRecord record = index_.records().record(sequence);
  if (record.unreadable == kUnreadableTurn || (record.unreadable == 0 && isConversation(record.kind))) {
    return idOf(sequence);
  }
  if (record.unreadable != 0 || record.kind != EntryKind::Head) return std::nullopt;
  BOUGH_TRY(const std::string line, text(sequence));
  std::string named = headNamedBy(json::findMember(line, "payload").value_or(""));
  if (named.empty()) return named;
  if (const auto own = index_.find(named); own && *own < sequence) return named;
  BOUGH_TRY(const bool shared, isShared(named));
  return shared ? std::optional(std::move(named)) : std::nullopt;
}

Indexed<std::string> StoredLines::headOfFork(const IsShared& isShared) {
  BOUGH_TRY(loadEnds());
  const IndexSummary& summary = index_.summary();
  if (summary.head != kElsewhere || summary.headEntry == kNoSequence) return index_.ends().headId;
  for (Sequence at = summary.headEntry + 1; at-- > 0;) {
    BOUGH_TRY(auto head, headAfter(at, isShared));
    if (head) return std::move(*head);
  }
  BOUGH_TRY(const std::string* first, header());
  const auto origin = json::findMember(json::findMember(*first, "payload").value_or(""), "parentSession");
  return json::findString(origin.value_or(""), "entryId").value_or("");
}

}  // namespace bough
