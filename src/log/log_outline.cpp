#include "log/log_outline.h"

#include "base/try.h"

#include <algorithm>
#include <optional>

namespace bough {
namespace {

// Adds records to an outline. Returns false when a record is impossible: its parent would come after it.
bool addRecords(std::span<const IndexRecord> records, SessionOutline& outline) {
  auto sequence = static_cast<Sequence>(outline.kinds.size());
  outline.kinds.resize(sequence + records.size());
  for (const IndexRecord& record : records) {
    outline.kinds[sequence] = record.kind;
    // Nearly always the parent is the entry before, which needs no jump.
    if (record.parent + 1 != sequence || sequence == 0) {
      if (sequence > 0 || record.parent != kNoSequence) outline.jumps.push_back({sequence, record.parent});
      if (record.parent >= sequence && record.parent < kElsewhere) return false;
    }
    ++sequence;
  }
  return true;
}

}  // namespace

Indexed<SessionOutline> LogOutline::get(LogIndex& index) {
  constexpr Sequence kFew = 1024;
  OffsetIndex& records = index.records();
  const Sequence count = index.summary().count;
  const bool continues = generation_ == index.generation() && outline_.kinds.size() + kFew >= count;
  generation_ = 0;  // until the outline is complete
  bool sound = true;
  if (!continues) {
    outline_ = {};
    outline_.kinds.reserve(count);
    records.forEachRecord([&](std::span<const IndexRecord> part) {
      sound = sound && part.size() <= count - outline_.kinds.size() && addRecords(part, outline_);
    });
  }
  while (sound && outline_.kinds.size() < count) {
    const IndexRecord record = records.record(static_cast<Sequence>(outline_.kinds.size()));
    sound = !records.damaged() && addRecords({&record, 1}, outline_);
  }
  if (!sound || outline_.kinds.size() != count || records.damaged()) {
    return std::unexpected(ReadFailure::staleIndex());
  }
  generation_ = index.generation();
  outline_.head = index.summary().head;
  return outline_;
}

Indexed<void> LogControls::continueTo(LogIndex& index) {
  OffsetIndex& records = index.records();
  const Sequence newest = index.summary().lastControl;
  const bool hasThem = last_ == kNoSequence || (newest != kNoSequence && newest >= last_);
  if (generation_ != index.generation() || !hasThem) {
    byKind_ = {};
    last_ = kNoSequence;
  }
  generation_ = 0;  // until the lists are complete
  std::vector<std::pair<Sequence, EntryKind>> added;
  for (Sequence at = newest; at != last_;) {
    const IndexRecord record = records.record(at);
    const bool isFurther = record.previousControl == kNoSequence || record.previousControl < at;
    const bool meets =
        last_ == kNoSequence || (record.previousControl != kNoSequence && record.previousControl >= last_);
    if (records.damaged() || !isControl(record.kind) || !isFurther || !meets) {
      return std::unexpected(ReadFailure::staleIndex());
    }
    added.emplace_back(at, record.kind);
    at = record.previousControl;
  }
  for (auto each = added.rbegin(); each != added.rend(); ++each) {
    byKind_[static_cast<std::size_t>(each->second) - static_cast<std::size_t>(EntryKind::Head)].push_back(each->first);
  }
  last_ = newest;
  generation_ = index.generation();
  return {};
}

Indexed<std::vector<Sequence>> LogControls::get(LogIndex& index, std::span<const EntryKind> kinds) {
  BOUGH_TRY(continueTo(index));
  std::vector<Sequence> found;
  for (const EntryKind kind : kinds) {
    const auto& some = byKind_[static_cast<std::size_t>(kind) - static_cast<std::size_t>(EntryKind::Head)];
    found.insert(found.end(), some.begin(), some.end());
  }
  if (kinds.size() > 1) std::ranges::sort(found);
  return found;
}

namespace {

// Returns the id at the beginning of a line. Returns std::nullopt when the members are in another order or the id
// contains escapes.
std::optional<std::string_view> idAtBegin(std::string_view line) {
  constexpr std::string_view kBegin = R"({"id":")";
  if (!line.starts_with(kBegin)) return std::nullopt;
  const std::string_view value = line.substr(kBegin.size());
  const std::size_t end = value.find('"');
  if (end == std::string_view::npos || value.substr(0, end).contains('\\')) return std::nullopt;
  return value.substr(0, end);
}

// Reads the beginnings of lines. Adjacent short lines are read together.
class LineBeginnings {
 public:
  static constexpr std::size_t kIdBytes = 160;

  explicit LineBeginnings(LogFile& file) : file_(file), buffer_(kBufferBytes, '\0') {}

  Indexed<std::string_view> of(const IndexRecord& record) {
    const std::size_t want = std::min<std::size_t>(kIdBytes, record.length);
    if (record.offset < begin_ || record.offset + want > begin_ + used_) {
      const bool isLong = record.length > kBufferBytes / 8;
      const auto got = readFully(file_.source(), record.offset, std::span(buffer_).first(isLong ? want : kBufferBytes));
      if (!got) return std::unexpected(file_.ioError(got.error(), "read"));
      begin_ = record.offset;
      used_ = *got;
    }
    const auto at = static_cast<std::size_t>(record.offset - begin_);
    if (at + want > used_) return std::unexpected(ReadFailure::staleIndex());
    return std::string_view(buffer_).substr(at, want);
  }

 private:
  static constexpr std::size_t kBufferBytes = std::size_t{64} << 10;
  LogFile& file_;
  std::string buffer_;
  std::uint64_t begin_ = 0;
  std::size_t used_ = 0;
};

}  // namespace

Indexed<std::vector<std::string>> findIdsIn(LogFile& file, LogIndex& index, StoredLines& lines, std::string_view prefix,
                                            std::size_t limit) {
  std::vector<std::string> found;
  std::optional<ReadFailure> failure;
  LineBeginnings beginnings(file);
  const auto look = [&](Sequence sequence, const IndexRecord& record) -> Indexed<void> {
    BOUGH_TRY(const auto text, beginnings.of(record));
    if (const auto id = idAtBegin(text)) {
      if (id->starts_with(prefix)) found.emplace_back(*id);
      return {};
    }
    BOUGH_TRY(auto id, lines.idOf(sequence));
    if (id.starts_with(prefix)) found.push_back(std::move(id));
    return {};
  };
  Sequence next = 0;
  index.records().forEachRecord([&](std::span<const IndexRecord> records) {
    for (const IndexRecord& record : records) {
      if (failure || found.size() >= limit) return;
      if (auto looked = look(next++, record); !looked) failure = looked.error();
    }
  });
  if (failure) return std::unexpected(std::move(*failure));
  return found;
}

}  // namespace bough
