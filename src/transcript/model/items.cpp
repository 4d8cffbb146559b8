#include "transcript/model/items.h"

#include <algorithm>

#include "base/json/json_scan.h"
#include "base/model/head.h"
#include "message/model/message_edit.h"
#include "transcript/model/origin.h"

namespace bough::transcript {
EntryTree::EntryTree(const EntryList& entries) : entries_(entries), childCounts_(entries.size()) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (parent(i) != kNone) ++childCounts_[parent(i)];
  }
}

std::vector<std::size_t> EntryTree::path(std::size_t leaf) const {
  std::vector<std::size_t> path;
  for (std::size_t at = leaf; at != kNone; at = parent(at)) path.push_back(at);  // ends, because parents come earlier
  std::ranges::reverse(path);
  return path;
}

std::vector<std::size_t> EntryTree::leaves() const {
  std::vector<std::size_t> leaves;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_.isInConversation(i) && childCounts_[i] == 0) leaves.push_back(i);
  }
  return leaves;
}

std::unexpected<Error> EntryTree::noHead() const {
  if (leaves().empty()) return fail(ErrorCode::InvalidArgument, "the session has no conversation");
  return fail(ErrorCode::InvalidArgument, "the session's head is at no entry: all of its turns were taken back",
              "choose an entry with --at; `bough tree` shows them");
}

std::size_t EntryTree::head(std::string_view agent) const {
  std::size_t head = kNone;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const bool isHead = entries_.kind(i) == EntryKind::Head;
    if (!entries_.isInConversation(i) && !isHead) continue;
    if (!agent.empty()) {
      const auto origin = originOf(*entries_.at(i));
      if (!origin || origin->agent != agent) continue;
    }
    head = isHead ? find(headNamedBy(entries_.at(i)->payload)) : i;
  }
  return head;
}

Edits::Edits(const EntryList& entries, const EntryTree& tree, std::size_t head) : entries_(entries), tree_(tree) {
  std::vector<bool> onHead(entries.size());
  if (head != EntryTree::kNone) {
    for (const std::size_t place : tree.path(head)) onHead[place] = true;
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries.kind(i) != EntryKind::Custom || entries.isRedacted(i)) continue;
    const auto edit = message::editIn(*entries.at(i));
    const std::size_t target = edit ? tree.find(edit->targetId) : EntryTree::kNone;
    if (target == EntryTree::kNone || !entries.isMessage(target) || !reaches(target, i, onHead)) continue;
    if (!edit->leavesOut() && !message::editedPayload(*entries.at(target), *edit)) continue;
    editOf_[target] = i;
    applied_.insert(i);
  }
}

bool Edits::reaches(std::size_t target, std::size_t edit, const std::vector<bool>& onHead) const {
  std::size_t at = tree_.parent(edit);
  if (onHead[target]) return onHead[edit] && target < edit;
  for (; at != EntryTree::kNone && at > target; at = tree_.parent(at)) {  // parents come earlier
    if (tree_.isBranchPoint(at)) return false;
  }
  return at == target && !tree_.isBranchPoint(target);
}

EntryPin Edits::at(std::size_t place) const {
  EntryPin entry = entries_.at(place);
  const auto found = editOf_.find(place);
  if (found == editOf_.end()) return entry;
  const auto edit = message::editIn(*entries_.at(found->second));
  if (!edit) return entry;
  if (edit->leavesOut()) return nullptr;
  auto edited = std::make_shared<Entry>(*entry);
  edited->type = entry_type::kMessage;
  edited->payload = message::editedPayload(*entry, *edit).value_or(entry->payload);
  return edited;
}

bool Edits::leavesOut(std::size_t place) const {
  const auto found = editOf_.find(place);
  if (found == editOf_.end()) return false;
  const auto edit = message::editIn(*entries_.at(found->second));
  return edit && edit->leavesOut();
}

std::vector<std::size_t> keptPlaces(const EntryList& entries, const EntryTree& tree, std::size_t place) {
  if (entries.kind(place) != EntryKind::CompactionSummary) return {};
  const auto first = json::findString(entries.at(place)->payload, "firstKeptEntryId");
  const std::size_t from = first ? tree.find(*first) : EntryTree::kNone;
  if (from == EntryTree::kNone) return {};
  std::vector<std::size_t> places;
  std::size_t at = tree.parent(place);
  for (; at != EntryTree::kNone && at >= from; at = tree.parent(at)) places.push_back(at);  // parents come earlier
  if (places.empty() || places.back() != from) return {};  // the entry is on another branch
  std::ranges::reverse(places);
  return places;
}

std::vector<bool> allKept(const EntryList& entries, const EntryTree& tree) {
  std::vector<bool> isKept(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    for (const std::size_t place : keptPlaces(entries, tree, i)) isKept[place] = true;
  }
  return isKept;
}

std::vector<std::string> keptBy(const EntryList& entries, const EntryTree& tree, std::size_t place) {
  std::vector<std::string> kept;
  for (const std::size_t each : keptPlaces(entries, tree, place)) kept.emplace_back(entries.id(each));
  return kept;
}

std::size_t importedHead(const EntryList& entries, const EntryTree& tree, std::size_t place) {
  const EntryPin entry = entries.at(place);
  if (!json::findMember(entry->payload, "transcript")) return EntryTree::kNone;
  return tree.find(json::findString(entry->payload, "entryId").value_or(""));
}

bool hasHeadEntry(const EntryList& entries) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries.kind(i) == EntryKind::Head) return true;
  }
  return false;
}

}  // namespace bough::transcript
