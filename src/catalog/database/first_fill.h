// Speeds up a transaction that fills empty tables: drops their indexes and creates them at the end, in one pass over
// sorted rows. Inserting each row into each index would take longer than storing the rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes/flat_map.h"
#include "catalog/database/database.h"

namespace bough::catalog {

/// The session of each answer, by answer id. Used while the table has no index.
using FirstAnswers = FlatMap<std::int64_t>;

class FirstFill {
 public:
  /// Must be created inside a transaction that stores the first sessions.
  explicit FirstFill(Database& database);
  /// Returns true when the transaction should end.
  [[nodiscard]] bool isFull(std::uint64_t sessions) const {
    constexpr std::uint64_t kMaxSessions = 10'000;
    constexpr std::size_t kMaxAnswers = 1'000'000;
    return sessions >= kMaxSessions || answers.size() >= kMaxAnswers;
  }
  /// Creates the indexes. Before this, only addAnswers may look up rows that these indexes cover.
  void end();

  FirstAnswers answers;

 private:
  Database& database_;
  std::vector<std::string> indexes_;  // statements that create them
};

}  // namespace bough::catalog
