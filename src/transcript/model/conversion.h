// Converts the messages of a session's branches to another dialect, for the writers.
#pragma once

#include <bough/convert.h>
#include <bough/entry.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "message/model/history.h"
#include "transcript/model/items.h"

namespace bough::transcript {

/// Converts the messages of some branches in parts, on demand, so that memory holds only one converted part of a long
/// session at a time. A part ends where a context may begin or end (at a summary, or at the first entry that a summary
/// keeps) and, in a long branch, between turns whose calls are all answered. What the dialect cannot hold is added to
/// the report.
class MessageConversion {
 public:
  /// `leaves` are the ends of the branches; without a `head`, the first one is the end of the head's branch. `head` is
  /// an entry that is not joined with what comes after it, because the branch that the agent continues ends there. All
  /// arguments must outlive this object.
  MessageConversion(const EntryList& entries, const EntryTree& tree, const std::vector<std::size_t>& leaves,
                    Dialect target, CompatibilityReport& report, std::size_t head = EntryTree::kNone);

  /// Returns the messages of an entry in the dialect; empty for an entry that is on none of the branches. Call it once
  /// per entry.
  std::vector<std::string> takeMessages(std::size_t place);
  /// Returns the messages with results of calls, of the next entries (`after`) up to the next answer, question or
  /// copied line. Nothing when `messages` have no calls. Does not take them. For Anthropic's dialect.
  std::vector<std::string> peekAnswers(const std::vector<std::string>& messages, std::span<const std::size_t> after,
                                       const std::function<bool(std::size_t place)>& isCopied);
  /// Announces that `takeMessages` will not be called for this entry.
  void skip(std::size_t place);
  /// Converts what nobody asked for, so that the report is complete.
  void convertRest();
  /// Returns the edits of the messages.
  [[nodiscard]] const Edits& edits() const { return edits_; }
  /// Returns how many converted entries wait for `takeMessages`.
  [[nodiscard]] std::size_t heldCount() const { return converted_.size(); }

 private:
  // The part of a branch that no earlier branch contains.
  struct Branch {
    std::vector<std::size_t> places;  // preceded by those of earlier branches whose calls this branch answers
    std::size_t next = 0;             // index in `places` of the first entry that is not converted yet
    bool isWhole = false;             // it begins with a root
    message::EarlierCalls calls{};
    std::vector<std::size_t> cuts{};  // indexes in `places` where a part of a long branch may end, in order
  };

  // Returns the place in converted_; the end when there are no messages.
  std::unordered_map<std::size_t, std::vector<std::string>>::iterator findConverted(std::size_t place);
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
  std::vector<std::uint32_t> branchOf_;  // by place: 0 for none, otherwise the index in branches_ plus one
  std::vector<bool> isSkipped_;          // by place
  std::vector<bool>
      mayStartPart_;  // by place: a summary, or the first entry that a summary keeps unless that is a result
  std::unordered_map<std::size_t, std::vector<std::string>> converted_;  // by place: converted, not taken yet
};

}  // namespace bough::transcript
