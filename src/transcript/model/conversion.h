// The messages of a session's branches in another dialect, for the writers.
#pragma once

#include <bough/convert.h>
#include <bough/entry.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "message/model/history.h"
#include "transcript/model/items.h"

namespace bough::transcript {

/// Converts the messages of some branches part by part, when they are asked for, so that memory holds one part of a
/// long session in its new form, and not all of it. A part ends where a context may begin or end (a summary, what a
/// summary keeps), and in a long branch between turns whose calls are all answered. What the dialect cannot hold is
/// added to the report.
class MessageConversion {
 public:
  /// `leaves`: the ends of the branches, the head's first where there is no `head`. `head`: an entry that is not joined
  /// with what comes after it, since the branch that the agent continues ends there. All arguments must outlive it.
  MessageConversion(const EntryList& entries, const EntryTree& tree, const std::vector<std::size_t>& leaves,
                    Dialect target, CompatibilityReport& report, std::size_t head = EntryTree::kNone);

  /// The messages of an entry in the dialect; none for an entry of no chosen branch. Each entry is asked for once.
  std::vector<std::string> take(std::size_t place);
  /// Nobody will ask for this entry.
  void skip(std::size_t place);
  /// Converts what nobody asked for, so that the report is whole.
  void convertRest();
  /// What edits make of the messages.
  [[nodiscard]] const Edits& edits() const { return edits_; }
  /// How many entries are converted and wait to be asked for.
  [[nodiscard]] std::size_t heldCount() const { return done_.size(); }

 private:
  // What a branch holds that none before it does.
  struct Branch {
    std::vector<std::size_t> places;  // after those of earlier branches whose calls it answers
    std::size_t next = 0;             // of `places`: what was not converted yet
    bool isWhole = false;             // it begins with a root
    message::EarlierCalls calls{};
    std::vector<std::size_t> cuts{};  // of `places`: where a part of a long branch may end, in order
  };

  void addBranch(std::size_t leaf);
  void addCalls(Branch& branch, std::size_t before) const;
  void findCuts(Branch& branch) const;
  [[nodiscard]] std::size_t endOfPart(const Branch& branch) const;
  void convertNext(Branch& branch);
  void convert(const std::vector<std::size_t>& places, Branch& branch, bool isBeginning);

  const EntryList& entries_;
  const EntryTree& tree_;
  Edits edits_;
  Dialect target_;
  CompatibilityReport& report_;
  std::size_t head_;
  std::vector<Branch> branches_;
  std::vector<std::uint32_t> branchOf_;  // by place: 0 for none, else one more than its place in branches_
  std::vector<bool> isSkipped_;          // by place
  std::vector<bool> starts_;             // by place: a summary, or the first entry that one keeps, if not a result
  std::unordered_map<std::size_t, std::vector<std::string>> done_;  // converted and not asked for yet
};

}  // namespace bough::transcript
