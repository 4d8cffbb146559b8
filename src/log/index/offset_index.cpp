#include "log/index/offset_index.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/json/json_scan.h"
#include "base/model/head.h"
#include "base/model/unreadable.h"
#include "log/index/index_file.h"

namespace bough {

OffsetIndex::OffsetIndex(std::uint64_t seed) : seed_(seed) {}

OffsetIndex::OffsetIndex(std::unique_ptr<IndexFile> file)
    : seed_(file->seed()),
      file_(std::move(file)),
      fileCount_(file_->count()),
      fresh_(file_->takeExtensions()),
      summary_(file_->summary()) {}

OffsetIndex::OffsetIndex(OffsetIndex&&) noexcept = default;
OffsetIndex& OffsetIndex::operator=(OffsetIndex&&) noexcept = default;
OffsetIndex::~OffsetIndex() = default;

ScanState OffsetIndex::scanState() const {
  ScanState state{.offset = summary_.coveredBytes,
                  .lastSeal = std::nullopt,
                  .lacksLineEnd = summary_.lacksLineEnd != 0,
                  .sealLost = summary_.sealLost != 0};
  if (summary_.hasSeal != 0) {
    std::array<char, 8> digits{};
    std::ranges::copy(summary_.lastSeal, digits.begin());
    state.lastSeal = digits;
  }
  return state;
}

void OffsetIndex::setScanState(const ScanState& state) {
  summary_.coveredBytes = state.offset;
  summary_.lacksLineEnd = state.lacksLineEnd ? 1 : 0;
  summary_.sealLost = state.sealLost ? 1 : 0;
  summary_.hasSeal = state.lastSeal ? 1 : 0;
  if (state.lastSeal) std::ranges::copy(*state.lastSeal, summary_.lastSeal);
}

IndexRecord OffsetIndex::record(Sequence sequence) {
  BOUGH_CHECK(sequence < summary_.count);
  if (sequence >= fileCount_) return fresh_[sequence - fileCount_];
  const auto record = file_->record(sequence);
  if (!record || !isPlausible(*record, sequence, summary_)) {
    damaged_ = true;
    return {};
  }
  return *record;
}

void OffsetIndex::forEachRecord(const std::function<void(std::span<const IndexRecord>)>& use) {
  if (file_ && !file_->forEachRecord(use)) damaged_ = true;
  if (!damaged_) use(fresh_.all());
}

// An entry that was appended while the entry before it was unreadable may name that entry by its place.
std::optional<Sequence> OffsetIndex::find(std::string_view id, const ConfirmId& confirm) {
  if (const auto found = find(id, hashId(id, seed_), confirm)) return found;
  const auto offset = offsetOfUnreadableId(id);
  const auto at = offset ? recordAt(*this, *offset) : std::nullopt;
  return at ? std::optional(at->first) : std::nullopt;
}

std::optional<Sequence> OffsetIndex::find(std::string_view id, std::uint64_t hash, const ConfirmId& confirm) {
  const auto isWanted = [&](const IndexRecord& candidate) {
    const IdMatch match = confirm(candidate, id);
    damaged_ = damaged_ || match == IdMatch::Unreadable;
    return match == IdMatch::Same;
  };
  if (const auto place = fresh_.find(hash, isWanted)) return fileCount_ + static_cast<Sequence>(*place);
  if (!file_) return std::nullopt;
  const auto found = file_->find(hash, isWanted);
  if (!found) {
    damaged_ = true;
    return std::nullopt;
  }
  return *found;
}

int OffsetIndex::refusal() const {
  return file_ ? file_->refusal() : 0;
}

std::uint64_t OffsetIndex::unsavedBytes() const {
  return summary_.coveredBytes - (file_ ? file_->summary().coveredBytes : 0);
}

bool OffsetIndex::shouldRewrite() const {
  constexpr std::size_t kSmall = 4096;
  return file_ && fresh_.size() > std::max<std::size_t>(kSmall, fileCount_ / 16);
}

bool OffsetIndex::extendFile() {
  if (!file_ || file_->totalCount() > summary_.count) return false;
  return file_->extend(fresh_.all().subspan(file_->totalCount() - fileCount_), summary_);
}

void OffsetIndex::prefetchIdSlot(std::string_view text) const {
  if (!fresh_.hasTable()) return;
  const std::string_view id = peekId(text);
  if (id.empty() || (!file_ && fresh_.isGreatest(id))) return;
  fresh_.prefetch(hashId(id, seed_));
}

void OffsetIndex::reserve(std::size_t entries) {
  constexpr std::size_t kMost = std::size_t{1} << 22;
  fresh_.reserve(std::min(entries, kMost));
}

bool OffsetIndex::add(const ScannedLine& line, const ConfirmId& confirm, std::string_view lastId, Sequence lost) {
  const LineKeys& keys = line.keys;
  const std::uint64_t hash = hashId(keys.id, seed_);
  // An id greater than all others is new. Ids that the store generates are ascending.
  const bool greatest = !file_ && fresh_.isGreatest(keys.id);
  const bool isNew = greatest || !find(keys.id, hash, confirm);
  if (!isNew || summary_.count >= kElsewhere) return false;
  const Sequence sequence = summary_.count;
  IndexRecord record{.offset = line.offset,
                     .idHash = hash,
                     .length = line.length,
                     .parent = kNoSequence,
                     .previousControl = summary_.lastControl,
                     .kind = entryKind(keys.type),
                     .chained = line.chained ? std::uint8_t{1} : std::uint8_t{0}};
  if (keys.parentId) {
    const bool child = sequence > 0 && !lastId.empty() && *keys.parentId == lastId;
    record.parent = child ? sequence - 1 : find(*keys.parentId, confirm).value_or(lost);
  }
  fresh_.add(record);
  ++summary_.count;
  if (!line.chained) summary_.doubtful = 1;
  if (greatest) fresh_.setGreatest(keys.id);

  if (isControl(record.kind)) {
    summary_.lastControl = sequence;
    if (record.kind == EntryKind::Head) {
      const std::string target = headNamedBy(json::findMember(line.text, "payload").value_or(""));
      summary_.headEntry = sequence;
      summary_.head = target.empty() ? kNoSequence : find(target, confirm).value_or(kElsewhere);
    }
  } else if (record.kind == EntryKind::SessionHeader) {
    if (sequence == 0 && json::findMember(json::findMember(line.text, "payload").value_or(""), "parentSession")) {
      summary_.head = kElsewhere;
    }
  } else {
    summary_.head = sequence;
  }
  return true;
}

void OffsetIndex::addUnreadable(IndexRecord record, bool movesHead) {
  if (summary_.count >= kElsewhere) return;
  record.unreadable = movesHead ? kUnreadableTurn : kUnreadableOther;
  record.previousControl = summary_.lastControl;
  fresh_.add(record);
  if (movesHead) summary_.head = summary_.count;
  ++summary_.count;
}

void OffsetIndex::nameUnreadable(Sequence sequence, std::string_view id) {
  BOUGH_CHECK(sequence < summary_.count);
  if (sequence >= fileCount_) fresh_.rename(sequence - fileCount_, hashId(id, seed_));
}

void OffsetIndex::restoreHead(Sequence head, Sequence headEntry) {
  summary_.head = head;
  summary_.headEntry = headEntry;
}

std::optional<std::pair<Sequence, IndexRecord>> recordAt(OffsetIndex& index, std::uint64_t offset) {
  Sequence first = 0;
  for (Sequence count = index.summary().count; count > 0 && !index.damaged();) {
    const Sequence half = count / 2;
    if (index.record(first + half).offset < offset) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  if (index.damaged() || first >= index.summary().count) return std::nullopt;
  const IndexRecord found = index.record(first);
  if (found.offset != offset) return std::nullopt;
  return std::pair(first, found);
}

}  // namespace bough
