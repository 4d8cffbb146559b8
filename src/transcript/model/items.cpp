#include "transcript/model/items.h"

#include <algorithm>

#include "base/json/json_scan.h"
#include "base/model/head.h"
#include "transcript/model/origin.h"

namespace bough::transcript {
namespace {

bool inConversation(const Entry& entry) {
  return isConversation(entryKind(entry.type));
}

}  // namespace

EntryTree::EntryTree(const std::vector<Entry>& entries)
    : entries_(entries), parents_(entries.size(), kNone), childCounts_(entries.size()) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!inConversation(entries[i])) continue;
    if (entries[i].parentId && !entries[i].parentId->empty()) parents_[i] = find(*entries[i].parentId);
    if (parents_[i] != kNone) ++childCounts_[parents_[i]];
    places_.emplace(entries[i].id, i);
  }
}

std::size_t EntryTree::find(std::string_view id) const {
  const auto found = places_.find(id);
  return found == places_.end() ? kNone : found->second;
}

std::vector<std::size_t> EntryTree::path(std::size_t leaf) const {
  std::vector<std::size_t> path;
  for (std::size_t at = leaf; at != kNone; at = parents_[at]) path.push_back(at);  // parents come earlier: it ends
  std::ranges::reverse(path);
  return path;
}

std::vector<std::size_t> EntryTree::leaves() const {
  std::vector<std::size_t> leaves;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (inConversation(entries_[i]) && childCounts_[i] == 0) leaves.push_back(i);
  }
  return leaves;
}

std::size_t EntryTree::head(std::string_view agent) const {
  std::size_t head = kNone;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (!inConversation(entry) && entry.type != entry_type::kHead) continue;
    if (!agent.empty()) {
      const auto origin = originOf(entry);
      if (!origin || origin->agent != agent) continue;
    }
    head = entry.type == entry_type::kHead ? find(headNamedBy(entry.payload)) : i;
  }
  return head;
}

std::vector<std::size_t> keptPlaces(const std::vector<Entry>& entries, const EntryTree& tree, std::size_t place) {
  if (entries[place].type != entry_type::kCompactionSummary) return {};
  const auto first = json::findString(entries[place].payload, "firstKeptEntryId");
  const std::size_t from = first ? tree.find(*first) : EntryTree::kNone;
  if (from == EntryTree::kNone) return {};
  std::vector<std::size_t> places;
  std::size_t at = tree.parent(place);
  for (; at != EntryTree::kNone && at >= from; at = tree.parent(at)) places.push_back(at);  // parents come earlier
  if (places.empty() || places.back() != from) return {};  // the entry is on another branch
  std::ranges::reverse(places);
  return places;
}

std::vector<bool> allKept(const std::vector<Entry>& entries, const EntryTree& tree) {
  std::vector<bool> isKept(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    for (const std::size_t place : keptPlaces(entries, tree, i)) isKept[place] = true;
  }
  return isKept;
}

std::vector<std::string> keptBy(const std::vector<Entry>& entries, const EntryTree& tree, std::size_t place) {
  std::vector<std::string> kept;
  for (const std::size_t each : keptPlaces(entries, tree, place)) kept.push_back(entries[each].id);
  return kept;
}

}  // namespace bough::transcript
