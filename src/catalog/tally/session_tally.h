// What the entries of a session add up to: its row, its branches, its answers. It knows no database.
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

/// What one answer used, and where it is in its session.
struct TalliedAnswer {
  std::uint64_t sequence = 0;
  std::uint32_t branch = 0;
  std::uint64_t quarter = 0;  ///< Of an hour, since 1970.
  std::string model;
  std::string identity;  ///< As EntryFacts::identity; never empty.
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
  /// The session in which the session's history begins. Those that share history, or have a copy of it, have the same
  /// one.
  using Family = std::function<const std::string&()>;

  explicit SessionTally(Family family) : family_(std::move(family)) {}

  SessionRow row;
  std::vector<Branch> branches;
  /// Those that were met since the caller last emptied it. An answer that was stored block by block is here with each.
  std::vector<TalliedAnswer> answers;
  bool titleLost = false;  ///< An entry took the title away; the caller chooses another.
  /// When the message was said that makes the title; none when that message was tallied before.
  std::optional<std::uint64_t> titleMs;
  /// The oldest of the user messages that are older than an entry before them, as after `bough sync`. Where it is older
  /// than the title's, too, the first message is another one.
  std::optional<std::uint64_t> saidLateMs;

  /// Continues with branches that were tallied before.
  void addBranch(Branch branch);

  /// What every entry tells. `sequence` is its place in the log.
  void entry(std::uint64_t sequence, const Entry& entry, std::uint64_t timeMs);
  /// Then, of a session_info entry:
  void info(const Entry& entry, std::uint64_t timeMs);
  /// … of an entry of the conversation. `isHidden`: it was redacted.
  void conversation(const Entry& entry, const EntryFacts& facts, std::uint64_t timeMs, bool isHidden);

  /// Whether a message that was tallied later is older than the one that made the title: then that one makes it.
  [[nodiscard]] bool saidBeforeTitle() const {
    return row.facts.titleSource == TitleSource::Message && saidLateMs && titleMs && *saidLateMs < *titleMs;
  }
  /// Whether the branch that ends in this entry ends with a call that has no result.
  [[nodiscard]] bool isUnfinished(const std::string& headId) const;

 private:
  void header(const Entry& entry);
  Branch& branchFor(const Entry& entry);
  void usage(const Entry& entry, const EntryFacts& facts, std::uint32_t branch, std::uint64_t timeMs);

  using Tips = std::unordered_map<std::string, std::size_t>;

  Family family_;
  Tips tips_;  // of branches, by the tip's id
};

}  // namespace bough::catalog
