#include "transcript/model/carrier_writer.h"

#include <algorithm>

#include "base/json/json_scan.h"
#include "base/model/unreadable.h"

namespace bough::transcript {
namespace {

// A store does not accept the placeholder of a damaged entry; its text is carried instead.
std::shared_ptr<const Entry> storable(std::shared_ptr<const Entry> entry) {
  if (!isUnreadable(*entry)) return entry;
  auto kept = std::make_shared<Entry>(*entry);
  keepAsText(*kept);
  return kept;
}

}  // namespace

void CarrierWriter::addWithoutLine(std::size_t place) {
  if (!enabled_ || !canBeCarried(entries_.kind(place), entries_.isRedacted(place))) return;
  (isInLine(place) ? joined_ : waiting_).push_back(place);
}

bool CarrierWriter::isInLine(std::size_t place) const {
  const std::size_t before = joined_.empty() ? place_ : joined_.back();
  if (lines_.empty() || !entries_.isMessage(place) || before == EntryTree::kNone) return false;
  const bool isHead = branch_[before] && !branch_[place];  // the agent continues from this entry
  return tree_.parent(place) == before && !tree_.isBranchPoint(before) && !isHead;
}

void CarrierWriter::setLines(std::string lines, std::size_t place) {
  lines_ = std::move(lines);
  place_ = place;
  std::ranges::move(waiting_, std::back_inserter(before_));
  waiting_.clear();
}

// Redacted entries are not carried; what follows them continues from the entry before.
std::size_t CarrierWriter::parentOf(std::size_t place) const {
  std::size_t parent = tree_.parent(place);
  while (parent != EntryTree::kNone && entries_.isRedacted(parent)) parent = tree_.parent(parent);
  return parent;
}

bool CarrierWriter::add(std::size_t place, Cargo& cargo) {
  const std::size_t bytes = entries_.carriedBytes(place);
  if (!canBeCarried(entries_.kind(place), entries_.isRedacted(place)) || bytes > cargo.room) return false;
  const std::size_t parent = parentOf(place);
  if (parent != EntryTree::kNone && !inFile_[parent]) return false;
  cargo.places.push_back(place);
  cargo.room -= bytes;
  inFile_[place] = true;
  return true;
}

std::vector<CarriedEntry> CarrierWriter::entriesOf(const Cargo& cargo) const {
  std::vector<CarriedEntry> entries;
  if (session_ != nullptr) entries.push_back(asStored(session_));
  for (const std::size_t place : cargo.places) {
    const std::size_t parent = parentOf(place);
    entries.push_back(
        {storable(entries_.at(place)), std::string(parent == EntryTree::kNone ? "" : entries_.id(parent))});
  }
  return entries;
}

void CarrierWriter::load(std::vector<std::size_t>& from, Cargo& cargo) {
  std::erase_if(from, [&](std::size_t place) { return add(place, cargo); });
}

void CarrierWriter::unload(const Cargo& cargo) {
  for (const std::size_t place : cargo.places) inFile_[place] = false;
}

std::string CarrierWriter::takeLines(bool last) {
  std::string lines = std::exchange(lines_, {});
  if (!enabled_ || lines.empty()) return lines;
  Cargo cargo;
  const std::vector<std::size_t> before = before_;
  // The line's own entry is added after the entries that it may continue, but its room is reserved first.
  const std::size_t reserved = place_ == EntryTree::kNone ? 0 : std::min(cargo.room, entries_.carriedBytes(place_));
  cargo.room -= reserved;
  load(before_, cargo);
  std::size_t own = CarriedIds::kNone;
  if (place_ != EntryTree::kNone) {
    cargo.room += reserved;
    // When its entry cannot be carried, the line itself is what is read; the other entries wait for the next line.
    if (!add(place_, cargo)) {
      unload(cargo);
      before_ = before;
      std::ranges::move(waiting_, std::back_inserter(joined_));
      waiting_ = std::exchange(joined_, {});
      return lines;
    }
    if (entries_.isInConversation(place_)) own = cargo.places.size() - 1;
    for (const std::size_t place : joined_) {
      if (add(place, cargo)) own = cargo.places.size() - 1;
    }
    joined_.clear();
  }
  if (last) load(waiting_, cargo);
  const std::size_t count = cargo.places.size();
  for (std::size_t i = own == CarriedIds::kNone ? count : own + 1; i < count; ++i) {
    if (branch_[cargo.places[i]]) own = i;
  }
  const std::size_t end = lines.find('\n') + 1;
  if (session_ != nullptr && own != CarriedIds::kNone) ++own;
  const std::string first = withCarried(std::string_view(lines).substr(0, end), entriesOf(cargo), own);
  if (first.size() == end) {  // the line would be nested too deeply
    unload(cargo);
    return lines;
  }
  count_ += count;
  session_.reset();
  std::string out = first;
  for (std::size_t at = end; at < lines.size();) {
    const std::size_t next = std::min(lines.find('\n', at), lines.size() - 1) + 1;
    out += withCarried(std::string_view(lines).substr(at, next - at), {}, CarriedIds::kNone);
    at = next;
  }
  return out;
}

TreeCarrierWriter::TreeCarrierWriter(const EntryList& entries, const EntryTree& tree, bool enabled)
    : entries_(entries), carrierWriter_(entries, tree, enabled), inFile_(entries.size()) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!entries.isInConversation(i)) others_.push_back(i);
  }
}

void TreeCarrierWriter::beginFile() {
  ++files_;
  inFile_.assign(entries_.size(), false);
}

void TreeCarrierWriter::addUntil(std::size_t end) {
  if (others_.empty() || others_.front() >= end) return;
  std::erase_if(others_, [&](std::size_t i) {
    if (i >= end) return false;
    const auto target = entries_.kind(i) == EntryKind::Label ? json::findString(entries_.at(i)->payload, "entryId")
                                                             : std::optional<std::string>();
    const std::size_t named = target ? entries_.find(*target) : EntryTree::kNone;
    if (target ? named == EntryTree::kNone || !inFile_[named] : files_ > 1) return false;
    carrierWriter_.addWithoutLine(i);
    return true;
  });
}

void TreeCarrierWriter::setLines(std::string lines, const Entry* entry) {
  if (entry == nullptr) return carrierWriter_.setLines(std::move(lines), EntryTree::kNone);
  const std::size_t place = entries_.find(entry->id);
  addUntil(place);
  inFile_[place] = true;
  lines.empty() ? carrierWriter_.addWithoutLine(place) : carrierWriter_.setLines(std::move(lines), place);
}

std::string TreeCarrierWriter::takeLines(bool last) {
  if (last) addUntil(entries_.size());
  return carrierWriter_.takeLines(last);
}

}  // namespace bough::transcript
