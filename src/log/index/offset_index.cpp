#include "log/index/offset_index.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/json/json_scan.h"
#include "base/model/head.h"
#include "log/index/index_file.h"

namespace bough {

// Multiply and fold, eight bytes at a time; the seed makes it unpredictable, the length separates prefixes.
std::uint64_t hashId(std::string_view id, std::uint64_t seed) {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
  const auto fold = [](std::uint64_t a, std::uint64_t b) {
    const Uint128 product = static_cast<Uint128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  };
  std::uint64_t hash = seed ^ (id.size() * kOdd);
  for (; id.size() >= 8; id.remove_prefix(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, id.data(), 8);
    hash = fold(hash ^ word, kOdd) + seed;
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, id.data(), id.size());
  hash = fold(hash ^ rest, kOdd ^ (seed >> 1));
  return hash ^ hash >> 29;
}

namespace {
constexpr std::string_view kUnreadableId = "unreadable:";
}

std::string unreadableId(std::uint64_t offset) {
  return std::string(kUnreadableId) + std::to_string(offset);
}

std::optional<std::uint64_t> offsetOfUnreadableId(std::string_view id) {
  std::uint64_t offset = 0;
  if (!id.starts_with(kUnreadableId)) return std::nullopt;
  const auto [end, error] = std::from_chars(id.data() + kUnreadableId.size(), id.data() + id.size(), offset);
  return error == std::errc() && end == id.data() + id.size() ? std::optional(offset) : std::nullopt;
}

std::string beginningOf(ByteSource& source, const IndexRecord& record, std::size_t mostBytes) {
  std::string bytes(std::min<std::size_t>(record.length, mostBytes), '\0');
  bytes.resize(readFully(source, record.offset, bytes).value_or(0));
  return bytes;
}

bool isPlausible(const IndexRecord& record, Sequence sequence, const IndexSummary& summary) {
  return record.offset <= summary.coveredBytes && record.length <= summary.coveredBytes - record.offset &&
         (record.parent < sequence || record.parent >= kElsewhere) &&
         (record.previousControl < sequence || record.previousControl == kNoSequence);
}

OffsetIndex::OffsetIndex(std::uint64_t seed) : seed_(seed) {}

OffsetIndex::OffsetIndex(std::unique_ptr<IndexFile> file)
    : seed_(file->seed()), file_(std::move(file)), fileCount_(file_->count()), summary_(file_->summary()) {
  fresh_ = file_->takeExtensions();
}

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
  if (!damaged_) use(fresh_);
}

std::optional<Sequence> OffsetIndex::find(std::string_view id, const ConfirmId& confirm) {
  return find(id, hashId(id, seed_), confirm);
}

bool OffsetIndex::isSame(const IndexRecord& candidate, std::string_view id, const ConfirmId& confirm) {
  const IdMatch match = confirm(candidate, id);
  damaged_ = damaged_ || match == IdMatch::Unreadable;
  return match == IdMatch::Same;
}

std::optional<Sequence> OffsetIndex::find(std::string_view id, std::uint64_t hash, const ConfirmId& confirm) {
  if (!fresh_.empty()) {
    fillTable();
    const std::size_t mask = table_.size() - 1;
    for (std::size_t slot = hash & mask; table_[slot] != kNoSequence; slot = (slot + 1) & mask) {
      const IndexRecord& candidate = fresh_[table_[slot] - fileCount_];
      if (candidate.idHash == hash && isSame(candidate, id, confirm)) return table_[slot];
    }
  }
  if (!file_) return std::nullopt;
  const auto found = file_->find(hash, [&](const IndexRecord& candidate) { return isSame(candidate, id, confirm); });
  if (!found) {
    damaged_ = true;
    return std::nullopt;
  }
  return *found;
}

// At most half full, so that probes stay short.
void OffsetIndex::fillTable() {
  if (table_.empty() || table_.size() < fresh_.size() * 2) {
    table_.assign(std::bit_ceil(std::max<std::size_t>(fresh_.capacity(), 32) * 2), kNoSequence);
    tabled_ = 0;
  }
  const std::size_t mask = table_.size() - 1;
  for (; tabled_ < fresh_.size(); ++tabled_) {
    std::size_t slot = fresh_[tabled_].idHash & mask;
    while (table_[slot] != kNoSequence) slot = (slot + 1) & mask;
    table_[slot] = fileCount_ + static_cast<Sequence>(tabled_);
  }
}

std::uint64_t OffsetIndex::unsavedBytes() const {
  return summary_.coveredBytes - (file_ ? file_->summary().coveredBytes : 0);
}

bool OffsetIndex::wantsRewrite() const {
  constexpr std::size_t kSmall = 4096;
  return file_ && fresh_.size() > std::max<std::size_t>(kSmall, fileCount_ / 16);
}

bool OffsetIndex::extendFile() {
  if (!file_ || file_->known() > summary_.count) return false;
  return file_->extend(std::span(fresh_).subspan(file_->known() - fileCount_), summary_);
}

void OffsetIndex::prepareFor(std::string_view text) const {
  if (table_.empty()) return;
  const std::string_view id = peekId(text);
  if (id.empty() || isGreatest(id)) return;
  __builtin_prefetch(&table_[hashId(id, seed_) & (table_.size() - 1)], 1);
}

void OffsetIndex::reserve(std::size_t entries) {
  constexpr std::size_t kMost = std::size_t{1} << 22;
  entries = std::min(entries, kMost);
  fresh_.reserve(fresh_.size() + entries);
}

bool OffsetIndex::add(const ScannedLine& line, const ConfirmId& confirm, std::string_view lastId) {
  const LineKeys& keys = line.keys;
  const std::uint64_t hash = hashId(keys.id, seed_);
  const bool greatest = isGreatest(keys.id);
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
    record.parent = child ? sequence - 1 : find(*keys.parentId, confirm).value_or(kElsewhere);
  }
  fresh_.push_back(record);
  ++summary_.count;
  if (!line.chained) summary_.doubtful = 1;
  if (greatest) greatestId_ = keys.id;

  if (isControl(record.kind)) {
    summary_.lastControl = sequence;
    if (record.kind == EntryKind::Head) moveHead(line, confirm);
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
  fresh_.push_back(record);
  if (movesHead) summary_.head = summary_.count;
  ++summary_.count;
}

void OffsetIndex::nameUnreadable(Sequence sequence, std::string_view id) {
  BOUGH_CHECK(sequence >= fileCount_ && sequence < summary_.count);
  fresh_[sequence - fileCount_].idHash = hashId(id, seed_);
  table_.clear();
  tabled_ = 0;
}

std::optional<std::pair<Sequence, IndexRecord>> OffsetIndex::recordAt(std::uint64_t offset) {
  Sequence first = 0;
  for (Sequence count = summary_.count; count > 0 && !damaged_;) {
    const Sequence half = count / 2;
    if (record(first + half).offset < offset) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  if (damaged_ || first >= summary_.count) return std::nullopt;
  const IndexRecord found = record(first);
  if (found.offset != offset) return std::nullopt;
  return std::pair(first, found);
}

void OffsetIndex::moveHead(const ScannedLine& line, const ConfirmId& confirm) {
  const std::string target = headNamedBy(json::findMember(line.text, "payload").value_or(""));
  summary_.headEntry = summary_.count - 1;
  summary_.head = target.empty() ? kNoSequence : find(target, confirm).value_or(kElsewhere);
}

}  // namespace bough
