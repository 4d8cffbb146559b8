// From entries to what a writer writes: which entries are chosen, and what each continues.
#pragma once

#include <bough/entry.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "transcript/model/agent.h"
#include "transcript/model/entry_list.h"

namespace bough::transcript {

/// A session's entries as a tree, by their place in the list.
class EntryTree {
 public:
  static constexpr std::size_t kNone = EntryList::kNone;

  /// The entries must outlive it.
  explicit EntryTree(const EntryList& entries);

  [[nodiscard]] std::size_t find(std::string_view id) const { return entries_.find(id); }
  /// The entry it continues; kNone for a root and for entries that are not part of the conversation.
  [[nodiscard]] std::size_t parent(std::size_t place) const { return entries_.parent(place); }
  /// Whether other entries continue the same one.
  [[nodiscard]] bool isBranch(std::size_t place) const {
    return parent(place) != kNone && childCounts_[parent(place)] > 1;
  }
  /// Whether several entries continue it.
  [[nodiscard]] bool isBranchPoint(std::size_t place) const { return childCounts_[place] > 1; }
  /// From the root to an entry.
  [[nodiscard]] std::vector<std::size_t> path(std::size_t leaf) const;
  /// The ends of all branches, in log order.
  [[nodiscard]] std::vector<std::size_t> leaves() const;
  /// Where the entries leave the head; those of one agent alone, when `agent` is given.
  [[nodiscard]] std::size_t head(std::string_view agent = {}) const;
  /// Why a session cannot be written whose head is at no entry.
  [[nodiscard]] std::unexpected<Error> noHead() const;

 private:
  const EntryList& entries_;
  std::vector<std::uint32_t> childCounts_;
};

/// What later entries (message_edit.h) say in the place of messages. A message is written once for all branches: one on
/// the head's branch with the edits of that branch, another one when no branch has it without the edit.
class Edits {
 public:
  /// The list and the tree must outlive it.
  Edits(const EntryList& entries, const EntryTree& tree, std::size_t head);

  /// The entry, with what an edit makes of its message; null: models do not get it.
  [[nodiscard]] EntryPin at(std::size_t place) const;
  /// Whether models do not get the message.
  [[nodiscard]] bool leavesOut(std::size_t place) const;
  /// Whether the entry is an edit that holds, or held until a later one of the same message.
  [[nodiscard]] bool isApplied(std::size_t place) const { return applied_.contains(place); }

 private:
  [[nodiscard]] bool reaches(std::size_t target, std::size_t edit, const std::vector<bool>& onHead) const;

  const EntryList& entries_;
  const EntryTree& tree_;
  std::unordered_map<std::size_t, std::size_t> editOf_;  // by the message's place: the place of its last edit
  std::unordered_set<std::size_t> applied_;
};

/// Of a compaction_summary: where the entries before it that stay in the context are, oldest first.
std::vector<std::size_t> keptPlaces(const EntryList& entries, const EntryTree& tree, std::size_t place);
/// Which entries stay in the context of any summary, by their place.
std::vector<bool> allKept(const EntryList& entries, const EntryTree& tree);
/// Of a compaction_summary: the ids of the entries before it that stay in the context, oldest first.
std::vector<std::string> keptBy(const EntryList& entries, const EntryTree& tree, std::size_t place);

/// Of a head entry: where an import noted that the agent left off; kNone when somebody else moved the head.
std::size_t importedHead(const EntryList& entries, const EntryTree& tree, std::size_t place);
bool hasHeadEntry(const EntryList& entries);

}  // namespace bough::transcript
