// Decides which entries are written and what each of them continues.
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

/// A session's entries as a tree; nodes are places in the list.
class EntryTree {
 public:
  static constexpr std::size_t kNone = EntryList::kNone;

  /// The entries must outlive this object.
  explicit EntryTree(const EntryList& entries);

  [[nodiscard]] std::size_t find(std::string_view id) const { return entries_.find(id); }
  /// Returns the entry that it continues; kNone for a root and for entries outside the conversation.
  [[nodiscard]] std::size_t parent(std::size_t place) const { return entries_.parent(place); }
  /// Returns whether the entry has siblings.
  [[nodiscard]] bool isBranch(std::size_t place) const {
    return parent(place) != kNone && childCounts_[parent(place)] > 1;
  }
  /// Returns whether several entries continue it.
  [[nodiscard]] bool isBranchPoint(std::size_t place) const { return childCounts_[place] > 1; }
  /// Returns the places from the root to an entry.
  [[nodiscard]] std::vector<std::size_t> path(std::size_t leaf) const;
  /// Returns the ends of all branches, in log order.
  [[nodiscard]] std::vector<std::size_t> leaves() const;
  /// Returns the head according to the entries; only those of one agent when `agent` is given.
  [[nodiscard]] std::size_t head(std::string_view agent = {}) const;
  /// Returns the error for a session that cannot be written because its head is not at an entry.
  [[nodiscard]] std::unexpected<Error> noHead() const;

 private:
  const EntryList& entries_;
  std::vector<std::uint32_t> childCounts_;
};

/// The changes that later entries (message_edit.h) make to messages. A message is written once for all branches: a
/// message on the head's branch with the edits of that branch, any other message with an edit only when no branch has
/// it unedited.
class Edits {
 public:
  /// The list and the tree must outlive this object.
  Edits(const EntryList& entries, const EntryTree& tree, std::size_t head);

  /// Returns the entry with its message as edited; nullptr when models do not get it.
  [[nodiscard]] EntryPin at(std::size_t place) const;
  /// Returns whether models do not get the message.
  [[nodiscard]] bool leavesOut(std::size_t place) const;
  /// Returns whether the entry is an edit that is in effect, or was until a later edit of the same message.
  [[nodiscard]] bool isApplied(std::size_t place) const { return applied_.contains(place); }

 private:
  [[nodiscard]] bool reaches(std::size_t target, std::size_t edit, const std::vector<bool>& onHead) const;

  const EntryList& entries_;
  const EntryTree& tree_;
  std::unordered_map<std::size_t, std::size_t> editOf_;  // place of a message → place of its last edit
  std::unordered_set<std::size_t> applied_;
};

/// For a compaction_summary: returns the places of the earlier entries that stay in the context, oldest first.
std::vector<std::size_t> keptPlaces(const EntryList& entries, const EntryTree& tree, std::size_t place);
/// Returns, by place, which entries stay in the context of any summary.
std::vector<bool> allKept(const EntryList& entries, const EntryTree& tree);
/// For a compaction_summary: returns the ids of the earlier entries that stay in the context, oldest first.
std::vector<std::string> keptBy(const EntryList& entries, const EntryTree& tree, std::size_t place);

/// For a head entry: returns where the agent left off according to an import; kNone when the head was not moved by an
/// import.
std::size_t importedHead(const EntryList& entries, const EntryTree& tree, std::size_t place);
bool hasHeadEntry(const EntryList& entries);

}  // namespace bough::transcript
