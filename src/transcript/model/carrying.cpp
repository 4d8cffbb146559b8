#include "transcript/model/carrying.h"

#include <algorithm>

#include "base/json/json_scan.h"

namespace bough::transcript {

void Carrying::wait(std::size_t place) {
  if (enabled_ && canBeCarried(entries_[place])) waiting_.push_back(place);
}

void Carrying::hold(std::string lines, std::size_t place) {
  lines_ = std::move(lines);
  place_ = place;
  std::ranges::move(waiting_, std::back_inserter(before_));
  waiting_.clear();
}

bool Carrying::add(std::size_t place, std::vector<CarriedEntry>& cargo, std::size_t& room) {
  const Entry& entry = entries_[place];
  const std::size_t bytes = carriedBytes(entry);
  if (!canBeCarried(entry) || bytes > room) return false;
  // A redacted entry does not travel; what follows it continues from the one before.
  std::size_t parent = tree_.parent(place);
  while (parent != EntryTree::kNone && entries_[parent].redacted) parent = tree_.parent(parent);
  if (parent != EntryTree::kNone && !there_.contains(parent)) return false;
  cargo.push_back({&entry, parent == EntryTree::kNone ? std::string() : entries_[parent].id});
  room -= bytes;
  there_.insert(place);
  return true;
}

void Carrying::load(std::vector<std::size_t>& from, std::vector<CarriedEntry>& cargo, std::size_t& room) {
  std::erase_if(from, [&](std::size_t place) { return add(place, cargo, room); });
}

void Carrying::unload(const std::vector<CarriedEntry>& cargo) {
  for (const CarriedEntry& each : cargo) there_.erase(placeOf(each));
}

std::string Carrying::take(bool last) {
  std::string lines = std::exchange(lines_, {});
  if (!enabled_ || lines.empty()) return lines;
  std::vector<CarriedEntry> cargo;
  std::size_t room = kMaxCarriedBytes;
  const std::vector<std::size_t> before = before_;
  load(before_, cargo, room);
  std::size_t own = CarriedIds::kNone;
  if (place_ != EntryTree::kNone) {
    // A line whose entry does not travel must be read itself; the others wait for another one.
    if (!add(place_, cargo, room)) {
      unload(cargo);
      before_ = before;
      return lines;
    }
    if (isConversation(entryKind(entries_[place_].type))) own = cargo.size() - 1;
  }
  if (last) load(waiting_, cargo, room);
  for (std::size_t i = own == CarriedIds::kNone ? cargo.size() : own + 1; i < cargo.size(); ++i) {
    if (branch_.contains(placeOf(cargo[i]))) own = i;
  }
  const std::size_t end = lines.find('\n') + 1;
  const std::string first = withCarried(std::string_view(lines).substr(0, end), cargo, own);
  if (first.size() == end) {  // it would be nested too deep
    unload(cargo);
    return lines;
  }
  count_ += cargo.size();
  std::string out = first;
  for (std::size_t at = end; at < lines.size();) {
    const std::size_t next = std::min(lines.find('\n', at), lines.size() - 1) + 1;
    out += withCarried(std::string_view(lines).substr(at, next - at), {}, CarriedIds::kNone);
    at = next;
  }
  return out;
}

TreeCargo::TreeCargo(const std::vector<Entry>& entries, const EntryTree& tree, bool enabled)
    : entries_(entries), carrying_(entries, tree, enabled) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!isConversation(entryKind(entries[i].type))) others_.push_back(i);
  }
}

void TreeCargo::begin() {
  ++files_;
  inFile_.clear();
}

void TreeCargo::waitUntil(std::size_t end) {
  if (others_.empty() || others_.front() >= end) return;
  std::erase_if(others_, [&](std::size_t i) {
    if (i >= end) return false;
    const auto target = entries_[i].type == entry_type::kLabel ? json::findString(entries_[i].payload, "entryId")
                                                               : std::optional<std::string>();
    if (target ? !inFile_.contains(*target) : files_ > 1) return false;
    carrying_.wait(i);
    return true;
  });
}

void TreeCargo::hold(std::string lines, const Entry* entry) {
  if (entry == nullptr) return carrying_.hold(std::move(lines), EntryTree::kNone);
  const auto place = static_cast<std::size_t>(entry - entries_.data());
  waitUntil(place);
  inFile_.insert(entry->id);
  lines.empty() ? carrying_.wait(place) : carrying_.hold(std::move(lines), place);
}

std::string TreeCargo::take(bool last) {
  if (last) waitUntil(entries_.size());
  return carrying_.take(last);
}

}  // namespace bough::transcript
