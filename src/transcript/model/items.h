// From entries to what a writer writes: which entries are chosen, and what each continues.
#pragma once

#include <bough/entry.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "transcript/model/agent.h"

namespace bough::transcript {

/// A session's entries as a tree, by their place in the list.
class EntryTree {
 public:
  static constexpr std::size_t kNone = SIZE_MAX;

  explicit EntryTree(const std::vector<Entry>& entries);

  [[nodiscard]] std::size_t find(std::string_view id) const;
  /// The entry it continues; kNone for a root and for entries that are not part of the conversation.
  [[nodiscard]] std::size_t parent(std::size_t place) const { return parents_[place]; }
  /// Whether other entries continue the same one.
  [[nodiscard]] bool isBranch(std::size_t place) const {
    return parents_[place] != kNone && childCounts_[parents_[place]] > 1;
  }
  /// From the root to an entry.
  [[nodiscard]] std::vector<std::size_t> path(std::size_t leaf) const;
  /// The ends of all branches, in log order.
  [[nodiscard]] std::vector<std::size_t> leaves() const;
  /// Where the entries leave the head; those of one agent alone, when `agent` is given.
  [[nodiscard]] std::size_t head(std::string_view agent = {}) const;

 private:
  const std::vector<Entry>& entries_;
  std::unordered_map<std::string_view, std::size_t> places_;
  std::vector<std::size_t> parents_;
  std::vector<std::size_t> childCounts_;
};

/// Of a compaction_summary: where the entries before it that stay in the context are, oldest first.
std::vector<std::size_t> keptPlaces(const std::vector<Entry>& entries, const EntryTree& tree, std::size_t place);
/// Which entries stay in the context of any summary, by their place.
std::vector<bool> allKept(const std::vector<Entry>& entries, const EntryTree& tree);
/// Of a compaction_summary: the ids of the entries before it that stay in the context, oldest first.
std::vector<std::string> keptBy(const std::vector<Entry>& entries, const EntryTree& tree, std::size_t place);

}  // namespace bough::transcript
