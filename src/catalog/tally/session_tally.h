// Sums up the entries of a session: its row, branches and answers. Does not access a database.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "bough/entry.h"
#include "catalog/database/entry_facts.h"
#include "catalog/database/session_row.h"

namespace bough::catalog {

/// The usage of one answer and its place in its session.
struct TalliedAnswer {
  std::uint64_t sequence = 0;
  std::uint32_t branch = 0;
  std::uint64_t quarter = 0;  ///< Number of the quarter hour since 1970.
  std::string model;
  std::string identity;  ///< See EntryFacts::identity; never empty.
  bool certain = true;
  Usage usage;
};

class SessionTally {
 public:
  struct Branch {
    std::uint32_t number = 0;
    std::string tipId;
    std::vector<std::string> openCalls;
  };
  /// Returns the session in which this session's history began. It is the same for all sessions that share history or
  /// have a copy of it.
  using Family = std::function<const std::string&()>;

  explicit SessionTally(Family family) : family_(std::move(family)) {}

  SessionRow row;
  std::vector<Branch> branches;
  /// Answers since the caller last cleared this list. An answer that was stored block by block occurs once per block.
  std::vector<TalliedAnswer> answers;
  bool isTitleLost = false;  ///< An entry removed the title; the caller must choose another.
  /// The time of the message that gives the title; std::nullopt when that message was tallied in an earlier run.
  std::optional<std::uint64_t> titleMs;
  /// The oldest user message that is older than an entry before it in the log, which happens after `bough sync`. If it
  /// is also older than the message of the title, it is the first message of the session.
  std::optional<std::uint64_t> oldestLateMs;

  /// Continues a branch that was tallied in an earlier run.
  void addBranch(Branch branch);

  /// Counts any entry. `sequence` is its place in the log.
  void addEntry(std::uint64_t sequence, const Entry& entry, std::uint64_t timeMs);
  /// Must be called after addEntry() for a session_info entry.
  void addInfo(const Entry& entry, std::uint64_t timeMs);
  /// Must be called after addEntry() for an entry of the conversation. `isHidden` says that it was redacted.
  void addConversation(const Entry& entry, const EntryFacts& facts, std::uint64_t timeMs, bool isHidden);

  /// Returns true when a message that was tallied later is older than the message of the title. The title must then
  /// come from the older message.
  [[nodiscard]] bool isTitleOutdated() const {
    return row.facts.titleSource == TitleSource::Message && oldestLateMs && titleMs && *oldestLateMs < *titleMs;
  }
  /// Returns true when the branch that ends in this entry ends with a call without a result.
  [[nodiscard]] bool isUnfinished(const std::string& headId) const;

 private:
  void addHeader(const Entry& entry);
  Branch& branchFor(const Entry& entry);
  void addUsage(const Entry& entry, const EntryFacts& facts, std::uint32_t branch, std::uint64_t timeMs);

  using Tips = std::unordered_map<std::string, std::size_t>;

  Family family_;
  Tips tips_;  // branches, by the id of their last entry
};

}  // namespace bough::catalog
